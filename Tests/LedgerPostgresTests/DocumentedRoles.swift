import Foundation
import PostgresTesting
import Testing

@testable import LedgerPostgres

/// The roles of docs/postgresql.md, under names of the database's own: roles belong to a whole server.
extension TemporaryLedger {
    /// - Parameter word: `worker`, `operator`, `reader` or `eraser`.
    func role(_ word: String) -> String { "grantor_\(database)_\(word)" }

    func makeRoles() throws {
        let page = try Self.text("docs/postgresql.md")
        let sql = try #require(page.split(separator: "```").first { $0.hasPrefix("sql") })
        try server.run(String(sql.dropFirst(3)).replacing("grantor_", with: role("")), database: database)
    }

    /// The ledger as one of the roles has it.
    func open(as word: String) throws -> PostgresLedger {
        var configuration = try PostgresLedgerConfiguration(url: server.url(database: database, user: role(word)))
        configuration.settings.demandsFsync = false
        return try PostgresLedger(configuration)
    }

    /// Takes the page's rights from workers and operators, and gives them those of the deployment's file.
    func giveDeployedRights() throws {
        try server.run("DROP OWNED BY \(role("worker")), \(role("operator"))", database: database)
        // A line that begins with a backslash is psql's.
        let lines = try Self.text("deploy/postgres/rights.sql").split(separator: "\n").filter { !$0.hasPrefix("\\") }
        try server.run(lines.joined(separator: "\n").replacing("grantor_", with: role("")), database: database)
    }

    /// The text of a file of the checkout.
    static func text(_ path: String) throws -> String {
        let root = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Runs a block with a ledger that is made in it, and with the roles, which go with the block.
    func withRoles(_ body: () throws -> Void) throws {
        try PostgresLedger.migrate(configuration())
        try makeRoles()
        defer { removeRoles() }
        try body()
    }

    func removeRoles() {
        for role in ["worker", "operator", "reader", "eraser"].map(role) {
            _ = try? server.run("DROP OWNED BY \(role); DROP ROLE \(role)", database: database)
        }
    }
}
