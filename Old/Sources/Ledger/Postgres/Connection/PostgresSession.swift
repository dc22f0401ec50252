/// What a connection is set to before it is used, and what it found.
struct PostgresSession: Hashable, Sendable {
    /// The ledger that the connection is to; nil where there is none yet.
    let ledger: LedgerIdentity?
    /// Why the server takes no writes on this connection; nil if it does.
    let readOnly: ReadOnly?

    enum ReadOnly: Hashable, Sendable {
        /// It follows another server.
        case standby
        /// The server, the database or the role says so.
        case setting
    }

    /// Sets a new connection up, and reads back what promises rest on.
    ///
    /// - Throws: `.damaged` if a commit would not be on stable storage, `.unusable` for a server that is too old, a
    ///   database that cannot hold every text, or a session without a schema.
    init(_ connection: PostgresConnection, _ limits: PostgresLimits) throws(PostgresFailure) {
        let found = try connection.run(
            PostgresCommand(
                Self.settings,
                [limits.statement, limits.lock, limits.idleInTransaction].map {
                    .text(String($0.wholeMillisecondsUp))
                })
        ).rows { row throws(PostgresFailure) in
            (
                version: try row.integer(0), schema: row.optionalText(1), commit: try row.text(2),
                sync: try row.text(3), isReadOnly: try row.text(4) == "on", hasLedger: row.boolean(5),
                encoding: try row.text(6), isStandby: row.boolean(7)
            )
        }
        guard let found = found.first else { throw .lost("no answer") }
        guard found.version >= Self.oldestServer else {
            throw .unusable("the server's version is \(found.version), older than 12")
        }
        // Of others a text may have no form: with the first id in such letters each worker that read it would stop for good.
        // One without an encoding keeps the bytes that it is given.
        guard ["UTF8", "SQL_ASCII"].contains(found.encoding) else {
            throw .unusable("the database's encoding is \(found.encoding), not UTF8")
        }
        guard found.schema != nil else {
            throw .unusable(
                """
                no schema of the search path exists, or none that this user may use: grantor migrate, as the owner, and then \
                deploy/postgres/privileges.sql see to it
                """)
        }
        guard found.commit == "on" || found.commit == "remote_apply" else {
            throw .damaged("synchronous_commit is \(found.commit), not on")
        }
        guard found.sync == "on" else { throw .damaged("the server runs with fsync = \(found.sync)") }
        readOnly = found.isStandby ? .standby : found.isReadOnly ? .setting : nil
        ledger = found.hasLedger ? try LedgerIdentity(connection) : nil
    }

    /// - Throws: `.readOnly` if the server takes no writes on this connection.
    func checkWrites() throws(PostgresFailure) {
        if let readOnly { throw .readOnly(readOnly) }
    }

    private static let oldestServer: Int64 = 120_000

    // The search path shrinks to one schema, so that the ledger's tables are all found there or not at all. A stronger
    // `synchronous_commit` that the role was given stays. Rows are found by indexes only (decision 21): without statistics, as
    // in a ledger's first minutes, the planner takes large tables for small ones and reads them whole.
    private static let settings = PostgresStatement(
        once: """
            SELECT
                current_setting('server_version_num')::bigint,
                current_schema()::text,
                set_config('synchronous_commit',
                    CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END,
                    false),
                current_setting('fsync'),
                current_setting('transaction_read_only'),
                to_regclass(quote_ident(current_schema()) || '.ledger_schema') IS NOT NULL,
                current_setting('server_encoding'),
                pg_is_in_recovery(),
                set_config('statement_timeout', $1, false),
                set_config('lock_timeout', $2, false),
                set_config('idle_in_transaction_session_timeout', $3, false),
                set_config('default_transaction_isolation', 'read committed', false),
                set_config('TimeZone', 'UTC', false),
                set_config('jit', 'off', false),
                set_config('enable_seqscan', 'off', false),
                set_config('enable_hashjoin', 'off', false),
                set_config('enable_mergejoin', 'off', false),
                set_config('search_path', quote_ident(current_schema()) || ', pg_temp', false)
            """)
}

/// Which ledger a database holds.
struct LedgerIdentity: Hashable, Sendable {
    let version: Int
    /// Made with the ledger: another one under the same name is noticed.
    let id: String

    init?(_ connection: PostgresConnection) throws(PostgresFailure) {
        let row = try connection.run(
            PostgresCommand(PostgresStatement(once: "SELECT version::bigint, ledger_id::text FROM ledger_schema"))
        ).rows { row throws(PostgresFailure) in (Int(try row.integer(0)), try row.text(1)) }.first
        guard let row else { return nil }
        (version, id) = row
    }
}

/// How long things may take.
struct PostgresLimits: Hashable, Sendable {
    var connect: Duration
    /// A whole unit of work, retries included.
    var operation: Duration
    /// The server ends a statement that takes longer.
    var statement: Duration
    /// The server ends a wait for another transaction's lock.
    var lock: Duration
    /// The server ends a transaction whose worker is silent, so that one that was stopped keeps no locks.
    var idleInTransaction: Duration
}

extension Duration {
    /// Milliseconds, rounded up.
    var wholeMillisecondsUp: Int64 {
        Int64((self / .milliseconds(1)).rounded(.up))
    }
}
