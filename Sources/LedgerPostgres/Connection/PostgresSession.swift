import Scheduling

/// The limits of time, and the requirements of a server.
struct PostgresSettings: Hashable, Sendable {
    /// A call, from its first byte to its last reply. The server's limits should end before.
    var call = Duration.seconds(20)
    /// All of an opening, whatever hosts there are; nil where only each host and call has a limit.
    var opening: Duration?
    /// The server ends a statement that takes longer.
    var statement = Duration.seconds(10)
    /// The server ends a wait for another transaction's lock.
    var lock = Duration.seconds(5)
    /// The server ends a session that is silent within a transaction, so that a frozen worker keeps no locks.
    var idleInTransaction = Duration.seconds(5)
    /// A server without `fsync` forgets commits when its power fails; tests may use one all the same.
    var demandsFsync = true
}

/// A session that is set up, as it was found.
struct PostgresSession: Hashable, Sendable {
    /// `server_version_num`, such as 150018.
    let version: Int64
    /// The first schema of the search path that is there; the session's only one from now on.
    let schema: String
    /// Whether the server or the user takes no writes, as only target `any` allows.
    let isReadOnly: Bool

    private static let oldestServer = 130_000

    /// Sets a new connection up in one round trip, and reads back what promises rest on.
    /// - Throws: `.readOnly` for a server that is not the target; `.unfit` for a server that no setting makes fit for a
    ///   ledger.
    init(
        _ connection: PostgresConnection, _ settings: PostgresSettings, _ target: PostgresOptions.Target
    ) throws(PostgresFailure) {
        let statement = PostgresStatement(Self.sql) {
            for limit in [settings.statement, settings.lock, settings.idleInTransaction] {
                $0.text(String(limit.milliseconds))
            }
        }
        guard let found = try connection.run([statement]).first?.first else { throw .lost("no answer") }
        version = found.integer(0)
        isReadOnly = found.integer(4) != 0
        let isStandby = found.integer(5) != 0
        guard version >= Self.oldestServer else {
            throw .unfit("the server's version is \(version), and the oldest that will do is 13")
        }
        // A pooler has an id of its own. Settings of a session would hold for the next client, too.
        guard found.integer(7) == connection.backend else {
            throw .unfit(PostgresFailure.pooler)
        }
        switch target {
        case .any: break
        case .primary: if isStandby { throw .readOnly(isStandby: true) }
        case .readWrite: if isReadOnly { throw .readOnly(isStandby: isStandby) }
        }
        // Another encoding may not have every letter. The first id with such a letter would stop every worker that
        // reads it.
        let encoding = found.optionalText(6) ?? ""
        guard encoding == "UTF8" else { throw .unfit("the database's encoding is \(encoding), not UTF8") }
        guard let schema = found.optionalText(1) else {
            throw .unfit("no schema of the search path is there, or this user may use none of them")
        }
        self.schema = schema
        let commit = found.optionalText(2) ?? ""
        guard commit == "on" || commit == "remote_apply" else { throw .unfit("synchronous_commit is \(commit)") }
        guard found.optionalText(3) == "on" || !settings.demandsFsync else {
            throw .unfit("the server runs without fsync: a power cut could take commits back")
        }
    }

    // A stronger `synchronous_commit` stays. The search path shrinks to one schema, so that either all tables are found
    // there, or none. Rows are found by indexes only, in their order. Without statistics, as in a ledger's first
    // minutes, the planner takes large tables for small ones. Then it reads them whole, or sorts what an index has
    // sorted. Tables are joined in the order in which statements name them, for the same reason. During a statement the
    // server notices that its client is gone. It ends no session that is silent or whose transaction is long. Older
    // ones do not know these settings.
    private static let sql = """
        SELECT
            current_setting('server_version_num')::bigint,
            current_schema()::text,
            set_config('synchronous_commit',
                CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END,
                false),
            current_setting('fsync'),
            current_setting('transaction_read_only') = 'on',
            pg_is_in_recovery(),
            current_setting('server_encoding'),
            pg_backend_pid(),
            set_config('statement_timeout', $1::text, false),
            set_config('lock_timeout', $2::text, false),
            set_config('idle_in_transaction_session_timeout', $3::text, false),
            set_config('default_transaction_isolation', 'read committed', false),
            set_config('TimeZone', 'UTC', false),
            set_config('plan_cache_mode', 'force_generic_plan', false),
            set_config('jit', 'off', false),
            set_config('enable_seqscan', 'off', false),
            set_config('enable_bitmapscan', 'off', false),
            set_config('enable_hashjoin', 'off', false),
            set_config('enable_mergejoin', 'off', false),
            set_config('join_collapse_limit', '1', false),
            (SELECT set_config(name, '1000', false) FROM pg_settings WHERE name = 'client_connection_check_interval'),
            (SELECT count(set_config(name, '0', false)) FROM pg_settings
                WHERE name IN ('idle_session_timeout', 'transaction_timeout')),
            set_config('search_path', quote_ident(current_schema()) || ', pg_temp', false)
        """
}

extension Duration {
    /// Whole milliseconds, rounded up.
    var milliseconds: Int64 { (clampedNanoseconds.addingReportingOverflow(999_999).partialValue) / 1_000_000 }
}
