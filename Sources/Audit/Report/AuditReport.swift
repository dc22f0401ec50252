public import Contract

/// The conclusions of an audit: how much it looked at, what is inconsistent, and what it could not look at.
public struct AuditReport: Hashable, Sendable {
    public enum Verdict: String, Hashable, Sendable {
        /// Everything was looked at, and is as it has to be.
        case holds
        /// Something is not as it has to be, whatever was not looked at.
        case broken
        /// Everything that was looked at is as it has to be, and something was not looked at.
        case incomplete
    }

    /// How much was looked at.
    public struct Counts: Hashable, Sendable {
        /// Records of the input topic below the offset that was passed.
        public internal(set) var records = 0
        /// Records of the input topic behind it, which nobody has to have decided.
        public internal(set) var openRecords = 0
        public internal(set) var grants = 0
        public internal(set) var failures = 0
        public internal(set) var repeats = 0
        /// Rows of `retries`.
        public internal(set) var waiting = 0
        /// Rows of `outbox`.
        public internal(set) var owed = 0
        /// Records of the topics of events, copies among them.
        public internal(set) var events = 0
        public internal(set) var quarantined = 0
        /// Rows whose record was not complete when the audit began: whether they are told is not asked.
        public internal(set) var openRows = 0
        /// Rows that only a later version can read.
        public internal(set) var later = 0
    }

    public let startedAt: Timestamp
    /// The moment from which on it looked; nil for all there is.
    public let since: Timestamp?
    public let counts: Counts
    /// At most ``AuditLimits/kept``, in the order of their kinds.
    public let inconsistencies: [Inconsistency]
    /// Of each kind, all that were found.
    public let found: [Inconsistency.Kind: Int]
    public let unseen: [Unseen]
    /// From here on the next audit has to look, if this one holds.
    public let next: Timestamp
    /// Of each partition of the input topic, the offset up to which this audit has judged it, or a former one, if both
    /// hold.
    public let judged: [TopicPartition: Int64]

    /// Whether the ledger belongs to another group, cluster or set of topics: nothing that was found says anything.
    public var isOfAnother: Bool { unseen.contains { $0.reason == .foreignLedger } }

    public var verdict: Verdict {
        if found.keys.contains(where: \.isBroken), !isOfAnother { return .broken }
        return unseen.isEmpty ? .holds : .incomplete
    }
}
