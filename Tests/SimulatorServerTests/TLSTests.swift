import CertificateMaking
import Glibc
import HTTPServer
import SimulatorServer
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TLSTests {
    private let certificate: ServerCertificate

    init() throws {
        certificate = try ServerCertificate(validity: 0...4_102_444_800)
    }

    private func server(
        _ change: (inout ServerConfiguration) -> Void = { _ in }, answer: ServerAnswer? = nil
    ) throws -> Server {
        var configuration = ServerConfiguration()
        configuration.bodyLimit = { _ in 4 << 20 }
        change(&configuration)
        let identity = try TLSIdentity(certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        return try Server(configuration, identity: identity) { request in
            answer ?? .reply(Reply(status: 200, body: request.body))
        }
    }

    private func client(_ server: Server) throws -> Client {
        let client = try Client(server.port)
        try client.startTLS(rootPEM: certificate.rootPEM)
        return client
    }

    @Test("Requests and replies of any length pass")
    func lengths() throws {
        let server = try server()
        let client = try client(server)
        for length in [0, 1, 16_383, 16_384, 16_385, 100_000, 3_000_000] {
            let body = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            #expect(try client.post("/", body).body == body)
        }
    }

    @Test("Requests behind one another in one record are all answered")
    func oneRecord() throws {
        let server = try server()
        let client = try client(server)
        client.send((0..<200).map { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n\(100 + $0)" }.joined())
        for number in 0..<200 { #expect(try client.response().text == "\(100 + number)") }
    }

    @Test("Many clients at once are served by one thread")
    func crowd() throws {
        let server = try server()
        let clients = try (0..<50).map { _ in try client(server) }
        for _ in 0..<5 {
            for client in clients { client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok") }
            for client in clients { #expect(try client.response().text == "ok") }
        }
    }

    @Test("A certificate that a client does not trust is refused by it")
    func untrusted() throws {
        let server = try server()
        let other = try ServerCertificate(validity: 0...4_102_444_800)
        let client = try Client(server.port)
        #expect(throws: Client.Failed.self) { try client.startTLS(rootPEM: other.rootPEM) }
        #expect(try self.client(server).get("/").status == 200)
    }

    @Test("A client that does not speak TLS is no trouble")
    func noTLS() throws {
        let server = try server()
        let plain = try Client(server.port)
        plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = plain.readToEnd()
        #expect(try client(server).get("/").status == 200)
    }

    @Test("A handshake that does not come ends when its time is over")
    func noHandshake() throws {
        let server = try server { $0.handshakeTime = .milliseconds(20) }
        #expect(try Client(server.port).readToEnd().isEmpty)
    }

    @Test("A last answer is whole, and followed by a farewell")
    func farewell() throws {
        let server = try server { $0.maxRequestsPerConnection = 1 }
        let client = try client(server)
        #expect(try client.post("/", Array(repeating: 7, count: 100_000)).body.count == 100_000)
        #expect(client.readToEnd().isEmpty)
        #expect(client.hasFarewell)
    }

    @Test("An answer that is cut off has no farewell")
    func cutOff() throws {
        let reply = Reply(status: 200, body: Array(repeating: 120, count: 100))
        let server = try server(answer: ServerAnswer(.cutOff(reply)))
        let client = try client(server)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let text = String(decoding: client.readToEnd(), as: UTF8.self)
        #expect(text.hasSuffix("\r\n\r\n" + String(repeating: "x", count: 50)))
        #expect(!client.hasFarewell)
    }

    @Test("A connection is reset below TLS")
    func reset() throws {
        let server = try server(answer: ServerAnswer(.reset))
        let client = try client(server)
        #expect(throws: Client.Failed.self) { try client.get("/") }
        #expect(!client.hasFarewell)
    }

    @Test("An identity that cannot be used is refused at once")
    func unusableIdentity() throws {
        let other = try ServerCertificate(validity: 0...4_102_444_800)
        #expect(throws: IdentityRefused("no certificate in PEM")) {
            try TLSIdentity(certificatePEM: "", keyPEM: certificate.keyPEM)
        }
        for key in ["", "nonsense", other.keyPEM, certificate.certificatePEM] {
            #expect(throws: IdentityRefused("no private key in PEM that fits the certificate")) {
                try TLSIdentity(certificatePEM: certificate.certificatePEM, keyPEM: key)
            }
        }
        #expect(throws: Never.self) {
            try TLSIdentity(
                certificatePEM: certificate.certificatePEM + certificate.rootPEM, keyPEM: certificate.keyPEM)
        }
    }
}
