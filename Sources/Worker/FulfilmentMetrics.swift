import Contract
import Fulfilment
import Ledger
import Metrics
import Processing
import Synchronization

/// Metrics of calls to inventory services, by app. As of ``AppMetrics``, the first fifty apps with a service have
/// series of their own; all others are `other`.
final class FulfilmentMetrics: Sendable {
    static let calls = CounterDeclaration(
        "grantor_fulfilment_calls_total",
        help: "Ends of calls to inventory services: accepted, refused (410, 422), limited, failed or unanswered.",
        labels: ["app", "result"])
    static let callSeconds = TimerDeclaration(
        "grantor_fulfilment_call_seconds", help: "Time until an inventory service answered or could not.")
    static let owed = GaugeDeclaration(
        "grantor_fulfilment_owed",
        help: "Grants, and copies for repeats, that wait for their inventory service's yes, of all workers.",
        labels: ["app"])
    static let oldest = GaugeDeclaration(
        "grantor_fulfilment_oldest_seconds",
        help:
            "How long ago the oldest grant was written that waits for its inventory service, without refused ones; 0 "
            + "for none.",
        labels: ["app"])
    static let refused = GaugeDeclaration(
        "grantor_fulfilment_refused",
        help: "Those of them that their inventory service refused when it was last called.", labels: ["app"])
    static let breakers = GaugeDeclaration(
        "grantor_fulfilment_breakers", help: "Circuit breakers of inventory services in each phase.",
        labels: ["phase"])
    static let inFlight = GaugeDeclaration(
        "grantor_fulfilment_calls_in_flight", help: "Calls to inventory services that are under way.")

    private typealias Results = [FulfilmentAnswer.Label: Counter]

    private let registry: PrometheusRegistry
    private let seconds: Timer
    private let others: Results
    private let shown = Mutex(Shown())

    private struct Shown {
        var apps: [BundleID: Results] = [:]
        /// The latest sample, which may be a minute old before the next one comes.
        var calls: [LedgerMeasure.Calls] = []
        var takenAt = Timestamp(milliseconds: 0)
    }

    init(_ registry: PrometheusRegistry) {
        self.registry = registry
        seconds = registry.timer(Self.callSeconds)
        others = Self.results(registry, AppMetrics.other)
        show([], at: Timestamp(milliseconds: 0))
        show(CoreStatus.Services())
    }

    private static func results(_ registry: PrometheusRegistry, _ app: String) -> Results {
        WorkerMetrics.series(FulfilmentAnswer.Label.allCases) { registry.counter(Self.calls, app, $0.rawValue) }
    }

    /// Apps with a service, of an apps file that was read. Earlier ones keep their series.
    func add(_ services: [BundleID]) {
        shown.withLock { shown in
            for app in services.sorted() where shown.apps.count < AppMetrics.most && shown.apps[app] == nil {
                shown.apps[app] = Self.results(registry, app.rawValue)
            }
            // Figures of apps that were others before, and all others' as they were.
            show(shown)
        }
    }

    /// The end of a call.
    func called(_ app: BundleID, _ label: FulfilmentAnswer.Label, took: Duration) {
        seconds.record(took)
        (shown.withLock { $0.apps[app] } ?? others)[label]?.increment()
    }

    /// Shows a sample of the ledger: each app has its figures, which are 0 where nothing is owed.
    func show(_ calls: [LedgerMeasure.Calls], at now: Timestamp) {
        shown.withLock { shown in
            (shown.calls, shown.takenAt) = (calls, now)
            show(shown)
        }
    }

    /// Under the lock, because the apps file is read again on another thread than samples come on. A sample that was
    /// read before must not be shown after the next one.
    private func show(_ shown: Shown) {
        var figures: [String: (rows: Int, refused: Int, oldest: Timestamp?)] = [:]
        for label in shown.apps.keys.map(\.rawValue) + [AppMetrics.other] { figures[label] = (0, 0, nil) }
        for owed in shown.calls {
            let label = shown.apps[owed.bundleID] == nil ? AppMetrics.other : owed.bundleID.rawValue
            let before = figures[label] ?? (0, 0, nil)
            let oldest = [before.oldest, owed.oldest].compactMap(\.self).min()
            figures[label] = (before.rows + owed.rows, before.refused + owed.refused, oldest)
        }
        for (app, owed) in figures {
            registry.gauge(Self.owed, app).set(owed.rows)
            registry.gauge(Self.refused, app).set(owed.refused)
            registry.gauge(Self.oldest, app).set(shown.takenAt.seconds(since: owed.oldest))
        }
    }

    /// Shows the gates' state, once a second.
    func show(_ services: CoreStatus.Services) {
        for (phase, count) in services.phases { registry.gauge(Self.breakers, phase).set(count) }
        registry.gauge(Self.inFlight).set(services.inFlight)
    }
}
