import HTTPServer
import SimulatorServer
import Testing

/// Everything that a stand-in for a service does wrong on purpose.
@Suite(.timeLimit(.minutes(5)))
struct FaultTests {
    private static func server(_ answer: ServerAnswer, _ change: (inout ServerConfiguration) -> Void = { _ in }) throws
        -> Server
    {
        var configuration = ServerConfiguration()
        change(&configuration)
        return try Server(configuration) { request in
            request.head.path == "/fault" ? answer : .reply(Reply(status: 200, contentType: "text/plain", text: "fine"))
        }
    }

    private static let reply = Reply(status: 200, body: Array(repeating: 120, count: 1001))

    @Test("A connection is reset")
    func reset() throws {
        let server = try Self.server(ServerAnswer(.reset))
        let client = try Client(server.port)
        #expect(throws: Client.Failed.self) { try client.get("/fault") }
        #expect(client.wasReset)
    }

    @Test("A connection is closed")
    func closed() throws {
        let server = try Self.server(ServerAnswer(.close))
        let client = try Client(server.port)
        #expect(throws: Client.Failed.self) { try client.get("/fault") }
        #expect(!client.wasReset)
    }

    @Test("An answer is cut off behind half of its bytes")
    func cutOff() throws {
        let server = try Self.server(ServerAnswer(.cutOff(Self.reply)))
        let client = try Client(server.port)
        client.send("GET /fault HTTP/1.1\r\nHost: a\r\n\r\n")
        let text = String(decoding: client.readToEnd(), as: UTF8.self)
        #expect(text.contains("content-length: 1001\r\n"))
        #expect(text.hasSuffix("\r\n\r\n" + String(repeating: "x", count: 500)))
    }

    @Test("An answer drips whole, and the connection goes on")
    func drips() throws {
        let server = try Self.server(ServerAnswer(.drip(Self.reply, bytes: 200, every: .milliseconds(1))))
        let client = try Client(server.port)
        #expect(try client.get("/fault").body == Self.reply.body)
        #expect(try client.get("/").text == "fine")
        client.send("HEAD /fault HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.response(toHead: true).status == 200)
        #expect(try client.get("/").text == "fine")
    }

    @Test("A dripping answer comes in pieces")
    func dripsInPieces() throws {
        let server = try Self.server(ServerAnswer(.drip(Self.reply, bytes: 600, every: .seconds(3600))))
        let client = try Client(server.port)
        client.send("GET /fault HTTP/1.1\r\nHost: a\r\n\r\n")
        // The head comes with the first piece; the second one is an hour away.
        #expect(throws: Never.self) { try client.partialBody(600) }
    }

    @Test("A request hangs until its client gives up")
    func hangs() throws {
        let events = try EventLog()
        let server = try Self.server(ServerAnswer(.hang)) { $0.observe = events.observe }
        let client = try Client(server.port)
        client.send("GET /fault HTTP/1.1\r\nHost: a\r\n\r\n")
        events.wait(for: .requestBegan)
        #expect(events.count(.requestEnded) == 0)
        client.close()
        events.wait(for: .requestEnded)
    }

    @Test("A request hangs until the time for answers is over")
    func hangsUntilLimit() throws {
        let server = try Self.server(ServerAnswer(.hang)) { $0.answerTime = .milliseconds(20) }
        let client = try Client(server.port)
        client.send("GET /fault HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.readToEnd().isEmpty)
    }

    @Test("Answers wait as timers, all at once")
    func waits() throws {
        let server = try Self.server(ServerAnswer(.reply(Self.reply), delay: .milliseconds(200)))
        let start = ContinuousClock.now
        let clients = try (0..<100).map { _ in try Client(server.port) }
        for client in clients { client.send("GET /fault HTTP/1.1\r\nHost: a\r\n\r\n") }
        for client in clients { #expect(try client.response().body == Self.reply.body) }
        // One after the other they would take twenty seconds; a busy machine takes a part of that.
        #expect(start.duration(to: .now) >= .milliseconds(200))
    }

    @Test("A client may go away while its answer waits")
    func goneClient() throws {
        let events = try EventLog()
        let late = ServerAnswer(.reply(Self.reply), delay: .seconds(3600))
        let server = try Self.server(late) { $0.observe = events.observe }
        let clients = try (0..<50).map { _ in try Client(server.port) }
        for client in clients { client.send("GET /fault HTTP/1.1\r\nHost: a\r\n\r\n") }
        events.wait(for: .requestBegan, count: 50)
        for client in clients { client.close() }
        events.wait(for: .connectionClosed, count: 50)
        #expect(events.count(.requestEnded) == 50)
    }

    @Test("Bytes that come ahead of an answer are kept for later, within a bound")
    func earlyBytes() throws {
        let events = try EventLog()
        var configuration = ServerConfiguration()
        configuration.bodyLimit = { _ in 1 << 20 }
        configuration.observe = events.observe
        let server = try Server(configuration) { request in
            guard request.head.path == "/later" else {
                return .reply(Reply(status: 200, contentType: "text/plain", text: "\(request.body.count)"))
            }
            return ServerAnswer(.reply(Reply(status: 200)), delay: .milliseconds(100))
        }
        let client = try Client(server.port)
        let ahead =
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + String(repeating: "x", count: 200_000)
        client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n" + ahead)
        events.wait(for: .requestBegan)
        #expect(try client.response().status == 200)
        #expect(try client.response().text == "200000")
    }
}
