import Testing

@testable import HTTPClient

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
