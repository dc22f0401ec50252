import Ledger
import PostgresTesting
import Testing

@testable import LedgerPostgres

/// A person's mistake, and the words of a starting worker.
struct WrongSetting: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Run by the server's owner in the ledger's database, whose name is $DB here; its worker's role is $ROLE.
    let sql: String
    /// The role that comes.
    let user: String
    /// The database that is asked for.
    let database: String
    /// A part of the line that the worker says; Empty where it can work all the same.
    let line: String
    /// Whether the worker ends with 78 for a person; else it waits, because the fault may pass.
    let ends: Bool

    init(_ what: String, _ sql: String = "", user: String = "$ROLE", database: String = "$DB", waits line: String) {
        self.init(testDescription: what, sql: sql, user: user, database: database, line: line, ends: false)
    }

    init(_ what: String, _ sql: String = "", user: String = "$ROLE", database: String = "$DB", ends line: String) {
        self.init(testDescription: what, sql: sql, user: user, database: database, line: line, ends: true)
    }

    init(works what: String, _ sql: String) {
        self.init(testDescription: what, sql: sql, line: "", ends: false)
    }

    private init(
        testDescription: String, sql: String, user: String = "$ROLE", database: String = "$DB", line: String, ends: Bool
    ) {
        self.testDescription = testDescription
        (self.sql, self.user, self.database) = (sql, user, database)
        (self.line, self.ends) = (line, ends)
    }
}

@Suite struct WrongSettingsTests {
    static let cases: [WrongSetting] = [
        WrongSetting("no such role", user: "nobody_$DB", ends: #"role "nobody_$DB" does not exist (PostgreSQL 28000)"#),
        WrongSetting("a role that may not log in", "ALTER ROLE $ROLE NOLOGIN", ends: "is not permitted to log in"),
        WrongSetting("no such database", database: "none_$DB", ends: #"database "none_$DB" does not exist"#),
        WrongSetting(
            "no right to connect", "REVOKE CONNECT ON DATABASE $DB FROM PUBLIC",
            ends: #"this user lacks a right: permission denied for database "$DB""#),
        WrongSetting(
            "no right to the schema", "REVOKE USAGE ON SCHEMA public FROM PUBLIC",
            ends: "no schema of the search path is there, or this user may use none of them"),
        WrongSetting(
            "a search path that leads nowhere", "ALTER ROLE $ROLE SET search_path = nowhere",
            ends: "no schema of the search path is there"),
        WrongSetting(
            "a search path that leads elsewhere",
            "CREATE SCHEMA other; GRANT USAGE ON SCHEMA other TO $ROLE; ALTER ROLE $ROLE SET search_path = other, public",
            ends: "the schema other is searched, and it has no ledger"),
        WrongSetting(
            "no right to the ledger", "REVOKE SELECT ON ledger FROM $ROLE", ends: "permission denied for table ledger"),
        WrongSetting(
            "an operator's role", user: "grantor_$DB_operator",
            ends: "this user lacks INSERT on workers, UPDATE on workers, DELETE on workers; docs/postgresql.md"),
        WrongSetting(
            "a reader's role", user: "grantor_$DB_reader",
            ends: "this user lacks INSERT on consumer_group, INSERT on partitions, INSERT on products, "),
        WrongSetting("no ledger", "DROP TABLE ledger", ends: "the schema public is searched, and it has no ledger"),
        WrongSetting(
            "a ledger's table without a row", "DELETE FROM ledger",
            ends: "the schema public is searched, and it has no ledger"),
        WrongSetting(
            "a later schema", "UPDATE ledger SET version = \(Migrations.postgres.newest + 2)",
            ends: "schema \(Migrations.postgres.newest + 2) is newer than \(Migrations.postgres.newest + 1)"),
        WrongSetting(
            "a table of this name that is another program's",
            "ALTER TABLE ledger RENAME TO away; CREATE TABLE ledger (account text); GRANT SELECT ON ledger TO $ROLE",
            ends: "the table ledger is another program's"),
        WrongSetting(
            "a table that is gone", "DROP TABLE outbox", ends: #"relation "outbox" does not exist (PostgreSQL 42P01)"#),
        WrongSetting(
            "no writes by the role's setting", "ALTER ROLE $ROLE SET default_transaction_read_only = on",
            waits: "takes no writes from this user: default_transaction_read_only is on"),
        WrongSetting(
            "no connection left to the role", "ALTER ROLE $ROLE CONNECTION LIMIT 0",
            waits: #"the server has no connection left: too many connections for role "$ROLE""#),
        WrongSetting(
            "no connection left to the database", "ALTER DATABASE $DB CONNECTION LIMIT 0",
            waits: #"too many connections for database "$DB""#),
        WrongSetting(
            works: "commits that need not be synced by the role's setting",
            "ALTER ROLE $ROLE SET synchronous_commit = off"),
        WrongSetting(
            works: "a statement's limit of the role's that nothing keeps", "ALTER ROLE $ROLE SET statement_timeout = 1"),
        WrongSetting(works: "a lock's limit of the role's that nothing keeps", "ALTER ROLE $ROLE SET lock_timeout = 1"),
        WrongSetting(
            works: "another isolation by the role's setting",
            "ALTER ROLE $ROLE SET default_transaction_isolation = serializable"),
    ]

    @Test("A worker that cannot begin says one line, and ends or waits as the mistake asks", arguments: cases)
    func database(wrong: WrongSetting) throws {
        let database = try TemporaryLedger()
        try database.withRoles {
            func named(_ text: String) -> String {
                text.replacing("$ROLE", with: database.role("worker")).replacing("$DB", with: database.database)
            }
            if !wrong.sql.isEmpty { try database.server.run(named(wrong.sql), database: database.database) }
            let url = database.server.url(database: named(wrong.database), user: named(wrong.user))
            expect(start(url), named(wrong.line), ends: wrong.ends)
        }
    }

    @Test("Each right that a worker needs is missed by its name")
    func rights() throws {
        let database = try TemporaryLedger()
        try database.withRoles {
            let role = database.role("worker")
            let url = database.server.url(database: database.database, user: role)
            expect(start(url), "", ends: false)
            // Without the first nobody finds the ledger, see above.
            for right in WorkerRights.all.dropFirst() {
                try database.server.run("REVOKE \(right.sql) FROM \(role)", database: database.database)
                expect(
                    start(url), "this user lacks \(right); docs/postgresql.md has the rights of a worker", ends: true)
                try database.server.run("GRANT \(right.sql) TO \(role)", database: database.database)
            }
        }
    }
}

extension Right {
    /// As `GRANT` and `REVOKE` name it.
    fileprivate var sql: String { word == "USAGE" ? "\(word) ON SEQUENCE \(name)" : "\(word) ON \(name)" }
}
