import CertificateMaking
import FoundationEssentials
import HTTPClient
import Testing

/// How each fault of the other side is reported.
@Suite(.timeLimit(.minutes(5)))
struct HTTPClientFailureTests {
    @Test("An answer that nobody asked for is taken for nobody's", arguments: [true, false])
    func unasked(atOnce: Bool) throws {
        // Longer than libcurl's buffer: it stops at the end of the answer, and the rest stays where it is.
        let long = String(repeating: "x", count: 40_000)
        let gate = Gate(opensAt: 2)
        try Setup.run(
            script: { request in
                let answer = String.ok("\(request.path)\(long)")
                guard request.number == 1 else { return [.send(answer)] }
                return atOnce ? [.send(answer + .ok("extra"))] : [.send(answer), .pass(gate), .send(.ok("extra"))]
            },
            { setup in
                func body(_ path: String) throws -> String? {
                    // Where the connection is given up for it, nothing was sent, and the caller asks again.
                    for _ in 0..<3 {
                        switch setup.client.result(try setup.request(.get, path)) {
                        case .success(let response):
                            return String(decoding: response.body.prefix { $0 != UInt8(ascii: "x") }, as: UTF8.self)
                        case .failure(let failure):
                            guard failure.kind == .connectionLost else { throw failure }
                        }
                    }
                    return nil
                }
                let first = try body("/1")
                #expect(first == "/1")
                if !atOnce {
                    gate.arrive()
                    // The client ends the connection when the extra answer comes.
                    setup.server.closedConnections.reaches(1)
                }
                for number in 2..<6 {
                    let value = try body("/\(number)")
                    #expect(value == "/\(number)")
                }
                #expect(setup.server.connections.count == 2)
            })
    }

    @Test("A name that does not exist")
    func noName() throws {
        try Setup.run { setup in
            // Labels end at 63 bytes, so that the resolver says no without asking anybody.
            let endpoint = try HTTPEndpoint(baseURL: "https://\(String(repeating: "a", count: 64)).invalid/")
            let failure = try failure(setup.client.result(HTTPRequest(.get, endpoint)))
            #expect(failure.kind == .dnsFailed)
        }
    }

    @Test("Nobody listens")
    func noListener() throws {
        try Setup.run { setup in
            // A port that only the system's own services may have.
            let endpoint = try HTTPEndpoint(baseURL: "https://127.0.0.1:1/")
            let failure = try failure(setup.client.result(HTTPRequest(.get, endpoint)))
            #expect(failure.kind == .connectFailed)
        }
    }

    @Test("A server that accepts and never agrees on TLS")
    func noTLS() throws {
        try Setup.run(.silence, configure: { $0.connectTimeout = .milliseconds(200) }) { setup in
            // On a busy machine the limit may be over before the connection is begun, which says nothing of its end.
            repeat {
                let failure = try setup.failure()
                #expect(failure.kind == .connectTimeout)
            } while setup.server.connections.count == 0
            setup.server.closedConnections.reaches(setup.server.connections.count)
        }
    }

    @Test("A certificate for another host")
    func otherHost() throws {
        let tls = try ServerTLS(host: "example.com")
        try expectTLSFailure("is for another host", tls: tls, caFile: tls.caFile)
    }

    @Test("An expired certificate")
    func expired() throws {
        let tls = try ServerTLS(validity: -86_400 ... -60)
        try expectTLSFailure("is out of date", tls: tls, caFile: tls.caFile)
    }

    @Test("A certificate of an unknown authority")
    func unknownAuthority() throws {
        // With another name: OpenSSL has other words for a root with the same name.
        let other = try CertificateChain(validity: 0...4_000_000_000).rootPEM
        let file = FileManager.default.temporaryDirectory.path + "/http-client-\(UUID().uuidString).pem"
        try other.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        try expectTLSFailure("is not trusted", tls: ServerTLS.shared.get(), caFile: file)
    }

    @Test("The system's authorities do not know the test authority")
    func systemAuthorities() throws {
        try expectTLSFailure("is not trusted", tls: ServerTLS.shared.get(), caFile: nil)
    }

