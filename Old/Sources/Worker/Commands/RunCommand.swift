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
        let (settings, plan) = try await configuration.loadPlan()
        let observability = Observability.start(settings.log)
        let logger = observability.logger
        logger.info("Starting", metadata: settings.metadata())
        OpenFiles.allow(connections: settings.verification.maxInFlight, logger: logger)
        do {
            try await observability.health(at: settings.http, state: NothingYet()).checkAddress()
        } catch {
            throw ExitStatus.configuration.saying("\(error)")
        }
        let health = WorkerHealth()
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: observability.health(at: settings.http, state: health),
                        successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup),
                    .init(
                        service: WorkerService(plan: plan, ledger: settings.ledger, health: health, logger: logger),
                        successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quiet))
        do {
            try await services.run()
        } catch {
            let (status, sentence) = Self.end(error)
            logger.error(
                "The worker ends by itself", metadata: ["cause": "\(sentence)", "exitCode": "\(status.rawValue)"])
            throw status.saying(sentence)
        }
        logger.info("Stopped")
    }

    /// How the worker ends because of an error that waiting does not mend, and what is said of it.
    static func end(_ error: any Error) -> (ExitStatus, String) {
        let sentence = ErrorSentence.of(error)
        return switch error {
        case let error as LedgerError: (error.exitStatus, sentence)
        case let error as KafkaError: (error.exitStatus, "Kafka: \(sentence)")
        case is HTTPTransportError: (.configuration, "HTTPS: \(sentence)")
        case is HealthServiceError: (.configuration, sentence)
        default: (.failed, sentence)
        }
    }

    /// The group's own lines say nothing that the worker's do not.
    private static var quiet: Logger {
        var logger = Logger(label: "lifecycle")
        logger.logLevel = .critical
        return logger
    }
}
