import Contract
import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

/// Calls that a server does not carry out at the first try.
@Suite struct RefusalTests {
    private let database: TemporaryLedger
    private let subject: ConformanceSubject

    init() throws {
        database = try TemporaryLedger()
        subject = try database.subject()
        try subject.own()
    }

    /// Has the server run some SQL before each insertion into a table.
    private func plant(_ body: String, before table: String) throws {
        try database.server.run(
            """
            CREATE SEQUENCE insertions;
            CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body) RETURN NEW; END $$;
            CREATE TRIGGER planted BEFORE INSERT ON \(table) FOR EACH ROW EXECUTE FUNCTION planted()
            """, database: database.database)
    }

    @Test("A submission that is given up while another session answers it is looked at again")
    func abandoned() throws {
        let submission = Samples.submission("s1")
        try subject.write(Samples.wait(submission))
        try plant("IF nextval('insertions') = 1 THEN RETURN NULL; END IF;", before: "answers")
        let note = OperatorNote(actor: "kim", reason: "Nobody wants it.", at: Samples.noon)
        let outcomes = try subject.ledger.abandon(submission.claimant.submissionKey, note)
        #expect(outcomes == [.failed(reason: "abandoned_by_operator")])
    }

    @Test("A submission whose answer is not taken is not given up: the call says so, and nothing of it stays")
    func notAbandoned() throws {
        let submission = Samples.submission("s1")
        try subject.write(Samples.wait(submission))
        let row = "SELECT takings || ' ' || (leased_until IS NULL) || ' ' || due_at FROM retries"
        let before = try subject.run(row)
        try plant("RETURN NULL;", before: "answers")
        let key = submission.claimant.submissionKey
        let note = OperatorNote(actor: "kim", reason: "Nobody wants it.", at: Samples.noon)
        let error = #expect(throws: LedgerError.self) { try subject.ledger.abandon(key, note) }
        #expect(error?.word == "unavailable")
        #expect(error?.detail.contains("another session answers the submission") == true)
        #expect(try subject.run(row) == before)
        #expect(try subject.ledger.actions(on: key).isEmpty)
    }

    /// Opens a ledger whose limit may be too short for an opening on a busy host.
    private func opened(_ configuration: PostgresLedgerConfiguration) throws -> PostgresLedger {
        for _ in 0..<20 { if let ledger = try? PostgresLedger(configuration) { return ledger } }
        return try PostgresLedger(configuration)
    }

    @Test(
        "A batch that takes the server too long is written in parts, by the next session, too", .timeLimit(.minutes(5)),
        arguments: [true, false])
    func parts(isConnectionLost: Bool) throws {
        try plant("PERFORM pg_sleep(0.02);", before: "grants")
        var configuration = try database.configuration()
        if isConnectionLost {
            configuration.settings.call = .milliseconds(400)
        } else {
            configuration.settings.statement = .milliseconds(400)
        }
        var ledger = try PostgresLedger(configuration)
        let batch = (0..<64).map { (number: Int64) in
            Samples.grant(
                Samples.submission(SubmissionID("s\(number)"), offset: number),
                Samples.purchase(TransactionID("\(number)")))
        }
        var tries = 0
        var results: [DecisionResult]?
        while results == nil, tries < 40 {
            tries += 1
            do {
                results = try ledger.write(batch)
            } catch {
                let words = isConnectionLost ? "no answer in time" : "a statement took too long"
                #expect(error.word == (isConnectionLost ? "disconnected" : "unavailable"))
                #expect(error.detail.contains(words), "\(error.detail)")
                if isConnectionLost { ledger = try opened(configuration) }
            }
        }
        #expect(results?.count == batch.count && tries > 2)
        #expect(try ledger.grants(GrantQuery()).count == batch.count)
    }
}
