import Ledger
import Testing

@testable import LedgerSQLite

@Suite("Looking at a file as a worker would")
struct SQLiteExaminationTests {
    private let ledger = TemporaryLedger()

    @Test("A ledger that can be written says so, and nothing of the look stays in it")
    func good() throws {
        #expect(try SQLiteLedger.examine(ledger.configuration).isEmpty, "there is none yet")
        try SQLiteLedger.migrate(ledger.configuration)
        let findings = try SQLiteLedger.examine(ledger.configuration)
        #expect(findings.map(\.subject) == ["disk", "write"])
        #expect(findings.last == LedgerFinding("write", "a row can be written"))
        #expect(try SQLiteLedger(ledger.configuration).workers().isEmpty)
    }

    @Test("A lock that another program keeps is told as what it is")
    func locked() throws {
        try SQLiteLedger.migrate(ledger.configuration)
        var configuration = ledger.configuration
        configuration.busyTimeout = 10
        let holder = try SQLiteLedger(ledger.configuration)
        try holder.database.run("BEGIN IMMEDIATE")
        let finding = SQLiteExamination.write(try SQLiteLedger(configuration).database, at: configuration.path)
        #expect(finding.failures.first?.contains("locked") == true)
        try holder.database.run("ROLLBACK")
        #expect(try SQLiteLedger.examine(configuration).last?.failures.isEmpty == true)
    }

    @Test("Little room is a warning, hardly any a failure; a file system that tells nothing is no fault")
    func disk() {
        #expect(SQLiteExamination.disk(free: 3 << 30) == LedgerFinding("disk", "3 GiB free"))
        #expect(
            SQLiteExamination.disk(free: 1 << 30)
                == LedgerFinding("disk", "1 GiB free", warnings: ["less than 2 GiB: make room"]))
        #expect(
            SQLiteExamination.disk(free: 100 << 20)
                == LedgerFinding("disk", "100 MiB free", failures: ["less than 256 MiB: make room"]))
        #expect(SQLiteExamination.disk(free: nil).failures.isEmpty)
        #expect(SQLiteExamination.free(at: "/nowhere") == nil)
        #expect(SQLiteExamination.free(at: "/tmp").map { $0 > 0 } == true)
    }
}
