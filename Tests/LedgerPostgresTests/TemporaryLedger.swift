import LedgerConformance
import PostgresTesting
import Synchronization

@testable import LedgerPostgres

/// A database of its own for one ledger, on the server that tests share.
final class TemporaryLedger: Sendable {
    private static let names = Atomic<Int>(0)

    let clock = ManualClock()
    let database: String
    let server: PostgresServer

    init(on server: PostgresServer? = nil) throws {
        self.server = try server ?? .shared
        database = "ledger\(Self.names.add(1, ordering: .relaxed).newValue)"
        try self.server.createDatabase(database)
    }

    /// Connections with the same configuration share the state of one process's connections.
    /// - Parameter proxy: Stands before the server.
    func configuration(behind proxy: PostgresProxy? = nil) throws -> PostgresLedgerConfiguration {
        let url = proxy.map { "postgres://postgres@/\(database)?host=\($0.folder)" } ?? server.url(database: database)
        var configuration = try PostgresLedgerConfiguration(url: url)
        let clock = clock
        configuration.clock = { clock.now }
        configuration.sampleMilliseconds = 0
        configuration.sampleRest = 0
        configuration.settings.demandsFsync = false
        // Only a hang takes so long, however busy the machine is.
        configuration.settings.call = .seconds(180)
        configuration.settings.statement = .seconds(170)
        configuration.settings.lock = .seconds(160)
        configuration.settings.idleInTransaction = .seconds(170)
        return configuration
    }

    /// The ledger, made, as the conformance suite uses one.
    func subject() throws -> ConformanceSubject {
        let configuration = try configuration()
        try PostgresLedger.migrate(configuration)
        return ConformanceSubject(
            ledger: try PostgresLedger(configuration), other: try PostgresLedger(configuration),
            setClock: { self.clock.set($0) }, run: { try self.server.run($0, database: self.database) })
    }

    /// Connections count on the server, so it goes with the suite that has it.
    deinit { _ = try? server.run("DROP DATABASE \(database) WITH (FORCE)") }
}
