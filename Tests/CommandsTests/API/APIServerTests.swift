import Configuration
import FileTesting
import Foundation
import Glibc
import HTTPServer
import Logging
import Metrics
import Testing

@testable import Commands

@Suite("The read-only API on its socket", .timeLimit(.minutes(5)))
struct APIServerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func server() throws -> ProbeServer {
        let file = try APITesting.tokensFile([APITesting.token], in: folder)
        return try ProbeServer(host: "127.0.0.1", port: 0) {
            APIHandler(
                tokensFile: file,
                logger: Logger(label: "api", level: .critical, handler: LineLogHandler(format: .text)),
                metrics: APIMetrics(PrometheusRegistry())
            ) { FixedLedger() }
        }
    }

    private static let granted = "/v1/submissions/com.example.game/granted"
    private static let field = "Authorization: Bearer \(APITesting.token)\r\n"

    @Test("A question is answered, and HEAD has the same head")
    func answers() throws {
        let server = try self.server()
        let text = try exchange("GET \(Self.granted) HTTP/1.1\r\nHost: a\r\n\(Self.field)\r\n", server.port)
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncache-control: no-store\r\n"))
        #expect(text.contains("\"state\" : \"granted\""))
        let head = try exchange("HEAD \(Self.granted) HTTP/1.1\r\nHost: a\r\n\(Self.field)\r\n", server.port)
        #expect(text.hasPrefix(head) && head.hasSuffix("\r\n\r\n"))
    }

    @Test(
        "What is no request has the one form of errors, too",
        arguments: [
            ("no request\r\n\r\n", 400, "bad_request"), ("GET / HTTP/2.0\r\n", 505, "bad_request"),
            ("GET /\(String(repeating: "x", count: 9000)) HTTP/1.1\r\n", 414, "too_large"),
            ("GET / HTTP/1.1\r\nA: \(String(repeating: "b", count: 17_000))\r\n", 431, "too_large"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", 413, "body_not_allowed"),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 411, "bad_request"),
        ])
    func refusals(request: String, status: Int, word: String) throws {
        let server = try self.server()
        let text = try exchange(request, server.port)
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        let body = try #require(text.firstRange(of: "\r\n\r\n")).upperBound
        let json = try JSONSerialization.jsonObject(with: Data(text[body...].utf8)) as? [String: [String: Any]]
        #expect(json?["error"]?["status"] as? Int == status && json?["error"]?["word"] as? String == word)
    }

    @Test("Half-open and slow clients keep nobody out")
    func slow() throws {
        let server = try self.server()
        let slow = try (0..<ProbeServer.maxConnections + 50).map { number in
            let socket = try connected(to: server.port)
            if number % 2 == 0 { sendAll("GET \(Self.granted) HTTP/1.1\r\nHost:", to: socket) }
            return socket
        }
        defer { for socket in slow { close(socket) } }
        for _ in 0..<10 {
            let text = try exchange("GET \(Self.granted) HTTP/1.1\r\nHost: a\r\n\(Self.field)\r\n", server.port)
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    // MARK: Sockets

    private func exchange(_ request: String, _ port: Int) throws -> String {
        let socket = try connected(to: port)
        defer { close(socket) }
        sendAll(request, to: socket)
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
            answer += buffer.prefix(count)
        }
    }

    private func connected(to port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // Nothing takes as long, unless the test fails.
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
        return descriptor
    }

    private func sendAll(_ text: String, to socket: Int32) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}
