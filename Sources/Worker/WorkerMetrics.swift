import Configuration
import Contract
import Ledger
import Logging
import Metrics
import Processing
import Scheduling

/// A worker's metrics. Each is updated once per batch, where the counted things happen.
struct WorkerMetrics: Sendable {
    private let registry: PrometheusRegistry
    private let apps: AppMetrics
    let apple: AppleMetrics
    let fulfilment: FulfilmentMetrics
    let read: Counter
    let published: Counter
    let notTaken: Counter
    let writeSeconds: Timer
    let batchSize: Recorder
    let written: Timer
    let told: Timer
    let pruned: Counter
    let pruneFailures: Counter
    let clockLead: Gauge
    let inFlight: Gauge
    private let created: [Environment: Counter]
    private let decisions: [Outcome.Word: Counter]
    private let failures: [String: Counter]
    private let retrying: [RetryCause: Counter]
    private let held: [HoldCause: Counter]

    init(
        _ registry: PrometheusRegistry, limits: CoreSettings = CoreSettings(),
        ledger: LedgerSettings = .sqlite(path: "")
    ) {
        self.registry = registry
        apps = AppMetrics(registry)
        apple = AppleMetrics(registry)
        fulfilment = FulfilmentMetrics(registry)
        registry.gauge(Self.inFlightLimit).set(limits.inFlight)
        registry.gauge(Self.inFlightLimitBytes).set(Double(limits.inFlightBytes))
        registry.gauge(Self.retryLimit).set(Double(limits.retryBytes))
        registry.observe(Self.linesLost) { Double(DescriptorWriter.standardError.lost) }
        read = registry.counter(Self.read)
        published = registry.counter(Self.published)
        notTaken = registry.counter(Self.notTaken)
        writeSeconds = registry.timer(Self.writeSeconds)
        batchSize = registry.recorder(Self.batchSize)
        written = registry.timer(Self.written)
        told = registry.timer(Self.told)
        pruned = registry.counter(Self.pruned)
        pruneFailures = registry.counter(Self.pruneFailures)
        clockLead = registry.gauge(Self.clockLead)
        inFlight = registry.gauge(Self.inFlight)
        created = Self.series(Environment.allCases) { registry.counter(Self.created, $0.rawValue) }
        decisions = Self.series(Outcome.Word.allCases) { registry.counter(Self.decisions, $0.rawValue) }
        failures = Self.series(FailureReason.allCases.map(\.rawValue)) { registry.counter(Self.failures, $0) }
        retrying = Self.series(RetryCause.allCases) { registry.counter(Self.waits, "retrying", $0.rawValue) }
        held = Self.series(HoldCause.allCases) { registry.counter(Self.waits, "held", $0.rawValue) }
        switch ledger {
        case .sqlite(let path):
            registry.gauge(Self.build, programVersion, "sqlite").set(1)
            registry.observe(Self.diskFree) { Disk.free(for: path).map { Double($0) } ?? .nan }
        case .postgres: registry.gauge(Self.build, programVersion, "postgresql").set(1)
        }
        showFromTheStart()
    }

    /// A series for each key, made once: to find one by its labels costs more than to count.
    static func series<Key, Series>(_ keys: [Key], _ make: (Key) -> Series) -> [Key: Series] {
        Dictionary(keys.map { ($0, make($0)) }) { first, _ in first }
    }

    private func showFromTheStart() {
        for kind in AlertNews.Kind.allCases { registry.counter(Self.alerts, kind.rawValue).increment(by: 0) }
        for reason in PassedOver.Reason.allCases { registry.counter(Self.passedOver, reason.rawValue).increment(by: 0) }
        for reason in QuarantineReason.Kind.allCases {
            registry.counter(Self.quarantined, reason.rawValue).increment(by: 0)
        }
        for role in LedgerRole.allCases { registry.counter(Self.unavailable, role.rawValue).increment(by: 0) }
    }

    // MARK: The worker

    /// An apps file is in force.
    /// - Parameter services: Apps with an inventory service.
    func appsFileTaken(_ bundleIDs: [BundleID], services: [BundleID], at now: Timestamp) {
        apps.add(bundleIDs)
        fulfilment.add(services)
        registry.gauge(Self.appsFileTaken).set(1)
        registry.gauge(Self.appsFileReadAt).set(Double(now.milliseconds) / 1000)
    }

    /// An apps file is in force from now on.
    /// - Parameter moment: When it was read.
    func taken(_ configured: ConfiguredApps, readAt moment: Timestamp) {
        appsFileTaken(
            configured.all.map(\.app.bundleID),
            services: configured.all.filter { $0.fulfilment != nil }.map(\.app.bundleID), at: moment)
    }

    /// The apps file on disk cannot be used.
    func appsFileRefused() { registry.gauge(Self.appsFileTaken).set(0) }

