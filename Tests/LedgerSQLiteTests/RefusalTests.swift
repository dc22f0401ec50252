import Contract
import Ledger
import Testing

@testable import LedgerConformance
@testable import LedgerSQLite

/// Writes that a file does not take, and does not call wrong either.
@Suite struct RefusalTests {
    private let file = TemporaryLedger()

    @Test("A submission whose answer is not taken is not given up: the call says so, and nothing of it stays")
    func abandoned() throws {
        try SQLiteLedger.migrate(file.configuration)
        let ledger = try SQLiteLedger(file.configuration)
        let subject = ConformanceSubject(ledger: ledger, other: ledger, setClock: file.clock.set)
        try subject.own()
        let submission = Samples.submission("s1")
        try subject.write(Samples.wait(submission))
        let row = "SELECT takings || ' ' || (leased_until IS NULL) || ' ' || due_at FROM retries"
        let before = try ledger.database.text(row)
        try ledger.database.run("CREATE TRIGGER refusing BEFORE INSERT ON answers BEGIN SELECT RAISE(IGNORE); END")
        let key = submission.claimant.submissionKey
        let note = OperatorNote(actor: "kim", reason: "Nobody wants it.", at: Samples.noon)
        let detail = "\(file.path): the file does not take a submission's answer, and has none"
        #expect(throws: LedgerError.unusable(detail: detail)) { try ledger.abandon(key, note) }
        #expect(try ledger.database.text(row) == before)
        #expect(try ledger.actions(on: key).isEmpty)
        try ledger.database.run("DROP TRIGGER refusing")
        #expect(try ledger.abandon(key, note) == [.failed(reason: "abandoned_by_operator")])
    }
}
