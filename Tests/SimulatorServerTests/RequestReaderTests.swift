import HTTPServer
import Scheduling
import SimulatorServer
import Testing

struct RequestReaderTests {
    private static func events(_ pieces: [[UInt8]]) -> [RequestReader.Event] {
        var reader = RequestReader()
        var events: [RequestReader.Event] = []
        for piece in pieces {
            reader.append(piece)
            while true {
                let event = reader.next()
                if event == .incomplete { break }
                events.append(event)
                if case .refused = event { return events }
            }
        }
        return events
    }

    private static func events(_ text: String) -> [RequestReader.Event] { events([Array(text.utf8)]) }

    @Test("A request has method, target, fields and body")
    func whole() throws {
        let events = Self.events(
            "POST /a/b%20c?d=e?f HTTP/1.1\r\nHost: example.com:8080\r\nX-Name:\t a value \r\nEmpty:\r\n"
                + "Content-Length: 5\r\n\r\nhello")
        guard case .head(let head) = events.first, case .request(let request) = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(request.head == head)
        #expect(head.method == "POST")
        #expect(head.path == "/a/b%20c")
        #expect(head.query == "d=e?f")
        #expect(head["x-name"] == "a value")
        #expect(head["empty"] == "")
        #expect(head["missing"] == nil)
        #expect(head.fields.map(\.name) == ["host", "x-name", "empty", "content-length"])
        #expect(head.contentLength == 5)
        #expect(head.keepsAlive)
        #expect(!head.expectsContinue)
        #expect(request.body == Array("hello".utf8))
    }

    @Test("Requests behind one another come one after the other")
    func pipelined() {
        let events = Self.events(
            "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nokGET /3")
        let paths = events.compactMap { event in
            if case .request(let request) = event { request.head.path } else { nil }
        }
        #expect(paths == ["/1", "/2"])
        #expect(events.count == 4)
    }

    @Test(
        "A connection is kept where version and client agree",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\n", true), ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n", false),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE ,y\r\n", false),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n", true),
            ("GET / HTTP/1.0\r\n", false), ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n", false),
        ])
    func keepsAlive(head: String, keepsAlive: Bool) {
        guard case .head(let head) = Self.events(head + "\r\n").first else {
            Issue.record("no head")
            return
        }
        #expect(head.keepsAlive == keepsAlive)
    }

    @Test("A client may wait for leave to send its body")
    func leave() {
        let text = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n"
        guard case .head(let head) = Self.events(text).first else {
            Issue.record("no head")
            return
        }
        #expect(head.expectsContinue)
        #expect(Self.events(text).count == 1)
    }

    @Test("A body is taken whatever its bytes are")
    func anyBytes() {
        let body = (0...255).map { UInt8($0) } + Array("\r\n\r\n".utf8)
        let head = Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
        guard case .request(let request) = Self.events([head, body]).last else {
            Issue.record("no request")
            return
        }
        #expect(request.body == body)
    }

    @Test("Bytes in the buffer say whether a request has begun")
    func buffered() {
        var reader = RequestReader()
        #expect(reader.bufferedBytes == 0)
        reader.append(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\nG".utf8))
        _ = (reader.next(), reader.next())
        #expect(reader.bufferedBytes == 1)
        reader.append([0])
        #expect(reader.next() == .refused(.badRequest))
        #expect(reader.next() == .refused(.badRequest))
        #expect(reader.bufferedBytes == 0)
    }

    /// Requests as clients and attackers send them, to be cut and spoilt.
    private static let samples = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /x?y HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: b\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok",
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/3.0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    ]

    @Test("Every way to cut a text in two gives the same events", arguments: samples)
    func cuts(text: String) {
        let bytes = Array(text.utf8)
        let whole = Self.events([bytes])
        #expect(!whole.isEmpty)
        for cut in 0...bytes.count {
            #expect(Self.events([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole)
        }
        #expect(Self.events(bytes.map { [$0] }) == whole)
    }

    @Test(
        "Spoilt requests and random bytes give the same events however they are cut", arguments: 0..<40 as Range<UInt64>
    )
    func randomCuts(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let bytes = Self.spoilt(using: &generator)
            let whole = Self.events([bytes])
            for _ in 0..<4 {
                let pieces = Self.cut(bytes, using: &generator)
                let split = Self.events(pieces)
                guard split == whole else {
                    Issue.record("\(bytes) in \(pieces.map(\.count)): \(split) in place of \(whole)")
                    return
                }
            }
            // Nothing is made up: bodies are pieces of the input, and heads have one host or none.
            for case .request(let request) in whole {
                #expect(request.body.count == request.head.contentLength)
                #expect(request.head.fields.count { $0.name == "host" } <= 1)
                #expect(!request.head.fields.contains { $0.name == "transfer-encoding" })
            }
        }
    }

    private static func spoilt(using generator: inout SplitMix64) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            if Int.random(in: 0..<8, using: &generator) == 0 {
                bytes += (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
            } else {
                bytes += Array((samples.randomElement(using: &generator) ?? "").utf8)
            }
        }
        let interesting = Array("\r\n :,\t\0/1a".utf8)
        for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            let byte = interesting.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[index] = byte
            case 1: bytes.insert(byte, at: index)
            default: bytes.remove(at: index)
            }
        }
        return bytes
    }

    private static func cut(_ bytes: [UInt8], using generator: inout SplitMix64) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...max(1, min(rest.count, 30)), using: &generator)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}
