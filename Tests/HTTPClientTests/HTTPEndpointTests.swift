import HTTPClient
import Testing

struct HTTPEndpointTests {
    @Test(arguments: [
        ("http://localhost/", HTTPClientError.notHTTPS), ("ftp://localhost/", .notHTTPS),
        ("file:///etc/passwd", .invalidURL), ("localhost", .invalidURL), ("", .invalidURL),
        ("https://", .invalidURL), ("https://user:secret@localhost/", .invalidURL),
        ("https://localhost/\u{0}x", .invalidURL), ("https://local host/", .invalidURL),
        ("https://localhost/#part", .invalidURL),
        ("https://localhost/" + String(repeating: "a", count: 8192), .invalidURL),
    ])
    func `a URL that cannot be meant is refused`(url: String, expected: HTTPClientError) {
        #expect(throws: expected) { try HTTPEndpoint(baseURL: url) }
    }

    @Test(arguments: [
        "http://localhost:8080/", "http://LOCALHOST/", "http://127.0.0.1/", "http://127.9.9.9/", "http://[::1]/",
    ])
    func `this host may be spoken to without TLS where that is allowed`(url: String) {
        #expect(throws: Never.self) { try HTTPEndpoint(baseURL: url, allowsPlainLoopback: true) }
        #expect(throws: HTTPClientError.notHTTPS) { try HTTPEndpoint(baseURL: url) }
    }

    @Test(arguments: [
        "http://example.com/", "http://localhost.example.com/", "http://127.0.0.1.example.com/", "http://128.0.0.1/",
        "http://[::2]/", "http://0.0.0.0/", "ftp://localhost/",
    ])
    func `no other host is spoken to without TLS`(url: String) {
        #expect(throws: HTTPClientError.notHTTPS) { try HTTPEndpoint(baseURL: url, allowsPlainLoopback: true) }
    }
}
