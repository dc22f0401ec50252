import Testing

@testable import HTTPClient

struct HeaderLinesTests {
    private func lines(_ texts: String...) -> HeaderLines {
        var lines = HeaderLines()
        for text in texts { lines.append(Array(text.utf8)) }
        return lines
    }

    @Test func `fields are read when they are asked for, whatever ends their lines`() {
        let lines = lines(" folded: onto nothing\r\n", "A: 1\r\n", "b:2\n", "nonsense\r\n", "C:\r\n", "D: 4")
        #expect(lines.fields.map(\.name) == ["A", "b", "C", "D"])
        #expect(lines.fields.map(\.value) == ["1", "2", "", "4"])
    }

    @Test(arguments: ["retry-after", "Retry-After", "RETRY-AFTER"])
    func `a field is found in whatever case`(name: String) {
        #expect(lines("Content-Length: 1\r\n", "Retry-after: 7\r\n").mayHave(name))
        #expect(HTTPResponse(status: 429, headers: [HTTPHeader(name: "rEtRy-AfTeR", value: "7")]).header(name) == "7")
    }

    @Test func `a name that stands elsewhere than at a line's beginning is none`() {
        #expect(!lines("X-Retry-After: 1\r\n", "X: retry-after\r\n").mayHave("retry-after"))
        #expect(!HeaderLines().mayHave("retry-after"))
    }

    @Test func `what only looks like a name is not taken for it`() {
        let response = HTTPResponse(status: 200, headers: [HTTPHeader(name: "Retry-AfterX", value: "1")])
        #expect(response.header("retry-after") == nil)
        #expect(
            HTTPResponse(status: 200, headers: [HTTPHeader(name: "retry\rafter", value: "1")]).header("retry-after")
                == nil)
    }

    @Test func `what fields say is read back as it was written`() {
        let fields = [
            HTTPHeader(name: "A", value: "1"), HTTPHeader(name: "a", value: ""), HTTPHeader(name: "B", value: "x: y"),
        ]
        #expect(HeaderLines(fields).fields == fields)
        #expect(HTTPResponse(status: 200, headers: fields).headers(named: "a") == ["1", ""])
    }
}

struct ResponseCollectorTests {
    private func collected(_ lines: [String]) -> [HTTPHeader] {
        var collector = ResponseCollector(maxHeaderBytes: 1000, maxBodyBytes: 10)
        #expect(lines.allSatisfy { collector.receive(headerLine: Array(($0 + "\r\n").utf8)) })
        return collector.headers.fields
    }

    @Test func `fields keep their order and repeats, without surrounding blanks`() {
        let headers = collected(["HTTP/1.1 200 OK", "A: 1", "b:\t2 3 ", "A:", "c:x:y", ""])
        #expect(headers.map(\.name) == ["A", "b", "A", "c"])
        #expect(headers.map(\.value) == ["1", "2 3", "", "x:y"])
    }

    @Test func `a folded line goes on with the value before it`() {
        #expect(collected(["HTTP/1.1 200 OK", "A: 1", "  2", ""]) == [HTTPHeader(name: "A", value: "1 2")])
    }

    @Test func `an interim response leaves nothing behind`() {
        let headers = collected(["HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 200 OK", "A: 1", ""])
        #expect(headers == [HTTPHeader(name: "A", value: "1")])
    }

    @Test func `trailers and lines without a colon are left out`() {
        let headers = collected(["HTTP/1.1 200 OK", "nonsense", "A: 1", "", "Trailer: 1", ""])
        #expect(headers == [HTTPHeader(name: "A", value: "1")])
    }

    @Test func `header bytes are counted over all sections`() {
        var collector = ResponseCollector(maxHeaderBytes: 10, maxBodyBytes: 10)
        let taken = ["A: 12\r\n", "\r\n", "\r\n"].map { collector.receive(headerLine: Array($0.utf8)) }
        #expect(taken == [true, true, false])
        #expect(collector.overflow == .headers)
    }

    @Test func `a body may be as long as the limit, and not a byte longer`() {
        var collector = ResponseCollector(maxHeaderBytes: 10, maxBodyBytes: 3)
        let taken = [[1, 2], [3]].map { collector.receive(body: $0) }
        #expect(taken == [true, true])
        #expect(collector.overflow == nil)
        #expect(collector.body == [1, 2, 3])
        let takenMore = collector.receive(body: [4])
        #expect(!takenMore)
        #expect(collector.overflow == .body)
        #expect(collector.body.isEmpty)
    }
}
