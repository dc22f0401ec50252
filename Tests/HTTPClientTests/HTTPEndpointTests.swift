import HTTPClient
import Testing

struct HTTPEndpointTests {
    @Test(
        "A URL that cannot be meant is refused",
        arguments: [
            ("http://localhost/", HTTPClientError.notHTTPS), ("ftp://localhost/", .notHTTPS),
            ("file:///etc/passwd", .invalidURL), ("localhost", .invalidURL), ("", .invalidURL),
            ("https://", .invalidURL), ("https://user:secret@localhost/", .invalidURL),
            ("https://localhost/\u{0}x", .invalidURL), ("https://local host/", .invalidURL),
            ("https://localhost/#part", .invalidURL),
            ("https://localhost/" + String(repeating: "a", count: 8192), .invalidURL),
        ])
    func refused(url: String, expected: HTTPClientError) {
        #expect(throws: expected) { try HTTPEndpoint(baseURL: url) }
    }

    @Test(
        "No host is spoken to without TLS, not this one either",
        arguments: ["http://localhost:8080/", "http://127.0.0.1/", "http://[::1]/", "http://example.com/"])
    func onlyTLS(url: String) {
        #expect(throws: HTTPClientError.notHTTPS) { try HTTPEndpoint(baseURL: url) }
    }
}
