import Logging
import PostgresTesting
import Testing

@testable import Ledger

/// A ledger in a schema of its own, on the server that the tests share.
struct TemporaryPostgres: Sendable {
    let server: PostgresServer
    let schema: String

    init(on server: PostgresServer? = nil, migrated: Bool = true) async throws {
        if let server { self.server = server } else { self.server = try await .sharedServer() }
        schema = try await self.server.freshSchema()
        if migrated { _ = try await PostgresLedger.migrate(try configuration()) }
    }

    var url: String { server.url(schema: schema) }

    func configuration(_ url: String? = nil) throws -> PostgresLedgerConfiguration {
        var configuration = try #require(PostgresLedgerConfiguration(url: url ?? self.url))
        configuration.clock = .caller
        // A busy machine reaches a worker's limits; tests of a limit set their own.
        configuration.connectTimeout = .seconds(60)
        configuration.lockTimeout = .seconds(60)
        configuration.idleInTransactionTimeout = .seconds(60)
        configuration.statementTimeout = .seconds(60)
        configuration.operationTimeout = .seconds(60)
        return configuration
    }

    func open(
        _ url: String? = nil, _ change: (inout PostgresLedgerConfiguration) -> Void = { _ in }
    ) async throws -> PostgresLedger {
        var configuration = try configuration(url)
        change(&configuration)
        return try await PostgresLedger.open(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Runs SQL beside the ledger.
    @discardableResult
    func query(_ sql: String) async throws -> String {
        try await server.query(sql, schema: schema)
    }
}
