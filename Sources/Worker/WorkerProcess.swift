import AppStore
public import Configuration
public import Contract
import Glibc
import HTTPClient
import Kafka
import Ledger
public import Logging
public import Metrics
import Processing
import Scheduling
import Threading

/// A worker from its start to its end: makes the drivers and the core, and hands signals on.
///
/// SIGTERM and SIGINT stop it in order, SIGHUP reads the apps file again, also where they came since
/// ``ProcessSignals/block()``. It ends by itself only where a person must look, and where a part of it hangs.
public struct WorkerProcess {
    private let configuration: WorkerConfiguration
    private let readAt: Timestamp
    private let logger: Logger
    private let registry = PrometheusRegistry.shared
    private let beside: (PrometheusRegistry, LedgerDriver) throws(WorkerFailure) -> (() -> Void)?

    /// - Parameters:
    ///   - readAt: When the configuration was read, with its apps file. The worker may wait long before it works by it.
    ///   - beside: Starts the services beside the worker, which use its ledger's driver, and returns how they are
    ///     stopped.
    public init(
        _ configuration: WorkerConfiguration, readAt: Timestamp, logger: Logger,
        beside: @escaping (PrometheusRegistry, LedgerDriver) throws(WorkerFailure) -> (() -> Void)?
    ) {
        self.configuration = configuration
        self.readAt = readAt
        self.logger = logger
        self.beside = beside
    }

    /// Runs until a signal stops it. The process has called ``ProcessSignals/block()`` before it had other threads.
    /// - Throws: ``WorkerFailure``, which says how the process ends.
    public func run() throws(WorkerFailure) {
        let events: Mailbox<ProcessEvent>
        let signals: OwnerThread
        do throws(ThreadingError) {
            events = try Mailbox(bound: 1000)
            signals = try ProcessSignals.start(events)
        } catch {
            throw .failed(error.description)
        }
        defer { withExtendedLifetime(signals) {} }
        OpenFiles.allow(connections: configuration.processing.maxCalls, logger: logger)
        for doubt in configuration.signatureDoubts { logger.warning("\(doubt.rawValue)") }
        // Before the first scrape, not after the wait for the ledger. Prometheus sees no rise in a counter that comes
        // to be with its first event.
        let settings = WorkerDrivers.settings(configuration)
        let metrics = WorkerMetrics(registry, limits: settings, ledger: configuration.ledger)
        metrics.taken(configuration.apps, readAt: readAt)
        ConsumerMetrics.showFromTheStart(registry)
        let health = try WorkerHealth(configuration.http, registry: registry)
        defer { health.stop() }
        let ledger: LedgerOpening
        do throws(LedgerError) {
            ledger = try LedgerOpening(
                configuration.ledger, group: configuration.kafka.group(cluster: nil),
                prunes: configuration.processing.prunes)
        } catch {
            throw .ledger(error.detail)
        }
        let stopBeside = try beside(registry, ledger.driver)
        defer { stopBeside?() }
        do throws(LedgerError) {
            guard let id = try ledger.wait(events, logger: logger) else {
                return logger.info("The worker has stopped")
            }
            logger.info("The ledger is open", metadata: ["ledger": .text(id)])
        } catch {
            throw .ledger(error.detail)
        }
        let drivers = try WorkerDrivers(
            configuration, settings, ledger: ledger, events: events, metrics: metrics, logger: logger,
            registry: registry)
        health.watch(drivers.activity)
        let reason = serve(events, drivers)
        drivers.stop()
        switch reason {
        case .stopped(.clean), .stop, .reload: logger.info("The worker has stopped")
        case .stopped(.forgotten(let ledger)):
            throw .forgotten(ledger: ledger)
        case .stopped(.unusable(let detail)): throw .ledger(detail)
        case .clientFailed(let detail): throw .failed(detail)
        }
    }

    /// Hands signals on until the core is done, and ends the process where a part of it hangs.
    private func serve(_ events: Mailbox<ProcessEvent>, _ drivers: WorkerDrivers) -> ProcessEvent {
        var taken: [ProcessEvent] = []
        var apps = AppsReloading(
            file: configuration.appsFile, configuration.apps, drivers.snapshots, logger: logger, alerts: drivers.alerts)
        var isStopping = false
        var silence = SilenceWatch(from: .now)
        while true {
            events.wake.wait(until: min(apps.nextMoment ?? .distantFuture, silence.nextLook))
            events.takeAll(into: &taken)
            apps.remind(at: .now)
            // A stop has a time limit of its supervisor's.
            if let part = silence.look(at: .now, drivers.activity), !isStopping { end(silent: part) }
            for event in taken {
                switch event {
                case .stop:
                    guard !isStopping else { continue }
                    isStopping = true
                    logger.info("Stopping: what is under way is finished, the rest is read again by the next worker")
                    drivers.core.post(.input(.stop))
                case .reload:
                    if let next = apps.reload(at: .now) { drivers.apply(next) }
                case .stopped, .clientFailed: return event
                }
            }
        }
    }

    /// Ends the process as a kill would: nobody can wait for a thread that hangs, and the mark of a record that is under
    /// check stays in the ledger.
    private func end(silent part: String) -> Never {
        logger.error(
            "A part of the worker hangs, so the worker ends; a new one may work",
            metadata: [
                "part": .text(part), "silent_seconds": .seconds(SilenceWatch.longestSilence), "exit_code": .number(1),
                "version": .text(programVersion),
            ])
        DescriptorWriter.standardError.finish(within: .seconds(1))
        _exit(1)
    }
}

/// Why a worker cannot start, or has ended. Each case says how the process ends.
public enum WorkerFailure: Error, Hashable, Sendable {
    /// A setting cannot be used: exit with 78.
    case configuration(String)
    /// The ledger cannot be used, or is another one than the group has worked with: exit with 78.
    case ledger(String)
    /// The system refuses something that the worker needs, or Kafka's client cannot go on: exit with 1, to be started
    /// again.
    case failed(String)

    /// The group has committed offsets of partitions that the ledger does not know.
    public static func forgotten(ledger id: String) -> WorkerFailure {
        .ledger(
            "the group has committed offsets, and the ledger \(id) knows nothing of them: it is empty, or another one. "
                + "Name the right one, or restore its backup. Beside this one, purchases that were granted before can be "
                + "granted again; to use it all the same, run: grantor ledger accept \(id) --actor NAME --reason WHY")
    }
}

/// News for the process's main thread.
enum ProcessEvent: Sendable {
    /// SIGTERM or SIGINT: stop in order.
    case stop
    /// SIGHUP: read the apps file again.
    case reload
    /// The core is done.
    case stopped(StopReason)
    /// Kafka's client or the client for Apple cannot go on; a new process can.
    case clientFailed(String)
}

/// How many files and connections the process may have open at once (getrlimit(2)).
enum OpenFiles {
    /// Taken beside the calls to Apple: the ledger, brokers, metrics, libraries.
    private static let beside = 100

    /// Raises the limit of open files to the most that the process may set, and warns if that is too little. A
    /// connection that cannot be opened looks like a target that is away.
    /// - Parameter connections: most calls under way at once.
    static func allow(connections: Int, logger: Logger) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        guard limit.rlim_cur < rlim_t(connections + beside) else { return }
        logger.warning(
            "Fewer files may be open than calls to Apple under way; raise the limit of open files (ulimit -n, nofile)",
            metadata: ["limit": .number(Int(clamping: limit.rlim_cur)), "needed": .number(connections + beside)])
    }
}
