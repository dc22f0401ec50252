import AppStore
public import Configuration
import Contract
import Glibc
import HTTPClient
public import Kafka
import Ledger
import Logging
import Metrics
import Processing
import Scheduling
import Threading

/// The threads of a worker, made from its configuration.
final class WorkerDrivers: Sendable {
    /// Every driver has limits of its own that keep the core's mailbox far below it.
    static let maxMail = 200_000
    /// Time for leaving the group, after the core has stopped.
    static let leavingLimit = Duration.seconds(3)

    let core: Mailbox<CoreMail>
    let snapshots: SnapshotMaker
    let alerts: AlertLog
    let consumer: KafkaConsumer
    let activity: CoreActivity
    private let checkers: CheckerPool
    private let apple: AppleDriver
    private let fulfilment: FulfilmentDriver
    private let writer: LedgerThread
    private let side: LedgerThread
    /// Nil where answers stay for ever.
    private let retention: RetentionThread?
    private let thread: OwnerThread

    /// - Parameter settings: As the configuration has them; the metrics show them.
    init(
        _ configuration: WorkerConfiguration, _ settings: CoreSettings, ledger: LedgerOpening,
        events: Mailbox<ProcessEvent>, metrics: WorkerMetrics, logger: Logger, registry: PrometheusRegistry
    ) throws(WorkerFailure) {
        var snapshots = SnapshotMaker(verifiers: SignatureVerifiers(roots: configuration.apple.roots))
        let first = snapshots.next(configuration.apps, version: 1)
        self.snapshots = snapshots
        activity = CoreActivity(checkers: Processors.usable)
        let clock = LedgerClock()
        do throws(ThreadingError) {
            let core = try Mailbox<CoreMail>(bound: Self.maxMail)
            self.core = core
            checkers = try CheckerPool(core: core, activity: activity)
            let open: @Sendable () throws(LedgerError) -> any LedgerConnection = { () throws(LedgerError) in
                try ledger.open()
            }
            writer = try LedgerThread(
                .write, core: core, clock: clock, metrics: metrics, logger: logger, open: open,
                demandGroup: ledger.demandGroup)
            side = try LedgerThread(
                .side, core: core, clock: clock, metrics: metrics, logger: logger, open: open,
                demandGroup: ledger.demandGroup)
            retention = try Self.retention(configuration.processing, settings, ledger, metrics, logger)
        } catch {
            throw .failed(error.description)
        }
        apple = try Self.apple(configuration, core, events, metrics, logger, registry)
        let producing = Producing(configuration.kafka, logger: logger, registry: registry)
        alerts = AlertLog(logger: logger, metrics: metrics, topics: producing.names)
        fulfilment = FulfilmentDriver(mostCalls: settings.inFlight, core: core, alerts: alerts)
        consumer = try Self.consumer(configuration.kafka, ledger, core, events, metrics, activity, logger, registry)
        let ports = CorePorts(
            mail: core, consumer: KafkaConsumerDriver(consumer: consumer), checkers: checkers, apple: apple,
            fulfilment: fulfilment, writer: writer, side: side, clock: clock, metrics: metrics, activity: activity,
            alerts: alerts,
            stopped: { events.post(.stopped($0)) })
        do throws(KafkaError) { try KafkaProducer.check(producing.configuration) } catch { throw WorkerFailure(error) }
        do throws(ThreadingError) {
            thread = try CoreThread.start(
                settings: settings, apps: first, ports: ports,
                producing: producing, failed: { events.post(.clientFailed($0)) })
        } catch {
            throw .failed(error.description)
        }
    }

    /// An apps file was read again.
    func apply(_ apps: AppsSnapshot) {
        fulfilment.configured(apps)
        core.post(.input(.apps(apps)))
    }

    /// Ends every thread, in the order in which they need each other.
    func stop() {
        // Its call under way may take as long as a dead connection allows. It ends beside the others.
        retention?.endSoon()
        consumer.stop(within: Self.leavingLimit)
        consumer.join()
        apple.stop()
        fulfilment.stop()
        checkers.stop()
        writer.stop()
        side.stop()
        retention?.join()
        // A core that has not stopped in order ends at once: all its work is read again.
        core.close()
        thread.join()
    }

