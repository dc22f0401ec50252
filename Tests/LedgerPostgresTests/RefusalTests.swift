import Contract
import Ledger
import PostgresTesting
import Scheduling
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

    @Test("A batch that takes the server too long is written in parts", .timeLimit(.minutes(5)))
    func parts() throws {
        try plant("PERFORM pg_sleep(0.02);", before: "grants")
        var configuration = try database.configuration()
        configuration.settings.statement = .milliseconds(400)
        let ledger = try PostgresLedger(configuration)
        let batch = (0..<64).map { (number: Int64) in
            Samples.grant(
                Samples.submission(SubmissionID("s\(number)"), offset: number),
                Samples.purchase(TransactionID("\(number)")))
        }
        var tries = 0
        var results: [DecisionResult]?
        while results == nil, tries < 8 {
            tries += 1
            do {
                results = try ledger.write(batch)
            } catch {
                #expect(error.word == "unavailable" && error.detail.contains("a statement took too long"))
            }
        }
        #expect(results?.count == batch.count && tries > 2)
        #expect(try ledger.grants(GrantQuery()).count == batch.count)
    }

    /// A worker's session that gives up a lock soon, and one that holds locks, such as a person's.
    private func lockedSessions() throws -> (ledger: PostgresLedger, other: PostgresConnection) {
        var configuration = try database.configuration()
        configuration.settings.lock = .milliseconds(200)
        return (
            try PostgresLedger(configuration), try PostgresConnection(configuration.options, configuration.settings)
        )
    }

    private func grants(_ numbers: ClosedRange<Int64>, owesCall: Bool = false) -> [Decision] {
        numbers.map { number in
            Samples.grant(
                Samples.submission(SubmissionID("s\(number)"), offset: number),
                Samples.purchase(TransactionID("\(number)")), owesCall: owesCall)
        }
    }

    /// Expects that a first write fails for a held lock, and that later ones leave this decision of theirs alone.
    private func expectOnePasses(_ ledger: PostgresLedger, _ batch: [Decision], but locked: Int) throws {
        let error = ledgerError { _ = try ledger.write(batch) }
        #expect(error?.word == "unavailable" && error?.detail.contains("another transaction holds a lock") == true)
        for _ in 0..<2 {
            let results = try ledger.write(batch)
            for (place, result) in results.enumerated() {
                #expect((result == .undecided) == (place == locked), "\(place): \(result)")
            }
            #expect(try ledger.write([batch[locked]]) == [.undecided])
        }
        #expect(try ledger.grants(GrantQuery()).count == batch.count - 1)
    }

    @Test("A row that somebody holds locked keeps no other submission waiting, and its own is granted once after it")
    func lockedRow() throws {
        let (ledger, other) = try lockedSessions()
        let submission = Samples.submission("s0", offset: 0)
        try subject.write(Samples.wait(submission, delay: 0))
        let due = try ledger.takeDue([DueRequest(endpoint: Samples.endpoint, limit: 1)], bytes: .max)
        let lease = try #require(due.first?.lease)
        var batch = grants(1...8)
        batch.insert(Samples.grant(submission, Samples.purchase("100"), lease: lease), at: 5)
        try other.run(all: "BEGIN", "SELECT 1 FROM retries FOR UPDATE")
        try expectOnePasses(ledger, batch, but: 5)
        try other.rollBack()
        #expect(try ledger.write([batch[5]])[0].outcome == .granted(created: 1))
        #expect(try ledger.write(batch).allSatisfy { $0 != .undecided })
        #expect(try ledger.grants(GrantQuery()).count == batch.count)
    }

    @Test(
        "A purchase that another session's open transaction has keeps no other one waiting", arguments: [false, true])
    func lockedKey(owesCall: Bool) throws {
        let (ledger, other) = try lockedSessions()
        let batch = grants(1...9, owesCall: owesCall)
        _ = try ledger.write(batch)
        try other.script("CREATE TABLE copies AS SELECT * FROM grants; DELETE FROM grants; DELETE FROM outbox")
        try other.run(
            all: "BEGIN", "INSERT INTO grants OVERRIDING SYSTEM VALUE SELECT * FROM copies WHERE transaction_id = '3'")
        try expectOnePasses(ledger, batch, but: 2)
        try other.rollBack()
        #expect(try ledger.write([batch[2]])[0].outcome == .granted(created: 1))
        #expect(try ledger.grants(GrantQuery()).count == batch.count)
    }

    @Test("A table that is locked as a whole makes the ledger unavailable, and the session waits for locks again later")
    func lockedTable() throws {
        let (ledger, other) = try lockedSessions()
        try other.run(all: "BEGIN", "LOCK TABLE grants IN SHARE MODE")
        for numbers in [1...2, 1...40] as [ClosedRange<Int64>] {
            for _ in 0..<2 {
                let error = ledgerError { _ = try ledger.write(grants(numbers)) }
                #expect(error?.word == "unavailable")
            }
        }
        try other.rollBack()
        #expect(ledger.isHasty && ledger.seeksLocksUntil != nil)
        #expect(try ledger.write(grants(1...40)).count == 40)
        ledger.seeksLocksUntil = .now
        #expect(try ledger.write(grants(41...41))[0].outcome == .granted(created: 1))
        #expect(!ledger.isHasty)
        #expect(try ledger.connection.text("SHOW lock_timeout") == "200ms")
    }

    @Test("A row that somebody holds locked keeps no other lease from its renewal")
    func lockedLease() throws {
        let (ledger, other) = try lockedSessions()
        for number in 1...2 as ClosedRange<Int64> {
            try subject.write(Samples.wait(Samples.submission(SubmissionID("s\(number)"), offset: number), delay: 0))
        }
        let due = try ledger.takeDue([DueRequest(endpoint: Samples.endpoint, limit: 2)], bytes: .max)
        #expect(due.count == 2)
        try other.run(all: "BEGIN", "SELECT 1 FROM retries ORDER BY sequence LIMIT 1 FOR UPDATE")
        let renewals = due.map { LeaseRenewal($0.lease, takings: $0.takings) }
        #expect(try ledger.renew(renewals) == [false, true])
        try other.rollBack()
        #expect(try ledger.renew(renewals) == [true, true])
    }
}
