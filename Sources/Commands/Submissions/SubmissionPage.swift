import CommandParser
import Ledger

/// A page of a list of submissions that goes from state to state.
struct SubmissionPage: Hashable, Sendable {
    /// The place of a page's last row.
    struct Place: Hashable, Sendable {
        let state: SubmissionState
        let sequence: Int64

        /// Such as `failed:17`.
        var text: String { "\(state.rawValue):\(sequence)" }
    }

    /// One for each state that is still to come.
    let queries: [SubmissionQuery]
    private(set) var rows: [SubmissionRow] = []
    /// Where the next page begins; nil if this is the last one.
    private(set) var next: Place?

    /// - Parameters:
    ///   - filter: Narrows the list, and has its limit. Its state does not count.
    ///   - state: The only one; nil for all.
    ///   - before: The place of the last row before the page.
    init(_ filter: SubmissionQuery, state: SubmissionState?, before: Place?) {
        let states = state.map { [$0] } ?? SubmissionState.allCases
        var queries: [SubmissionQuery] = []
        for state in states.drop(while: { before != nil && $0 != before?.state }) {
            var query = filter
            query.state = state
            query.before = state == before?.state ? before?.sequence : nil
            queries.append(query)
        }
        self.queries = queries
    }

    /// The page with its rows.
    /// - Parameter lists: The answers to ``queries``.
    func filled(_ lists: [[SubmissionRow]]) -> SubmissionPage {
        guard let limit = queries.first?.limit else { return self }
        var page = self
        page.rows = Array(lists.joined().prefix(limit))
        if page.rows.count == limit, let last = page.rows.last {
            page.next = Place(state: last.state, sequence: last.sequence)
        }
        return page
    }
}

extension ValueForm<SubmissionPage.Place> {
    static var place: Self {
        ValueForm(
            "a state and a number, such as failed:17",
            read: { text in
                let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let state = SubmissionState(rawValue: String(parts[0])),
                    let sequence = ValueForm<Int64>.integer(Int64.min...Int64.max).read(String(parts[1]))
                else { return nil }
                return SubmissionPage.Place(state: state, sequence: sequence)
            }, show: \.text)
    }
}
