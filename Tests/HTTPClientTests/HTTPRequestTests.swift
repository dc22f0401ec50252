import Testing

@testable import HTTPClient

struct HTTPRequestTests {
    private func request(_ headers: HTTPHeader..., path: String = "") throws(HTTPClientError) -> HTTPRequest {
        try HTTPRequest(.get, HTTPEndpoint(baseURL: "https://localhost:8443/base"), path: path, headers: headers)
    }

    @Test(
        "A header that RFC 9110 allows is allowed",
        arguments: [
            HTTPHeader(name: "X-A", value: "1"), HTTPHeader(name: "x!#$%&'*+.^_`|~9", value: ""),
            HTTPHeader(name: "A", value: "\ttab and \u{00fc}"),
        ])
    func allowed(header: HTTPHeader) {
        #expect(throws: Never.self) { try request(header) }
    }

    @Test(
        "A header that could end the message or add another is refused",
        arguments: [
            HTTPHeader(name: "", value: "1"), HTTPHeader(name: "A B", value: "1"), HTTPHeader(name: "A:", value: "1"),
            HTTPHeader(name: "A\r\nB", value: "1"), HTTPHeader(name: "A", value: "1\r\nB: 2"),
            HTTPHeader(name: "A", value: "1\u{0}"), HTTPHeader(name: "\u{00fc}", value: "1"),
            HTTPHeader(name: "Content-Length", value: "1"), HTTPHeader(name: "transfer-encoding", value: "chunked"),
            HTTPHeader(name: "Connection", value: "close"), HTTPHeader(name: "X-\u{212A}ey", value: "1"),
            HTTPHeader(name: "A", value: String(repeating: "a", count: 16_384)),
        ])
    func refused(header: HTTPHeader) {
        let error = #expect(throws: HTTPClientError.self) { try request(header) }
        guard case .invalidRequest = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A refusal repeats no value")
    func silent() {
        let error = #expect(throws: HTTPClientError.self) {
            try request(HTTPHeader(name: "Authorization", value: "Bearer secret\n"))
        }
        #expect("\(String(describing: error))".contains("Authorization"))
        #expect(!"\(String(describing: error))".contains("secret"))
    }

    @Test("A path follows the endpoint's URL", arguments: ["", "/", "/a?b=c", "?a=b"])
    func paths(path: String) throws {
        #expect(try request(path: path).url == "https://localhost:8443/base" + path)
    }

    @Test(
        "A path that is none, or that would be another host's, is refused",
        arguments: ["a", "@example.com/", ":1", "/a b", "/a#b", "/\u{0}", "/" + String(repeating: "a", count: 8192)])
    func refusedPaths(path: String) {
        #expect(throws: HTTPClientError.invalidURL) { try request(path: path) }
    }
}
