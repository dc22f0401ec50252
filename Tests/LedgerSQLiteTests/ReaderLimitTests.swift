import Ledger
import Testing

@testable import LedgerSQLite

@Suite("Somebody who only reads", .timeLimit(.minutes(5)))
struct ReaderLimitTests {
    private let folder = TemporaryLedger()

    @Test("waits no longer than the limit, and may go on afterwards")
    func limit() throws {
        try SQLiteLedger.migrate(folder.configuration)
        let ledger = try SQLiteLedger(folder.configuration.reading(within: .milliseconds(50)))
        let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        #expect(throws: LedgerError.self) {
            try ledger.read { (_) throws(StoreError) in try ledger.database.number(endless) }
        }
        #expect(try ledger.find("anybody", limit: 5).hits.isEmpty)
    }
}
