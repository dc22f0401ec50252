import Glibc
import SocketTesting
import Testing

@testable import HTTPServer

@Suite("Asking for a probe", .timeLimit(.minutes(5)))
struct ProbeClientTests {
    private static func get(
        _ server: ProbeServer, host: String = "127.0.0.1", _ path: String = "/"
    ) throws(ProbeFailure) -> ProbeClient.Reply {
        try ProbeClient.get(host: host, port: server.port, path: path, within: .seconds(60))
    }

    @Test("Status and body come whole")
    func answer() throws {
        let server = try ProbeServer(host: "127.0.0.1", port: 0) { head in
            Reply(status: head.path == "/bad" ? 503 : 200, contentType: "text/plain", text: "\(head.path)\n")
        }
        #expect(try Self.get(server, "/a") == ProbeClient.Reply(status: 200, body: "/a\n"))
        #expect(try Self.get(server, "/bad") == ProbeClient.Reply(status: 503, body: "/bad\n"))
        #expect(try Self.get(server, host: "localhost", "/a").status == 200)
    }

    @Test("A server of all addresses is asked by loopback", arguments: ["0.0.0.0", "::"])
    func all(host: String) throws {
        let server = try ProbeServer(host: host, port: 0) { _ in Reply(status: 204) }
        #expect(try Self.get(server, host: host).status == 204)
    }

    @Test("Nobody there, no such host, and somebody else have words of their own")
    func failures() throws {
        #expect(throws: ProbeFailure.refused(errno: ECONNREFUSED)) {
            try ProbeClient.get(host: "127.0.0.1", port: 1, path: "/", within: .seconds(60))
        }
        #expect(throws: ProbeFailure.unknownHost) {
            try ProbeClient.get(host: "256.1.1.1.invalid", port: 1, path: "/", within: .seconds(60))
        }
        for text in [
            "", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 99999 OK\r\n\r\n", "HTTP/1.1\r\n\r\n",
        ] {
            #expect(throws: ProbeFailure.notHTTP, "\(text)") { try ProbeClient.reply(Array(text.utf8)) }
        }
    }

    @Test("An answer without end is no probe's")
    func endless() throws {
        let server = try ProbeServer(host: "127.0.0.1", port: 0) { _ in
            Reply(status: 200, contentType: "text/plain", text: String(repeating: "x", count: 1 << 20))
        }
        #expect(throws: ProbeFailure.notHTTP) { try Self.get(server) }
    }

    @Test("A server that is silent is waited for until the limit")
    func silence() throws {
        // Its queue takes the connection, and nobody ever does.
        let (socket, port) = try Loopback.listening()
        defer { close(socket) }
        #expect(throws: ProbeFailure.timedOut) {
            try ProbeClient.get(host: "127.0.0.1", port: port, path: "/", within: .milliseconds(50))
        }
    }
}
