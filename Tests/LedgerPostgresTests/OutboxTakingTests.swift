import Contract
import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

/// What it costs to find out what is owed.
@Suite struct OutboxTakingTests {
    let database: TemporaryLedger
    let ledger: PostgresLedger

    init() throws {
        database = try TemporaryLedger()
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        ledger = try PostgresLedger(configuration)
        _ = try ledger.takeOver([TakeOver(ownership: Samples.ownership(), owner: "test", committed: nil)])
    }

    private func owe(_ keys: [OutboxKey]) throws {
        _ = try ledger.owe(
            keys.map { OutboxEntry(ownership: Samples.ownership(), key: $0, delay: 0, stub: nil) })
    }

    @Test("Rows that cannot be rendered are put off many at once, however few rows are wanted")
    func portions() throws {
        defer { database.remove() }
        try owe((0..<300).map { .granted(Samples.reference(TransactionID("\($0)")), repeatOf: nil) })
        #expect(try ledger.takeOutbox([OutboxRequest(target: .topic(.granted), limit: 1)]).isEmpty)
        // A row keeps the number of the statement that wrote it: the first turn's, or the second's.
        let statements = "SELECT count(DISTINCT cmin::text) FROM outbox WHERE attempts = 1"
        #expect(try database.server.run(statements, database: database.database) == "2")
    }
}
