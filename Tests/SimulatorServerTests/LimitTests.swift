import Glibc
import HTTPServer
import SimulatorServer
import SocketTesting
import Testing

/// Slow, many or large clients cannot harm the others.
@Suite(.timeLimit(.minutes(5)))
struct LimitTests {
    private static func server(_ change: (inout ServerConfiguration) -> Void) throws -> Server {
        var configuration = ServerConfiguration()
        change(&configuration)
        return try Server(configuration) { request in
            switch request.head.path {
            case "/hang": ServerAnswer(.hang)
            case "/large": .reply(Reply(status: 200, body: Array(repeating: 0, count: 16 << 20)))
            default: .reply(Reply(status: 200, contentType: "text/plain", text: "\(request.body.count)"))
            }
        }
    }

    // MARK: Time

    @Test("A request whose bytes drip ends when its time is over")
    func drippingRequest() throws {
        let server = try Self.server { $0.requestTime = .milliseconds(100) }
        let client = try Client(server.port)
        // Idle time does not count: this goes on until the server ends it.
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX: ")
        #expect(Loopback.drip(client.descriptor))
        #expect(client.readToEnd().isEmpty)
    }

    @Test("A body that drips ends with its request's time, too")
    func drippingBody() throws {
        let server = try Self.server { $0.requestTime = .milliseconds(100) }
        let client = try Client(server.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
        #expect(Loopback.drip(client.descriptor))
        #expect(client.readToEnd().isEmpty)
    }

    @Test("A connection without a request ends when it was idle for long")
    func idle() throws {
        let server = try Self.server { $0.idleTime = .milliseconds(500) }
        let fresh = try Client(server.port)
        #expect(fresh.readToEnd().isEmpty)
        var used = try Client(server.port)
        // On a busy machine the time may be over before the request is sent; then another one sends it.
        while (try? used.get("/").status) != 200 { used = try Client(server.port) }
        #expect(used.readToEnd().isEmpty)
        #expect(!used.wasReset)
    }

    @Test("A client that does not read loses its connection")
    func unread() throws {
        let events = try EventLog()
        let server = try Self.server {
            $0.writeTime = .milliseconds(50)
            $0.observe = events.observe
        }
        let client = try Client(server.port)
        client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        events.wait(for: .connectionClosed)
        #expect(events.count(.requestEnded) == 1)
    }

    @Test("A client that stays after the last answer is left behind")
    func staying() throws {
        let events = try EventLog()
        let server = try Self.server { $0.observe = events.observe }
        let client = try Client(server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(try client.response().status == 200)
        // It neither closes nor stops sending.
        #expect(Loopback.drip(client.descriptor))
        events.wait(for: .connectionClosed)
    }

    // MARK: Number

    @Test("A thousand half-open and slow connections keep nobody out")
    func crowd() throws {
        let events = try EventLog()
        let server = try Self.server {
            $0.maxConnections = 500
            $0.requestTime = .seconds(3600)
            $0.idleTime = .seconds(3600)
            $0.observe = events.observe
        }
        var slow: [Client] = []
        for number in 0..<1000 {
            let client = try Client(server.port, from: 2)
            switch number % 3 {
            case 0: break
            case 1: client.send("GET / HTTP/1.1\r\nHost:")
            default: client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx")
            }
            slow.append(client)
        }
        for _ in 0..<20 { #expect(try Client(server.port).get("/").status == 200) }
        let client = try Client(server.port)
        for _ in 0..<100 { #expect(try client.get("/").status == 200) }
        #expect(events.count(.connectionOpened) == 1021)
        #expect(events.count(.connectionClosed) >= 521)
    }

    @Test("A new connection takes the place of the one that waits for longest")
    func replaced() throws {
        let events = try EventLog()
        let server = try Self.server {
            $0.maxConnections = 3
            $0.observe = events.observe
        }
        let busy = try Client(server.port)
        busy.send("GET /hang HTTP/1.1\r\nHost: a\r\n\r\n")
        events.wait(for: .requestBegan)
        let oldest = try Client(server.port)
        events.wait(for: .connectionOpened, count: 2)
        let younger = try Client(server.port)
        events.wait(for: .connectionOpened, count: 3)
        let newest = try Client(server.port)
        #expect(try newest.get("/").status == 200)
        #expect(oldest.readToEnd().isEmpty)
        #expect(try younger.get("/").status == 200)
        events.wait(for: .requestEnded, count: 2)
    }

    @Test("Where all connections have requests a new one waits in the kernel's queue")
    func allBusy() throws {
        let events = try EventLog()
        let server = try Self.server {
            $0.maxConnections = 2
            $0.observe = events.observe
        }
        let busy = try (0..<2).map { _ in try Client(server.port) }
        for client in busy { client.send("GET /hang HTTP/1.1\r\nHost: a\r\n\r\n") }
        events.wait(for: .requestBegan, count: 2)
        let waiting = try Client(server.port)
        waiting.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        busy[0].close()
        #expect(try waiting.response().status == 200)
        #expect(events.count(.connectionOpened) == 3)
    }

    // MARK: Memory

    @Test("Bodies of all connections together are bounded")
    func bytesInFlight() throws {
        let events = try EventLog()
        let server = try Self.server {
            $0.maxBytesInFlight = 100_000
            $0.observe = events.observe
        }
        let large =
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60001\r\n\r\n" + String(repeating: "x", count: 60_000)
        let first = try Client(server.port)
        first.send(large)
        // A body that is complete counts until it is answered, so this client's bytes are in flight for sure.
        let second = try Client(server.port)
        second.send(large)
        events.wait(for: .requestRefused(status: 503))
        // One of the two was refused; the other one goes on, and the bytes are given back.
        first.send("x")
        second.send("x")
        let statuses = try [first.response().status, second.response().status].sorted()
        #expect(statuses == [200, 503])
        for _ in 0..<5 {
            let client = try Client(server.port)
            #expect(try client.post("/", Array(repeating: 1, count: 60_000)).text == "60000")
        }
    }

    @Test("Each route has a limit for its bodies")
    func routes() throws {
        let server = try Self.server { $0.bodyLimit = { $0.path == "/large" ? 1000 : 10 } }
        #expect(try Client(server.port).post("/large", Array(repeating: 1, count: 1000)).status == 200)
        #expect(try Client(server.port).post("/small", Array(repeating: 1, count: 10)).status == 200)
        #expect(try Client(server.port).post("/small", Array(repeating: 1, count: 11)).status == 413)
    }

    /// In a process of its own: descriptors are the whole process's.
    @Test("A server that runs out of descriptors goes on when there are some again")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            let events = try EventLog()
            let server = try LimitTests.server { $0.observe = events.observe }
            let reserved = Loopback.socket()
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit
            // Descriptors are given out from the lowest number up, and all below are in use.
            limit.rlim_cur = rlim_t(reserved + 1)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let client = try Client(server.port, socket: reserved)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            events.wait(for: .acceptingPaused, count: 2)
            var restored = before
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &restored)
            let response = try client.response()
            try #require(response.status == 200)
            try #require(events.count(.connectionOpened) == 1)
        }
    }
}
