import Configuration
import Contract
import Ledger
import Logging
import Metrics
import Processing
import Scheduling

/// A worker's metrics. Each is updated once per batch, where the counted things happen.
struct WorkerMetrics: Sendable {
    static let read = CounterDeclaration(
        "grantor_records_read_total", help: "Records read from the input topic.")
    static let outcomes = CounterDeclaration(
        "grantor_submissions_total", help: "Submissions with an outcome in the ledger, by outcome.",
        labels: ["outcome"])
    static let created = CounterDeclaration(
        "grantor_grants_created_total", help: "Purchases granted for the first time.")
    static let passedOver = CounterDeclaration(
        "grantor_purchases_passed_over_total",
        help: "Claimed purchases that were left out beside others that are granted, or were before, by reason.",
        labels: ["reason"])
    static let failures = CounterDeclaration(
        "grantor_submissions_failed_total", help: "Submissions that failed, by reason.", labels: ["reason"])
    static let waits = CounterDeclaration(
        "grantor_submissions_waiting_total",
        help: "Times that a submission began or went on to wait in the ledger, by cause.",
        labels: ["outcome", "cause"])
    static let writeSeconds = TimerDeclaration(
        "grantor_ledger_write_seconds", help: "Time of one batch of decisions at the ledger.")
    static let batchSize = RecorderDeclaration(
        "grantor_ledger_batch_size", help: "Submissions in one batch at the ledger.")
    static let written = TimerDeclaration(
        "grantor_received_to_written_seconds",
        help: "Time from a record's own timestamp until its purchases stood in the ledger as granted, waits included.")
    static let unavailable = CounterDeclaration(
        "grantor_ledger_unavailable_total", help: "Ledger calls that must be tried again, by connection.",
        labels: ["connection"])
    static let published = CounterDeclaration(
        "grantor_events_published_total", help: "Event copies that Kafka acknowledged.")
    static let notTaken = CounterDeclaration(
        "grantor_events_not_taken_total",
        help: "Event copies that Kafka refused, or did not acknowledge in ten seconds.")
    static let callSeconds = TimerDeclaration(
        "grantor_apple_call_seconds", help: "Time until Apple answered or could not, by service and environment.",
        labels: ["service", "environment"])
    static let unanswered = CounterDeclaration(
        "grantor_apple_calls_unanswered_total", help: "Calls to Apple without an answer, by service and environment.",
        labels: ["service", "environment"])
    static let inFlight = GaugeDeclaration(
        "grantor_in_flight", help: "Submissions, rows and events that are under way.")
    static let inFlightSubmissions = GaugeDeclaration(
        "grantor_in_flight_submissions", help: "Submissions that are under way, by state.", labels: ["state"])
    static let inFlightBytes = GaugeDeclaration(
        "grantor_in_flight_bytes", help: "Bytes of records, claims and evidence that are under way.")
    static let inFlightLimit = GaugeDeclaration(
        "grantor_in_flight_limit_submissions", help: "Submissions and rows that may be under way.")
    static let inFlightLimitBytes = GaugeDeclaration(
        "grantor_in_flight_limit_bytes", help: "Bytes that may be under way; see GRANTOR_MAX_IN_FLIGHT_BYTES.")
    static let readingStopped = GaugeDeclaration(
        "grantor_reading_stopped", help: "1 for the reason why no record is read at the moment.", labels: ["reason"])
    static let assigned = GaugeDeclaration(
        "grantor_partitions_assigned", help: "Partitions that the group has given to this worker.")
    static let owned = GaugeDeclaration(
        "grantor_partitions_owned", help: "Partitions that this worker writes for, by the ledger.")
    static let breakers = GaugeDeclaration(
        "grantor_apple_breakers", help: "Circuit breakers in each phase; one for each app's key at the Server API.",
        labels: ["service", "environment", "phase"])
    static let openings = CounterDeclaration(
        "grantor_apple_breaker_openings_total", help: "Times that calls to Apple were stopped.",
        labels: ["service", "environment"])
    static let callLimit = GaugeDeclaration(
        "grantor_apple_call_limit", help: "Calls that may be under way at once; the least of any key's.",
        labels: ["service", "environment"])
    static let callsInFlight = GaugeDeclaration(
        "grantor_apple_calls_in_flight", help: "Calls to Apple that are under way.",
        labels: ["service", "environment"])
    static let callsWaiting = GaugeDeclaration(
        "grantor_apple_calls_waiting", help: "Submissions in memory that wait for their call.",
        labels: ["service", "environment"])
    static let linesLost = CounterDeclaration(
        "grantor_log_lines_lost_total", help: "Log lines for which there was no room because nobody read the log.")
    static let alerts = CounterDeclaration(
        "grantor_alerts_total", help: "News that a person should look at, by kind.", labels: ["kind"])
    static let build = GaugeDeclaration(
        "grantor_build_info", help: "1, for the program's version.", labels: ["version"])
    static let quarantined = CounterDeclaration(
        "grantor_records_quarantined_total",
        help: "Records sent to the quarantine topic, once more where Kafka did not take one.")
    static let waitingRows = GaugeDeclaration(
        "grantor_waiting_rows", help: "Submissions that wait for an endpoint of Apple's, of all workers.",
        labels: ["service", "environment"])
    static let heldRows = GaugeDeclaration(
        "grantor_held_rows", help: "Submissions that wait for a person, by cause, of all workers.", labels: ["cause"])
    static let retryRows = GaugeDeclaration(
        "grantor_retry_rows", help: "Submissions that wait in the ledger, of all workers.")
    static let workers = GaugeDeclaration(
        "grantor_workers", help: "Workers of the ledger that gave a sign of life within 90 seconds.")
    static let retryBytes = GaugeDeclaration(
        "grantor_retry_bytes",
        help: "Bytes of the submissions that wait in the ledger, of all workers; see GRANTOR_MAX_RETRY_BYTES.")
    static let retryLimit = GaugeDeclaration(
        "grantor_retry_limit_bytes", help: "Bytes that may wait in the ledger; at this bound nothing is read.")
    static let outboxRows = GaugeDeclaration(
        "grantor_outbox_rows", help: "Events and fulfilment calls that are owed, of all workers.")
    static let outboxAge = GaugeDeclaration(
        "grantor_outbox_overdue_seconds",
        help: "About how long ago the oldest row of the outbox was first due. Alert if it grows.")

