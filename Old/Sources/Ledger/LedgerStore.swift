public import Purchases

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
    func settle(
        _ settlements: [Settlement], quarantines: [Quarantine], now: Timestamp
    ) async throws(LedgerError) -> SettleResult

    /// Takes the relay, or keeps it: the right to publish the outbox. One worker has it at a time, which keeps events of one
    /// key in ledger order however many workers there are.
    ///
    /// - Parameter lease: how long it is kept without another call, by the ledger's clock.
    /// - Returns: where publishing stands; nil while another worker has the relay.
    func takeRelay(
        _ worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> RelayTurn?

    /// The outbox in ledger order after a sequence. At most `limit` entries, fewer where they are large.
    func outbox(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry]

    /// Notes what was published, and keeps the relay.
    ///
    /// - Returns: false if the relay is another worker's by now; then nothing was noted.
    func published(
        _ note: RelayNote, by worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> Bool

    /// Gives the relay up at once, if the worker has it.
    func leaveRelay(_ worker: WorkerID) async throws(LedgerError)
}
