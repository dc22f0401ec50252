import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

/// A thing that a person takes away from a worker that runs, and gives back.
struct TakenAway: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Run by the server's owner in the ledger's database, whose name is $DB here; its worker's role is $ROLE.
    let taking: String
    let giving: String
    /// A part of the line that the worker says.
    let line: String

    init(_ what: String, _ taking: String, _ giving: String, says line: String) {
        testDescription = what
        (self.taking, self.giving, self.line) = (taking, giving, line)
    }
}

@Suite struct TakenAwayTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    /// A worker's connection, which is made anew with the call after its loss.
    private final class Worker {
        let configuration: PostgresLedgerConfiguration
        private var ledger: PostgresLedger?

        /// The connection is open from the start.
        init(_ database: TemporaryLedger) throws {
            var configuration = try PostgresLedgerConfiguration(
                url: database.server.url(database: database.database, user: database.role("worker"))
                    + "&connect_timeout=180")
            configuration.settings = .forTests
            self.configuration = configuration
            ledger = try PostgresLedger(configuration)
        }

        /// How a call fails; nil if it does not.
        func call() -> LedgerError? {
            do throws(LedgerError) {
                let ledger = if let ledger { ledger } else { try PostgresLedger(configuration) }
                self.ledger = ledger
                _ = try ledger.bind(to: Samples.group)
                _ = try ledger.measure(as: Samples.worker)
                return nil
            } catch {
                if case .disconnected = error { ledger = nil }
                return error
            }
        }
    }

    private func run(_ sql: String) throws {
        let sql = sql.replacing("$ROLE", with: database.role("worker")).replacing("$DB", with: database.database)
        try database.server.run(sql, database: database.database)
    }

    /// Expects that a worker waits, and says why once its lost session is made anew.
    private func expectWait(_ worker: Worker, _ line: String, at location: SourceLocation = #_sourceLocation) {
        var last: LedgerError?
        for _ in 0..<3 {
            last = worker.call()
            #expect(last != nil && last?.word != "unusable", "\(last?.detail ?? "it works")", sourceLocation: location)
        }
        #expect(last?.detail.contains(line) == true, "\(last?.detail ?? "it works")", sourceLocation: location)
        #expect(last?.detail.contains("\n") == false, sourceLocation: location)
    }

    private static let ending =
        "SELECT pg_terminate_backend(pid, 180000) FROM pg_stat_activity WHERE usename = '$ROLE'"

    static let cases = [
        TakenAway(
            "the right to the schema", "REVOKE USAGE ON SCHEMA public FROM PUBLIC",
            "GRANT USAGE ON SCHEMA public TO PUBLIC",
            says: "no schema of the search path is there, or this user may use none of them"),
        TakenAway(
            "the right to a table", "REVOKE SELECT ON ledger FROM $ROLE", "GRANT SELECT ON ledger TO $ROLE",
            says: "permission denied for table ledger"),
        TakenAway(
            "the schema", "ALTER SCHEMA public RENAME TO away", "ALTER SCHEMA away RENAME TO public",
            says: "no schema of the search path is there"),
        TakenAway(
            "the ledger's table", "ALTER TABLE ledger RENAME TO away", "ALTER TABLE away RENAME TO ledger",
            says: "the schema public is searched, and it has no ledger"),
        TakenAway(
            "the ledger's row", "CREATE TABLE away AS SELECT * FROM ledger; DELETE FROM ledger",
            "INSERT INTO ledger SELECT * FROM away", says: "the schema public is searched, and it has no ledger"),
        TakenAway(
            "another table", "ALTER TABLE workers RENAME TO away", "ALTER TABLE away RENAME TO workers",
            says: #"relation "workers" does not exist"#),
        TakenAway(
            "the search path", "ALTER ROLE $ROLE SET search_path = nowhere; \(ending)",
            "ALTER ROLE $ROLE RESET search_path", says: "no schema of the search path is there"),
        TakenAway(
            "the login", "ALTER ROLE $ROLE NOLOGIN; \(ending)", "ALTER ROLE $ROLE LOGIN",
            says: "is not permitted to log in"),
        TakenAway(
            "the right to connect", "REVOKE CONNECT ON DATABASE $DB FROM PUBLIC; \(ending)",
            "GRANT CONNECT ON DATABASE $DB TO PUBLIC", says: "permission denied for database"),
    ]

    @Test("A worker waits for what is taken from it while it runs, says what, and goes on with it", arguments: cases)
    func waits(taken: TakenAway) throws {
        try database.withRoles {
            let worker = try Worker(database)
            #expect(worker.call() == nil)
            try run(taken.taking)
            defer { _ = try? run(taken.giving) }
            expectWait(worker, taken.line)
            try run(taken.giving)
            // The first call may be the one that meets the loss.
            _ = worker.call()
            #expect(worker.call() == nil)
        }
    }

    @Test("A worker waits for its database while that one is dropped and put back")
    func restored() throws {
        try database.withRoles {
            let name = database.database
            let worker = try Worker(database)
            #expect(worker.call() == nil)
            try database.server.run(
                "SELECT pg_terminate_backend(pid, 180000) FROM pg_stat_activity WHERE datname = '\(name)'")
            try database.server.run("ALTER DATABASE \(name) RENAME TO \(name)_copy")
            expectWait(worker, #"database "\#(name)" does not exist"#)
            try database.server.createDatabase(name)
            expectWait(worker, "the schema public is searched, and it has no ledger")
            try database.server.run("DROP DATABASE \(name) WITH (FORCE)")
            try database.server.run("ALTER DATABASE \(name)_copy RENAME TO \(name)")
            _ = worker.call()
            #expect(worker.call() == nil)
        }
    }

    @Test("A worker waits for its new password")
    func password() throws {
        let server = try PostgresServer(rules: ["local all worker scram-sha-256"])
        let ledger = try TemporaryLedger(on: server)
        try PostgresLedger.migrate(ledger.configuration())
        try server.run("CREATE ROLE worker LOGIN SUPERUSER PASSWORD 'former'")
        var configuration = try PostgresLedgerConfiguration(
            url: server.url(database: ledger.database, user: "worker:former") + "&connect_timeout=180")
        configuration.settings = .forTests
        _ = try PostgresLedger(configuration)
        try server.run("ALTER ROLE worker PASSWORD 'latter'")
        let error = ledgerError { _ = try PostgresLedger(configuration) }
        #expect(error?.word == "unavailable" && error?.detail.contains("password authentication failed") == true)
        try server.run("ALTER ROLE worker PASSWORD 'former'")
        #expect(ledgerError { _ = try PostgresLedger(configuration) } == nil)
    }
}
