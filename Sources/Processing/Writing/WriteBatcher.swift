import Scheduling

/// Decides when a batch of decisions goes to the ledger, and which are in it.
///
/// A batch starts when the connection is free and 256 rows wait, or 5 ms have passed since the last one started. So an idle
/// worker writes at once, a busy one what came in 5 ms, and one whose database is slow everything that waits.
struct WriteBatcher {
    static let enoughRows = 256
    static let pace: Duration = .milliseconds(5)
    /// Most rows of one batch; a decision with more of them goes alone.
    static let mostRows = 1024
    private static let backoff = Backoff(base: .milliseconds(100), cap: .seconds(5), jitter: .equal)

    private struct Waiting {
        let token: SubmissionToken
        let rows: Int
        let keys: BatchKeys
    }

    private var waiting = FIFO<Waiting>()
    private var rowsWaiting = 0
    private var underWay: [Waiting] = []
    private(set) var id: BatchID?
    private var batches: UInt64 = 0
    private var lastStart: Instant?
    /// Not before, because the ledger did not answer.
    private var notBefore: Instant?
    private var failures = 0
    private var keys: Set<UInt64> = []

    /// Decisions that wait or are being written.
    var count: Int { waiting.count + underWay.count }
    var isEmpty: Bool { waiting.isEmpty && underWay.isEmpty }

    mutating func add(_ token: SubmissionToken, rows: Int, _ keys: BatchKeys) {
        waiting.append(Waiting(token: token, rows: max(1, rows), keys: keys))
        rowsWaiting += max(1, rows)
    }

    /// When a batch may start; nil while nothing waits, or one is under way.
    var nextMoment: Instant? {
        guard id == nil, !waiting.isEmpty else { return nil }
        if let notBefore { return notBefore }
        guard rowsWaiting < Self.enoughRows, let lastStart else { return Instant(nanoseconds: .min) }
        return lastStart + Self.pace
    }

    /// Starts a batch, if it is time.
    ///
    /// - Parameter flights: says whether a decision is still to be written.
    /// - Returns: the decisions of the batch, in order; nil if none starts.
    mutating func start(at now: Instant, in flights: Flights) -> (id: BatchID, tokens: [SubmissionToken])? {
        guard let moment = nextMoment, moment <= now else { return nil }
        keys.removeAll(keepingCapacity: true)
        var rows = 0
        var tokens: [SubmissionToken] = []
        tokens.reserveCapacity(min(waiting.count, Self.mostRows))
        // Those that stay are those whose keys are taken: they go round once.
        for _ in 0..<waiting.count {
            guard let next = waiting.popFirst() else { break }
            guard flights.isWriting(next.token) else {
                rowsWaiting -= next.rows
                continue
            }
            guard tokens.isEmpty || rows + next.rows <= Self.mostRows, take(next.keys) else {
                waiting.append(next)
                continue
            }
            rows += next.rows
            rowsWaiting -= next.rows
            tokens.append(next.token)
            underWay.append(next)
        }
        guard !tokens.isEmpty else { return nil }
        batches += 1
        let batch = BatchID(rawValue: batches)
        id = batch
        lastStart = now
        notBefore = nil
        return (batch, tokens)
    }

    /// The batch under way was answered.
    ///
    /// - Returns: its decisions, in order; nil for a batch that is not under way.
    mutating func ended(_ batch: BatchID) -> [SubmissionToken]? {
        guard id == batch else { return nil }
        defer { underWay.removeAll(keepingCapacity: true) }
        id = nil
        failures = 0
        return underWay.map(\.token)
    }

    /// It is not known whether the batch under way was written: its decisions are written again, before all others.
    mutating func failed(_ batch: BatchID, at now: Instant, using generator: inout SplitMix64) {
        guard id == batch else { return }
        id = nil
        failures += 1
        notBefore = now + Self.backoff.delay(afterFailures: failures, using: &generator)
        var rest = FIFO<Waiting>()
        swap(&rest, &waiting)
        for decision in underWay {
            waiting.append(decision)
            rowsWaiting += decision.rows
        }
        underWay.removeAll(keepingCapacity: true)
        while let decision = rest.popFirst() { waiting.append(decision) }
    }

    private mutating func take(_ candidate: BatchKeys) -> Bool {
        guard !keys.contains(candidate.submission),
            candidate.transaction == 0 || !keys.contains(candidate.transaction),
            candidate.original == 0 || !keys.contains(candidate.original),
            candidate.more.allSatisfy({ !keys.contains($0) })
        else { return false }
        keys.insert(candidate.submission)
        if candidate.transaction != 0 { keys.insert(candidate.transaction) }
        if candidate.original != 0 { keys.insert(candidate.original) }
        keys.formUnion(candidate.more)
        return true
    }
}
