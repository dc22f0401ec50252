import AppStore
import CommandParser
import Configuration
import Contract
import HTTPClient
import Logging
import Synchronization
import Threading
import Worker

/// Asks Apple, one call after the other.
protocol AppleCaller: Sendable {
    /// Makes a call and waits for its end.
    func reply(to call: AppleCall) -> AppStoreReply
    /// Asks verifyReceipt about nothing, to see whether it answers.
    func replyToEmptyReceipt(_ environment: Environment) -> AppStoreReply
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
