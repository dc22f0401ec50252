import Ledger
import Purchases

/// What a worker has taken from the ledger and is trying, with the bytes that it holds.
struct UnderWay: Sendable {
    private var sizes: [SubmissionKey: Int] = [:]
    /// Of evidence.
    private(set) var bytes = 0

    var count: Int { sizes.count }

    /// In an order that is the same everywhere.
    var keys: [SubmissionKey] {
        sizes.keys.sorted { ($0.submissionID, $0.bundleID) < ($1.submissionID, $1.bundleID) }
    }

    /// - Returns: false if it is under way already.
    mutating func begin(_ due: DueSubmission) -> Bool {
        guard sizes[due.key] == nil else { return false }
        sizes[due.key] = due.evidenceBytes
        bytes += due.evidenceBytes
        return true
    }

    mutating func end(_ key: SubmissionKey) {
        bytes -= sizes.removeValue(forKey: key) ?? 0
    }

    /// Whether a take brought so much, in rows or in bytes, that there is more to take at once. Claims are a little larger
    /// than their evidence, so half of the bytes are as good as all.
    static func isFull(_ taken: [DueSubmission]) -> Bool {
        taken.count >= DueStage.maxBatch
            || taken.reduce(0) { $0 + $1.evidenceBytes } >= DueSubmission.maxTakenBytes / 2
    }
}

extension DueSubmission {
    /// Nothing of what this version cannot read.
    fileprivate var evidenceBytes: Int {
        switch submission?.evidence {
        case .receipt(let base64): base64.bytes.count
        case .signedTransaction(let text): text.bytes.count
        case .transactionID(let id): id.rawValue.utf8.count
        case nil: 0
        }
    }
}
