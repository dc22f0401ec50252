import Contract
import Ledger
import Testing

@testable import LedgerConformance
@testable import LedgerSQLite

@Suite("Rows of a later version")
struct LaterVersionTests {
    private static let request = DueRequest(endpoint: Samples.endpoint, limit: 1)

    /// Two rows of `retries` that are due; a later version wrote the first of them.
    private static func withRows(_ body: (SQLiteLedger) throws -> Void) throws {
        let file = TemporaryLedger()
        defer { file.remove() }
        try SQLiteLedger.migrate(file.configuration)
        let ledger = try SQLiteLedger(file.configuration)
        _ = try ledger.takeOver([TakeOver(ownership: Samples.ownership(), owner: "test", committed: nil)])
        for (index, id) in ["later", "known"].enumerated() {
            let submission = Samples.submission(SubmissionID(id), offset: Int64(index))
            _ = try ledger.write([Samples.wait(submission, delay: Int64(index))])
        }
        try ledger.database.run("UPDATE retries SET evidence_kind = 'later' WHERE submission_id = 'later'")
        file.clock.set(Samples.later(1000))
        try body(ledger)
    }

    @Test("hide no other row that is due")
    func due() throws {
        try Self.withRows { ledger in
            let due = try ledger.takeDue([Self.request], bytes: .max)
            #expect(due.map(\.submission.id) == ["known"])
        }
    }

    @Test("hide no other row that is suspect")
    func suspect() throws {
        try Self.withRows { ledger in
            try ledger.database.run("UPDATE retries SET takings = 2, leased_until = due_at")
            let due = try ledger.takeDue([], bytes: .max)
            #expect(due.map(\.submission.id) == ["known"])
            let more = try ledger.takeDue([], bytes: .max)
            #expect(more.isEmpty, "it is leased now")
        }
    }
}
