import Ledger
import LedgerConformance
import Testing

@testable import LedgerSQLite

extension Migrations {
    /// The steps of this version, and two as later ones may add them. The first only adds. The second takes away what
    /// no program of the version before uses any more.
    static let later = Migrations(
        sqlite.steps + [
            Migration(
                sqlite.newest + 1, "columns of a later version",
                """
                ALTER TABLE grants ADD COLUMN later TEXT;
                ALTER TABLE answers ADD COLUMN later INTEGER;
                ALTER TABLE retries ADD COLUMN later TEXT NOT NULL DEFAULT '';
                ALTER TABLE outbox ADD COLUMN later TEXT;
                ALTER TABLE partitions ADD COLUMN later INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE workers ADD COLUMN later TEXT;
                CREATE TABLE later (one INTEGER PRIMARY KEY) STRICT;
                CREATE INDEX grants_later ON grants (later);
                UPDATE grants SET later = storefront;
                """),
            Migration(
                sqlite.newest + 2, "storefronts go by their column",
                """
                DROP INDEX grants_later;
                ALTER TABLE grants DROP COLUMN storefront;
                """),
        ])
}

extension TemporaryLedger {
    func opening(_ migrations: Migrations) -> SQLiteOpening {
        SQLiteOpening(configuration: configuration, migrations: migrations)
    }

    func connected() throws -> Database { try Database(path: path, creating: false, busyTimeout: 180_000) }

    private func rows<Row>(_ sql: String, read: (Columns) throws(StoreError) -> Row) throws -> [Row] {
        let database = try connected()
        // A statement does not keep its connection.
        return try withExtendedLifetime(database) { try database.statement(sql).rows({ _ in }, read: read) }
    }

    /// The schema, as the database's own tables tell of it.
    func parts() throws -> Set<SchemaPart> {
        let columns = """
            SELECT 'column', tables.name, columns.name,
                columns.type || iif("notnull", ' NOT NULL ', ' ') || coalesce(dflt_value, '')
                    || iif(pk, ' PRIMARY KEY', ''),
                "notnull" AND dflt_value IS NULL AND NOT pk
            FROM sqlite_schema AS tables JOIN pragma_table_xinfo(tables.name) AS columns WHERE tables.type = 'table'
            """
        let indexes = """
            SELECT 'index', tables.name, indexes.name, coalesce(made.sql, ''), "unique"
            FROM sqlite_schema AS tables JOIN pragma_index_list(tables.name) AS indexes
            LEFT JOIN sqlite_schema AS made ON made.type = 'index' AND made.name = indexes.name
            WHERE tables.type = 'table'
            """
        return Set(
            try rows("\(columns) UNION ALL \(indexes)") { row in
                SchemaPart(row.text(0), row.text(1), row.text(2), row.text(3), demands: row.integer(4) != 0)
            })
    }

    /// The statements that make the schema, as SQLite keeps them: checks stand nowhere else.
    func statements() throws -> [String] {
        try rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name") { $0.text(0) }
    }

    /// Puts the rows of a former version in.
    func addRows(of version: Int) throws {
        let database = try connected()
        for row in try #require(FormerRow.all[version], "rows of version \(version) belong here") {
            try database.run(row.insertion { "x'\($0)'" })
        }
    }

    /// The values in the columns of those rows, without the missing ones.
    func content(of version: Int, without away: Set<String> = []) throws -> [String?] {
        let database = try connected()
        return try (FormerRow.all[version] ?? []).map { row in
            let columns = row.columns.filter { !away.contains("column \(row.table).\($0)") }
                .map { "quote(\($0))" }.joined(separator: " || ' ' || ")
            return try database.text(
                "SELECT group_concat(line) FROM (SELECT \(columns) AS line FROM \(row.table) ORDER BY 1)")
        }
    }
}
