import AppStore
import CommandParser
import Configuration
import Contract
import FoundationEssentials
import HTTPClient
import Kafka
import LedgerSQLite
import Logging
import Synchronization
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
            now: SQLiteLedgerConfiguration.wallClock, output: StandardOutput.write, ledgers: .configured,
            cluster: { KafkaAdmin(configuration: $0.client, logger: logger) },
            checkClients: { settings throws(CommandFailure) in try settings.checkClients() },
            apple: { settings throws(CommandFailure) in try HTTPSAppleCaller(settings, logger: logger) },
            logHandler: { LineLogHandler(format: $0) })
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
            let status: ExitStatus = error.disposition == .configuration ? .configuration : .failed
            throw CommandFailure(status, "Kafka: \(words(error))")
        }
    }
}

/// Asks Apple over HTTPS, for commands: the thread that asks waits.
final class HTTPSAppleCaller: AppleCaller {
    /// Where the client's thread leaves an outcome for the thread that waits.
    private final class Outcomes: Sendable {
        let arrived: WakeDescriptor
        private let latest = Mutex<Result<HTTPResponse, HTTPFailure>?>(nil)

        init() throws(ThreadingError) { arrived = try WakeDescriptor() }

        func put(_ outcomes: [HTTPOutcome]) {
            latest.withLock { $0 = outcomes.last?.result }
            arrived.signal()
        }

        func take() -> Result<HTTPResponse, HTTPFailure> {
            arrived.wait()
            arrived.drain()
            return latest.withLock { $0 } ?? .failure(.stopped)
        }
    }

    private let routes: AppleRoutes
    private let client: HTTPClient
    private let outcomes: Outcomes

    /// - Throws: the end of a command whose settings the HTTP client does not take, or that the system gives no thread.
    init(_ settings: AppleSettings, logger: Logger) throws(CommandFailure) {
        do throws(HTTPClientError) {
            routes = try AppleRoutes(settings)
            let outcomes: Outcomes
            do throws(ThreadingError) {
                outcomes = try Outcomes()
            } catch {
                throw .resourcesExhausted("eventfd", errno: 0)
            }
            self.outcomes = outcomes
            client = try HTTPClient(
                configuration: AppleRoutes.clientConfiguration(settings, maxCalls: 1), logger: logger
            ) {
                outcomes.put($0)
            }
        } catch {
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
            guard client.send([try call()]) else { return .failed(.cancelled) }
            return AppStoreReply(outcomes.take())
        } catch {
            return .failed(.unreachable)
        }
    }

    deinit { client.stop() }
}

extension TransportFailure {
    /// Whether it may end by itself: nothing of ours has to change.
    var isApples: Bool {
        switch self {
        case .unreachable, .timedOut, .interrupted: true
        case .tls, .tooLarge, .cancelled: false
        }
    }

    /// For people.
    var words: String {
        switch self {
        case .unreachable: "the host cannot be reached"
        case .timedOut: "it took too long"
        case .tls: "the TLS connection failed, or its certificate is not trusted (GRANTOR_APPLE_CA_FILE)"
        case .interrupted: "the connection broke"
        case .tooLarge: "the answer is too large"
        case .cancelled: "the call was given up"
        }
    }
}

extension KafkaSettings {
    /// An error in words; one about properties begins with the file that set them, and the line if it is about one.
    func words(_ error: KafkaError) -> String {
        let words = PrintableText.singleLine("\(error)")
        guard let file = propertiesFile, error.disposition == .configuration else { return words }
        return "\(error.property.flatMap { file.place(of: $0) } ?? file.path): \(words)"
    }
}
