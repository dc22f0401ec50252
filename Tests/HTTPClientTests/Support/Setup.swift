import Logging
import Metrics
import Scheduling
import Synchronization
import Testing
import Threading

@testable import HTTPClient

/// A client that trusts the test authority, and a server that speaks `script`.
struct Setup: Sendable {
    let server: ScriptedServer
    let client: TestClient

    /// Runs `body` with both, and takes both down.
    static func run<Value>(
        _ opening: ScriptedServer.Opening? = nil, registry: PrometheusRegistry = PrometheusRegistry(),
        configure: (inout HTTPClientConfiguration) -> Void = { _ in },
        script: @escaping @Sendable (ScriptedServer.Received) -> [ScriptedServer.Step] = { _ in [.send(.ok("fine"))] },
        _ body: (Setup) throws -> Value
    ) throws -> Value {
        let server = try ScriptedServer(opening ?? .tls(ServerTLS.shared.get()), script: script)
        defer { server.close() }
        let client = try TestClient(registry: registry, configure)
        defer { client.client.stop() }
        return try body(Setup(server: server, client: client))
    }

    func endpoint(_ proxy: HTTPProxy? = nil) throws -> HTTPEndpoint {
        try HTTPEndpoint(baseURL: server.url, proxy: proxy)
    }

    func request(
        _ method: HTTPRequest.Method = .get, _ path: String = "/", headers: [HTTPHeader] = [], acceptsGzip: Bool = false
    ) throws -> HTTPRequest {
        try HTTPRequest(method, endpoint(), path: path, headers: headers, acceptsGzip: acceptsGzip)
    }

    func get(_ path: String = "/", timeout: Duration? = nil) throws -> HTTPResponse {
        try client.result(request(.get, path), timeout: timeout).get()
    }

    /// The failure that a GET ends with.
    func failure(_ path: String = "/", timeout: Duration? = nil) throws -> HTTPFailure {
        switch client.result(try request(.get, path), timeout: timeout) {
        case .success(let response): throw Unexpected(response: response)
        case .failure(let failure): return failure
        }
    }

    struct Unexpected: Error {
        let response: HTTPResponse
    }
}

/// A client whose outcomes are waited for one by one.
final class TestClient: Sendable {
    typealias Answer = Result<HTTPResponse, HTTPFailure>

    let client: HTTPClient
    private let box: OutcomeBox
    private let tokens = Atomic<UInt64>(0)

    init(
        registry: PrometheusRegistry = PrometheusRegistry(),
        _ configure: (inout HTTPClientConfiguration) -> Void = { _ in }
    ) throws {
        let box = OutcomeBox()
        self.box = box
        client = try HTTPClient(
            configuration: Self.configuration(configure), logger: Logger(label: "test"), registry: registry
        ) { box.put($0) }
    }

    /// Trusts the test authority, with limits that only a hang reaches: on a busy machine a handshake takes seconds. A
    /// test about a limit sets its own.
    static func configuration(
        _ configure: (inout HTTPClientConfiguration) -> Void = { _ in }
    ) throws -> HTTPClientConfiguration {
        var configuration = HTTPClientConfiguration()
        configuration.caFile = try ServerTLS.shared.get().caFile
        configuration.totalTimeout = .seconds(120)
        configuration.connectTimeout = .seconds(60)
        configuration.maxIdleTime = .seconds(3600)
        configuration.maxConnectionAge = .seconds(86_400)
        configure(&configuration)
        return configuration
    }

    /// Sends and does not wait.
    ///
    /// - Returns: the call's token, for ``answer(_:)``.
    func start(
        _ request: HTTPRequest, body: [UInt8]? = nil, timeout: Duration? = nil, fresh: Bool = false
    ) -> UInt64 {
        let token = tokens.wrappingAdd(1, ordering: .relaxed).newValue
        client.send([
            HTTPCall(
                token: token, request: request, body: body.map { HTTPBody([$0[...]]) }, timeout: timeout,
                usesFreshConnection: fresh)
        ])
        return token
    }

    /// The outcome of a call, once it is there.
    func answer(_ token: UInt64) -> Answer { box.take(token) }

    func result(
        _ request: HTTPRequest, body: [UInt8]? = nil, timeout: Duration? = nil, fresh: Bool = false
    ) -> Answer {
        answer(start(request, body: body, timeout: timeout, fresh: fresh))
    }

    /// How many outcomes came so far, for whatever token.
    var outcomes: Int { box.count.count }

    /// The calls in the order in which their outcomes came.
    var order: [UInt64] { box.order }
}

/// Keeps outcomes for a waiting test.
private final class OutcomeBox: Sendable {
    private struct State {
        var results: [UInt64: TestClient.Answer] = [:]
        var waiters: [UInt64: WakeDescriptor] = [:]
        var order: [UInt64] = []
    }

    private let state = Mutex(State())
    let count = Tally()

    var order: [UInt64] { state.withLock { $0.order } }

    func put(_ outcomes: [HTTPOutcome]) {
        for outcome in outcomes {
            state.withLock { state in
                if state.results.updateValue(outcome.result, forKey: outcome.token) != nil {
                    Issue.record("two outcomes of one call")
                }
                state.order.append(outcome.token)
                state.waiters.removeValue(forKey: outcome.token)?.signal()
            }
            count.add()
        }
    }

    func take(_ token: UInt64) -> TestClient.Answer {
        do {
            let wake = try WakeDescriptor()
            let isThere = state.withLock { state in
                if state.results[token] != nil { return true }
                state.waiters[token] = wake
                return false
            }
            if !isThere { wake.wait(until: .now + .seconds(180)) }
        } catch {
            Issue.record(error)
        }
        guard let result = state.withLock({ $0.results[token] }) else {
            Issue.record("no outcome")
            return .failure(.stopped)
        }
        return result
    }
}
