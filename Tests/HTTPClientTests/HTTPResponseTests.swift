import Testing

@testable import HTTPClient

struct HeaderLinesTests {
    private func value(_ name: String, _ texts: String...) -> String? {
        var lines = HeaderLines()
        for text in texts { lines.append(Array(text.utf8)) }
        return lines.value(of: name)
    }

    @Test(
        "A field is read when it is asked for, whatever ends its line",
        arguments: [("a", "1"), ("B", "2"), ("c", ""), ("D", "4 and 5"), ("e", "x: y"), ("nonsense", nil)])
    func lineEnds(name: String, expected: String?) {
        let texts = ["A: 1\r\n", "b:2\n", "nonsense\r\n", "C:\r\n", "E: x: y\r\n", "D: \t4 and 5 "]
        #expect(value(name, texts.joined()) == expected)
    }

    @Test(
        "A field is found in whatever case, and the first of several counts",
        arguments: ["retry-after", "Retry-After", "RETRY-AFTER"])
    func firstField(name: String) {
        #expect(value(name, "Content-Length: 1\r\n", "rEtRy-AfTeR: 7\r\n", "Retry-After: 8\r\n") == "7")
        #expect(HTTPResponse(status: 429, headers: [HTTPHeader(name: "rEtRy-AfTeR", value: "7")]).header(name) == "7")
    }

    @Test("A name that stands elsewhere than at a line's beginning is none")
    func elsewhere() {
        #expect(value("retry-after", "X-Retry-After: 1\r\n", "X: retry-after: 2\r\n", " retry-after: 3\r\n") == nil)
        #expect(value("retry-after") == nil)
    }

    @Test(
        "What only looks like a name is not taken for it",
        arguments: ["Retry-AfterX", "retry\rafter", "Retry-Afte", "retry\u{0D}after"])
    func lookalikes(name: String) {
        #expect(HTTPResponse(status: 200, headers: [HTTPHeader(name: name, value: "1")]).header("retry-after") == nil)
    }
}

struct ResponseCollectorTests {
    private func collected(_ lines: [String]) -> HeaderLines {
        var collector = ResponseCollector(maxHeaderBytes: 1000, maxBodyBytes: 10)
        #expect(lines.allSatisfy { collector.receive(headerLine: Array(($0 + "\r\n").utf8)) })
        return collector.headers
    }

    @Test("An interim response leaves nothing behind")
    func interim() {
        let headers = collected(["HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 200 OK", "A: 1", ""])
        #expect(headers.value(of: "link") == nil)
        #expect(headers.value(of: "a") == "1")
    }

    @Test("Trailers are left out")
    func trailers() {
        let headers = collected(["HTTP/1.1 200 OK", "A: 1", "", "Trailer: 1", ""])
        #expect(headers.value(of: "trailer") == nil)
        #expect(headers.value(of: "a") == "1")
    }

    @Test("Header bytes are counted over all sections")
    func headerBytes() {
        var collector = ResponseCollector(maxHeaderBytes: 10, maxBodyBytes: 10)
        let taken = ["A: 12\r\n", "\r\n", "\r\n"].map { collector.receive(headerLine: Array($0.utf8)) }
        #expect(taken == [true, true, false])
        #expect(collector.overflow == .headersTooLarge)
    }

    @Test("A body may be as long as the limit, and not a byte longer")
    func bodyLimit() {
        var collector = ResponseCollector(maxHeaderBytes: 10, maxBodyBytes: 3)
        let taken = [[1, 2], [3]].map { collector.receive(body: $0) }
        #expect(taken == [true, true])
        #expect(collector.overflow == nil)
        #expect(collector.body == [1, 2, 3])
        let takenMore = collector.receive(body: [4])
        #expect(!takenMore)
        #expect(collector.overflow == .bodyTooLarge)
        #expect(collector.body.isEmpty)
    }
}
