import Testing

@testable import Configuration

@Suite("Hosts and ports")
struct HostAndPortTests {
    @Test(
        "Host and port are read, and written the same",
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:65535", "localhost", 65_535),
            ("[::1]:9090", "::1", 9090), ("0.0.0.0:0", "0.0.0.0", 0),
        ])
    func reads(text: String, host: String, port: Int) throws {
        let bind = try #require(HostAndPort(text, ports: 0...65535))
        #expect(bind == HostAndPort(host: host, port: port))
        #expect(bind.description == text)
    }

    @Test(
        "No other text is",
        arguments: [
            "", ":", "localhost", ":8080", "localhost:", "localhost:+80", "localhost:-1", "localhost:65536", "::1:8080",
            "[::1]", "[]:80", "[localhost]:80", "a b:80", "http://localhost:80", "localhost:٨٠",
        ])
    func refuses(text: String) {
        #expect(HostAndPort(text, ports: 0...65535) == nil)
    }

    @Test("Port 0 is for listening only: nothing can be reached there")
    func portZero() {
        #expect(HostAndPort("kafka:0", ports: 1...65535) == nil)
    }
}
