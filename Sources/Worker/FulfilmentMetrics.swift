import Contract
import Fulfilment
import Ledger
import Metrics
import Processing
import Synchronization

/// Metrics of calls to inventory services, by app. As of ``AppMetrics``, the first fifty apps with a service have series
/// of their own; all others are `other`.
final class FulfilmentMetrics: Sendable {
    static let calls = CounterDeclaration(
        "grantor_fulfilment_calls_total",
        help: "Ends of calls to inventory services: accepted, refused (410, 422), limited, failed or unanswered.",
        labels: ["app", "result"])
    static let callSeconds = TimerDeclaration(
        "grantor_fulfilment_call_seconds", help: "Time until an inventory service answered or could not.")
    static let owed = GaugeDeclaration(
        "grantor_fulfilment_owed", help: "Grants that wait for their inventory service's yes, of all workers.",
        labels: ["app"])
    static let oldest = GaugeDeclaration(
        "grantor_fulfilment_oldest_seconds",
        help: "How long ago the oldest grant was written that waits for its inventory service; 0 for none.",
        labels: ["app"])
    static let refused = GaugeDeclaration(
        "grantor_fulfilment_refused",
        help: "Grants that their inventory service refused when it was last called, of all workers.", labels: ["app"])
    static let breakers = GaugeDeclaration(
        "grantor_fulfilment_breakers", help: "Circuit breakers of inventory services in each phase.",
        labels: ["phase"])
    static let inFlight = GaugeDeclaration(
        "grantor_fulfilment_calls_in_flight", help: "Calls to inventory services that are under way.")

    private typealias Results = [FulfilmentAnswer.Label: Counter]

    private let registry: PrometheusRegistry
    private let seconds: Timer
    private let others: Results
    private let apps = Mutex<[BundleID: Results]>([:])

    init(_ registry: PrometheusRegistry) {
        self.registry = registry
        seconds = registry.timer(Self.callSeconds)
        others = Self.results(registry, AppMetrics.other)
        show([], at: Timestamp(milliseconds: 0))
        show(CoreStatus.Services())
    }

    private static func results(_ registry: PrometheusRegistry, _ app: String) -> Results {
        Dictionary(
            uniqueKeysWithValues: FulfilmentAnswer.Label.allCases.map {
                ($0, registry.counter(Self.calls, app, $0.rawValue))
            })
    }

    /// Apps with a service, of an apps file that was read. Those of before keep their series.
    func add(_ services: [BundleID]) {
        apps.withLock { apps in
            for app in services.sorted() where apps.count < AppMetrics.most && apps[app] == nil {
                apps[app] = Self.results(registry, app.rawValue)
            }
        }
        show([], at: Timestamp(milliseconds: 0), only: services)
    }

    /// The end of a call.
    func called(_ app: BundleID, _ label: FulfilmentAnswer.Label, took: Duration) {
        seconds.record(took)
        (apps.withLock { $0[app] } ?? others)[label]?.increment()
    }

    /// Shows a sample of the ledger.
    /// - Parameter only: Apps that have no series yet; nil for a whole sample.
    func show(_ calls: [LedgerMeasure.Calls], at now: Timestamp, only new: [BundleID]? = nil) {
        let known = Set(apps.withLock { $0.keys })
        var shown: [String: (rows: Int, refused: Int, oldest: Timestamp?)] = [:]
        for app in new.map({ known.intersection($0) }) ?? known { shown[app.rawValue] = (0, 0, nil) }
        if new == nil { shown[AppMetrics.other] = (0, 0, nil) }
        for owed in calls {
            let label = known.contains(owed.bundleID) ? owed.bundleID.rawValue : AppMetrics.other
            let before = shown[label] ?? (0, 0, nil)
            let oldest = [before.oldest, owed.oldest].compactMap(\.self).min()
            shown[label] = (before.rows + owed.rows, before.refused + owed.refused, oldest)
        }
        for (app, owed) in shown {
            registry.gauge(Self.owed, app).set(owed.rows)
            registry.gauge(Self.refused, app).set(owed.refused)
            registry.gauge(Self.oldest, app).set(
                owed.oldest.map { max(0, Double(now.milliseconds - $0.milliseconds) / 1000) } ?? 0)
        }
    }

    /// Shows the gates' state, once a second.
    func show(_ services: CoreStatus.Services) {
        for (phase, count) in services.phases { registry.gauge(Self.breakers, phase).set(count) }
        registry.gauge(Self.inFlight).set(services.inFlight)
    }
}
