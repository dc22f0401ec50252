import HTTPServer
import Testing

struct HeadReaderTests {
    private static func head(_ pieces: [[UInt8]]) throws(HeadReader.Refusal) -> RequestHead? {
        var reader = HeadReader()
        for piece in pieces {
            reader.append(piece)
            if let head = try reader.next() { return head }
        }
        return nil
    }

    /// The status that bytes are refused with; nil if they are not.
    private static func refusal(_ pieces: [[UInt8]]) -> Int? {
        do throws(HeadReader.Refusal) {
            _ = try head(pieces)
            return nil
        } catch {
            return error.rawValue
        }
    }

    private static func refusal(_ text: String) -> Int? { refusal([Array(text.utf8)]) }

    @Test("A head has method, target and fields, and the body's bytes stay behind it")
    func wholeHead() throws {
        let text =
            "POST /a/b%20c?d=e?f HTTP/1.1\r\nHost: example.com:8080\r\nX-Name:\t a value \r\nEmpty:\r\n"
            + "Content-Length: 5\r\n\r\nhello"
        var reader = HeadReader()
        reader.append(text.utf8)
        let head = try #require(try reader.next())
        #expect(head.method == "POST")
        #expect(head.path == "/a/b%20c")
        #expect(head.query == "d=e?f")
        #expect(head.isVersion11)
        #expect(head["x-name"] == "a value")
        #expect(head["empty"] == "")
        #expect(head["missing"] == nil)
        #expect(head.fields.map(\.name) == ["host", "x-name", "empty", "content-length"])
        #expect(head.contentLength == 5)
        #expect(Array(reader.rest) == Array("hello".utf8))
    }

    @Test("A field that stands there twice has no one value")
    func twice() throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: 1\r\nauthorization: 2\r\n\r\n"
        let head = try #require(try Self.head([Array(text.utf8)]))
        #expect(head["authorization"] == nil)
        #expect(head.fields.count == 3)
    }

    @Test(arguments: [
        // The request line.
        "\r\n", "GET\r\n", "GET /\r\n", "GET  / HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n", " GET / HTTP/1.1\r\n",
        "GET / x HTTP/1.1\r\n", "G(T / HTTP/1.1\r\n", "GET a HTTP/1.1\r\n", "GET http://a/ HTTP/1.1\r\n",
        "OPTIONS * HTTP/1.1\r\n", "GET /a#b HTTP/1.1\r\n", "GET /\u{E9} HTTP/1.1\r\n", "GET / http/1.1\r\n",
        "GET / HTTP/1\r\n", "GET / HTTP/1.1\n", "GET /\t HTTP/1.1\r\n", "GET / HTTP/1.1\r\r\n", "GET / \r\n",
        // Control characters, as a TLS client sends them.
        "\u{16}\u{3}\u{1}", "GET /\u{0}", "\u{7F}",
        // Fields.
        "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n", "GET / HTTP/1.1\r\nHost: a\r\n: no name\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n", "GET / HTTP/1.1\r\n Host: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n",
        "GET / HTTP/1.1\r\nHost: a\nB: c\r\n", "GET / HTTP/1.1\r\nHost: a\rB: c\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nB: c\u{0}d\r\n", "GET / HTTP/1.1\r\nH\u{E9}: a\r\n",
        // Hosts.
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a, b\r\n",
        "GET / HTTP/1.1\r\nHost: a b\r\n", "GET / HTTP/1.1\r\nHost: u@a\r\n",
        // Lengths.
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000000000\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
    func `bytes that readers could take in two ways are a bad request`(text: String) {
        #expect(Self.refusal(text) == 400)
    }

    @Test("Names are tokens and hosts are hosts, byte for byte")
    func tokens() {
        let letters = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { $0 } + (UInt8(ascii: "A")...UInt8(ascii: "Z"))
        let common = Set(letters + Array("0123456789!$%&'*+-._~".utf8))
        let tokens = common.union("#^`|".utf8)
        let hosts = common.union("();=:[]".utf8)
        for byte in UInt8.min ... .max {
            let method = [byte] + Array(" / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
            #expect((Self.refusal([method]) != 400) == tokens.contains(byte), "\(byte)")
            let host = Array("GET / HTTP/1.1\r\nHost: a".utf8) + [byte] + Array("b\r\n\r\n".utf8)
            #expect((Self.refusal([host]) != 400) == hosts.contains(byte), "\(byte)")
        }
    }

    @Test("A coding, a version, a target and a head that are not taken have statuses of their own")
    func statuses() {
        #expect(Self.refusal("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n") == 411)
        #expect(Self.refusal("PRI * HTTP/2.0\r\n") == 400)
        #expect(Self.refusal("GET / HTTP/2.0\r\n") == 505)
        #expect(Self.refusal("GET / HTTP/0.9\r\n") == 505)
        #expect(Self.refusal("GET /" + String(repeating: "a", count: HeadReader.maxRequestLineBytes)) == 414)
        let field = "A: \(String(repeating: "b", count: 1000))\r\n"
        #expect(Self.refusal("GET / HTTP/1.1\r\n" + String(repeating: field, count: 17)) == 431)
        #expect(Self.refusal("GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 101)) == 431)
        #expect(
            Self.refusal("GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "A: b\r\n", count: 99) + "\r\n") == nil)
    }

    @Test("A head of exactly the limit is taken, and a byte more is not")
    func limit() {
        let line = "GET / HTTP/1.1\r\nHost: a\r\nA: "
        func head(_ bytes: Int) -> String {
            line + String(repeating: "b", count: bytes - line.utf8.count - 4) + "\r\n\r\n"
        }
        #expect(Self.refusal(head(HeadReader.maxHeadBytes)) == nil)
        #expect(Self.refusal(head(HeadReader.maxHeadBytes + 1)) == 431)
    }

    @Test(
        "Every way to cut a text gives the same head or refusal",
        arguments: [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/3.0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        ])
    func cuts(text: String) {
        let bytes = Array(text.utf8)
        let whole = (try? Self.head([bytes]), Self.refusal([bytes]))
        #expect(whole.0 != nil || whole.1 != nil)
        for pieces in (0...bytes.count).map({ [Array(bytes[..<$0]), Array(bytes[$0...])] }) + [bytes.map { [$0] }] {
            #expect((try? Self.head(pieces)) == whole.0)
            #expect(Self.refusal(pieces) == whole.1)
        }
    }
}
