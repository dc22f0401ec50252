import Contract
import Ledger
import Scheduling

/// Decides when a batch of decisions goes to the ledger, and which are in it.
///
/// A batch starts when the connection is free, and 256 rows wait or a pause has passed since the last start. The pause
/// is 0.5 ms for each row of the last batch, at most 10 ms. So a worker with few submissions writes each at once. From
/// some 2,000 rows a second it writes the rows of 10 ms, because a row costs less in a larger batch. With a slow
/// database it writes all waiting rows.
///
/// Decisions on rows of `retries` alone wait for 100 ms since the last start. After an outage all workers write such
/// rows at once, a few each, and a batch costs a database more than its rows. None of them is needed within
/// milliseconds.
struct WriteBatcher {
    static let enoughRows = 256
    static let mostPause: Duration = .milliseconds(10)
    static let pausePerRow: Duration = .microseconds(500)
    static let pauseOfLeased: Duration = .milliseconds(100)
    private static let backoff = Backoff(base: .milliseconds(100), cap: .seconds(5), jitter: .equal)

    private struct Waiting {
        let token: SubmissionToken
        let rows: Int
        let bytes: Int64
        let keys: BatchKeys
        let isLeased: Bool
    }

    /// Most rows of one batch, and bytes of evidence; a decision with more of them goes alone.
    private let mostRows: Int
    private let mostBytes: Int64
    private var waiting = FIFO<Waiting>()
    private var rowsWaiting = 0
    /// Decisions that wait and are a record's.
    private var recordsWaiting = 0
    private var underWay: [Waiting] = []
    private(set) var id: BatchID?
    private var batches: UInt64 = 0
    private var lastStart: Instant?
    private var lastRows = 0
    /// Not before, because the ledger did not answer.
    private var notBefore: Instant?
    private var failures = 0
    private var keys: Set<UInt64> = []
    private var asked: Set<UInt64> = []

    init(mostRows: Int, mostBytes: Int64) {
        self.mostRows = mostRows
        self.mostBytes = mostBytes
    }

    /// Whether no decision waits or is being written.
    var isEmpty: Bool { waiting.isEmpty && underWay.isEmpty }

    /// - Parameters:
    ///   - bytes: of the evidence that the ledger is to keep.
    ///   - isLeased: Whether it is about a row of `retries`.
    mutating func add(_ token: SubmissionToken, rows: Int, bytes: Int64, _ keys: BatchKeys, isLeased: Bool) {
        append(Waiting(token: token, rows: max(1, rows), bytes: bytes, keys: keys, isLeased: isLeased))
    }

    private mutating func append(_ decision: Waiting) {
        waiting.append(decision)
        rowsWaiting += decision.rows
        if !decision.isLeased { recordsWaiting += 1 }
    }

    private mutating func removeFirst() -> Waiting? {
        guard let decision = waiting.popFirst() else { return nil }
        rowsWaiting -= decision.rows
        if !decision.isLeased { recordsWaiting -= 1 }
        return decision
    }

    /// Since when the batch under way has no result; nil if none is.
    var pendingSince: Instant? { id == nil ? nil : lastStart }

    /// When a batch may start; nil while nothing waits, or one is under way.
    var nextMoment: Instant? {
        guard id == nil, !waiting.isEmpty else { return nil }
        if let notBefore { return notBefore }
        guard rowsWaiting < Self.enoughRows, let lastStart else { return Instant(nanoseconds: .min) }
        guard recordsWaiting > 0 else { return lastStart + Self.pauseOfLeased }
        return lastStart + min(Self.mostPause, Self.pausePerRow * lastRows)
    }

    /// Starts a batch, if it is time.
    /// - Parameter flights: says whether a decision is still to be written.
    /// - Returns: the decisions of the batch, in order; nil if none starts.
    mutating func start(at now: Instant, in flights: Flights) -> (id: BatchID, tokens: [SubmissionToken])? {
        guard let moment = nextMoment, moment <= now else { return nil }
        keys.removeAll(keepingCapacity: true)
        asked.removeAll(keepingCapacity: true)
        var rows = 0
        var bytes: Int64 = 0
        var tokens: [SubmissionToken] = []
        tokens.reserveCapacity(min(waiting.count, mostRows))
        // Decisions that do not fit, or whose keys the batch has already, wait for the next one.
        for _ in 0..<waiting.count {
            guard let next = removeFirst() else { break }
            guard flights.isWriting(next.token) else { continue }
            let isRoom = rows + next.rows <= mostRows && bytes + next.bytes <= mostBytes
            guard tokens.isEmpty || isRoom, take(next.keys) else {
                append(next)
                continue
            }
            rows += next.rows
            bytes += next.bytes
            tokens.append(next.token)
            underWay.append(next)
        }
        guard !tokens.isEmpty else { return nil }
        batches += 1
        let batch = BatchID(rawValue: batches)
        id = batch
        lastStart = now
        lastRows = rows
        notBefore = nil
        return (batch, tokens)
    }

    /// The batch under way has its result.
    /// - Returns: its decisions, in order; nil for a batch that is not under way.
    mutating func ended(_ batch: BatchID) -> [SubmissionToken]? {
        guard id == batch else { return nil }
        defer { underWay.removeAll(keepingCapacity: true) }
        id = nil
        failures = 0
        return underWay.map(\.token)
    }

    /// The batch under way may be written or not: its decisions are written again, before all others.
    mutating func failed(_ batch: BatchID, at now: Instant, using generator: inout SplitMix64) {
        guard id == batch else { return }
        id = nil
        failures += 1
        notBefore = now + Self.backoff.delay(afterFailures: failures, using: &generator)
        var rest = FIFO<Waiting>()
        swap(&rest, &waiting)
        recordsWaiting = 0
        rowsWaiting = 0
        for decision in underWay { append(decision) }
        underWay.removeAll(keepingCapacity: true)
        while let decision = rest.popFirst() { append(decision) }
    }

    private mutating func take(_ candidate: BatchKeys) -> Bool {
        guard !keys.contains(candidate.submission),
            candidate.transaction == 0 || isFree(candidate.transaction),
            candidate.original == 0 || isFree(candidate.original),
            candidate.more.allSatisfy(isFree), candidate.asked.allSatisfy({ !keys.contains($0) })
        else { return false }
        keys.insert(candidate.submission)
        if candidate.transaction != 0 { keys.insert(candidate.transaction) }
        if candidate.original != 0 { keys.insert(candidate.original) }
        keys.formUnion(candidate.more)
        asked.formUnion(candidate.asked)
        return true
    }

    private func isFree(_ key: UInt64) -> Bool { !keys.contains(key) && !asked.contains(key) }
}

extension Decision.Content {
    /// Rows of a batch: purchases that are granted, and those whose holders the ledger is asked for in its transaction.
    var batchRows: Int {
        guard case .grant(let purchases, _) = self else { return waitingPurchases.count }
        return purchases.count + waitingPurchases.count
    }
}