    func alert(_ kind: AlertNews.Kind) { registry.counter(Self.alerts, kind.rawValue).increment() }

    /// Shows the core's state, once a second.
    func show(_ status: CoreStatus) {
        for (state, count) in status.submissions { registry.gauge(Self.inFlightSubmissions, state).set(count) }
        for (reason, total) in status.quarantined {
            registry.counter(Self.quarantined, reason.rawValue).raise(to: total)
        }
        for (reason, total) in status.passedOver {
            registry.counter(Self.passedOver, reason.rawValue).raise(to: total)
        }
        apps.quarantined(total: status.quarantined.values.reduce(0, +))
        registry.gauge(Self.inFlightBytes).set(Double(status.bytes))
        registry.gauge(Self.assigned).set(status.partitionsAssigned)
        registry.gauge(Self.owned).set(status.partitionsOwned)
        for reason in CoreStatus.ReadingStop.allCases {
            registry.gauge(Self.readingStopped, reason.rawValue).set(status.readingStop == reason ? 1 : 0)
        }
        apple.show(status.gates)
        fulfilment.show(status.services)
    }

    // MARK: Events

    /// - Parameter age: How long ago the outcome of an event was written; nil for one that the outbox owes.
    func published(_ reports: [PublishReport], age: (PublishToken) -> Duration?) {
        var taken = 0
        for report in reports where report.result == .acknowledged {
            taken += 1
            if let age = age(report.token) { told.record(age) }
        }
        published.increment(by: taken)
        if taken < reports.count { notTaken.increment(by: reports.count - taken) }
    }

    // MARK: The ledger

    func unavailable(_ role: LedgerRole) { registry.counter(Self.unavailable, role.rawValue).increment() }

    /// A batch that the ledger has written.
    func wrote(_ decisions: [Decision], _ results: [DecisionResult], took: Duration, now: Timestamp) {
        writeSeconds.record(took)
        batchSize.record(decisions.count)
        for (decision, result) in zip(decisions, results) {
            guard case .written(let outcome, _, _) = result else { continue }
            self.decisions[outcome.word]?.increment()
            let app = decision.claimant.bundleID
            switch outcome {
            case .granted(let number):
                apps.count(app, .granted)
                if number > 0 { created[decision.environment]?.increment(by: number) }
            case .repeated: apps.count(app, .repeated)
            case .failed(let reason):
                apps.count(app, .failed)
                // A later version's word has a series of its own.
                (failures[reason] ?? registry.counter(Self.failures, reason)).increment()
            case .retrying(let cause): retrying[cause]?.increment()
            case .held(let cause): held[cause]?.increment()
            case .redelivery: break
            }
            if outcome.isGranted, case .submission(let submission) = decision.subject {
                written.record(max(.zero, now.since(submission.receivedAt)))
            }
        }
    }

    /// The ledger's own sample of its waiting rows.
    func measured(_ measure: LedgerMeasure) {
        apps.show(measure)
        fulfilment.show(measure.calls, at: measure.takenAt)
        registry.gauge(Self.workers).set(measure.workers)
        for endpoint in AppleMetrics.endpoints {
            let groups = measure.waiting.filter { $0.endpoint.map { Endpoint($0.service, $0.environment) } == endpoint }
            let (service, environment) = (endpoint.service.rawValue, endpoint.environment.rawValue)
            registry.gauge(Self.retrying, service, environment).set(groups.reduce(0) { $0 + $1.rows })
            registry.gauge(Self.retryingAge, service, environment)
                .set(groups.reduce(0) { max($0, measure.takenAt.seconds(since: $1.oldest)) })
        }
        registry.gauge(Self.retryBytes).set(Double(measure.retries.reduce(0) { $0 + $1.bytes }))
        registry.gauge(Self.outboxRows).set(measure.outboxRows)
        registry.gauge(Self.outboxAge).set(Double(measure.outboxAge) / 1000)
    }
}

extension Decision {
    /// The environment of what it grants. All purchases of a decision have the same.
    fileprivate var environment: Environment {
        guard case .grant(let purchases, _) = content else { return .production }
        return purchases.first?.purchase.environment ?? .production
    }
}

extension Outcome {
    /// Outcomes as metrics and logs name them.
    enum Word: String, CaseIterable {
        case granted, redelivery, repeated, failed, retrying, held
    }

    /// Whether a player gets something by it. A failure may come late on purpose, after all doubts; a redelivery's age
    /// is the former answer's.
    fileprivate var isGranted: Bool {
        switch self {
        case .granted, .repeated: true
        case .failed, .redelivery, .retrying, .held: false
        }
    }

    var word: Word {
        switch self {
        case .granted: .granted
        case .redelivery: .redelivery
        case .repeated: .repeated
        case .failed: .failed
        case .retrying: .retrying
        case .held: .held
        }
    }
}
