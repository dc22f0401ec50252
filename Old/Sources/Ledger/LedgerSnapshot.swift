public import Purchases

/// A whole ledger as of one moment, in pages: what an audit reads. Nothing that is written later shows.
///
/// Every page has the rows after a sequence, in rising order, at most `limit` of them and fewer where they are large; an
/// empty one is the last. To hold a snapshot costs the database the space of what is written meanwhile, so it is not held
/// for longer than the reading takes.
public protocol LedgerSnapshot: Sendable {
    /// Grants, the oldest first.
    func grants(after sequence: Int64, limit: Int) async throws(LedgerError) -> [GrantRow]

    /// Submissions, in the order in which they came in first.
    func submissions(after sequence: Int64, limit: Int) async throws(LedgerError) -> [SubmissionRow]

    /// Unreadable records, the oldest first.
    func quarantines(after sequence: Int64, limit: Int) async throws(LedgerError) -> [QuarantineRow]

    /// Events of the outbox in ledger order, each once: entries that ask for a copy are left out.
    func events(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry]

    /// Deliveries, the oldest first.
    func deliveries(after sequence: Int64, limit: Int) async throws(LedgerError) -> [DeliveryRow]

    /// Lets the snapshot go.
    func close() async
}

/// An unreadable record as the ledger has it.
public struct QuarantineRow: Hashable, Sendable {
    /// Place in the ledger's order; pages continue after it.
    public let sequence: Int64
    /// The event that carries the record on.
    public let eventID: EventID
    public let origin: Origin
    /// Machine-readable reason.
    public let reason: String
    public let quarantinedAt: Timestamp

    /// A row of the ledger.
    public init(sequence: Int64, eventID: EventID, origin: Origin, reason: String, quarantinedAt: Timestamp) {
        self.sequence = sequence
        self.eventID = eventID
        self.origin = origin
        self.reason = reason
        self.quarantinedAt = quarantinedAt
    }
}

/// How far the outbox is published.
public struct RelayState: Hashable, Sendable {
    /// All entries up to here were acknowledged, but for the withheld ones.
    public let publishedThrough: Int64
    /// Entries that were passed over and wait for another try.
    public let withheld: Set<Int64>

    /// Where publishing stands.
    public init(publishedThrough: Int64, withheld: Set<Int64> = []) {
        self.publishedThrough = publishedThrough
        self.withheld = withheld
    }

    /// Whether the ledger counts an entry as published.
    public func isPublished(_ sequence: Int64) -> Bool {
        sequence <= publishedThrough && !withheld.contains(sequence)
    }
}
