public import Purchases

/// What the pipeline asks of a ledger about open deliveries.
///
/// A delivery that is due is one worker's at a time. Whoever takes it has it until the lease ends, by the ledger's clock;
/// after that it is due again, for any worker. While it is open its event is not in the outbox: a submission that asks for
/// another copy of the event joins the delivery, and is answered with it.
public protocol DeliveryRoom: Sendable {
    /// Takes deliveries that are due, of each app the longest due first.
    ///
    /// - Parameter shares: each app once. Others' deliveries stay as they are.
    func takeDeliveries(
        _ worker: WorkerID, _ shares: [DeliveryShare], for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> [Delivery]

    /// Keeps deliveries for another lease, those of them that are still this worker's.
    ///
    /// They are named one by one, so that what a worker holds without knowing of it, because an answer was lost, comes due.
    func keepDeliveries(
        _ events: [EventID], _ worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError)

    /// Notes in one transaction what became of deliveries: those that are done enter the outbox, each with a copy for every
    /// submission that joined it; the others are due later. What is done already is left as it is, so that an unknown result
    /// is noted by calling again.
    ///
    /// - Parameter reports: at most 500.
    /// - Returns: the entries that this added to the outbox, in order and without gaps; nil if copies were among them.
    func report(
        _ reports: [DeliveryReport], _ worker: WorkerID, now: Timestamp
    ) async throws(LedgerError) -> [OutboxEntry]?

    /// What is open. Costs one look at each open delivery's index entry.
    func deliveryCounts() async throws(LedgerError) -> DeliveryCounts
}
