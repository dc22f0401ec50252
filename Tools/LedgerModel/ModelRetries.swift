public import Contract
import Ledger

/// The rows of `retries`. They stand in an array, because most questions look at all of them.
struct ModelRetries: Sendable {
    struct Row: Sendable {
        let key: RetryKey
        let sequence: Int64
        let submission: Submission
        var entry: RetryEntry
        var attempts: Int
        var dueAt: Int64
        var lease: Int64 = 0
        var leasedUntil: Int64?
        var takings = 0

        var waiting: WaitingRow {
            WaitingRow(
                key: key, origin: submission.origin,
                pending: PendingSubmission(
                    submission.claimant, entry.cause.state, cause: entry.cause.word, attempts: attempts,
                    receivedAt: submission.receivedAt,
                    latest: entry.history.attempts.last?.at, dueAt: Timestamp(milliseconds: dueAt)))
        }

        var isSuspectNext: Bool { takings >= DueRetry.takingsOfSuspicion - 1 }
    }

    /// In no order.
    private(set) var rows: [Row] = []
    private var places: [RetryKey: Int] = [:]

    var isEmpty: Bool { rows.isEmpty }

    subscript(key: RetryKey) -> Row? { places[key].map { rows[$0] } }

    func contains(_ key: RetryKey) -> Bool { places[key] != nil }

    func isOwned(_ lease: RetryLease) -> Bool { places[lease.key].map { rows[$0].lease == lease.number } ?? false }

    mutating func insert(_ row: Row) {
        places[row.key] = rows.count
        rows.append(row)
    }

    mutating func change(_ key: RetryKey, _ body: (inout Row) -> Void) {
        if let place = places[key] { body(&rows[place]) }
    }

    mutating func remove(_ key: RetryKey) {
        guard let place = places.removeValue(forKey: key) else { return }
        rows.swapAt(place, rows.count - 1)
        rows.removeLast()
        if place < rows.count { places[rows[place].key] = place }
    }
}

extension Submission {
    /// The submission with nothing but the kind of its evidence, as ``SubmissionRecord/waiting`` has it.
    public var withoutEvidence: Submission {
        Submission(
            claimant: claimant, claim: claim, evidence: Evidence(evidence.kind, bytes: []), origin: origin,
            receivedAt: receivedAt)
    }
}
