import HTTPTransport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct HTTPTransportTests {
    @Test func `a request arrives as it was given and the response comes back whole`() async throws {
        try await Setup.run(script: { _ in
            [.send("HTTP/1.1 201 Created\r\nContent-Length: 3\r\nX-One: a\r\nx-one:  b \r\nX-Empty:\r\n\r\nyes")]
        }) { setup in
            let response = try await setup.transport.send(
                HTTPRequest(
                    method: .post, url: setup.server.url("/path?query=1"),
                    headers: [
                        HTTPHeader(name: "X-Trace", value: "7"), HTTPHeader(name: "X-Void", value: ""),
                        HTTPHeader(name: "X-Blank", value: " \t"),
                    ],
                    body: Array("{}".utf8)))

            #expect(response.status == 201)
            #expect(response.body == Array("yes".utf8))
            #expect(response.header("X-ONE") == "a")
            #expect(response.headers(named: "x-one") == ["a", "b"])
            #expect(response.header("x-empty") == "")
            #expect(response.header("x-none") == nil)
            #expect(response.timings.total >= response.timings.firstByte)
            let request = try #require(setup.server.log.all.first)
            #expect(request.head.hasPrefix("POST /path?query=1 HTTP/1.1\r\n"))
            #expect(request.head.contains("X-Trace: 7\r\n"))
            #expect(request.head.contains("X-Void:\r\n"))
            #expect(request.head.contains("X-Blank:\r\n"))
            #expect(request.head.contains("User-Agent: grantor\r\n"))
            #expect(!request.head.lowercased().contains("expect:"))
            #expect(!request.head.lowercased().contains("content-type:"))
            #expect(request.body == Array("{}".utf8))
        }
    }

    @Test(arguments: [(HTTPRequest.Method.get, 0), (.post, 0), (.post, 30_000), (.post, 3_000_000), (.put, 10)])
    func `methods and bodies of every size`(method: HTTPRequest.Method, size: Int) async throws {
        try await Setup.run { setup in
            let body = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            let request = HTTPRequest(method: method, url: setup.server.url(), body: body)

            #expect(try await setup.transport.send(request).status == 200)

            let received = try #require(setup.server.log.all.first)
            #expect(received.head.hasPrefix(method.rawValue + " "))
            #expect(received.body == body)
        }
    }

    @Test func `a request on a connection of its own takes none that is open, and leaves none`() async throws {
        try await Setup.run(configure: { $0.maxConnections = 2 }) { setup in
            let kept = HTTPRequest(method: .post, url: setup.server.url(), body: Array("kept".utf8))
            var fresh = kept
            fresh.isOnFreshConnection = true
            var opened: [Int] = []
            for (request, closed) in [(kept, 0), (kept, 0), (fresh, 1), (kept, 1), (fresh, 2), (kept, 2)] {
                _ = try await setup.transport.send(request)
                opened.append(setup.server.connections.count)
                await setup.server.closedConnections.reaches(closed)
            }
            #expect(opened == [1, 1, 2, 2, 3, 3])
            #expect(setup.server.closedConnections.count == 2)
        }
    }

    @Test func `requests that follow each other have nothing of each other`() async throws {
        try await Setup.run(configure: { $0.maxConnections = 1 }) { setup in
            let order: [(method: HTTPRequest.Method, path: String, mark: String?, body: String)] = [
                (.put, "/a", "1", "first"), (.get, "/a", nil, ""), (.post, "/b", "2", "the third is longer"),
                (.post, "/b", "2", "4"), (.post, "/b", "2", ""), (.post, "/b", nil, "6"), (.get, "/b", "3", ""),
                (.put, "/b", "3", "eighth"),
            ]
            for (method, path, mark, body) in order {
                let headers = mark.map { [HTTPHeader(name: "X-Mark", value: $0)] } ?? []
                _ = try await setup.transport.send(
                    HTTPRequest(
                        method: method, url: setup.server.url(path), headers: headers,
                        body: RequestBody([Array(body.utf8.prefix(2)), Array(body.utf8.dropFirst(2))])))
            }

            let received = setup.server.log.all
            #expect(received.count == order.count)
            for (request, sent) in zip(received, order) {
                #expect(request.head.hasPrefix("\(sent.method.rawValue) \(sent.path) HTTP/1.1\r\n"))
                let marks = request.head.split(separator: "\r\n").filter { $0.hasPrefix("X-Mark") }
                #expect(marks == (sent.mark.map { ["X-Mark: \($0)"] } ?? []))
                #expect(String(decoding: request.body, as: UTF8.self) == sent.body)
            }
            #expect(setup.server.connections.count == 1)
        }
    }

    @Test func `a connection is used again`() async throws {
        try await Setup.run { setup in
            var reused: [Bool] = []
            for _ in 0..<20 {
                reused.append(try await setup.get().timings.reusedConnection)
            }

            #expect(reused == [false] + Array(repeating: true, count: 19))
            #expect(setup.server.connections.count == 1)
        }
    }

    @Test func `200 requests at once keep to 50 connections, and all are answered`() async throws {
        let gate = ScriptedServer.Gate(opensAt: 50)
        try await Setup.run(
            configure: { $0.maxConnections = 50 }, script: { _ in [.pass(gate), .send(.ok("fine"))] }
        ) { setup in
            let answered = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<200 {
                    group.addTask { try await setup.get("/\(number)").status }
                }
                return try await group.reduce(0) { $0 + ($1 == 200 ? 1 : 0) }
            }

            #expect(answered == 200)
            #expect(Set(setup.server.log.all.map(\.head)).count == 200)
            #expect(setup.server.atOnce.most == 50)
            #expect(setup.server.connections.count == 50)
        }
    }

    @Test func `beyond the waiting line a request is refused at once`() async throws {
        let gate = ScriptedServer.Gate(opensAt: 2)
        try await Setup.run(
            configure: {
                $0.maxConnections = 1
                $0.maxWaiting = 0
            }, script: { _ in [.pass(gate), .send(.ok("fine"))] }
        ) { setup in
            async let first = setup.get()
            await setup.server.requests.reaches(1)

            let refusal = try await setup.failure()

            #expect(refusal == .tooManyWaiting)
            #expect(refusal.isRetryable)
            _ = gate.arrive()
            #expect(try await first.status == 200)
            #expect(try await setup.get().status == 200)
        }
    }

    @Test func `time limits start when the wait for a connection is over`() async throws {
        try await Setup.run(
            configure: { $0.maxConnections = 1 },
            script: { $0.number == 1 ? [] : [.send(.ok("fine"))] }
        ) { setup in
            async let first = setup.failure(totalTimeout: .seconds(15))
            await setup.server.requests.reaches(1)
            // Had its time run while it waited, it would be over before the first one's.
            async let second = setup.get("/second", totalTimeout: .seconds(14))

            let error = try await first
            #expect(error.kind == .timedOut)
            let response = try await second
            #expect(response.status == 200)
        }
    }

    @Test func `a redirect is an answer`() async throws {
        try await Setup.run(script: { _ in
            [.send("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")]
        }) { setup in
            let response = try await setup.get()

            #expect(response.status == 302)
            #expect(response.header("location") == "/elsewhere")
            #expect(setup.server.requests.count == 1)
        }
    }

    @Test(arguments: [400, 401, 404, 429, 500, 503])
    func `an error status is an answer`(status: Int) async throws {
        try await Setup.run(script: { _ in [.send("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")] }) { setup in
            let response = try await setup.get()
            #expect(response.status == status)
        }
    }

    @Test func `cookies are not kept`() async throws {
        try await Setup.run(script: { _ in [.send(.ok("", headers: "Set-Cookie: a=b\r\n"))] }) { setup in
            for _ in 0..<2 { _ = try await setup.get() }

            #expect(setup.server.log.all.count == 2)
            #expect(setup.server.log.all.allSatisfy { !$0.head.lowercased().contains("cookie:") })
        }
    }

    @Test func `cancelling ends a request in flight at once and closes its connection`() async throws {
        try await Setup.run(script: { $0.number == 1 ? [] : [.send(.ok("fine"))] }) { setup in
            let sending = Task { try await setup.failure() }
            await setup.server.requests.reaches(1)

            sending.cancel()

            let error = try await sending.value
            #expect(error == .cancelled)
            await setup.server.closedConnections.reaches(1)
            #expect(try await setup.get().status == 200)
        }
    }

    @Test func `cancelling ends a wait for a connection, and the rest of the line goes on`() async throws {
        let gate = ScriptedServer.Gate(opensAt: 2)
        try await Setup.run(
            configure: { $0.maxConnections = 1 }, script: { _ in [.pass(gate), .send(.ok("fine"))] }
        ) { setup in
            async let first = setup.get()
            await setup.server.requests.reaches(1)
            let waiting = Task { try await setup.failure() }
            waiting.cancel()

            let error = try await waiting.value
            #expect(error == .cancelled)
            _ = gate.arrive()
            #expect(try await first.status == 200)
            #expect(setup.server.requests.count == 1)
        }
    }

    @Test func `a task cancelled beforehand sends nothing`() async throws {
        try await Setup.run { setup in
            let sending = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await setup.failure()
            }

            let error = try await sending.value
            #expect(error == .cancelled)
            #expect(setup.server.requests.count == 0)
        }
    }

    @Test func `shutdown fails what is in flight and what waits, and closes the connections`() async throws {
        try await Setup.run(configure: { $0.maxConnections = 2 }, script: { _ in [] }) { setup in
            let failures = try await withThrowingTaskGroup(of: HTTPTransportError.self) { group in
                for _ in 0..<10 {
                    group.addTask { try await setup.failure() }
                }
                await setup.server.requests.reaches(2)
                await setup.transport.shutdown()
                return try await group.reduce(into: []) { $0.append($1) }
            }

            #expect(failures == Array(repeating: .closed, count: 10))
            await setup.server.closedConnections.reaches(2)
            #expect(try await setup.failure() == .closed)
            await setup.transport.shutdown()
        }
    }
}
