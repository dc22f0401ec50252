import Glibc
import HTTPServer
import SimulatorServer
import Synchronization
import Testing
import Threading

@Suite(.timeLimit(.minutes(5)))
struct ServerTests {
    /// Answers with the path that was asked for, and the length of the body.
    @Sendable private static func echo(_ request: Request) -> ServerAnswer {
        .reply(
            Reply(
                status: 200, contentType: "text/plain",
                text: "\(request.head.method) \(request.head.path) \(request.body.count)"))
    }

    private static func configuration(_ events: EventLog? = nil) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        if let events { configuration.observe = events.observe }
        return configuration
    }

    @Test("A connection is used for many requests")
    func manyRequests() throws {
        let events = try EventLog()
        let server = try Server(Self.configuration(events), handler: Self.echo)
        let client = try Client(server.port)
        for number in 0..<50 {
            #expect(try client.get("/\(number)").text == "GET /\(number) 0")
            #expect(try client.post("/", Array(repeating: 1, count: number * 100)).text == "POST / \(number * 100)")
        }
        events.wait(for: .requestEnded, count: 100)
        #expect(events.count(.connectionOpened) == 1)
    }

    @Test("Requests behind one another are answered in their order")
    func order() throws {
        let server = try Server(Self.configuration(), handler: Self.echo)
        let client = try Client(server.port)
        client.send((0..<100).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
        for number in 0..<100 { #expect(try client.response().text == "GET /\(number) 0") }
    }

    @Test("A reply has its fields and its length, and no body where none may be")
    func replies() throws {
        let server = try Server(Self.configuration()) { request in
            switch request.head.path {
            case "/204": .reply(Reply(status: 204))
            default: .reply(Reply(status: 299, fields: [HeaderField("X-A", "b\r\nX-C: d")], body: [65]))
            }
        }
        let client = try Client(server.port)
        let reply = try client.get("/")
        #expect(reply.head == "http/1.1 299 status\r\nx-a: b  x-c: d\r\ncontent-length: 1")
        client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.response(toHead: true).head == reply.head)
        #expect(try client.get("/204").head == "http/1.1 204 no content")
        #expect(try client.get("/").text == "A")
    }

    @Test(
        "A request that is not taken is answered, and the connection ends",
        arguments: [
            ("no request\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/2.0\r\n", 505),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 999999\r\n\r\n", 413),
        ])
    func refused(request: String, status: Int) throws {
        let events = try EventLog()
        let server = try Server(Self.configuration(events)) { _ in
            Issue.record("the handler was asked")
            return ServerAnswer(.close)
        }
        let client = try Client(server.port)
        // More than the kernel takes for a reader that is gone: a reset would take the answer away.
        client.send(request + "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let text = String(decoding: client.readToEnd(), as: UTF8.self).lowercased()
        #expect(text.hasPrefix("http/1.1 \(status) "))
        #expect(text.contains("\r\nconnection: close\r\n"))
        #expect(text.split(separator: "http/1.1").count == 1)
        #expect(!client.wasReset)
        #expect(events.count(.requestRefused(status: status)) == 1)
    }

    @Test("A client that asks for leave to send its body gets it")
    func leave() throws {
        let server = try Server(Self.configuration(), handler: Self.echo)
        let client = try Client(server.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(try client.response().head == "http/1.1 100 continue")
        client.send("ok")
        #expect(try client.response().text == "POST / 2")
    }

    @Test("A connection ends behind the answer to its last request")
    func lastRequest() throws {
        var configuration = Self.configuration()
        configuration.maxRequestsPerConnection = 2
        let server = try Server(configuration, handler: Self.echo)
        let client = try Client(server.port)
        #expect(!(try client.get("/1").head.contains("connection: close")))
        client.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.response().head.contains("connection: close"))
        #expect(client.readToEnd().isEmpty)
        #expect(!client.wasReset)
    }

    @Test("A client ends its connection by asking for it")
    func asked() throws {
        let server = try Server(Self.configuration(), handler: Self.echo)
        for request in ["GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
            let client = try Client(server.port)
            client.send(request)
            let text = String(decoding: client.readToEnd(), as: UTF8.self)
            #expect(text.contains("connection: close\r\n\r\nGET / 0"))
        }
    }

    @Test("An address that is taken is an error that names it")
    func taken() throws {
        let server = try Server(Self.configuration(), handler: Self.echo)
        var configuration = Self.configuration()
        configuration.port = server.port
        let error = #expect(throws: ServerError.self) { try Server(configuration, handler: Self.echo) }
        #expect(error?.description == "cannot serve on 127.0.0.1:\(server.port): Address already in use")
        configuration.host = "no such host"
        #expect(throws: ServerError.self) { try Server(configuration, handler: Self.echo) }
    }

    @Test("A stopped server frees its port and ends its connections")
    func stopped() throws {
        let events = try EventLog()
        let server = try Server(Self.configuration(events), handler: Self.echo)
        let client = try Client(server.port)
        _ = try client.get("/")
        server.stop()
        server.stop()
        #expect(client.readToEnd().isEmpty)
        #expect(events.count(.connectionClosed) == 1)
        var configuration = Self.configuration()
        configuration.port = server.port
        let next = try Server(configuration, handler: Self.echo)
        #expect(try Client(next.port).get("/").status == 200)
    }

    @Test("A server that nobody holds ends")
    func dropped() throws {
        var configuration = Self.configuration()
        // Longer than a test run: the connection does not end because of it.
        configuration.idleTime = .seconds(3600)
        var server: Server? = try Server(configuration, handler: Self.echo)
        let client = try Client(try #require(server).port)
        _ = try client.get("/")
        server = nil
        #expect(client.readToEnd().isEmpty)
    }

    @Test("A host's name serves as well as an address")
    func names() throws {
        var configuration = Self.configuration()
        configuration.host = "localhost"
        #expect(throws: Never.self) { try Server(configuration, handler: Self.echo) }
    }
}
