import Foundation
import Ledger
import Logging
import PostgresTesting
import SystemTesting

/// PostgreSQL with the ledger, and a fault proxy before it for each worker.
struct Database: Sendable {
    let server: PostgresServer
    let proxies: [FaultProxy]

    /// Starts a server with an empty ledger.
    static func start(paths: Int) async throws -> Database {
        let server = try await PostgresServer.start()
        var proxies: [FaultProxy] = []
        for _ in 0..<paths { proxies.append(try await FaultProxy.start(before: server.port)) }
        let database = Database(server: server, proxies: proxies)
        _ = try await PostgresLedger.migrate(database.configuration())
        return database
    }

    /// Where a worker finds the ledger, through its own proxy.
    func url(path: Int) -> String {
        Self.url(port: proxies[path].port)
    }

    /// Straight to the server.
    var url: String { Self.url(port: server.port) }

    /// For those who judge: straight to the server.
    func open() async throws -> PostgresLedger {
        try await PostgresLedger.open(configuration(), logger: .silent)
    }

    /// The proxies of a place.
    func proxies(at place: FaultPlace) -> [FaultProxy] {
        if case .databasePath(let path) = place { [proxies[path]] } else { proxies }
    }

    private func configuration() throws -> PostgresLedgerConfiguration {
        guard let configuration = PostgresLedgerConfiguration(url: url) else {
            throw ChildProcess.Failure(description: "the ledger's URL is none: \(url)")
        }
        return configuration
    }

    private static func url(port: Int) -> String {
        "postgres://postgres@127.0.0.1:\(port)/postgres?sslmode=disable"
    }

    /// Ends the proxies; the server ends with its last reference.
    func close() async throws {
        for proxy in proxies { try await proxy.close() }
    }
}