    @Test("An authorities' file that is none")
    func noAuthorities() throws {
        try expectTLSFailure(
            "the file of trusted certificates cannot be read", tls: ServerTLS.shared.get(), caFile: "/etc/hostname")
    }

    @Test("No whole response in time")
    func timeLimit() throws {
        try Setup.run(script: { [.send($0.number == 1 ? .ok("fine") : "HTTP/1.1 200 OK\r\n")] }) { setup in
            // Opens the connection, so that the limit has only the exchange to cover.
            _ = try setup.get()
            let failure = try setup.failure(timeout: .seconds(2))
            #expect(failure.kind == .timedOut)
            setup.server.closedConnections.reaches(1)
        }
    }

    @Test("The connection ends before the response", arguments: [ScriptedServer.Step.reset, .finish])
    func endBeforeResponse(step: ScriptedServer.Step) throws {
        try Setup.run(script: { _ in [step] }) { setup in
            let failure = try setup.failure()
            #expect(failure.kind == .connectionLost)
        }
    }

    @Test("A kept connection that ends as it is used again costs a second sending, not a failure")
    func keptConnection() throws {
        try Setup.run(script: { $0.number == 2 ? [.finish] : [.send(.ok("fine"))] }) { setup in
            _ = try setup.get("/first")
            let response = try setup.get("/second")
            #expect(response.status == 200)
            #expect(setup.server.log.all.filter { $0.path == "/second" }.count == 2)
        }
    }

    @Test("However often that happens")
    func endsAgain() throws {
        // libcurl gives up at the sixth time, and counts for as long as its handle lives.
        try Setup.run(
            configure: { $0.maxInFlight = 1 },
            script: { $0.number.isMultiple(of: 2) ? [.finish] : [.send(.ok("fine"))] }
        ) { setup in
            for _ in 0..<10 {
                let response = try setup.get()
                #expect(response.status == 200)
            }
            #expect(setup.server.log.all.count == 19)
        }
    }

    @Test(
        "The connection ends before the body does",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        ])
    func endBeforeBody(cut: String) throws {
        try Setup.run(script: { _ in [.send(cut), .finish] }) { setup in
            let failure = try setup.failure()
            #expect(failure.kind == .connectionLost)
        }
    }

    @Test(
        "Bytes that are not HTTP",
        arguments: [
            "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
        ])
    func noHTTP(response: String) throws {
        try Setup.run(script: { _ in [.send(response), .finish] }) { setup in
            let failure = try failure(setup.client.result(setup.request(acceptsGzip: true)))
            #expect(failure.kind == .malformedResponse, "\(failure)")
        }
    }

    @Test("A failed call leaves its place to the next")
    func freesPlace() throws {
        try Setup.run(
            configure: { $0.maxInFlight = 1 },
            script: { request in
                switch request.path {
                case "/reset": [.reset]
                case "/nonsense": [.send("nonsense\r\n\r\n"), .finish]
                case "/silence": []
                default: [.send(.ok("fine"))]
                }
            }
        ) { setup in
            var kinds = try ["/reset", "/nonsense"].map { try setup.failure($0).kind }
            // On a connection that is there: it is the answer that must not come in time.
            _ = try setup.get()
            kinds.append(try setup.failure("/silence", timeout: .seconds(2)).kind)

            #expect(kinds == [.connectionLost, .malformedResponse, .timedOut])
            let response = try setup.get()
            #expect(response.status == 200)
        }
    }

    private func failure(_ answer: TestClient.Answer) throws -> HTTPFailure {
        switch answer {
        case .success(let response): throw Setup.Unexpected(response: response)
        case .failure(let failure): return failure
        }
    }

    private func expectTLSFailure(
        _ reason: String, tls: ServerTLS, caFile: String?
    ) throws {
        try Setup.run(.tls(tls), configure: { $0.caFile = caFile }) { setup in
            let failure = try setup.failure()
            #expect(failure.kind == .tlsFailed)
            #expect(failure.description.contains(reason))
            #expect(setup.server.requests.count == 0)
        }
    }
}
