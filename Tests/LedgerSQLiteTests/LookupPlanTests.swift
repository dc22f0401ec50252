import Contract
import Ledger
import LedgerConformance
import Testing

@testable import LedgerSQLite

@Suite("Plans of look-ups")
struct LookupPlanTests {
    private let folder = TemporaryLedger()

    @Test("A look for a word finds each table's rows by an index of ids", arguments: ["o-1", "1000001"])
    func plans(word: String) throws {
        try SQLiteLedger.migrate(folder.configuration)
        let ledger = try SQLiteLedger(folder.configuration)
        _ = try ledger.find(word, limit: 50)
        let pages = ledger.database.statements.keys.filter { $0.contains("LIMIT ?2") }
        #expect(pages.count >= 9)
        for sql in pages {
            let plan = try ledger.database.statement("EXPLAIN QUERY PLAN " + sql).rows({ _ in }) { $0.text(3) }
            for table in ["grants", "answers", "retries"] where sql.contains("FROM \(table) ") {
                let steps = plan.filter { $0.contains(" \(table) ") || $0.hasSuffix(" \(table)") }
                #expect(!steps.isEmpty && steps.allSatisfy { $0.contains("SEARCH") }, "\(plan) of \(sql)")
                // All rows from the newest on, each compared with the word.
                #expect(!steps.contains { $0.hasSuffix("(rowid<?)") }, "\(plan) of \(sql)")
                #expect(plan.contains { $0.contains("INDEX \(table)_") }, "\(plan) of \(sql)")
            }
        }
    }

    @Test("A look at a stretch of places reads these alone", arguments: [SubmissionState.granted, .repeated])
    func stretch(state: SubmissionState) throws {
        try SQLiteLedger.migrate(folder.configuration)
        let ledger = try SQLiteLedger(folder.configuration)
        var query = SubmissionQuery(state: state, bundleID: "app", before: 9_000)
        query.from = 8_000
        _ = try ledger.submissions(query)
        let sql = try #require(ledger.database.statements.keys.first { $0.contains("sequence >= CAST(") })
        let plan = try ledger.database.statement("EXPLAIN QUERY PLAN " + sql).rows({ _ in }) { $0.text(3) }
        #expect(plan.contains { $0.hasSuffix("USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)") }, "\(plan)")
    }
}
