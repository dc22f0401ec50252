import ArgumentParser
import Foundation
import Fulfillment
import HTTPTransport
import Kafka
import Ledger
import Logging
import ServiceLifecycle
import UnixSignals

/// `grantor run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs the worker until SIGTERM or SIGINT.",
        discussion: """
            On a signal the worker stops reading, settles what is in flight within GRANTOR_SHUTDOWN_TIMEOUT, publishes, \
            commits, leaves its group and exits 0. What does not end in time is read again after the next start.
            """)

    @OptionGroup var configuration: ConfigurationOptions

    func run() async throws {
        let settings = try configuration.load()
        let plan = try ConfigurationOptions.reporting { () throws(ConfigurationError) in try WorkerPlan(settings) }
        MemoryAllocator.limitHeaps()
        let observability = Observability.start(settings.log)
        let logger = observability.logger
        logger.info("Starting", metadata: settings.metadata())
        do {
            try await observability.health(at: settings.http, state: NothingYet()).checkAddress()
        } catch {
            throw ExitStatus.configuration.saying("\(error)")
        }
        let ledger = try await open(settings.ledger, logger)
        let worker = try assemble(plan, ledger: ledger.ledger, logger: logger)
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: observability.health(at: settings.http, state: WorkerHealth(worker.pipeline)),
                        successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup),
                    .init(
                        service: WorkerService(worker: worker),
                        successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quiet))
        do {
            try await services.run()
        } catch let error as LedgerError {
            throw error.exitStatus.saying(error.advice)
        } catch let error as HealthServiceError {
            throw ExitStatus.configuration.saying("\(error)")
        } catch SourceError.fatal(let cause) {
            throw ExitStatus.failed.saying("the Kafka consumer cannot go on: \(cause)")
        }
        try await ledger.close()
        logger.info("Stopped")
    }

    private func open(_ settings: LedgerSettings, _ logger: Logger) async throws -> OpenLedger {
        do throws(LedgerError) {
            return try await OpenLedger(settings, migratingFile: true, logger: logger)
        } catch {
            throw error.exitStatus.saying(error.advice)
        }
    }

    private func assemble(
        _ plan: WorkerPlan, ledger: any PipelineLedger & DeliveryRoom, logger: Logger
    ) throws -> AssembledWorker {
        do {
            return try AssembledWorker(plan: plan, ledger: ledger, logger: logger)
        } catch let error as KafkaError {
            throw error.exitStatus.saying("Kafka: \(error.line)")
        } catch let error as HTTPTransportError {
            throw ExitStatus.configuration.saying("HTTPS: \(error)")
        }
    }

    /// The group's own lines say nothing that the worker's do not.
    private static var quiet: Logger {
        var logger = Logger(label: "lifecycle")
        logger.logLevel = .critical
        return logger
    }
}
