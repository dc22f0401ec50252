import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Why health and metrics cannot be served. The caller stops and says so: a worker nobody can see is not started.
enum HealthServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address is in use, is none of this machine's, or needs a privilege.
    case cannotBind(HTTPBind, reason: String)

    var description: String {
        switch self {
        case .cannotBind(let bind, let reason):
            """
            health and metrics cannot be served on \(bind): \(reason); GRANTOR_HTTP_BIND (http.bind in the file) says where, \
            and each worker of a host needs a place of its own
            """
        }
    }
}

/// Serves `/livez`, `/readyz` and `/metrics` over HTTP/1.1.
///
/// Health answers 200 or 503 with a ``HealthReport``, metrics the Prometheus text format.
struct HealthService<State: HealthState>: Service {
    /// Connections at once. More wait in the kernel's queue: for every 64 that stand before them one
    /// ``ConnectionLifetime/standard``, if all are slow.
    static var maxConnections: Int { 64 }

    private let bind: HTTPBind
    private let state: State
    private let metrics: @Sendable () -> String
    private let onRunning: @Sendable (_ port: Int) async -> Void
    private let lifetime: @Sendable () -> TimeAmount
    private let logger: Logger

    /// - Parameters:
    ///   - metrics: the whole exposition, asked for at each request.
    ///   - lifetime: after so long a connection is closed, whatever happens on it; asked for each.
    ///   - onRunning: called once the address answers, with its port.
    init(
        bind: HTTPBind, state: State, metrics: @escaping @Sendable () -> String, logger: Logger,
        lifetime: @escaping @Sendable () -> TimeAmount = { ConnectionLifetime.standard },
        onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) {
        self.bind = bind
        self.state = state
        self.metrics = metrics
        self.onRunning = onRunning
        self.lifetime = lifetime
        self.logger = logger
    }

    /// Makes sure that the address can be had, by having it for a moment: before a worker begins to join its group,
    /// because one that joins and ends at once takes partitions from those that work.
    ///
    /// - Throws: ``HealthServiceError`` if it cannot.
    func checkAddress() async throws {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: bind.host, port: bind.port).get()
            try await channel.close()
        } catch {
            throw HealthServiceError.cannotBind(bind, reason: Self.reason(error))
        }
    }

    /// What the system says, without the name of the function that was called.
    private static func reason(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }

    /// Serves until graceful shutdown.
    ///
    /// - Throws: ``HealthServiceError`` if the address cannot be had.
    func run() async throws {
        let started = Atomic<Bool>(false)
        // The library reports its own start and stop at `info`; the worker does that for all its parts.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            router: router(),
            server: .http1(
                configuration: .init(additionalChannelHandlers: [ConnectionLifetime(lifetime()), OneAnswer()])),
            configuration: ApplicationConfiguration(
                address: .hostname(bind.host, port: bind.port),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.maxConnections)),
            onServerRunning: { [onRunning] channel in
                started.store(true, ordering: .relaxed)
                await onRunning(channel.localAddress?.port ?? 0)
            },
            logger: quiet)
        do {
            try await application.run()
        } catch {
            guard started.load(ordering: .relaxed) else {
                throw HealthServiceError.cannotBind(bind, reason: Self.reason(error))
            }
            throw error
        }
    }

    private func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("livez") { [state] _, _ in Self.response(HealthReport(checks: state.liveness())) }
        router.get("readyz") { [state] _, _ in Self.response(HealthReport(checks: state.readiness())) }
        router.get("metrics") { [metrics] _, _ in
            Self.response(.ok, type: "text/plain; version=0.0.4; charset=utf-8", text: metrics())
        }
        return router
    }

    private static func response(_ report: HealthReport) -> Response {
        response(report.passed ? .ok : .serviceUnavailable, type: "application/json", text: report.json)
    }

    private static func response(_ status: HTTPResponse.Status, type: String, text: String) -> Response {
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
