import Testing

@testable import HTTPClient

/// A request is the same in any multi handle, and few requests need few connections.
@Suite(.timeLimit(.minutes(5)))
struct MultiHandlePoolTests {
    private static let most = 7

    /// Seven connections at most, two to a handle, one in the last. `/together` and `/again` are answered once seven of
    /// them are there, `/silence` never.
    private func run(maxIdleTime: Duration = .seconds(3600), _ body: (Setup) throws -> Void) throws {
        let gates = (together: Gate(opensAt: Self.most), again: Gate(opensAt: Self.most))
        try Setup.run(
            configure: {
                $0.maxInFlight = Self.most
                $0.connectionsPerHandle = 2
                $0.maxIdleTime = maxIdleTime
            },
            script: { request in
                switch request.path {
                case "/together": [.pass(gates.together), .send(.ok("fine"))]
                case "/again": [.pass(gates.again), .send(.ok("fine"))]
                case "/silence": []
                default: [.send(.ok("fine"))]
                }
            }, body)
    }

    /// Opens all connections that may be.
    private func openAll(_ setup: Setup, _ path: String = "/together") throws {
        let request = try setup.request(.get, path)
        let tokens = (0..<Self.most).map { _ in setup.client.start(request) }
        for token in tokens {
            let value = try setup.client.answer(token).get().status
            #expect(value == 200)
        }
        // The server hears of a connection's end a moment after the client.
        setup.server.closedConnections.reaches(setup.server.connections.count - Self.most)
    }

    @Test("As many requests as may be are under way at once, and later ones find their connections")
    func atOnce() throws {
        try run { setup in
            try openAll(setup)
            #expect(setup.server.connections.count == Self.most)
            for _ in 0..<20 { _ = try setup.get() }
            #expect(setup.server.connections.count == Self.most)
        }
    }

    @Test("One at a time uses one connection")
    func oneAtATime() throws {
        try run { setup in
            for _ in 0..<20 { _ = try setup.get() }
            #expect(setup.server.connections.count == 1)
        }
    }

    @Test("A request runs into its time limit in whatever handle it is")
    func timeLimit() throws {
        try run { setup in
            try openAll(setup)
            let request = try setup.request(.get, "/silence")
            let tokens = (0..<Self.most).map { _ in setup.client.start(request, timeout: .seconds(2)) }
            for token in tokens {
                guard case .failure(let failure) = setup.client.answer(token), failure.kind == .timedOut else {
                    Issue.record("an answer")
                    continue
                }
            }
            setup.server.closedConnections.reaches(Self.most)
            let response = try setup.get()
            #expect(response.status == 200)
        }
    }

    @Test("Connections of handles that are not needed any more are closed")
    func closed() throws {
        try run(maxIdleTime: .seconds(1)) { setup in
            try openAll(setup)
            // One request after another needs one connection of the first handle; what else is open is left over.
            while setup.server.closedConnections.count < Self.most - 1 { _ = try setup.get() }
            // Handles are made again where they were.
            try openAll(setup, "/again")
        }
    }
}
