import Configuration
import FileTesting
import Foundation
import HTTPServer
import Logging
import Metrics
import SocketTesting
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
        let text = try LoopbackClient(server.port).answer(
            "GET \(Self.granted) HTTP/1.1\r\nHost: a\r\n\(Self.field)\r\n")
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncache-control: no-store\r\n"))
        #expect(text.contains("\"state\" : \"granted\""))
        let head = try LoopbackClient(server.port).answer(
            "HEAD \(Self.granted) HTTP/1.1\r\nHost: a\r\n\(Self.field)\r\n")
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
        let text = try LoopbackClient(server.port).answer(request)
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        let body = try #require(text.firstRange(of: "\r\n\r\n")).upperBound
        let json = try JSONSerialization.jsonObject(with: Data(text[body...].utf8)) as? [String: [String: Any]]
        #expect(json?["error"]?["status"] as? Int == status && json?["error"]?["word"] as? String == word)
    }

    @Test("Half-open and slow clients keep nobody out")
    func slow() throws {
        let server = try self.server()
        let slow = try (0..<ProbeServer.maxConnections + 50).map { number in
            let client = try LoopbackClient(server.port)
            if number % 2 == 0 { client.send(Array("GET \(Self.granted) HTTP/1.1\r\nHost:".utf8)) }
            return client
        }
        defer { withExtendedLifetime(slow) {} }
        for _ in 0..<10 {
            let text = try LoopbackClient(server.port).answer(
                "GET \(Self.granted) HTTP/1.1\r\nHost: a\r\n\(Self.field)\r\n")
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }
}
