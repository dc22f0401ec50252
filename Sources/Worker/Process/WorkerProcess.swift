import AppStore
public import Configuration
import Contract
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
/// SIGTERM and SIGINT stop it in order, SIGHUP reads the apps file again. It ends by itself only where a person must look.
public struct WorkerProcess {
    private let configuration: WorkerConfiguration
    private let logger: Logger
    private let registry: PrometheusRegistry

    public init(_ configuration: WorkerConfiguration, logger: Logger, registry: PrometheusRegistry = .shared) {
        self.configuration = configuration
        self.logger = logger
        self.registry = registry
    }

    /// Runs until a signal stops it.
    ///
    /// - Throws: ``WorkerFailure``, which says how the process ends.
    public func run() throws(WorkerFailure) {
        // Before any other thread is there, so that all of them inherit it.
        if let refusal = RulesLoading.refusal(of: configuration.apps) { throw .configuration(refusal) }
        ProcessSignals.block()
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
        let health = try WorkerHealth(configuration.http, registry: registry)
        defer { health.stop() }
        let ledger = LedgerOpening(settings: configuration.ledger)
        do throws(LedgerError) {
            guard let id = try ledger.wait(events, logger: logger) else { return }
            logger.info("The ledger is open", metadata: ["ledger": id])
        } catch {
            throw .ledger(error.sentence)
        }
        let drivers = try WorkerDrivers(
            configuration, ledger: ledger, events: events, logger: logger, registry: registry)
        health.watch(drivers.activity)
        let reason = serve(events, drivers)
        drivers.stop()
        switch reason {
        case .stopped(.clean), .stop, .reload: logger.info("The worker has stopped")
        case .stopped(.forgotten(let ledger)):
            throw .ledger(
                "the group has committed offsets, and the ledger \(ledger) knows nothing of them: it is empty, or another "
                    + "one. If it is to be used, run: grantor ledger accept \(ledger)")
        case .stopped(.unusable(let detail)): throw .ledger(detail)
        case .kafkaFailed(let detail): throw .failed(detail)
        }
    }

    /// Hands signals on until the core is done.
    private func serve(_ events: Mailbox<ProcessEvent>, _ drivers: WorkerDrivers) -> ProcessEvent {
        var taken: [ProcessEvent] = []
        var version = 1
        while true {
            events.wake.wait()
            events.takeAll(into: &taken)
            for event in taken {
                switch event {
                case .stop:
                    logger.info("Stopping: what is under way is finished, the rest is read again by the next worker")
                    drivers.core.post(.input(.stop))
                case .reload:
                    version += 1
                    reload(drivers, version: version)
                case .stopped, .kafkaFailed: return event
                }
            }
        }
    }

    private func reload(_ drivers: WorkerDrivers, version: Int) {
        do throws(ConfigurationError) {
            let apps = try ConfiguredApps(file: configuration.appsFile)
            if let refusal = RulesLoading.refusal(of: apps) {
                return logger.error(
                    "The apps file cannot be used; the one that was read before stays in force",
                    metadata: ["cause": refusal])
            }
            drivers.core.post(.input(.rules(drivers.rules.rules(apps, version: version))))
            logger.notice("The apps file is read again", metadata: ["apps": "\(apps.all.count)"])
        } catch {
            logger.error(
                "The apps file cannot be used; the one that was read before stays in force",
                metadata: ["cause": error.description])
        }
    }
}

extension LedgerError {
    /// What is wrong, for people.
    var sentence: String {
        switch self {
        case .unavailable(let detail), .disconnected(let detail), .unusable(let detail): detail
        }
    }
}