    private let registry: PrometheusRegistry
    let read: Counter
    let created: Counter
    let published: Counter
    let notTaken: Counter
    let quarantined: Counter
    let writeSeconds: Timer
    let batchSize: Recorder
    let written: Timer
    let inFlight: Gauge
    /// By endpoint without a key. To find a series by its labels costs more than a call's other measures.
    private let callSeconds: [Endpoint: Timer]

    init(_ registry: PrometheusRegistry, limits: CoreSettings = CoreSettings()) {
        self.registry = registry
        registry.gauge(Self.inFlightLimit).set(limits.inFlight)
        registry.gauge(Self.inFlightLimitBytes).set(Double(limits.inFlightBytes))
        registry.gauge(Self.retryLimit).set(Double(limits.retryBytes))
        registry.observe(Self.linesLost) { Double(DescriptorWriter.standardError.lost) }
        read = registry.counter(Self.read)
        created = registry.counter(Self.created)
        published = registry.counter(Self.published)
        notTaken = registry.counter(Self.notTaken)
        quarantined = registry.counter(Self.quarantined)
        registry.gauge(Self.build, programVersion).set(1)
        writeSeconds = registry.timer(Self.writeSeconds)
        batchSize = registry.recorder(Self.batchSize)
        written = registry.timer(Self.written)
        inFlight = registry.gauge(Self.inFlight)
        // An alert on a rise sees the first one only if the series was there before.
        for reason in FailureReason.allCases { registry.counter(Self.failures, reason.rawValue).increment(by: 0) }
        for cause in RetryCause.allCases { registry.counter(Self.waits, "retrying", cause.rawValue).increment(by: 0) }
        for cause in HoldCause.allCases { registry.counter(Self.waits, "held", cause.rawValue).increment(by: 0) }
        for kind in AlertLog.Kind.allCases { registry.counter(Self.alerts, kind.rawValue).increment(by: 0) }
        for reason in PassedOver.Reason.allCases { registry.counter(Self.passedOver, reason.rawValue).increment(by: 0) }
        let endpoints = Endpoint.Service.allCases.flatMap { service in
            Environment.allCases.map { Endpoint(service, $0) }
        }
        callSeconds = Dictionary(
            uniqueKeysWithValues: endpoints.map {
                ($0, registry.timer(Self.callSeconds, $0.service.rawValue, $0.environment.rawValue))
            })
    }

    func unavailable(_ role: LedgerRole) { registry.counter(Self.unavailable, role.rawValue).increment() }

    func published(_ reports: [PublishReport]) {
        let taken = reports.count { $0.result == .acknowledged }
        published.increment(by: taken)
        if taken < reports.count { notTaken.increment(by: reports.count - taken) }
    }

    /// Events that are on their way to Kafka.
    func sent(_ tasks: [PublishTask]) {
        let count = tasks.count { $0.event.topic == .quarantined }
        if count > 0 { quarantined.increment(by: count) }
    }

