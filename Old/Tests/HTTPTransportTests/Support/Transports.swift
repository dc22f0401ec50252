import HTTPTransport
import Logging
import Metrics
import NIOSSL
import Testing

/// A client that trusts the test authority, and a server that speaks `script`.
struct Setup: Sendable {
    let server: ScriptedServer
    let transport: HTTPTransport

    /// Runs `body` with both, and takes both down.
    static func run<Value: Sendable>(
        tls: NIOSSLContext? = nil, answersTLS: Bool = true,
        metricsFactory: any MetricsFactory = NOOPMetricsHandler.instance,
        configure: (inout HTTPTransportConfiguration) -> Void = { _ in },
        script: @escaping @Sendable (ScriptedServer.Received) -> [ScriptedServer.Step] = { _ in [.send(.ok("fine"))] },
        _ body: (Setup) async throws -> Value
    ) async throws -> Value {
        let authority = try TestAuthority.shared.get()
        let context = answersTLS ? try tls ?? authority.serverContext() : nil
        let server = try await ScriptedServer(tls: context, script: script)
        let transport = try Self.transport(metricsFactory: metricsFactory, configure: configure)
        do {
            let value = try await body(Setup(server: server, transport: transport))
            await transport.shutdown()
            try await server.close()
            return value
        } catch {
            await transport.shutdown()
            try await server.close()
            throw error
        }
    }

    /// Trusts the test authority, with limits that only a hang reaches: on a busy machine a handshake takes seconds. A test
    /// about a limit sets its own.
    static func configuration() throws -> HTTPTransportConfiguration {
        var configuration = HTTPTransportConfiguration()
        configuration.caFile = try TestAuthority.shared.get().caFile
        configuration.totalTimeout = .seconds(120)
        configuration.connectTimeout = .seconds(60)
        configuration.minimumBytesPerSecond = 0
        configuration.maxIdleTime = .seconds(3600)
        configuration.maxConnectionAge = .seconds(3600)
        return configuration
    }

    /// A client with such a configuration.
    static func transport(
        metricsFactory: any MetricsFactory = NOOPMetricsHandler.instance,
        configure: (inout HTTPTransportConfiguration) -> Void
    ) throws -> HTTPTransport {
        var configuration = try Self.configuration()
        configure(&configuration)
        return try HTTPTransport(
            configuration: configuration, logger: Logger(label: "test"), metricsFactory: metricsFactory)
    }

    func get(_ path: String = "/", totalTimeout: Duration? = nil) async throws(HTTPTransportError) -> HTTPResponse {
        try await transport.send(HTTPRequest(method: .get, url: server.url(path), totalTimeout: totalTimeout))
    }

    /// The error that a GET ends with.
    func failure(_ path: String = "/", totalTimeout: Duration? = nil) async throws -> HTTPTransportError {
        try #require(await failureOrNil(path, totalTimeout: totalTimeout))
    }

    private func failureOrNil(_ path: String, totalTimeout: Duration?) async -> HTTPTransportError? {
        do throws(HTTPTransportError) {
            _ = try await get(path, totalTimeout: totalTimeout)
            return nil
        } catch {
            return error
        }
    }
}

extension String {
    /// A whole 200 response.
    static func ok(_ body: String, headers: String = "") -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }
}
