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
    /// Whether it ends before it is full and before the list does: enough places were looked at for one page.
    private(set) var isCut = false

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

    /// Asks for its rows: first for all that an index finds, at one moment, and for others once there is room.
    /// Submissions leave the first states for the others, so none is missed.
    mutating func fill(from ledger: any LedgerOperator) throws(LedgerError) {
        try add(ledger.submissions(queries.filter { !$0.isWalked }).joined())
        for query in queries where query.isWalked && next == nil {
            let part = try ledger.part(of: query)
            add(part.rows)
            if next == nil, let rest = part.rest {
                next = Place(state: query.state, sequence: rest)
                isCut = true
            }
        }
    }

    private mutating func add(_ more: some Sequence<SubmissionRow>) {
        guard let limit = queries.first?.limit else { return }
        rows += more.prefix(limit - rows.count)
        if rows.count == limit, let last = rows.last { next = Place(state: last.state, sequence: last.sequence) }
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
