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
