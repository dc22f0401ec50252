import Foundation
import LedgerConformance
import PostgresTesting
import Purchases
import Testing

@testable import Ledger

/// What a ledger refuses before it is used, and how it is made.
@Suite struct PostgresOpeningTests {
    @Test func aSchemaWithoutALedgerIsBehindUntilItIsMigrated() async throws {
        let place = try await TemporaryPostgres(migrated: false)
        await #expect(throws: LedgerError.schemaBehind(found: 0, known: PostgresMigration.latestVersion)) {
            try await place.open()
        }
        let first = try await PostgresLedger.migrate(try place.configuration())
        #expect(first.from == 0 && first.to == PostgresMigration.latestVersion)
        let second = try await PostgresLedger.migrate(try place.configuration())
        #expect(second.from == second.to)
        try await place.open().close()
    }

    @Test func aMigrationMayTakeLongerThanAWorkersCalls() async throws {
        let place = try await TemporaryPostgres()
        // As version 2 left it, and with a last statement that takes its time.
        try await place.query(
            """
            DROP INDEX submissions_waiting_user, submissions_waiting_order;
            UPDATE ledger_schema SET version = 2;
            CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_sleep(4); RETURN NEW; END';
            CREATE TRIGGER slow BEFORE UPDATE ON ledger_schema FOR EACH ROW EXECUTE FUNCTION take_long();
            """)
        var configuration = try place.configuration()
        configuration.statementTimeout = .seconds(3)
        configuration.operationTimeout = .seconds(3)
        let versions = try await PostgresLedger.migrate(configuration)
        #expect(versions.from == 2 && versions.to == PostgresMigration.latestVersion)
        let indexes = try await place.query(
            """
            SELECT string_agg(indexname, ' ' ORDER BY indexname) FROM pg_indexes
            WHERE schemaname = '\(place.schema)' AND indexname ~ '^submissions_.*(user|order)$'
            """)
        #expect(indexes == "submissions_order submissions_user submissions_waiting_order submissions_waiting_user")
    }

    @Test func olderAndNewerSchemasAreRefused() async throws {
        let place = try await TemporaryPostgres()
        let known = PostgresMigration.latestVersion
        try await place.query("UPDATE ledger_schema SET version = \(known + 1)")
        await #expect(throws: LedgerError.schemaAhead(found: known + 1, known: known)) { try await place.open() }
        await #expect(throws: LedgerError.schemaAhead(found: known + 1, known: known)) {
            try await PostgresLedger.migrate(try place.configuration())
        }
        try await place.query("UPDATE ledger_schema SET version = \(known - 1)")
        await #expect(throws: LedgerError.schemaBehind(found: known - 1, known: known)) { try await place.open() }
    }

    @Test func manyProgramsThatMigrateAtOnceMakeOneLedger() async throws {
        let place = try await TemporaryPostgres(migrated: false)
        let made = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { try await PostgresLedger.migrate(try place.configuration()).from } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let known = PostgresMigration.latestVersion
        #expect(made.sorted() == [0, known, known, known])
    }

    @Test func tablesOfOthersStayAndAreNamed() async throws {
        let place = try await TemporaryPostgres(migrated: false)
        try await place.query("CREATE TABLE grants (mine text)")
        await #expect {
            try await PostgresLedger.migrate(try place.configuration())
        } throws: { error in
            guard case LedgerError.unusable(let text) = error else { return false }
            return text.contains("(grants)")
        }
        #expect(try await place.query("SELECT count(*) FROM pg_tables WHERE schemaname = '\(place.schema)'") == "1")
    }

    @Test func aDatabaseOrASchemaThatDoesNotExistIsUnusable() async throws {
        let place = try await TemporaryPostgres(migrated: false)
        for url in [place.server.url(database: "nobody"), place.server.url(schema: "nobody")] {
            await #expect {
                try await place.open(url)
            } throws: {
                isUnusable($0)
            }
        }
    }

    /// With the first id that it has no letters for it would stop each worker that reads the record, and the next.
    @Test func aDatabaseThatHasNotEveryLetterIsUnusable() async throws {
        let place = try await TemporaryPostgres(migrated: false)
        let name = "latin_\(place.schema)"
        try await place.query(
            "CREATE DATABASE \(name) ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        await #expect(throws: LedgerError.unusable("the database's encoding is LATIN1, not UTF8")) {
            try await PostgresLedger.migrate(try place.configuration(place.server.url(database: name)))
        }
    }

    /// It keeps what it is given, byte for byte.
    @Test func aDatabaseWithoutAnEncodingKeepsEveryLetter() async throws {
        let place = try await TemporaryPostgres(migrated: false)
        let name = "bytes_\(place.schema)"
        try await place.query(
            "CREATE DATABASE \(name) ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        let url = place.server.url(database: name)
        _ = try await PostgresLedger.migrate(try place.configuration(url))
        let ledger = try await place.open(url)
        _ = try await ledger.settle(
            [Samples.grant("s1", user: "\u{20ac}\u{1f600}\u{e9}", Samples.purchase("1"))], quarantines: [],
            now: Samples.noon)
        let rows = try await ledger.submissions(SubmissionFilter(submissionID: "s1"), before: nil, limit: 1)
        #expect(rows.map(\.claimant.userID) == ["\u{20ac}\u{1f600}\u{e9}"])
        await ledger.close()
    }

    @Test func aServerThatDoesNotAnswerIsUnavailable() async throws {
        let place = try await TemporaryPostgres(migrated: false)
        await #expect {
            try await place.open("postgres://postgres@127.0.0.1:1/postgres")
        } throws: { error in
            if case LedgerError.unavailable = error { true } else { false }
        }
    }

    /// A fail-over passes, so it is nothing that ends a worker.
    @Test func aServerThatTakesNoWritesIsUnavailable() async throws {
        let place = try await TemporaryPostgres()
        let url = place.url + "%20-cdefault_transaction_read_only%3Don"
        let error = LedgerError.unavailable(
            "PostgreSQL takes no writes from this user: default_transaction_read_only is on for the role, the database or "
                + "the server")
        await #expect(throws: error) { try await place.open(url) }
        await #expect(throws: error) { try await PostgresLedger.migrate(try place.configuration(url)) }
    }

    @Test func aUserWithoutRightsIsToldWhichAreMissing() async throws {
        let place = try await TemporaryPostgres()
        let role = "worker_\(place.schema)"
        try await place.query("CREATE ROLE \(role) LOGIN")
        try await place.query("GRANT USAGE ON SCHEMA \(place.schema) TO \(role)")
        try await place.query("GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA \(place.schema) TO \(role)")
        let url = place.server.url(schema: place.schema, user: role)
        await #expect {
            try await place.open(url)
        } throws: { error in
            error as? LedgerError
                == .unusable("this user lacks rights: DELETE on outbox, DELETE on waiting, DELETE on withheld")
        }
        try await place.query("GRANT DELETE ON outbox, waiting, withheld TO \(role)")
        let ledger = try await place.open(url)
        try await Self.exercise(ledger)
        await ledger.close()
    }

    @Test func anotherLedgerUnderTheSameNameIsDamage() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open { $0.maxConnections = 1 }
        try await place.query("UPDATE ledger_schema SET ledger_id = gen_random_uuid()")
        await #expect(throws: LedgerError.damaged("the database no longer holds the ledger that it held before")) {
            try await ledger.counts()
        }
        await ledger.close()
    }

    @Test func aRoleThatIsNotToWaitForTheDiskWaitsAllTheSame() async throws {
        let place = try await TemporaryPostgres()
        let url = place.url + "%20-csynchronous_commit%3Doff"
        let ledger = try await place.open(url)
        let setting = try await ledger.pool.run { connection throws(PostgresFailure) in
            try connection.run(PostgresCommand(PostgresStatement(once: "SELECT current_setting('synchronous_commit')")))
                .rows { row throws(PostgresFailure) in try row.text(0) }
        }
        #expect(setting == ["on"])
        await ledger.close()
    }

    // MARK: Passwords and TLS

    @Test func aPasswordComesFromAFileAndIsInNoError() async throws {
        let place = try await TemporaryPostgres()
        try await Self.makeGuarded(place)
        let file = "\(NSTemporaryDirectory())passwords-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "*:*:*:guarded:canary-right\n".write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let ledger = try await place.open(
            place.server.networkURL(schema: place.schema, user: "guarded", "passfile=\(file)"))
        try await Self.exercise(ledger)
        await ledger.close()
        await #expect {
            try await place.open(place.server.networkURL(schema: place.schema, user: "guarded:canary-wrong"))
        } throws: { error in
            isUnusable(error) && "\(error)".contains("28P01") && !"\(error)".contains("canary")
        }
    }

    @Test func whatAPersonHasToSetRightIsUnusable() async throws {
        let place = try await TemporaryPostgres()
        try await Self.makeGuarded(place)
        let urls = [
            place.url + "&sslmode=bogus",
            place.server.networkURL(schema: place.schema, user: "guarded", "passfile=/nowhere/passwords"),
            // A server that wants a password, and none is there.
            place.server.networkURL(schema: place.schema, user: "guarded"),
        ]
        for url in urls {
            await #expect("\(url)") {
                try await place.open(url)
            } throws: {
                isUnusable($0)
            }
        }
    }

    /// A password file may just be being replaced: a worker that is connected goes on, and tries again.
    @Test func settingsThatGoWrongUnderAWorkerAreUnavailable() {
        #expect(LedgerError(PostgresFailure.misconfigured("x")) == .unavailable("x"))
        #expect(LedgerError(opening: .misconfigured("x")) == .unusable("x"))
        #expect(LedgerError(PostgresFailure.unusable("x")) == .unavailable("x"))
        #expect(LedgerError(opening: .unusable("x")) == .unusable("x"))
    }

    @Test(
        arguments: [
            ("XX000", true), ("XX001", false), ("XX002", false), ("53100", true), ("23514", false), ("57014", true),
            ("55P03", true), ("25006", true), ("25P03", true), ("25P04", true), ("25P02", false),
        ])
    func aRefusedStatementPassesOrIsDamage(state: String, passes: Bool) {
        let error = LedgerError(PostgresFailure.refused("x", state: state))
        #expect(error == (passes ? .unavailable("\(text(state))") : .damaged("\(text(state))")))
    }

    private func text(_ state: String) -> String { "PostgreSQL refused a statement (\(state)): x" }

    @Test func aServerThatProvesItsNameIsTrusted() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open(
            place.server.networkURL(
                host: "localhost", schema: place.schema, "sslmode=verify-full",
                "sslrootcert=\(place.server.authority)"))
        let encrypted = try await ledger.pool.run { connection throws(PostgresFailure) in
            try connection.run(
                PostgresCommand(
                    PostgresStatement(once: "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"))
            ).rows { row throws(PostgresFailure) in row.boolean(0) }
        }
        #expect(encrypted == [true])
        // More than one TLS record, both ways.
        let batch = (0..<500).map { Samples.grant(SubmissionID("s\($0)"), Samples.purchase(TransactionID("\($0)"))) }
        #expect(try await ledger.settle(batch, quarantines: [], now: Samples.noon).added?.count == 500)
        #expect(try await ledger.outbox(after: 0, limit: 1000).count == 500)
        await ledger.close()
    }

    @Test func aServerThatDoesNotProveItsNameIsNotUsed() async throws {
        let place = try await TemporaryPostgres()
        let server = place.server
        let urls = [
            server.networkURL(
                host: "localhost", schema: place.schema, "sslmode=verify-full", "sslrootcert=\(server.otherAuthority)"),
            // The certificate is for localhost.
            server.networkURL(schema: place.schema, "sslmode=verify-full", "sslrootcert=\(server.authority)"),
            server.networkURL(host: "localhost", schema: place.schema, "sslmode=verify-full"),
        ]
        for url in urls {
            await #expect(throws: LedgerError.self) { try await place.open(url) }
        }
    }

    private static func makeGuarded(_ place: TemporaryPostgres) async throws {
        try await place.query(
            """
            DO $$ BEGIN
                CREATE ROLE guarded LOGIN PASSWORD 'canary-right';
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
            END $$
            """)
        try await place.query("GRANT USAGE ON SCHEMA \(place.schema) TO guarded")
        try await place.query("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(place.schema) TO guarded")
    }

    /// Everything that a worker does, once.
    private static func exercise(_ ledger: PostgresLedger) async throws {
        let batch = [Samples.grant("s1", Samples.purchase("1")), Samples.held("s2"), Samples.failure("s3")]
        let quarantines = [Samples.quarantine(offset: 1)]
        _ = try await ledger.settle(batch, quarantines: quarantines, now: Samples.noon)
        _ = try await ledger.settle(batch, quarantines: quarantines, now: Samples.noon)
        _ = try await ledger.settle([Samples.failure("s2")], quarantines: [], now: Samples.noon)
        _ = try await ledger.takeRelay("w", for: .seconds(10), now: Samples.noon)
        for note in [RelayNote(through: 3, withhold: [2]), RelayNote(through: 5, release: [2])] {
            #expect(try await ledger.published(note, by: "w", for: .seconds(10), now: Samples.noon))
        }
        try await ledger.leaveRelay("w")
        #expect(try await ledger.counts().grants == 1)
    }

    private func isUnusable(_ error: any Error) -> Bool {
        if case LedgerError.unusable = error { true } else { false }
    }
}
