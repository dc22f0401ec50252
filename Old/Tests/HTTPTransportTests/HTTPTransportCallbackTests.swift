import HTTPTransport
import MetricsTestKit
import Testing

/// Requests that no task waits for.
@Suite(.timeLimit(.minutes(5)))
struct HTTPTransportCallbackTests {
    private typealias Answer = Result<HTTPResponse, HTTPTransportError>

    @Test func `the answer is told on the transport's thread, and the next request leaves from there`() async throws {
        try await Setup.run { setup in
            let (answers, answer) = AsyncStream<(Int, String)>.makeStream()
            let request = HTTPRequest(method: .get, url: setup.server.url())
            setup.transport.send(request) { first in
                answer.yield((Self.status(first), threadName()))
                setup.transport.send(request) { second in
                    answer.yield((Self.status(second), threadName()))
                    answer.finish()
                }
            }

            var told: [(Int, String)] = []
            for await one in answers { told.append(one) }
            #expect(told.map(\.0) == [200, 200])
            #expect(told.map(\.1) == ["http-transport", "http-transport"])
        }
    }

    @Test func `more requests than connections wait their turn, and each is answered once`() async throws {
        try await Setup.run(configure: { $0.maxConnections = 3 }) { setup in
            let (answers, answer) = AsyncStream<Int>.makeStream()
            for _ in 0..<50 {
                setup.transport.send(HTTPRequest(method: .get, url: setup.server.url())) {
                    answer.yield(Self.status($0))
                }
            }

            var told: [Int] = []
            for await status in answers.prefix(50) { told.append(status) }
            #expect(told == Array(repeating: 200, count: 50))
            #expect(setup.server.connections.count <= 3)
        }
    }

    @Test func `who sends another request whenever one is refused does not run out of stack`() async throws {
        let transport = try Setup.transport { _ in }
        let refused = await Self.refusal(of: "http://example.invalid", after: 100_000, by: transport)
        #expect(refused == .notHTTPS)
        await transport.shutdown()
        let closed = await Self.refusal(of: "https://example.invalid", after: 100_000, by: transport)
        #expect(closed == .closed)
    }

    @Test func `a request under way and one that comes after the end both hear that it is closed`() async throws {
        try await Setup.run(script: { _ in [] }) { setup in
            let (answers, answer) = AsyncStream<HTTPTransportError?>.makeStream()
            let request = HTTPRequest(method: .get, url: setup.server.url())
            setup.transport.send(request) { answer.yield(Self.error($0)) }
            await setup.server.requests.reaches(1)

            await setup.transport.shutdown()

            setup.transport.send(request) { answer.yield(Self.error($0)) }
            var told: [HTTPTransportError?] = []
            for await error in answers.prefix(2) { told.append(error) }
            #expect(told == [.closed, .closed])
        }
    }

    @Test func `what became of it is counted like that of any other request`() async throws {
        let metrics = TestMetrics()
        try await Setup.run(metricsFactory: metrics) { setup in
            let status = await withCheckedContinuation { done in
                setup.transport.send(HTTPRequest(method: .get, url: setup.server.url())) {
                    done.resume(returning: Self.status($0))
                }
            }
            let error = await withCheckedContinuation { done in
                setup.transport.send(HTTPRequest(method: .get, url: "http://example.invalid")) {
                    done.resume(returning: Self.error($0))
                }
            }
            #expect(status == 200)
            #expect(error == .notHTTPS)
        }
        #expect(try metrics.expectTimer("http_transport_request_duration_seconds").values.count == 1)
        let failures = try metrics.expectCounter(
            "http_transport_errors_total", [("kind", HTTPTransportError.notHTTPS.kind.rawValue)])
        #expect(failures.totalValue == 1)
    }

    /// What the last of so many requests hears, each sent where the one before was refused.
    private static func refusal(of url: String, after count: Int, by transport: HTTPTransport) async
        -> HTTPTransportError?
    {
        await withCheckedContinuation { done in
            send(count, HTTPRequest(method: .get, url: url), by: transport) { done.resume(returning: $0) }
        }
    }

    private static func send(
        _ count: Int, _ request: HTTPRequest, by transport: HTTPTransport,
        then: @escaping @Sendable (HTTPTransportError?) -> Void
    ) {
        transport.send(request) { result in
            if count > 1 { send(count - 1, request, by: transport, then: then) } else { then(error(result)) }
        }
    }

    /// 0 for none.
    private static func status(_ answer: Answer) -> Int {
        guard case .success(let response) = answer else { return 0 }
        return response.status
    }

    private static func error(_ answer: Answer) -> HTTPTransportError? {
        guard case .failure(let error) = answer else { return nil }
        return error
    }
}
