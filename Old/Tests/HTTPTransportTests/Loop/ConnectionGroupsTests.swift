import Testing

@testable import HTTPTransport

/// That it makes no difference to a request which group it is in, and that few requests need few connections.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionGroupsTests {
    private static let most = 7

    /// Seven connections at most, in groups of two, with the last one of one. `/together` and `/again` are answered once seven
    /// of them are there, `/silence` never.
    private func run(
        maxIdleTime: Duration = .seconds(3600), _ body: (Setup) async throws -> Void
    ) async throws {
        let gates = (together: ScriptedServer.Gate(opensAt: Self.most), again: ScriptedServer.Gate(opensAt: Self.most))
        try await Setup.run(
            configure: {
                $0.maxConnections = Self.most
                $0.connectionsPerGroup = 2
                $0.maxIdleTime = maxIdleTime
            },
            script: { request in
                switch request.head.split(separator: " ").dropFirst().first {
                case "/together": [.pass(gates.together), .send(.ok("fine"))]
                case "/again": [.pass(gates.again), .send(.ok("fine"))]
                case "/silence": []
                default: [.send(.ok("fine"))]
                }
            }, body)
    }

    /// Opens all connections that may be.
    private func openAll(_ setup: Setup, _ path: String = "/together") async throws {
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<Self.most { group.addTask { try await setup.get(path).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: Self.most))
        #expect(setup.server.connections.count - setup.server.closedConnections.count <= Self.most)
    }

    @Test func `as many requests as may be are under way at once, and later ones find their connections`() async throws
    {
        try await run { setup in
            try await openAll(setup)
            #expect(setup.server.connections.count == Self.most)
            for _ in 0..<20 {
                let response = try await setup.get()
                #expect(response.timings.reusedConnection)
            }
            #expect(setup.server.connections.count == Self.most)
        }
    }

    @Test func `one at a time uses one connection`() async throws {
        try await run { setup in
            for _ in 0..<20 { _ = try await setup.get() }
            #expect(setup.server.connections.count == 1)
        }
    }

    @Test func `a request is cancelled in whatever group it is`() async throws {
        try await run { setup in
            let silent = (0..<Self.most).map { _ in Task { try await setup.failure("/silence") } }
            await setup.server.requests.reaches(Self.most)
            for task in silent.reversed() {
                task.cancel()
                let error = try await task.value
                #expect(error == .cancelled)
            }
            await setup.server.closedConnections.reaches(Self.most)
            let response = try await setup.get()
            #expect(response.status == 200)
        }
    }

    @Test func `a request runs into its time limit in whatever group it is`() async throws {
        try await run { setup in
            try await openAll(setup)
            let kinds = try await withThrowingTaskGroup(of: HTTPTransportError.Kind.self) { group in
                for _ in 0..<Self.most {
                    group.addTask { try await setup.failure("/silence", totalTimeout: .milliseconds(500)).kind }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(kinds == Array(repeating: .timedOut, count: Self.most))
        }
    }

    @Test func `connections of groups that are not needed any more are closed`() async throws {
        try await run(maxIdleTime: .seconds(1)) { setup in
            try await openAll(setup)
            // One request after another needs one connection of the first group; what else is open is left over.
            while setup.server.closedConnections.count < Self.most - 1 { _ = try await setup.get() }
            // Groups are made again where they were.
            try await openAll(setup, "/again")
        }
    }
}