    static func settings(_ configuration: WorkerConfiguration) -> CoreSettings {
        var settings = CoreSettings()
        settings.tellsWaiting = configuration.kafka.topics.inUse.contains(.pending)
        settings.inFlightBytes = Int64(configuration.processing.maxInFlightBytes)
        settings.allow(calls: configuration.processing.maxCalls)
        settings.retryBytes = Int64(configuration.processing.maxRetryBytes)
        settings.doubtLimit = configuration.processing.doubtLimit
        settings.stopLimit = configuration.processing.shutdownTimeout
        settings.worker = WorkerSign(
            id: Int64.random(in: .min ... .max), name: Self.name, version: programVersion)
        return settings
    }

    /// Host and process, for people who look into the ledger.
    private static var name: String { "\(HostName.current ?? "worker")/\(getpid())" }

    private static func apple(
        _ configuration: WorkerConfiguration, _ core: Mailbox<CoreMail>, _ events: Mailbox<ProcessEvent>,
        _ metrics: WorkerMetrics, _ logger: Logger, _ registry: PrometheusRegistry
    ) throws(WorkerFailure) -> AppleDriver {
        let http = AppleRoutes.clientConfiguration(configuration.apple, maxCalls: configuration.processing.maxCalls)
        do throws(HTTPClientError) {
            return try AppleDriver(
                http, AppleRoutes(configuration.apple), core: core, metrics: metrics, logger: logger,
                registry: registry,
                failed: { events.post(.clientFailed($0)) })
        } catch {
            if case .resourcesExhausted = error { throw .failed("HTTPS: \(error)") }
            throw .configuration("HTTPS: \(error)")
        }
    }

    private static func retention(
        _ processing: ProcessingSettings, _ settings: CoreSettings, _ ledger: LedgerOpening,
        _ metrics: WorkerMetrics, _ logger: Logger
    ) throws(ThreadingError) -> RetentionThread? {
        guard let keep = processing.keepAnswers else { return nil }
        let retention = AnswerRetention(
            keep: keep, worker: settings.worker.name, reason: "GRANTOR_KEEP_ANSWERS is \(DurationText.format(keep))",
            startedAt: .now, unit: .random(in: 0..<1))
        return try RetentionThread(retention, metrics: metrics, logger: logger) {
            () throws(LedgerError) in try ledger.open()
        }
    }

    private static func consumer(
        _ kafka: KafkaSettings, _ ledger: LedgerOpening, _ core: Mailbox<CoreMail>, _ events: Mailbox<ProcessEvent>,
        _ metrics: WorkerMetrics, _ activity: CoreActivity, _ logger: Logger, _ registry: PrometheusRegistry
    ) throws(WorkerFailure) -> KafkaConsumer {
        let configuration = KafkaConsumerConfiguration(
            client: kafka.client, groupID: kafka.groupID, topics: [kafka.topics[.submitted]],
            groupInstanceID: kafka.groupInstanceID, remedies: KafkaConsumerDriver.remedies)
        do throws(KafkaError) {
            return try KafkaConsumer(configuration: configuration, metrics: registry, logger: logger) { event in
                KafkaConsumerDriver.received(
                    event, core: core, events: events, metrics: metrics, activity: activity,
                    joined: ledger.joined)
            }
        } catch {
            throw WorkerFailure(error)
        }
    }
}

/// Makes the producer, on the core's thread.
struct Producing: Sendable {
    let configuration: KafkaClientConfiguration
    let names: [Topic: String]
    let logger: Logger
    let registry: PrometheusRegistry

    init(_ kafka: KafkaSettings, logger: Logger, registry: PrometheusRegistry) {
        let outputs = Topic.outputs.filter(kafka.topics.inUse.contains)
        names = Dictionary(uniqueKeysWithValues: outputs.map { ($0, kafka.topics[$0]) })
        configuration = kafka.client
        self.logger = logger
        self.registry = registry
    }

    func producer(wake: WakeDescriptor) throws(KafkaError) -> EventProducer {
        EventProducer(
            producer: try KafkaProducer(
                configuration: configuration, topics: names.values.sorted(), remedies: EventProducer.remedies,
                wake: wake,
                metrics: registry, logger: logger),
            names: names)
    }
}

extension KafkaSettings {
    /// The settings as Kafka's clients take them.
    public var client: KafkaClientConfiguration {
        KafkaClientConfiguration(bootstrapServers: bootstrapServers, properties: revealedProperties)
    }
}

extension WorkerFailure {
    init(_ error: KafkaError) {
        self =
            switch error.disposition {
            case .configuration: .configuration("Kafka: \(error)")
            case .retry, .recreate, .reject: .failed("Kafka: \(error)")
            }
    }
}
