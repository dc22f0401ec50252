import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A TLS server on loopback that answers each request by a script, byte for byte.
final class ScriptedServer: Sendable {
    /// What one request looked like.
    struct Received: Sendable {
        let number: Int
        let head: String
        let body: [UInt8]
    }

    enum Step: Sendable {
        case send(String)
        case sendBytes([UInt8])
        /// Sends `byte` again and again, this often.
        case drip(UInt8, every: TimeAmount)
        /// Goes on when the gate is open.
        case pass(Gate)
        /// Ends the connection without a TLS farewell.
        case finish
        /// Ends the connection with a TCP reset.
        case reset
    }

    /// Opens when as many requests stand before it as it asks for.
    final class Gate: Sendable {
        private let left: Mutex<Int>
        private let promise: EventLoopPromise<Void>

        init(opensAt count: Int, on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton) {
            left = Mutex(count)
            promise = group.any().makePromise()
        }

        deinit { promise.succeed() }

        func arrive() -> EventLoopFuture<Void> {
            let opens = left.withLock {
                $0 -= 1
                return $0 == 0
            }
            if opens { promise.succeed() }
            return promise.futureResult
        }
    }

    /// What happened so far, and whoever waits for more of it.
    let connections = Tally()
    let closedConnections = Tally()
    let requests = Tally()
    let atOnce = HighWater()
    let log = RequestLog()
    private let channel: any Channel

    /// - Parameter tls: What to show; nil: TCP connections are accepted and never answered.
    init(tls: NIOSSLContext?, script: @escaping @Sendable (Received) -> [Step]) async throws {
        let (connections, closed, requests, atOnce, log) = (connections, closedConnections, requests, atOnce, log)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                connections.add()
                channel.closeFuture.whenComplete { _ in closed.add() }
                guard let tls else { return channel.eventLoop.makeSucceededVoidFuture() }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        AbruptCloser(), NIOSSLServerHandler(context: tls),
                        ScriptHandler(
                            script: { request in
                                log.append(request)
                                return script(request)
                            }, requests: requests, atOnce: atOnce),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    func url(_ path: String = "/") -> String { "https://localhost:\(port)\(path)" }

    func close() async throws { try await channel.close() }
}

/// Everything that was asked, in order.
final class RequestLog: Sendable {
    private let entries = Mutex<[ScriptedServer.Received]>([])

    var all: [ScriptedServer.Received] { entries.withLock { $0 } }

    func append(_ request: ScriptedServer.Received) { entries.withLock { $0.append(request) } }
}

/// Counts, and lets tests wait for a count instead of sleeping.
final class Tally: Sendable {
    private struct State {
        var count = 0
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    @discardableResult func add() -> Int {
        let (count, due) = state.withLock { state in
            state.count += 1
            let count = state.count
            let due = state.waiters.filter { $0.count <= count }
            state.waiters.removeAll { $0.count <= count }
            return (count, due)
        }
        for waiter in due { waiter.continuation.resume() }
        return count
    }

    func reaches(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

/// How many were in at once at most.
final class HighWater: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    func enter() { state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func leave() { state.withLock { $0.now -= 1 } }
}
