import FoundationEssentials
import Logging
import Synchronization
import Testing

@testable import HTTPClient

@Suite(.timeLimit(.minutes(5)))
struct HTTPClientTests {
    @Test("A request arrives as it was given and the response comes back whole")
    func wholeWay() throws {
        try Setup.run(script: { _ in
            [.send("HTTP/1.1 201 Created\r\nContent-Length: 3\r\nX-One: a\r\nx-one:  b \r\nX-Empty:\r\n\r\nyes")]
        }) { setup in
            let headers = [
                HTTPHeader(name: "X-Trace", value: "7"), HTTPHeader(name: "X-Void", value: ""),
                HTTPHeader(name: "X-Blank", value: " \t"),
            ]
            let response = try setup.client.result(
                setup.request(.post, "/path?query=1", headers: headers), body: Array("{}".utf8)
            ).get()

            #expect(response.status == 201)
            #expect(response.body == Array("yes".utf8))
            #expect(response.header("X-ONE") == "a")
            #expect(response.header("x-empty") == "")
            #expect(response.header("x-none") == nil)
            let request = try #require(setup.server.log.all.first)
            #expect(request.head.hasPrefix("POST /path?query=1 HTTP/1.1\r\n"))
            #expect(request.head.contains("X-Trace: 7\r\n"))
            #expect(request.head.contains("X-Void:\r\n"))
            #expect(request.head.contains("X-Blank:\r\n"))
            #expect(request.head.contains("User-Agent: grantor\r\n"))
            for name in ["expect:", "content-type:", "accept-encoding:"] {
                #expect(!request.head.lowercased().contains(name))
            }
            #expect(request.body == Array("{}".utf8))
        }
    }

    @Test(
        "Methods and bodies of every size",
        arguments: [(HTTPRequest.Method.get, 0), (.post, 0), (.post, 30_000), (.post, 3_000_000)])
    func bodies(method: HTTPRequest.Method, size: Int) throws {
        try Setup.run { setup in
            let body = (0..<size).map { UInt8(truncatingIfNeeded: $0) }

            let response = try setup.client.result(setup.request(method), body: method == .get ? nil : body).get()

            #expect(response.status == 200)
            let received = try #require(setup.server.log.all.first)
            #expect(received.head.hasPrefix(method.rawValue + " "))
            #expect(received.body == body)
        }
    }

    @Test("A call on a fresh connection takes none that is open, and leaves none")
    func freshConnection() throws {
        try Setup.run(configure: { $0.maxInFlight = 2 }) { setup in
            let request = try setup.request(.post)
            var opened: [Int] = []
            for (fresh, closed) in [(false, 0), (false, 0), (true, 1), (false, 1), (true, 2), (false, 2)] {
                _ = try setup.client.result(request, body: [1], fresh: fresh).get()
                opened.append(setup.server.connections.count)
                setup.server.closedConnections.reaches(closed)
            }
            #expect(opened == [1, 1, 2, 2, 3, 3])
            #expect(setup.server.closedConnections.count == 2)
        }
    }

    @Test("Requests that follow each other have nothing of each other")
    func following() throws {
        try Setup.run(configure: { $0.maxInFlight = 1 }) { setup in
            let order: [(method: HTTPRequest.Method, path: String, mark: String?, gzip: Bool, body: String)] = [
                (.post, "/a", "1", false, "first"), (.get, "/a", nil, true, ""),
                (.post, "/b", "2", false, "the third is longer"), (.post, "/b", "2", false, "4"),
                (.post, "/b", "2", true, ""), (.post, "/b", nil, false, "6"), (.get, "/b", "3", false, ""),
                (.post, "/b", "3", false, "eighth"),
            ]
            for (method, path, mark, gzip, body) in order {
                let headers = mark.map { [HTTPHeader(name: "X-Mark", value: $0)] } ?? []
                let request = try setup.request(method, path, headers: headers, acceptsGzip: gzip)
                _ = try setup.client.result(request, body: body.isEmpty ? nil : Array(body.utf8)).get()
            }

            let received = setup.server.log.all
            #expect(received.count == order.count)
            for (request, sent) in zip(received, order) {
                #expect(request.head.hasPrefix("\(sent.method.rawValue) \(sent.path) HTTP/1.1\r\n"))
                let marks = request.head.split(separator: "\r\n").filter { $0.hasPrefix("X-Mark") }
                #expect(marks == (sent.mark.map { ["X-Mark: \($0)"] } ?? []))
                #expect(request.head.contains("Accept-Encoding: gzip, deflate\r\n") == sent.gzip)
                #expect(String(decoding: request.body, as: UTF8.self) == sent.body)
            }
            #expect(setup.server.connections.count == 1)
        }
    }

    @Test("A path is sent as it stands", arguments: ["/a/../b", "/a/%2e%2e/b", "/a//b/", "/%2E?c=/../d"])
    func paths(path: String) throws {
        try Setup.run { setup in
            _ = try setup.get(path)
            #expect(setup.server.log.all.map { String($0.path) } == [path])
        }
    }

    @Test("A connection is used again")
    func reuse() throws {
        try Setup.run { setup in
            for _ in 0..<20 { _ = try setup.get() }
            #expect(setup.server.connections.count == 1)
        }
    }

