import Contract
import Ledger

/// Bounds the bytes that wait in `retries`, over all workers. A sample is taken every ten seconds. Between two samples
/// a worker adds at most its share of half of the rest.
///
/// There is no bound for one app. Partitions hold records of all apps, so once one app has filled its part, the others'
/// records cannot be read.
///
/// Workers that live have equal shares. A worker that has used its share asks for a sample earlier. Workers may share a
/// sample, so only a later one than the last gives a new share.
struct RetryBytesLimit {
    let limit: Int64
    private(set) var total: Int64 = 0
    private var allowance: Int64 = 0
    /// Nothing more may be added before the next sample.
    private(set) var isExhausted = false
    private var sampledAt: Timestamp?
    private(set) var isHalfFull = false

    init(limit: Int64) { self.limit = max(limit, 1) }

    /// Nothing can be added, however often it is sampled.
    var isFull: Bool { sampledAt != nil && total >= limit }
    /// No record is read: each may need room here.
    var keepsRecordsAway: Bool { isFull || isExhausted }

    /// - Returns: whether half of all is passed by this sample.
    mutating func sampled(_ measure: LedgerMeasure) -> Bool {
        guard measure.takenAt != sampledAt else { return false }
        sampledAt = measure.takenAt
        total = measure.retries.reduce(0) { $0 + $1.bytes }
        // While anything may be added, one row is. Else the last bytes would stop everything, and nothing would be
        // full.
        allowance = total < limit ? max(1, (limit - total) / 2 / Int64(max(1, measure.workers))) : 0
        isExhausted = false
        defer { isHalfFull = total >= limit / 2 }
        return total >= limit / 2 && !isHalfFull
    }

    /// Asks to add a row.
    mutating func take(_ bytes: Int64) -> Bool {
        guard sampledAt != nil else { return false }
        // One row of any size, so that a small limit does not stop everything for ever.
        guard allowance > 0, total < limit else {
            isExhausted = true
            return false
        }
        allowance -= bytes
        total += bytes
        return true
    }
}
