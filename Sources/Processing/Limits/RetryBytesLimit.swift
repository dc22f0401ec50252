import Contract
import Ledger
import Scheduling

/// Bounds the bytes that wait in `retries`, over all workers: one sample every ten seconds, and between two samples a
/// worker adds at most its share of half of what is left. One app has at most half of all.
///
/// Nobody knows how many workers there are, so a share is an eighth; a worker that has used it asks for a sample earlier.
struct RetryBytesLimit {
    private static let shares: Int64 = 8

    private let limit: Int64
    private var apps: [BundleID: Int64] = [:]
    private(set) var total: Int64 = 0
    private var allowance: Int64 = 0
    /// Nothing more may be added before the next sample.
    private(set) var isExhausted = false
    private(set) var hasSample = false
    private(set) var isHalfFull = false

    init(limit: Int64) { self.limit = max(limit, 1) }

    /// Nothing can be added, however often it is sampled.
    var isFull: Bool { hasSample && total >= limit }

    /// - Returns: whether half of all is passed by this sample.
    mutating func sampled(_ measure: LedgerMeasure) -> Bool {
        apps.removeAll(keepingCapacity: true)
        total = 0
        for app in measure.retries {
            apps[app.bundleID, default: 0] += app.bytes
            total += app.bytes
        }
        allowance = max(0, limit - total) / 2 / Self.shares
        isExhausted = false
        hasSample = true
        defer { isHalfFull = total >= limit / 2 }
        return total >= limit / 2 && !isHalfFull
    }

    /// Asks to add a row.
    mutating func take(_ bytes: Int64, app: BundleID) -> Bool {
        let ofApp = apps[app] ?? 0
        guard hasSample, ofApp + bytes <= limit / 2 else { return false }
        // One row of any size, so that a small limit does not stop everything for ever.
        guard allowance > 0, total < limit else {
            isExhausted = true
            return false
        }
        allowance -= bytes
        total += bytes
        apps[app] = ofApp + bytes
        return true
    }
}
