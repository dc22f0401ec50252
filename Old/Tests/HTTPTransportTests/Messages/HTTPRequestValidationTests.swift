import Testing

@testable import HTTPTransport

struct HTTPRequestValidationTests {
    private func request(
        _ headers: [HTTPHeader] = [], method: HTTPRequest.Method = .get, body: [UInt8] = [], timeout: Duration? = nil
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, url: "https://localhost/", headers: headers, body: body, totalTimeout: timeout)
    }

    @Test(arguments: [
        HTTPHeader(name: "X-A", value: "1"), HTTPHeader(name: "x!#$%&'*+.^_`|~9", value: ""),
        HTTPHeader(name: "A", value: "\ttab and \u{00fc}"),
    ])
    func `what RFC 9110 allows is allowed`(header: HTTPHeader) throws {
        #expect(throws: Never.self) { try request([header]).validateHead() }
    }

    @Test(arguments: [
        HTTPHeader(name: "", value: "1"), HTTPHeader(name: "A B", value: "1"), HTTPHeader(name: "A:", value: "1"),
        HTTPHeader(name: "A\r\nB", value: "1"), HTTPHeader(name: "A", value: "1\r\nB: 2"),
        HTTPHeader(name: "A", value: "1\u{0}"), HTTPHeader(name: "\u{00fc}", value: "1"),
        HTTPHeader(name: "Content-Length", value: "1"), HTTPHeader(name: "transfer-encoding", value: "chunked"),
        HTTPHeader(name: "Connection", value: "close"),
        HTTPHeader(name: "A", value: String(repeating: "a", count: 16_384)),
    ])
    func `a header that could end the message or add another is refused`(header: HTTPHeader) {
        let error = #expect(throws: HTTPTransportError.self) { try request([header]).validateHead() }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.disposition == .reject)
    }

    @Test func `a GET has no body`() {
        #expect(throws: HTTPTransportError.invalidRequest("a GET request has no body")) {
            try request(body: [1]).validateBody()
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(3601)])
    func `a time limit has to be one`(timeout: Duration) {
        let error = #expect(throws: HTTPTransportError.self) { try request(timeout: timeout).validateHead() }
        #expect(error?.kind == .invalidRequest)
    }

    @Test func `a refusal repeats no value`() {
        let error = #expect(throws: HTTPTransportError.self) {
            try request([HTTPHeader(name: "Authorization", value: "Bearer secret\n")]).validateHead()
        }
        #expect("\(String(describing: error))".contains("Authorization"))
        #expect(!"\(String(describing: error))".contains("secret"))
    }

    @Test(arguments: [
        "http://localhost:8080/", "http://LOCALHOST/", "http://127.0.0.1/", "http://127.9.9.9/", "http://[::1]/",
    ])
    func `this host may be spoken to without TLS where that is allowed`(url: String) {
        let request = HTTPRequest(method: .get, url: url)
        #expect(throws: Never.self) { try request.validateHead(plainLoopback: true) }
        #expect(throws: HTTPTransportError.notHTTPS) { try request.validateHead() }
    }

    @Test(arguments: [
        "http://example.com/", "http://localhost.example.com/", "http://127.0.0.1.example.com/", "http://128.0.0.1/",
        "http://[::2]/", "http://0.0.0.0/", "ftp://localhost/",
    ])
    func `no other host is spoken to without TLS`(url: String) {
        #expect(throws: HTTPTransportError.notHTTPS) {
            try HTTPRequest(method: .get, url: url).validateHead(plainLoopback: true)
        }
    }
}
