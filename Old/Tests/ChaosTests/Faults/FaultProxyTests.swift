import NIOCore
import NIOPosix
import SystemTesting
import Testing

@testable import grantor_chaos

@Suite("Fault proxy")
struct FaultProxyTests {
    private static let limit = Duration.seconds(60)

    @Test("What passes comes through and back unchanged")
    func passing() async throws {
        let bench = try await Bench()
        let line = try await bench.connect()
        try await line.send("hello")
        try await line.expect("hello")
        try await bench.close()
    }

    @Test("What is stalled comes through later, all of it and in order")
    func stalled() async throws {
        let bench = try await Bench()
        let line = try await bench.connect()
        try await line.send("one")
        try await line.expect("one")
        try await bench.proxy.set(.stalled)
        try await line.send(" two")
        try await line.send(" three")
        // Had it not been held up, it would be back before this.
        try await bench.roundTripBesides()
        #expect(line.text == "one")
        try await bench.proxy.set(.passing)
        try await line.expect("one two three")
        try await bench.close()
    }

    @Test("What is swallowed never comes through; the connection is dead and is reset in the end")
    func swallowing() async throws {
        let bench = try await Bench()
        let line = try await bench.connect()
        try await bench.proxy.set(.swallowing)
        try await line.send("lost")
        try await bench.roundTripBesides()
        #expect(line.text == "")
        #expect(line.isOpen)
        try await bench.proxy.set(.passing)
        try await line.expectEnd()
        #expect(line.text == "")
        try await bench.close()
    }

    @Test("Cut connections are reset, and new ones get through at once")
    func cut() async throws {
        let bench = try await Bench()
        let line = try await bench.connect()
        try await line.send("a")
        try await line.expect("a")
        try await bench.proxy.cut()
        try await line.expectEnd()
        let next = try await bench.connect()
        try await next.send("b")
        try await next.expect("b")
        try await bench.close()
    }

    @Test("While it refuses, no connection gets through; afterwards new ones do")
    func refusing() async throws {
        let bench = try await Bench()
        let line = try await bench.connect()
        try await line.send("a")
        try await line.expect("a")
        try await bench.proxy.set(.refusing)
        try await line.expectEnd()
        if let refused = try? await bench.connect() { try await refused.expectEnd() }
        try await bench.proxy.set(.passing)
        let next = try await bench.connect()
        try await next.send("b")
        try await next.expect("b")
        try await bench.close()
    }

    /// A server that sends everything back, with the proxy before it and another one beside it.
    private struct Bench {
        let proxy: FaultProxy
        private let besides: FaultProxy
        private let server: any Channel

        init() async throws {
            server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Echo())
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(server.localAddress?.port)
            proxy = try await FaultProxy.start(before: port)
            besides = try await FaultProxy.start(before: port)
        }

        func connect() async throws -> Line {
            try await Line.connect(proxy.port)
        }

        /// Waits as long as it takes to get through the server and back.
        func roundTripBesides() async throws {
            let line = try await Line.connect(besides.port)
            try await line.send("besides")
            try await line.expect("besides")
        }

        func close() async throws {
            try await proxy.close()
            try await besides.close()
            try await server.close()
        }
    }

    /// A client's connection and what came back on it.
    private struct Line {
        private let channel: any Channel
        private let received: Received

        static func connect(_ port: Int) async throws -> Line {
            let received = Received()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Collector(received))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
            return Line(channel: channel, received: received)
        }

        var text: String { received.text }
        var isOpen: Bool { channel.isActive }

        func send(_ text: String) async throws {
            try await channel.writeAndFlush(ByteBuffer(string: text))
        }

        func expect(_ text: String) async throws {
            try await eventually("\(text) comes back", within: FaultProxyTests.limit) {
                received.text == text ? true : nil
            }
        }

        func expectEnd() async throws {
            try await eventually("the connection ends", within: FaultProxyTests.limit) {
                channel.isActive ? nil : true
            }
        }
    }
}
