public import Purchases

/// An event that waits for its delivery, with its place in the ledger's order.
public struct OutboxEntry: Hashable, Sendable {
    /// Rises with every event; first publications follow it.
    public let sequence: Int64
    /// How many copies were asked for when the entry was read; marking it published covers these, no later one.
    public let copiesRequested: Int64
    public let event: Event

    /// An entry as read from the outbox.
    public init(sequence: Int64, copiesRequested: Int64, event: Event) {
        self.sequence = sequence
        self.copiesRequested = copiesRequested
        self.event = event
    }
}

/// What the pipeline asks of a ledger. Every implementation passes the same conformance suite.
///
/// A call that returns has its effect on stable storage; a call that throws has none, unless the error says
/// that the result is unknown. Settling the same submission again is harmless, so an unknown result is settled
/// by calling again.
public protocol LedgerStore: Sendable {
    /// Which of these submissions the ledger has. One round trip for the batch.
    func recorded(_ keys: [SubmissionKey]) async throws(LedgerError) -> [SubmissionKey: RecordedSubmission]

    /// Makes decisions durable in one transaction: outcomes, grants and the events that tell of them.
    ///
    /// - Parameters:
    ///   - settlements: at most 500; decided in the order given, so a repeat inside the batch is a repeat.
    ///   - quarantines: unreadable records; one seen before is left as it is.
    ///   - now: the grants' and failures' time.
    /// - Returns: one outcome per settlement, in their order.
    func settle(
        _ settlements: [Settlement], quarantines: [Quarantine], now: Timestamp
    ) async throws(LedgerError) -> [SettledOutcome]

    /// The oldest events that lack a delivery, in ledger order, after a given sequence.
    func unpublished(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry]

    /// Notes that these entries were delivered.
    func markPublished(_ entries: [OutboxEntry], now: Timestamp) async throws(LedgerError)
}
