import HTTPTransport
import NIOCore
import Testing

/// What each fault of the other side is reported as.
@Suite(.timeLimit(.minutes(5)))
struct HTTPTransportFailureTests {
    @Test(arguments: [
        ("http://localhost/", HTTPTransportError.notHTTPS), ("ftp://localhost/", .notHTTPS),
        ("file:///etc/passwd", .notHTTPS), ("localhost", .invalidURL), ("", .invalidURL),
        ("https://", .invalidURL), ("https://user:secret@localhost/", .invalidURL),
        ("https://localhost/\u{0}x", .invalidURL), ("https://local host/", .invalidURL),
        ("https://localhost/" + String(repeating: "a", count: 8192), .invalidURL),
    ])
    func `a URL that cannot be meant is refused before anything is connected`(
        url: String, expected: HTTPTransportError
    ) async throws {
        try await Setup.run { setup in
            await #expect(throws: expected) {
                try await setup.transport.send(HTTPRequest(method: .get, url: url))
            }
            #expect(setup.server.connections.count == 0)
            #expect(expected.disposition == .reject)
        }
    }

    @Test func `what went through before excuses nothing`() async throws {
        try await Setup.run { setup in
            let fine = HTTPRequest(
                method: .post, url: setup.server.url(), headers: [HTTPHeader(name: "X-Key", value: "1")], body: [1])
            var broken = Array(repeating: fine, count: 5)
            broken[0].headers[0].value = "1\r\nX-Other: 2"
            broken[1].method = .get
            broken[2].totalTimeout = .zero
            broken[3].url = "http" + fine.url.dropFirst("https".count)
            // The sign for kelvin, which Swift takes for the letter.
            broken[4].headers[0].name = "X-\u{212A}ey"

            _ = try await setup.transport.send(fine)
            for request in broken {
                await #expect(throws: HTTPTransportError.self) { try await setup.transport.send(request) }
            }
            _ = try await setup.transport.send(fine)

            #expect(setup.server.log.all.count == 2)
        }
    }

    @Test(arguments: [true, false])
    func `an answer that nobody asked for is taken for nobody's`(atOnce: Bool) async throws {
        // Longer than what libcurl reads at a time: it stops at the end of the answer, and the rest stays where it is.
        let long = String(repeating: "x", count: 6000)
        let gate = ScriptedServer.Gate(opensAt: 2)
        try await Setup.run(
            script: { request in
                let answer = String.ok("\(request.head.split(separator: " ")[1])\(long)")
                guard request.number == 1 else { return [.send(answer)] }
                return atOnce ? [.send(answer + .ok("extra"))] : [.send(answer), .pass(gate), .send(.ok("extra"))]
            },
            { setup in
                func body(_ path: String) async throws -> String? {
                    // Where the connection is given up for it, nothing was sent, and the caller asks again.
                    for _ in 0..<3 {
                        do throws(HTTPTransportError) {
                            return String(
                                decoding: try await setup.get(path).body.prefix { $0 != UInt8(ascii: "x") },
                                as: UTF8.self)
                        } catch {
                            guard case .connectionLost(requestSent: false, _) = error else { throw error }
                        }
                    }
                    return nil
                }
                #expect(try await body("/1") == "/1")
                if !atOnce {
                    _ = try await gate.arrive().get()
                    // The client ends the connection when the extra answer comes.
                    await setup.server.closedConnections.reaches(1)
                }
                for number in 2..<6 { #expect(try await body("/\(number)") == "/\(number)") }
                #expect(setup.server.connections.count == 2)
            })
    }

    @Test func `a name that does not exist`() async throws {
        try await Setup.run { setup in
            // Labels end at 63 bytes, so that the resolver says no without asking anybody.
            let url = "https://\(String(repeating: "a", count: 64)).invalid/"
            let error = await #expect(throws: HTTPTransportError.self) {
                try await setup.transport.send(HTTPRequest(method: .get, url: url))
            }
            #expect(error?.kind == .dnsFailed)
            #expect(error?.isRetryable == true)
        }
    }

    @Test func `nobody listens`() async throws {
        try await Setup.run { setup in
            // A port that only the system's own services may have.
            let url = "https://127.0.0.1:1/"
            let error = await #expect(throws: HTTPTransportError.self) {
                try await setup.transport.send(HTTPRequest(method: .get, url: url))
            }
            #expect(error?.kind == .connectFailed)
            #expect(error?.isRetryable == true)
        }
    }

    @Test func `a server that accepts and never agrees on TLS`() async throws {
        try await Setup.run(answersTLS: false, configure: { $0.connectTimeout = .milliseconds(200) }) { setup in
            let error = try await setup.failure()
            #expect(error.kind == .connectTimeout)
            await setup.server.closedConnections.reaches(1)
        }
    }

    @Test func `a certificate for another host`() async throws {
        let tls = try TestAuthority.shared.get().serverContext(host: "example.com")
        try await expectTLSFailure(.wrongHost, disposition: .retryAndAlert) { try await Setup.run(tls: tls, $0) }
    }

    @Test func `an expired certificate`() async throws {
        let tls = try TestAuthority.shared.get().serverContext(validFor: -60)
        try await expectTLSFailure(.outOfDate, disposition: .retryAndAlert) { try await Setup.run(tls: tls, $0) }
    }

    @Test func `a certificate of an unknown authority`() async throws {
        let tls = try TestAuthority().serverContext()
        try await expectTLSFailure(.untrusted, disposition: .retryAndAlert) { try await Setup.run(tls: tls, $0) }
    }

    @Test func `the system's authorities do not know the test authority`() async throws {
        try await expectTLSFailure(.untrusted, disposition: .retryAndAlert) {
            try await Setup.run(configure: { $0.caFile = nil }, $0)
        }
    }

    @Test func `an authorities' file that is none`() async throws {
        try await expectTLSFailure(.authorityFile, disposition: .configuration) {
            try await Setup.run(configure: { $0.caFile = "/etc/hostname" }, $0)
        }
    }

    @Test func `no whole response in time`() async throws {
        try await Setup.run(script: { [.send($0.number == 1 ? .ok("fine") : "HTTP/1.1 200 OK\r\n")] }) { setup in
            // Opens the connection, so that the limit has only the exchange to cover.
            _ = try await setup.get()
            let error = try await setup.failure(totalTimeout: .milliseconds(200))
            #expect(error.kind == .timedOut)
            #expect(error.isRetryable)
            await setup.server.closedConnections.reaches(1)
        }
    }

    @Test func `a response that drips`() async throws {
        try await Setup.run(
            configure: {
                $0.minimumBytesPerSecond = 1000
                $0.minimumSpeedWindow = .seconds(1)
            },
            script: { _ in
                [
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
                    .drip(UInt8(ascii: "x"), every: .milliseconds(50)),
                ]
            }
        ) { setup in
            let error = try await setup.failure()
            #expect(error.kind == .tooSlow)
            await setup.server.closedConnections.reaches(1)
        }
    }

    @Test(arguments: [ScriptedServer.Step.reset, .finish])
    func `the connection ends before the response`(step: ScriptedServer.Step) async throws {
        try await Setup.run(script: { _ in [step] }) { setup in
            let error = try await setup.failure()
            guard case .connectionLost(requestSent: true, _) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(error.isRetryable)
        }
    }

    @Test func `a kept connection that ends as it is used again costs a second sending, not an error`() async throws {
        try await Setup.run(script: { $0.number == 2 ? [.finish] : [.send(.ok("fine"))] }) { setup in
            _ = try await setup.get("/first")
            let response = try await setup.get("/second")
            #expect(response.status == 200)
            #expect(setup.server.log.all.filter { $0.head.hasPrefix("GET /second ") }.count == 2)
        }
    }

    @Test func `however often that happens`() async throws {
        // libcurl gives up at the sixth time, and counts for as long as its handle lives.
        try await Setup.run(
            configure: { $0.maxConnections = 1 },
            script: { $0.number.isMultiple(of: 2) ? [.finish] : [.send(.ok("fine"))] }
        ) { setup in
            for _ in 0..<10 {
                let response = try await setup.get()
                #expect(response.status == 200)
            }
            #expect(setup.server.log.all.count == 19)
        }
    }

    @Test func `the connection ends before the body is as long as announced`() async throws {
        try await Setup.run(script: { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), .finish]
        }) { setup in
            let error = try await setup.failure()
            #expect(error.kind == .connectionLost)
        }
    }

    @Test func `the connection ends before the last chunk`() async throws {
        try await Setup.run(script: { _ in
            [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), .finish]
        }) { setup in
            let error = try await setup.failure()
            #expect(error.kind == .connectionLost)
        }
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    ])
    func `what comes is not HTTP`(response: String) async throws {
        try await Setup.run(script: { _ in [.send(response), .finish] }) { setup in
            let error = try await setup.failure()
            #expect(error.kind == .malformedResponse, "\(error)")
        }
    }

    private func expectTLSFailure(
        _ reason: HTTPTransportError.TLSReason, disposition: HTTPTransportError.Disposition,
        _ run: ((Setup) async throws -> Void) async throws -> Void
    ) async throws {
        try await run { setup in
            let error = try await setup.failure()
            guard case .tlsFailed(let actual, _) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(actual == reason)
            #expect(error.disposition == disposition)
            #expect(setup.server.requests.count == 0)
        }
    }
}
