import Dispatch
import Glibc
import SocketTesting
import Synchronization
import Testing

@testable import HTTPServer

/// The answers that clients get. No client keeps others out, however slow, many or large requests are.
@Suite(.timeLimit(.minutes(5)))
struct ProbeServerTests {
    private static func server(
        connectionTime: Duration = .seconds(3600), port: Int = 0, exhausted: @escaping @Sendable () -> Void = {}
    ) throws -> ProbeServer {
        try ProbeServer(host: "127.0.0.1", port: port, connectionTime: connectionTime, exhausted: exhausted) { head in
            switch head.path {
            case "/large": Reply(status: 200, body: Array(repeating: 0x78, count: 16 << 20))
            case "/none": Reply(status: 204)
            default: Reply(status: 299, fields: [HeaderField("X-A", "b\r\nX-C: d")], body: Array(head.path.utf8))
            }
        }
    }

    @Test("A request is answered, and its connection ends")
    func answers() throws {
        let server = try Self.server()
        let text = try LoopbackClient(server.port).answer("GET /path HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(text == "HTTP/1.1 299 Status\r\nX-A: b  X-C: d\r\ncontent-length: 5\r\nconnection: close\r\n\r\n/path")
        let head = try LoopbackClient(server.port).answer("HEAD /path HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(head == String(text.dropLast("/path".count)))
        let empty = try LoopbackClient(server.port).answer("GET /none HTTP/1.0\r\n\r\n")
        #expect(empty == "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
    }

    /// Holds its first call until a test lets it go on, and keeps the requests of all calls.
    private final class Turns: RequestHandler, Sendable {
        let paths = Mutex<[[String]]>([])
        let (hasBegun, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

        func replies(to heads: [RequestHead]) -> [Reply] {
            let isFirst = paths.withLock { paths in
                paths.append(heads.map(\.path))
                return paths.count == 1
            }
            if isFirst {
                hasBegun.signal()
                mayGoOn.wait()
            }
            return heads.map { Reply(status: 200, body: Array($0.path.utf8)) }
        }

        func refusal(_ status: Int) -> Reply { .refusal(status) }
    }

    @Test("Requests that come while others are answered are handed over together, and each gets its own reply")
    func together()
        throws
    {
        let turns = Turns()
        let server = try ProbeServer(host: "127.0.0.1", port: 0) { turns }
        let first = try LoopbackClient(server.port)
        first.send(Array("GET /first HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        turns.hasBegun.wait()
        let others = try (0..<5).map { number in
            let client = try LoopbackClient(server.port)
            client.send(Array("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            return client
        }
        turns.mayGoOn.signal()
        #expect(try first.answer("").hasSuffix("\r\n\r\n/first"))
        for (number, client) in others.enumerated() {
            #expect(try client.answer("").hasSuffix("\r\n\r\n/\(number)"))
        }
        #expect(turns.paths.withLock { $0.map { $0.sorted() } } == [["/first"], ["/0", "/1", "/2", "/3", "/4"]])
    }

    @Test("A request may come byte by byte, and an answer may be longer than the socket's buffer")
    func pieces() throws {
        let server = try Self.server()
        let client = try LoopbackClient(server.port)
        for byte in "GET /large HTTP/1.1\r\nHost: a\r\n\r".utf8 { client.send([byte]) }
        #expect(try client.answer("\n").utf8.count > 16 << 20)
    }

    @Test(arguments: [
        ("no request\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/2.0\r\n", 505),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", 413),
        ("GET / HTTP/1.1\r\n" + String(repeating: "A: \(String(repeating: "b", count: 1000))\r\n", count: 30), 431),
    ])
    func `a request that is not taken is answered, and unread bytes do not take the answer away`(
        request: String, status: Int
    ) throws {
        let server = try Self.server()
        let text = try LoopbackClient(server.port).answer(request + String(repeating: "more", count: 1000))
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        #expect(text.contains("\r\n\r\n\(status) "))
    }

    @Test("A connection ends when its time is over, whatever its client does")
    func overtime() throws {
        let server = try Self.server(connectionTime: .milliseconds(100))
        let silent = try LoopbackClient(server.port)
        let dripping = try LoopbackClient(server.port)
        dripping.send(Array("GET / HTTP/1.1\r\nHost: a\r\nX: ".utf8))
        #expect(dripping.drip())
        let staying = try LoopbackClient(server.port)
        staying.send(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        #expect(staying.drip())
        #expect(try silent.answer("").isEmpty)
    }

    @Test("A client that does not read loses its connection")
    func unread() throws {
        let server = try Self.server(connectionTime: .milliseconds(100))
        let client = try LoopbackClient(server.port)
        client.send(Array("GET /large HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        // It reads only once the server has ended another connection that came behind it.
        #expect(try LoopbackClient(server.port).answer("").isEmpty)
        let bytes = (try? client.answer(""))?.utf8.count ?? 0
        #expect(bytes < 16 << 20)
    }

    @Test("A thousand half-open and slow connections, and as many again, keep nobody out")
    func crowd() throws {
        let server = try Self.server()
        var slow: [LoopbackClient] = []
        for number in 0..<(2 * ProbeServer.maxConnections) {
            let client = try LoopbackClient(server.port)
            if number % 2 == 0 { client.send(Array("GET / HTTP/1.1\r\nHost:".utf8)) }
            slow.append(client)
        }
        for _ in 0..<20 {
            #expect(try LoopbackClient(server.port).answer("GET /ok HTTP/1.1\r\nHost: a\r\n\r\n").hasSuffix("/ok"))
        }
        #expect(try slow[1].answer("").isEmpty)
    }

    /// In a process of its own: descriptors are the whole process's.
    @Test("A server that runs out of descriptors goes on when there are some again")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            let refusals = DispatchSemaphore(value: 0)
            let server = try ProbeServerTests.server(exhausted: { refusals.signal() })
            // More than descriptors are free below: others of this process close some at any moment.
            let reserved = (0..<64).map { _ in Loopback.socket() }
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var before = limit
            limit.rlim_cur = rlim_t(reserved.reduce(0, max) + 1)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            // The kernel connects them; the server cannot accept all before the limit is back.
            let clients = try reserved.map { try LoopbackClient(server.port, socket: $0) }
            for _ in 0..<2 { refusals.wait() }
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
            for client in clients {
                try #require(try client.answer("GET /ok HTTP/1.1\r\nHost: a\r\n\r\n").hasSuffix("/ok"))
            }
        }
    }

    @Test("An address that is taken is an error that names it")
    func taken() throws {
        let server = try Self.server()
        let error = #expect(throws: ServerError.self) { try Self.server(port: server.port) }
        #expect(error?.description == "cannot serve on 127.0.0.1:\(server.port): Address already in use")
        #expect(error?.mayPass == true)
        #expect(throws: ServerError.self) {
            try ProbeServer(host: "no such host", port: 0) { _ in Reply(status: 200) }
        }
    }

    @Test("A stopped server frees its port and ends its connections, and so does one that nobody holds")
    func stopped() throws {
        let server = try Self.server()
        let client = try LoopbackClient(server.port)
        server.stop()
        server.stop()
        #expect(try client.answer("").isEmpty)
        var next: ProbeServer? = try Self.server(port: server.port)
        let other = try LoopbackClient(server.port)
        #expect(next != nil)
        next = nil
        #expect(try other.answer("").isEmpty)
    }
}
