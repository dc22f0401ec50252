import AppStore
import Audit
import CommandParser
import Configuration
import Contract
import FoundationEssentials
import Fulfilment
import Glibc
import HTTPClient
import Kafka
import Logging
import Scheduling
import Threading
import Worker

extension CommandContext {
    /// The process's own environment, terminal and clock, and the world that the configuration names.
    static func process() -> CommandContext {
        let environment = ProcessInfo.processInfo.environment
        // Commands end by themselves and say what failed; libraries' lines would say it twice.
        let logger = Logger(label: "command", level: .critical, handler: LineLogHandler(format: .text))
        return CommandContext(
            environment: environment, width: Terminal.width(environment: environment),
            now: { .now }, clock: { .now }, pause: Pausing.pause,
            output: StandardOutput.write, bytes: StandardOutput.write(bytes:),
            progress: ProgressOutput(isTerminal: isatty(STDERR_FILENO) == 1, write: StandardOutput.writeError),
            ledgers: .configured,
            auditedTopics: { KafkaTopics($0.client, group: $0.groupID, logger: logger) },
            cluster: { KafkaAdmin(configuration: $0.client, logger: logger) },
            input: { KafkaInput($0, logger: logger) }, quarantine: { KafkaQuarantine($0, logger: logger) },
            sender: { settings, topics throws(CommandFailure) in
                try KafkaRecordSender(settings, topics: topics, logger: logger)
            },
            holdSignals: ProcessSignals.block,
            checkClients: { settings throws(CommandFailure) in try settings.checkClients() },
            apple: { settings throws(CommandFailure) in try HTTPSAppleCaller(settings, logger: logger) },
            service: { WaitingClient.reply(of: $0, logger: logger) }, logHandler: { LineLogHandler(format: $0) })
    }
}

/// Lets time pass, for commands that keep a pace.
enum Pausing {
    static func pause(_ duration: Duration) {
        guard duration > .zero else { return }
        let (seconds, attoseconds) = duration.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var rest = timespec()
        while nanosleep(&time, &rest) != 0, errno == EINTR { time = rest }
    }
}

extension KafkaSettings {
    /// Makes the clients that a worker would make, and drops them. A worker's clients accept the same settings.
    func checkClients() throws(CommandFailure) {
        let consumer = KafkaConsumerConfiguration(
            client: client, groupID: groupID, topics: [topics[.submitted]], groupInstanceID: groupInstanceID)
        do throws(KafkaError) {
            try consumer.check()
            try KafkaProducer.check(client)
        } catch {
            throw failure(error)
        }
    }
}

/// Makes HTTPS calls for commands: the thread that calls waits.
final class WaitingClient: Sendable {
    private let client: HTTPClient
    /// Where the client's thread leaves an outcome for the thread that waits.
    private let outcomes: Mailbox<HTTPOutcome>

    /// - Throws: for settings that the HTTP client does not take, and if the system gives no thread.
    init(_ configuration: HTTPClientConfiguration, logger: Logger) throws(HTTPClientError) {
        let outcomes: Mailbox<HTTPOutcome>
        do throws(ThreadingError) {
            outcomes = try Mailbox(bound: 1)
        } catch {
            throw .resourcesExhausted("eventfd", errno: 0)
        }
        self.outcomes = outcomes
        client = try HTTPClient(configuration: configuration, logger: logger) { outcomes.post(contentsOf: $0) }
    }

    /// Makes a call and waits for its end; nil if the client has ended.
    func outcome(of call: HTTPCall) -> Result<HTTPResponse, HTTPFailure>? {
        guard client.send([call]) else { return nil }
        outcomes.wake.wait()
        var arrived: [HTTPOutcome] = []
        outcomes.takeAll(into: &arrived)
        return arrived.last?.result ?? .failure(.stopped)
    }

    /// Asks an inventory service for nothing, to see whether it answers.
    static func reply(of service: FulfilmentService, logger: Logger) -> FulfilmentReply {
        do throws(HTTPClientError) {
            let client = try WaitingClient(
                FulfilmentRoute.clientConfiguration(caFile: service.caFile, maxCalls: 1), logger: logger)
            let call = try FulfilmentRoute(service).harmlessCall(token: 0)
            return client.outcome(of: call).map { FulfilmentReply($0) } ?? .failed(.cancelled)
        } catch {
            return .failed(.unreachable)
        }
    }

    deinit { client.stop() }
}

/// Asks Apple over HTTPS, for commands: the thread that asks waits.
final class HTTPSAppleCaller: AppleCaller {
    private let routes: AppleRoutes
    private let client: WaitingClient

    /// - Throws: the end of a command whose settings the HTTP client refuses, or for which the system has no thread.
    init(_ settings: AppleSettings, logger: Logger) throws(CommandFailure) {
        do throws(HTTPClientError) {
            routes = try AppleRoutes(settings)
            client = try WaitingClient(AppleRoutes.clientConfiguration(settings, maxCalls: 1), logger: logger)
        } catch {
            if case .resourcesExhausted = error { throw CommandFailure(.failed, "HTTPS: \(error)") }
            throw CommandFailure(.configuration, "HTTPS: \(error)")
        }
    }

    func reply(to call: AppleCall) -> AppStoreReply {
        reply { () throws(HTTPClientError) in try routes.httpCall(call, token: 0) }
    }

    func replyToEmptyReceipt(_ environment: Environment) -> AppStoreReply {
        reply { () throws(HTTPClientError) in try routes.emptyReceiptCall(environment, token: 0) }
    }

    private func reply(to call: () throws(HTTPClientError) -> HTTPCall) -> AppStoreReply {
        do throws(HTTPClientError) {
            return client.outcome(of: try call()).map { AppStoreReply($0) } ?? .failed(.cancelled)
        } catch {
            return .failed(.unreachable)
        }
    }
}
