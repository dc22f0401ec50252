import Contract
import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

/// The cost of finding owed rows.
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
        try owe((0..<300).map { .granted(Samples.reference(TransactionID("\($0)")), repeatOf: nil) })
        #expect(try ledger.takeOutbox([OutboxRequest(target: .topic(.granted), limit: 1)]).isEmpty)
        // A row keeps the number of the statement that wrote it: the first turn's, or the second's.
        let statements = "SELECT count(DISTINCT cmin::text) FROM outbox WHERE attempts = 1"
        #expect(try database.server.run(statements, database: database.database) == "2")
    }

    @Test("Rows that are only told of are read without their evidence")
    func evidence() throws {
        let role = "\(database.database)_teller"
        defer {
            _ = try? database.server.run("DROP OWNED BY \(role); DROP ROLE \(role)", database: database.database)
        }
        let submission = Samples.submission("s1", offset: 1)
        _ = try ledger.write([Samples.wait(submission)])
        try owe([.pending(ClaimDigest(of: submission))])
        try database.server.run(
            """
            CREATE ROLE \(role);
            GRANT ALL ON ALL TABLES IN SCHEMA public TO \(role);
            GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO \(role);
            REVOKE SELECT ON retries FROM \(role);
            DO $$ BEGIN EXECUTE (
                SELECT format('GRANT SELECT (%s) ON retries TO \(role)', string_agg(attname, ', '))
                FROM pg_attribute WHERE attrelid = 'retries'::regclass AND attnum > 0 AND NOT attisdropped
                    AND attname <> 'evidence');
            END $$
            """, database: database.database)
        try ledger.connection.run("SET ROLE \(role)")
        let taken = try ledger.takeOutbox([OutboxRequest(target: .topic(.pending), limit: 9)])
        #expect(taken.map(\.lease.key) == [.pending(ClaimDigest(of: submission))])
        #expect(try ledger.knownOutcomes(of: [submission.origin]).map(\.kind) == [.waiting])
        let again = Samples.wait(Samples.submission("s1", offset: 2), tellsWaiting: true)
        #expect(try ledger.write([again])[0].events.count == 1)
        let list = try ledger.submissions(SubmissionQuery(state: .retrying))
        #expect(list.map(\.claimant.submissionID) == ["s1"])
        try ledger.connection.run("RESET ROLE")
    }
}
