import Contract
import Ledger
import LedgerConformance
import Testing

@testable import LedgerSQLite

@Suite struct RandomComparisonTests {
    private let file = TemporaryLedger()

    private func subject() throws -> ConformanceSubject {
        ConformanceSubject(
            ledger: try SQLiteLedger(file.configuration), other: try SQLiteLedger(file.configuration),
            setClock: { file.clock.set($0) })
    }

    @Test("SQLite answers random calls as the model does", arguments: UInt64(0)..<40)
    func compares(seed: UInt64) throws {
        try SQLiteLedger.migrate(file.configuration)
        try RandomComparison.check(subject(), seed: seed)
    }

    @Test("A program of the version before works with the next schema as with its own", arguments: UInt64(0)..<3)
    func upgraded(seed: UInt64) throws {
        try SQLiteLedger.migrate(file.configuration)
        _ = try file.opening(.later.through(Migrations.sqlite.newest + 1)).migrate()
        try RandomComparison.check(subject(), seed: seed)
    }
}
