import Ledger
import LedgerConformance
import PostgresTesting
import Testing

@testable import LedgerPostgres

extension Migrations {
    /// The steps of this version, and two as later ones may add them. The first only adds. The second takes away what
    /// no program of the version before uses any more.
    static let later = Migrations(
        postgres.steps + [
            Migration(
                postgres.newest + 1, "columns of a later version",
                """
                ALTER TABLE grants ADD COLUMN later text;
                ALTER TABLE answers ADD COLUMN later bigint;
                ALTER TABLE retries ADD COLUMN later text NOT NULL DEFAULT '';
                ALTER TABLE outbox ADD COLUMN later text;
                ALTER TABLE partitions ADD COLUMN later integer NOT NULL DEFAULT 0;
                ALTER TABLE workers ADD COLUMN later text;
                CREATE TABLE later (one integer PRIMARY KEY);
                CREATE INDEX grants_later ON grants (later);
                UPDATE grants SET later = storefront;
                """),
            Migration(
                postgres.newest + 2, "storefronts go by their column",
                """
                DROP INDEX grants_later;
                ALTER TABLE grants DROP COLUMN storefront;
                """),
        ])
}

extension TemporaryLedger {
    func opening(_ migrations: Migrations) throws -> PostgresOpening {
        PostgresOpening(configuration: try configuration(), migrations: migrations)
    }

    /// The schema, as the server's catalogue has it.
    func parts() throws -> Set<SchemaPart> {
        let connection = try PostgresConnection(try configuration().options, .forTests)
        let result = try connection.run(PostgresStatement(Self.catalogue))
        return Set(
            result.rows.map { row in
                SchemaPart(row.text(0), row.text(1), row.text(2), row.text(3), demands: row.integer(4) == 1)
            })
    }

    // Where a column stands does not matter: statements name theirs.
    private static let catalogue = """
        SELECT 'column', c.relname::text, a.attname::text,
            concat_ws(' ', format_type(a.atttypid, a.atttypmod), co.collname, 'identity ' || nullif(a.attidentity::text, ''),
                CASE WHEN a.attnotnull THEN 'NOT NULL' END, pg_get_expr(d.adbin, d.adrelid)),
            (a.attnotnull AND d.adbin IS NULL AND a.attidentity = '')::int::bigint
        FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        LEFT JOIN pg_collation co ON co.oid = a.attcollation
        WHERE a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT 'index', t.relname::text, c.relname::text, pg_get_indexdef(i.indexrelid), i.indisunique::int::bigint
        FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid AND c.relnamespace = 'public'::regnamespace
        JOIN pg_class t ON t.oid = i.indrelid
        UNION ALL
        SELECT 'constraint', c.relname::text, o.conname::text, pg_get_constraintdef(o.oid), 1::bigint
        FROM pg_constraint o
        JOIN pg_class c ON c.oid = o.conrelid AND c.relnamespace = 'public'::regnamespace
        WHERE o.contype <> 'n'
        UNION ALL
        SELECT 'options', relname::text, relkind::text, coalesce(array_to_string(reloptions, ', '), ''), 0::bigint
        FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S')
        """

    /// Puts the rows of a former version in.
    func addRows(of version: Int) throws {
        for row in try #require(FormerRow.all[version], "rows of version \(version) belong here") {
            try server.run(row.insertion { "'\\x\($0)'" }, database: database)
        }
    }

    /// The values in the columns of those rows, without the missing ones.
    func content(of version: Int, without away: Set<String> = []) throws -> [String?] {
        try (FormerRow.all[version] ?? []).map { row in
            let columns = row.columns.filter { !away.contains("column \(row.table).\($0)") }.joined(separator: ", ")
            return try server.run(
                "SELECT string_agg(line, ' ' ORDER BY line) FROM (SELECT ROW(\(columns))::text FROM \(row.table)) AS a (line)",
                database: database)
        }
    }
}
