import Ledger
import Logging
import Metrics
import Purchases

/// Counts open deliveries, of a worker whose apps have no inventory service, too: what was left open when the last one went
/// out of the configuration is neither told nor published, and nothing else sees it.
struct DeliveryWatch: Sendable {
    /// Between two counts.
    static let interval: Duration = .seconds(15)
    /// Between two lines of the log about the same.
    static let lineInterval: Duration = .seconds(300)

    let parts: PipelineParts
    let room: any DeliveryRoom
    /// Whether any app has an inventory service here.
    let isAnyServed: Bool
    private let metrics: DeliveryBacklogMetrics

    init(
        parts: PipelineParts, room: any DeliveryRoom, isAnyServed: Bool,
        metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        self.parts = parts
        self.room = room
        self.isAnyServed = isAnyServed
        self.metrics = DeliveryBacklogMetrics(metrics)
    }

    /// Runs until the task is cancelled.
    ///
    /// - Throws: what will not pass by waiting.
    func run() async throws {
        while true {
            _ = try await parts.orLater("open deliveries are not counted") { try await look() }
            do { try await parts.clock.sleep(for: Self.interval) } catch { return }
        }
    }

    private func look() async throws(LedgerError) {
        let counts = try await room.deliveryCounts()
        let now = parts.clock.now()
        metrics.report(counts, now: now)
        guard counts.open > 0, !isAnyServed,
            parts.alerts.count("delivery.unserved", at: parts.clock.elapsed(), every: Self.lineInterval) != nil
        else { return }
        parts.logger.error(
            """
            Deliveries are open and no app has an inventory service: these paid purchases are neither told nor published \
            until the app has its fulfillment in the apps file again and the workers are restarted
            """,
            metadata: [
                "deliveries": "\(counts.open)", "overdueSeconds": "\(counts.overdueSeconds(now: now))",
            ])
    }
}

/// What is open in the ledger, of all workers.
private struct DeliveryBacklogMetrics: Sendable {
    private let open: Gauge
    /// How long the first of them has been due. Alert if it grows.
    private let overdue: Gauge

    init(_ factory: any MetricsFactory) {
        open = Gauge(label: "grantor_deliveries_open", factory: factory)
        overdue = Gauge(label: "grantor_delivery_overdue_seconds", factory: factory)
    }

    func report(_ counts: DeliveryCounts, now: Timestamp) {
        open.record(counts.open)
        overdue.record(counts.overdueSeconds(now: now))
    }
}

extension DeliveryCounts {
    /// How long the first has been due; 0 if none is.
    fileprivate func overdueSeconds(now: Timestamp) -> Int64 {
        max(0, now.milliseconds - (firstDueAt ?? now).milliseconds) / 1000
    }
}