    @Test("200 calls in one batch keep to 50 connections, and all are answered")
    func places() throws {
        let gate = Gate(opensAt: 50)
        try Setup.run(
            configure: { $0.maxInFlight = 50 }, script: { _ in [.pass(gate), .send(.ok("fine"))] }
        ) { setup in
            let requests = try (0..<200).map { try setup.request(.get, "/\($0)") }

            let tokens = requests.map { setup.client.start($0) }

            #expect(try tokens.map { try setup.client.answer($0).get().status } == Array(repeating: 200, count: 200))
            #expect(Set(setup.server.log.all.map(\.head)).count == 200)
            #expect(setup.server.atOnce.most == 50)
            #expect(setup.server.connections.count == 50)
        }
    }

    @Test("Beyond the queue a call is refused, and the others go on")
    func queue() throws {
        let gate = Gate(opensAt: 2)
        try Setup.run(
            configure: {
                $0.maxInFlight = 1
                $0.maxQueued = 1
            }, script: { _ in [.pass(gate), .send(.ok("fine"))] }
        ) { setup in
            let request = try setup.request()
            let tokens = (0..<3).map { _ in setup.client.start(request) }

            let refusal = setup.client.answer(tokens[2])

            guard case .failure(let failure) = refusal, failure.kind == .queueFull else {
                Issue.record("\(refusal)")
                return
            }
            gate.arrive()
            for token in tokens[..<2] {
                let value = try setup.client.answer(token).get().status
                #expect(value == 200)
            }
            let response = try setup.get()
            #expect(response.status == 200)
        }
    }

    @Test("Time limits start when the wait for a place is over")
    func timeLimits() throws {
        try Setup.run(configure: { $0.maxInFlight = 1 }, script: { _ in [] }) { setup in
            let first = setup.client.start(try setup.request(), timeout: .seconds(2))
            let second = setup.client.start(try setup.request(.get, "/second"), timeout: .milliseconds(500))
            for token in [first, second] {
                guard case .failure(let failure) = setup.client.answer(token) else {
                    Issue.record("a call has an answer")
                    continue
                }
                #expect([.timedOut, .connectTimeout].contains(failure.kind))
            }
            // Had its time run while it waited, it would have been over before the first one's.
            #expect(setup.client.order == [first, second])
        }
    }

    @Test("Every status is an answer, and no redirect is followed", arguments: [302, 400, 401, 404, 429, 500, 503])
    func statuses(status: Int) throws {
        try Setup.run(script: { _ in
            [.send("HTTP/1.1 \(status) No\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")]
        }) { setup in
            let response = try setup.get()
            #expect(response.status == status)
            #expect(setup.server.requests.count == 1)
        }
    }

    @Test("Cookies are not kept")
    func cookies() throws {
        try Setup.run(script: { _ in [.send(.ok("", headers: "Set-Cookie: a=b\r\n"))] }) { setup in
            for _ in 0..<2 { _ = try setup.get() }

            #expect(setup.server.log.all.count == 2)
            #expect(setup.server.log.all.allSatisfy { !$0.head.lowercased().contains("cookie:") })
        }
    }

    @Test("Outcomes come on the client's thread, in batches, and a sink may send")
    func batches() throws {
        let server = try ScriptedServer(.tls(ServerTLS.shared.get())) { _ in [.send(.ok("fine"))] }
        defer { server.close() }
        let threads = Mutex<Set<String>>([])
        let answered = Tally()
        let cell = Mutex<HTTPClient?>(nil)
        let request = try HTTPRequest(.get, HTTPEndpoint(baseURL: server.url))
        let client = try HTTPClient(configuration: TestClient.configuration(), logger: Logger(label: "test")) { batch in
            threads.withLock { _ = $0.insert(threadName()) }
            let next = batch.filter { $0.token < 10 }.map { HTTPCall(token: $0.token + 1, request: request) }
            if !next.isEmpty { cell.withLock { $0 }?.send(next) }
            for _ in batch { answered.add() }
        }
        cell.withLock { $0 = client }

        client.send([HTTPCall(token: 1, request: request)])

        answered.reaches(10)
        client.stop()
        cell.withLock { $0 = nil }
        #expect(threads.withLock { $0 } == ["http"])
        #expect(answered.count == 10)
    }

    @Test("Stop fails what is in flight and what waits, closes the connections, and refuses what comes")
    func stop() throws {
        try Setup.run(configure: { $0.maxInFlight = 2 }, script: { _ in [] }) { setup in
            let request = try setup.request()
            let tokens = (0..<10).map { _ in setup.client.start(request) }
            setup.server.requests.reaches(2)

            setup.client.client.stop()

            #expect(setup.client.outcomes == 10)
            for token in tokens {
                guard case .failure(.stopped) = setup.client.answer(token) else {
                    Issue.record("a call that was not stopped")
                    continue
                }
            }
            setup.server.closedConnections.reaches(2)
            #expect(!setup.client.client.send([HTTPCall(token: 99, request: request)]))
            setup.client.client.stop()
        }
    }

    @Test("A client that is dropped without a stop closes its connections")
    func dropped() throws {
        try Setup.run { setup in
            try {
                let dropped = try TestClient()
                #expect(try dropped.result(setup.request()).get().status == 200)
            }()
            setup.server.closedConnections.reaches(1)
            #expect(setup.server.connections.count == 1)
        }
    }
}

/// The name of the thread that asks.
private func threadName() -> String {
    var name = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
    if name.hasSuffix("\n") { name.removeLast() }
    return name
}
