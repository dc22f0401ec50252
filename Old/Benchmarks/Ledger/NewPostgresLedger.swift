import Ledger
import PostgresTesting

/// A PostgreSQL ledger that was just made, in a schema of its own.
struct NewPostgresLedger {
    let schema: String
    let url: String
    let configuration: PostgresLedgerConfiguration

    /// Makes the schema and its tables.
    init(on server: PostgresServer) async throws {
        schema = try await server.freshSchema()
        url = server.url(schema: schema)
        configuration = try Self.configuration(of: url)
        _ = try await PostgresLedger.migrate(configuration)
    }

    /// What a ledger's URL says.
    static func configuration(of url: String) throws -> PostgresLedgerConfiguration {
        guard let configuration = PostgresLedgerConfiguration(url: url) else {
            throw BenchFailure(description: "the ledger's URL cannot be read")
        }
        return configuration
    }
}
