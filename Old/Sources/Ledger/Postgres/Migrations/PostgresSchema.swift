/// A database's schema: what it is, and how it becomes what this program needs.
struct PostgresSchema {
    /// Names two programs that migrate at once to each other: "GRNT".
    private static let lock: Int64 = 0x4752_4E54

    let connection: PostgresConnection

    /// Refuses a schema that is missing, older or newer, and a user without the rights that a worker needs.
    func check(_ ledger: LedgerIdentity?) throws(PostgresFailure) -> LedgerIdentity {
        guard let ledger, ledger.version == PostgresMigration.latestVersion else {
            throw .schema(found: ledger?.version ?? 0, known: PostgresMigration.latestVersion)
        }
        let lacking = try connection.run(PostgresCommand(Self.lackingRights)).rows { row throws(PostgresFailure) in
            try row.text(0)
        }
        guard lacking.isEmpty else { throw .unusable("this user lacks rights: \(lacking.joined(separator: ", "))") }
        return ledger
    }

    /// Brings the schema up to date in one transaction; one of two programs that try waits for the other.
    ///
    /// - Returns: the versions before and after.
    func migrate(to target: Int = PostgresMigration.latestVersion) throws(PostgresFailure) -> (from: Int, to: Int) {
        try connection.run([
            PostgresCommand(.begin),
            // Indexes over a large table take longer than any call of a worker's may.
            PostgresCommand(PostgresStatement(once: "SET LOCAL statement_timeout = 0")),
            PostgresCommand(
                PostgresStatement(once: "SELECT pg_advisory_xact_lock($1::bigint + hashtext(current_schema()))"),
                [.integer(Self.lock)]),
        ])
        // Looked for under the lock: another program may have been quicker.
        let found = try version()
        guard found <= PostgresMigration.latestVersion else {
            throw .schema(found: found, known: PostgresMigration.latestVersion)
        }
        for migration in PostgresMigration.all where migration.version > found && migration.version <= target {
            if migration.version == 1 { try checkNames() }
            try connection.runScript(migration.sql)
            try connection.run(
                PostgresCommand(
                    PostgresStatement(once: "UPDATE ledger_schema SET version = $1::bigint::integer"),
                    [.integer(Int64(migration.version))]))
        }
        _ = try connection.commit()
        return (found, max(found, target))
    }

    private func version() throws(PostgresFailure) -> Int {
        // `to_regclass` might remember the schema as it was before the lock was waited for.
        let isThere = try tables(of: ["ledger_schema"]).count == 1
        return isThere ? try LedgerIdentity(connection)?.version ?? 0 : 0
    }

    /// Refuses a schema in which somebody else's tables have the ledger's names, before one statement fails halfway.
    private func checkNames() throws(PostgresFailure) {
        let taken = try tables(of: Self.tables)
        guard taken.isEmpty else {
            throw .unusable(
                "the schema holds other tables with the ledger's names (\(taken.joined(separator: ", "))); "
                    + "give the ledger a database or a schema of its own")
        }
    }

    /// Those of some names that the schema has, views and indexes among them.
    private func tables(of names: [String]) throws(PostgresFailure) -> [String] {
        try connection.run(
            PostgresCommand(
                PostgresStatement(
                    once: """
                        SELECT relname::text FROM pg_class
                        WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
                            AND relname = ANY($1::text[])
                        ORDER BY 1
                        """), [.texts(names)])
        ).rows { row throws(PostgresFailure) in try row.text(0) }
    }

    private static let tables = [
        "ledger_schema", "outbox_head", "outbox", "outbox_relay", "withheld", "publications", "submissions", "waiting",
        "operator_actions", "grants", "quarantines", "deliveries",
    ]

    private static let lackingRights = PostgresStatement(
        once: """
            SELECT wanted.name || ' on ' || wanted.relation
            FROM (VALUES
                ('outbox_head', 'SELECT'), ('outbox_head', 'UPDATE'),
                ('outbox', 'SELECT'), ('outbox', 'INSERT'), ('outbox', 'DELETE'),
                ('outbox_relay', 'SELECT'), ('outbox_relay', 'UPDATE'),
                ('withheld', 'SELECT'), ('withheld', 'INSERT'), ('withheld', 'DELETE'),
                ('waiting', 'SELECT'), ('waiting', 'INSERT'), ('waiting', 'UPDATE'), ('waiting', 'DELETE'),
                ('operator_actions', 'SELECT'), ('operator_actions', 'INSERT'),
                ('publications', 'SELECT'), ('publications', 'INSERT'), ('publications', 'UPDATE'),
                ('submissions', 'SELECT'), ('submissions', 'INSERT'), ('submissions', 'UPDATE'),
                ('grants', 'SELECT'), ('grants', 'INSERT'),
                ('deliveries', 'SELECT'), ('deliveries', 'INSERT'), ('deliveries', 'UPDATE'),
                ('quarantines', 'SELECT'), ('quarantines', 'INSERT')
            ) AS wanted (relation, name)
            WHERE NOT has_table_privilege(to_regclass(wanted.relation), wanted.name)
            ORDER BY 1
            """)
}
