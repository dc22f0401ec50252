import Foundation
import FoundationNetworking
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Testing

@testable import Worker

@Suite("Health service", .timeLimit(.minutes(5)))
struct HealthServiceTests {
    private final class State: HealthState {
        let ready = Atomic<Bool>(true)

        func liveness() -> [HealthCheck] { [HealthCheck("loop", passed: true)] }
        func readiness() -> [HealthCheck] { [HealthCheck("ledger", passed: ready.load(ordering: .relaxed))] }
    }

    private let state = State()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Serves on a free port of loopback while a test asks.
    private func serving(
        lifetime: @escaping @Sendable () -> TimeAmount = { .hours(1) },
        _ ask: @Sendable @escaping (_ port: Int) async throws -> Void
    ) async throws {
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let service = HealthService(
            bind: HTTPBind(host: "127.0.0.1", port: 0), state: state, metrics: { "# TYPE x counter\nx 1\n" },
            logger: logger, lifetime: lifetime, onRunning: { found.yield($0) })
        let group = ServiceGroup(services: [service], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            try await ask(port)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private static func get(_ path: String, _ port: Int) async throws -> (status: Int, type: String?, text: String) {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        let (data, response) = try await URLSession(configuration: .ephemeral).data(from: url)
        let answer = try #require(response as? HTTPURLResponse)
        #expect(answer.value(forHTTPHeaderField: "Server") == nil)
        #expect(answer.value(forHTTPHeaderField: "Connection") == "close")
        return (
            answer.statusCode, answer.value(forHTTPHeaderField: "Content-Type"), String(decoding: data, as: UTF8.self)
        )
    }

    @Test("Liveness, readiness and metrics are served on the address")
    func endpoints() async throws {
        try await serving { port in
            let live = try await Self.get("/livez", port)
            #expect(live.status == 200)
            #expect(live.text == #"{"status":"ok","checks":{"loop":"ok"}}"# + "\n")
            #expect(live.type == "application/json")
            #expect(try await Self.get("/readyz", port).status == 200)
            let metrics = try await Self.get("/metrics", port)
            #expect(metrics.status == 200)
            #expect(metrics.text == "# TYPE x counter\nx 1\n")
            #expect(metrics.type == "text/plain; version=0.0.4; charset=utf-8")
            #expect(try await Self.get("/", port).status == 404)
        }
    }

    @Test("A failing check makes readiness 503 and leaves liveness alone")
    func notReady() async throws {
        state.ready.store(false, ordering: .relaxed)
        try await serving { port in
            let ready = try await Self.get("/readyz", port)
            #expect(ready.status == 503)
            #expect(ready.text == #"{"status":"failing","checks":{"ledger":"failing"}}"# + "\n")
            #expect(try await Self.get("/livez", port).status == 200)
        }
    }

    @Test("Clients that do not come to an end keep nobody waiting for good, however many they are")
    func slowClients() async throws {
        let most = HealthService<State>.maxConnections
        // Only the slow ones are short-lived; an answer may take its time.
        let connections = Atomic<Int>(0)
        try await serving(
            lifetime: { connections.add(1, ordering: .relaxed).newValue <= most ? .seconds(3) : .hours(1) }
        ) { port in
            let group = MultiThreadedEventLoopGroup.singleton
            let slow = (0..<most).map { _ in ClientBootstrap(group: group).connect(host: "127.0.0.1", port: port) }
            for client in try await EventLoopFuture.whenAllSucceed(slow, on: group.next()).get() {
                client.writeAndFlush(ByteBuffer(string: "GET /livez HTTP/1.1\r\n"), promise: nil)
            }
            #expect(try await Self.get("/livez", port).status == 200)
        }
    }

    /// All that comes back for some bytes, until the service closes the connection.
    private static func answers(to request: String, _ port: Int) async throws -> String {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var text = ""
            for try await bytes in inbound { text += String(buffer: bytes) }
            return text
        }
    }

    @Test(
        "A connection has one answer, whatever its client asks, and the service ends it",
        arguments: [
            ("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.1 200 OK"),
            ("GET /none HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 404 Not Found"),
            ("GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK"),
            ("no request\r\n\r\n", "HTTP/1.1 400 Bad Request"),
        ])
    func oneAnswer(request: String, status: String) async throws {
        try await serving { port in
            let text = try await Self.answers(to: request, port)
            #expect(text.hasPrefix(status + "\r\n"), "\(text)")
            #expect(text.components(separatedBy: "HTTP/1.1 ").count == 2, "\(text)")
            #expect(text.lowercased().contains("\r\nconnection: close\r\n"))
        }
    }

    @Test("An address that is taken is an error that names it")
    func taken() async throws {
        try await serving { [state, logger] port in
            let second = HealthService(
                bind: HTTPBind(host: "127.0.0.1", port: port), state: state, metrics: { "" }, logger: logger)
            let error = await #expect(throws: HealthServiceError.self) { try await second.run() }
            #expect(error?.description.contains("cannot be served on 127.0.0.1:\(port)") == true)
        }
    }
}