    func alert(_ kind: AlertLog.Kind) { registry.counter(Self.alerts, kind.rawValue).increment() }

    /// Shows the core's state, once a second.
    func show(_ status: CoreStatus) {
        for (state, count) in status.submissions { registry.gauge(Self.inFlightSubmissions, state).set(count) }
        registry.gauge(Self.inFlightBytes).set(Double(status.bytes))
        registry.gauge(Self.assigned).set(status.partitionsAssigned)
        registry.gauge(Self.owned).set(status.partitionsOwned)
        for reason in CoreStatus.ReadingStop.allCases {
            registry.gauge(Self.readingStopped, reason.rawValue).set(status.readingStop == reason ? 1 : 0)
        }
        for gates in status.gates {
            let (service, environment) = (gates.service.rawValue, gates.environment.rawValue)
            for (phase, count) in gates.phases {
                registry.gauge(Self.breakers, service, environment, phase).set(count)
            }
            registry.gauge(Self.callLimit, service, environment).set(gates.limit)
            registry.gauge(Self.callsInFlight, service, environment).set(gates.inFlight)
            registry.gauge(Self.callsWaiting, service, environment).set(gates.waiting)
        }
    }

    /// Calls to an endpoint were stopped.
    func opened(_ endpoint: Endpoint) {
        registry.counter(Self.openings, endpoint.service.rawValue, endpoint.environment.rawValue).increment()
    }

    /// The end of a call to Apple.
    func called(_ endpoint: Endpoint, took: Duration, hasReplied: Bool) {
        callSeconds[Endpoint(endpoint.service, endpoint.environment)]?.record(took)
        guard !hasReplied else { return }
        registry.counter(Self.unanswered, endpoint.service.rawValue, endpoint.environment.rawValue).increment()
    }

    /// A batch that the ledger has written.
    func wrote(_ decisions: [Decision], _ results: [DecisionResult], took: Duration, now: Timestamp) {
        writeSeconds.record(took)
        batchSize.record(decisions.count)
        var counts: [String: Int] = [:]
        for (decision, result) in zip(decisions, results) {
            guard case .written(let outcome, _, let passedOver) = result else { continue }
            counts[outcome.word, default: 0] += 1
            for (reason, count) in passedOver {
                registry.counter(Self.passedOver, reason.rawValue).increment(by: count)
            }
            switch outcome {
            case .granted(let number):
                if number > 0 { created.increment(by: number) }
            case .failed(let reason): registry.counter(Self.failures, reason).increment()
            case .retrying(let cause): registry.counter(Self.waits, outcome.word, cause.rawValue).increment()
            case .held(let cause): registry.counter(Self.waits, outcome.word, cause.rawValue).increment()
            case .redelivery, .repeated: break
            }
            if outcome.isGranted, case .submission(let submission) = decision.subject {
                written.record(max(.zero, now.since(submission.receivedAt)))
            }
        }
        for (word, count) in counts { registry.counter(Self.outcomes, word).increment(by: count) }
    }

    /// The ledger's own sample of what waits in it.
    func measured(_ measure: LedgerMeasure) {
        registry.gauge(Self.workers).set(measure.workers)
        for endpoint in callSeconds.keys {
            let rows = measure.waiting.filter { $0.endpoint.map { Endpoint($0.service, $0.environment) } == endpoint }
            registry.gauge(Self.waitingRows, endpoint.service.rawValue, endpoint.environment.rawValue)
                .set(rows.reduce(0) { $0 + $1.rows })
        }
        for cause in HoldCause.allCases {
            let rows = measure.held.filter { $0.group.cause == cause }
            registry.gauge(Self.heldRows, cause.rawValue).set(rows.reduce(0) { $0 + $1.rows })
        }
        registry.gauge(Self.retryRows).set(measure.retries.reduce(0) { $0 + $1.rows })
        registry.gauge(Self.retryBytes).set(Double(measure.retries.reduce(0) { $0 + $1.bytes }))
        registry.gauge(Self.outboxRows).set(measure.outboxRows)
        registry.gauge(Self.outboxAge).set(Double(measure.outboxAge) / 1000)
    }
}

extension Outcome {
    /// Whether a player gets something by it. A failure may come late on purpose, after all doubts; a redelivery's age
    /// is the former answer's.
    fileprivate var isGranted: Bool {
        switch self {
        case .granted, .repeated: true
        case .failed, .redelivery, .retrying, .held: false
        }
    }

    /// Its word in metrics and logs.
    var word: String {
        switch self {
        case .granted: "granted"
        case .redelivery: "redelivery"
        case .repeated: "repeated"
        case .failed: "failed"
        case .retrying: "retrying"
        case .held: "held"
        }
    }
}
