import CommandParser
import Contract
import Ledger

/// The events to publish again. Members that are nil do not narrow it.
struct EventScope: Hashable, Sendable {
    /// The states whose events are published, in this order.
    var states: [SubmissionState] = [.granted, .failed]
    var bundleID: BundleID?
    var userID: UserID?
    var submissionID: SubmissionID?
    var from: Timestamp?
    var to: Timestamp?

    /// Whether anything narrows it.
    var isNarrow: Bool { namesAnID || bundleID != nil || from != nil || to != nil }
    var namesAnID: Bool { userID != nil || submissionID != nil }

    /// As `operator_actions` keeps it: without ids of the user and of submissions, which would outlive their erasure.
    var words: String {
        var words = ["events \(states.map(\.rawValue).joined(separator: " and "))"]
        if submissionID != nil { words.append("of one submission") }
        if userID != nil { words.append("of one user") }
        if let bundleID { words.append("of \(bundleID)") }
        if let from { words.append("from \(from)") }
        if let to { words.append("to \(to)") }
        return words.joined(separator: " ")
    }
}

/// Goes through the rows of a scope, page by page. Rows that workers add meanwhile are not followed.
struct EventWalk {
    typealias Place = SubmissionPage.Place

    private struct Part {
        let state: SubmissionState
        let places: ClosedRange<Int64>
    }

    private let scope: EventScope
    private var parts: [Part] = []
    /// The last sequence number that was looked at, of the first part.
    private var done: Int64 = 0
    /// The events of all rows up to here are published; nil before the first page.
    private(set) var place: Place?
    private var covered: Double = 0
    private let whole: Double

    /// - Parameter after: The place that an earlier walk ended with.
    init(_ scope: EventScope, after: Place?, in session: LedgerSession) throws(CommandFailure) {
        self.scope = scope
        for state in scope.states.drop(while: { after != nil && $0 != after?.state }) {
            guard let table = DecidedQuery(state: state).table else { continue }
            let places = try session { ledger throws(LedgerError) in
                try ledger.places(
                    of: table, from: scope.namesAnID ? nil : scope.from, to: scope.namesAnID ? nil : scope.to)
            }
            let first = state == after?.state ? max(places.lowerBound, after?.sequence ?? 0) : places.lowerBound
            parts.append(Part(state: state, places: min(first, places.upperBound)...places.upperBound))
        }
        whole = parts.reduce(0) { $0 + Double($1.places.count) }
        done = parts.first?.places.lowerBound ?? 0
    }

    /// How much of it is done, from 0 to 1; nil where only few rows are looked at.
    var part: Double? { scope.namesAnID ? nil : covered / whole }

    /// The next rows; nil at the end. Without an id in the scope, one look may find none.
    /// - Parameter most: Most events.
    mutating func next(_ most: Int, in session: LedgerSession) throws(CommandFailure) -> EventPage? {
        while let part = parts.first {
            guard done < part.places.upperBound else {
                parts.removeFirst()
                done = parts.first?.places.lowerBound ?? 0
                continue
            }
            let end =
                scope.namesAnID
                ? part.places.upperBound : min(part.places.upperBound, done + DecidedTable.placesAtOnce)
            let query = DecidedQuery(
                state: part.state, bundleID: scope.bundleID, userID: scope.userID, submissionID: scope.submissionID,
                from: scope.from, to: scope.to, places: (done + 1)...end, limit: most)
            let page = try session { ledger throws(LedgerError) in try ledger.events(query) }
            let reached = page.last ?? end
            covered += Double(reached - done)
            done = reached
            place = Place(state: part.state, sequence: reached)
            return page
        }
        return nil
    }
}
