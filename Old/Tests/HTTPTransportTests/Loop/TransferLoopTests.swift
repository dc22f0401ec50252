import HTTPTransport
import Testing

/// That a slot comes free whatever ended its transfer, and that nothing is lost when much happens at once.
@Suite(.timeLimit(.minutes(5)))
struct TransferLoopTests {
    @Test func `a cancelled request gives its slot to the next`() async throws {
        try await Setup.run(
            configure: { $0.maxConnections = 1 }, script: { $0.number == 1 ? [] : [.send(.ok("fine"))] }
        ) { setup in
            let sending = Task { try await setup.failure() }
            await setup.server.requests.reaches(1)
            async let next = setup.get("/next")

            sending.cancel()

            let error = try await sending.value
            #expect(error == .cancelled)
            let response = try await next
            #expect(response.status == 200)
        }
    }

    @Test func `a failed request gives its slot to the next`() async throws {
        try await Setup.run(
            configure: { $0.maxConnections = 1 },
            script: { request in
                switch request.head.split(separator: " ").dropFirst().first {
                case "/reset": [.reset]
                case "/nonsense": [.send("nonsense\r\n\r\n"), .finish]
                case "/silence": []
                default: [.send(.ok("fine"))]
                }
            }
        ) { setup in
            var kinds: [HTTPTransportError.Kind] = []
            for path in ["/reset", "/nonsense"] { kinds.append(try await setup.failure(path).kind) }
            // On a connection that is there: it is the answer that must not come in time.
            _ = try await setup.get()
            kinds.append(try await setup.failure("/silence", totalTimeout: .seconds(10)).kind)

            #expect(kinds == [.connectionLost, .malformedResponse, .timedOut])
            let response = try await setup.get()
            #expect(response.status == 200)
        }
    }

    @Test func `a transport that is dropped without a shutdown closes its connections`() async throws {
        try await Setup.run { setup in
            try await sendOnceAndDrop(setup)
            await setup.server.closedConnections.reaches(1)
            #expect(setup.server.connections.count == 1)
        }
    }

    /// Cancelled before, while and after they are submitted, sent and answered.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `every one of many requests ends once, answered or cancelled`(seed: UInt64) async throws {
        var random = SplitMix64(state: seed)
        let yields = (0..<400).map { _ in Int.random(in: 0...60, using: &random) }
        try await Setup.run(configure: { $0.maxConnections = 20 }) { setup in
            let outcomes = await withTaskGroup(of: Outcome.self) { group in
                for (number, yields) in yields.enumerated() {
                    group.addTask { await outcome(setup, cancelledAfter: number.isMultiple(of: 2) ? yields : nil) }
                }
                return await group.reduce(into: [Outcome: Int]()) { $0[$1, default: 0] += 1 }
            }

            #expect(outcomes[.answered, default: 0] >= 200)
            #expect(outcomes[.answered, default: 0] + outcomes[.cancelled, default: 0] == 400)
            #expect(setup.server.connections.count >= 1)
            let response = try await setup.get()
            #expect(response.status == 200)
        }
    }

    private enum Outcome: Hashable {
        case answered
        case cancelled
        case other(HTTPTransportError)
    }

    private func outcome(_ setup: Setup, cancelledAfter yields: Int?) async -> Outcome {
        let sending = Task { () -> Outcome in
            do throws(HTTPTransportError) {
                _ = try await setup.get()
                return .answered
            } catch {
                return error == .cancelled ? .cancelled : .other(error)
            }
        }
        if let yields {
            for _ in 0..<yields { await Task.yield() }
            sending.cancel()
        }
        return await sending.value
    }

    private func sendOnceAndDrop(_ setup: Setup) async throws {
        let transport = try Setup.transport { _ in }
        let response = try await transport.send(HTTPRequest(method: .get, url: setup.server.url()))
        #expect(response.status == 200)
    }
}
