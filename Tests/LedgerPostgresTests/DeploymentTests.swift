import Foundation
import PostgresTesting
import Testing

@testable import LedgerPostgres

@Suite("SQL files of the deployment")
struct DeploymentTests {
    @Test("They give a worker all that it needs, and what the page gives it")
    func rights() throws {
        let ledger = try TemporaryLedger()
        try ledger.withRoles {
            let worker = ledger.role("worker")
            let sql = try TemporaryLedger.text("deploy/postgres/rights.sql").replacing("grantor_worker", with: worker)
            let granted =
                "SELECT string_agg(table_name || privilege_type, ' ' ORDER BY 1) "
                + "FROM (SELECT table_name, privilege_type FROM information_schema.role_table_grants "
                + "WHERE grantee = '\(worker)' ORDER BY 1, 2) AS given (table_name, privilege_type)"
            let url = ledger.server.url(database: ledger.database)
            let connection = try PostgresConnection(PostgresOptions(url: url), .forTests)
            let documented = try connection.text(granted)
            try ledger.server.run("DROP OWNED BY \(worker)", database: ledger.database)
            #expect(try connection.text(granted) != documented)
            // A line that begins with a backslash is psql's.
            let lines = sql.split(separator: "\n").filter { !$0.hasPrefix("\\") }
            try ledger.server.run(lines.joined(separator: "\n"), database: ledger.database)
            #expect(try connection.text(granted) == documented)
            expect(start(ledger.server.url(database: ledger.database, user: worker)), "", ends: false)
        }
    }
}
