import Contract
import Ledger
import Metrics
import Synchronization

/// Metrics by app. Apps of the apps file have series of their own, the first fifty of them. All others are `other`,
/// because anybody can name any app in a submission.
final class AppMetrics: Sendable {
    /// Most apps with series of their own. Each held cause of an app is one more.
    static let most = 50
    static let other = "other"

    static let finished = CounterDeclaration(
        "grantor_submissions_finished_total",
        help:
            "Submissions that got their last outcome from a worker: granted, answered by another's grant, failed; and "
            + "records that went to quarantine. One sent again counts again. Those that an operator gives up do not count.",
        labels: ["app", "outcome"])
    static let waiting = GaugeDeclaration(
        "grantor_submissions_waiting", help: "Submissions that wait in the ledger, of all workers.",
        labels: ["app", "state"])
    static let held = GaugeDeclaration(
        "grantor_submissions_held", help: "Submissions that wait for a person, by cause, of all workers.",
        labels: ["app", "cause"])
    static let heldAge = GaugeDeclaration(
        "grantor_submissions_held_oldest_seconds",
        help: "How long ago the oldest record came that waits for a person; 0 for none.", labels: ["app", "cause"])

    enum Finish: String, CaseIterable {
        case granted, repeated, failed, quarantined
    }

    /// To find a series by its labels costs more than to count.
    private typealias Counters = [Finish: Counter]

    private struct HeldLabels: Hashable {
        let app: String
        let cause: HoldCause
    }

    private struct Shown {
        var counters: [BundleID: Counters] = [:]
        /// Series of held submissions, which go back to zero and stay.
        var held: Set<HeldLabels>
    }

    private let registry: PrometheusRegistry
    private let others: Counters
    private let shown: Mutex<Shown>

    init(_ registry: PrometheusRegistry) {
        self.registry = registry
        others = Self.counters(registry, Self.other)
        // All causes are there from the start, so that an alert on a rise sees the first.
        shown = Mutex(Shown(held: Set(HoldCause.allCases.map { HeldLabels(app: Self.other, cause: $0) })))
        show(LedgerMeasure(retries: [], waiting: [], outboxRows: 0, outboxAge: 0))
    }

    private static func counters(_ registry: PrometheusRegistry, _ label: String) -> Counters {
        WorkerMetrics.series(Finish.allCases) { registry.counter(finished, label, $0.rawValue) }
    }

    /// Apps of an apps file that was read. Former apps keep their series.
    func add(_ apps: [BundleID]) {
        shown.withLock { shown in
            for app in apps.sorted() where shown.counters.count < Self.most && shown.counters[app] == nil {
                shown.counters[app] = Self.counters(registry, app.rawValue)
            }
        }
    }

    /// Counts a submission's last outcome.
    func count(_ app: BundleID, _ finish: Finish) {
        shown.withLock { $0.counters[app] ?? others }[finish]?.increment()
    }

    /// Counts records of which no app is known.
    func quarantined(total: Int) { others[.quarantined]?.raise(to: total) }

    /// Shows a sample of the ledger.
    func show(_ measure: LedgerMeasure) {
        shown.withLock { shown in
            func label(_ app: BundleID) -> String { shown.counters[app] == nil ? Self.other : app.rawValue }
            var held: [HeldLabels: (rows: Int, age: Double)] = [:]
            var waiting: [String: (held: Int, all: Int)] = [:]
            for label in shown.counters.keys.map(\.rawValue) + [Self.other] { waiting[label] = (0, 0) }
            for app in measure.retries { waiting[label(app.bundleID)]?.all += app.rows }
            for group in measure.held {
                let app = label(group.group.bundleID)
                waiting[app]?.held += group.rows
                let labels = HeldLabels(app: app, cause: group.group.cause)
                let (rows, age) = held[labels] ?? (0, 0)
                held[labels] = (rows + group.rows, max(age, measure.takenAt.seconds(since: group.oldest)))
            }
            shown.held.formUnion(held.keys)
            for (app, rows) in waiting {
                registry.gauge(Self.waiting, app, SubmissionState.held.rawValue).set(rows.held)
                registry.gauge(Self.waiting, app, SubmissionState.retrying.rawValue).set(max(0, rows.all - rows.held))
            }
            for labels in shown.held {
                let (rows, age) = held[labels] ?? (0, 0)
                registry.gauge(Self.held, labels.app, labels.cause.rawValue).set(rows)
                registry.gauge(Self.heldAge, labels.app, labels.cause.rawValue).set(age)
            }
        }
    }
}

extension Timestamp {
    /// Seconds from an earlier moment to this one; 0 from a later one, and where none is known.
    func seconds(since earlier: Timestamp?) -> Double {
        earlier.map { max(0, Double(milliseconds - $0.milliseconds) / 1000) } ?? 0
    }
}
