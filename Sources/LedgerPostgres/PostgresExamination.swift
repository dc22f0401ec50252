public import Ledger
import Scheduling

extension PostgresLedger {
    /// Looks at a server and a user as a worker would find them, and changes nothing.
    /// - Parameter prunes: Whether the worker deletes old answers.
    /// - Returns: A finding for each thing. Findings about a ledger's tables are missing where there are none.
    /// - Throws: as ``init(_:)``, except for the absence and the version of the ledger, and for `fsync`, which findings
    ///   name.
    public static func examine(
        _ configuration: PostgresLedgerConfiguration, prunes: Bool = false
    ) throws(LedgerError) -> [LedgerFinding] {
        try PostgresOpening(configuration: configuration).examine(prunes: prunes)
    }
}

/// Looks at the settings that a worker relies on, through a session like a worker's.
struct PostgresExamination {
    /// Milliseconds that two clocks may differ.
    static let mostClockDifference: Int64 = 1_000

    let connection: PostgresConnection

    /// Server, durability and clock.
    func settings() throws(PostgresFailure) -> [LedgerFinding] {
        let before = WallClock.milliseconds
        guard let row = try connection.run(Self.asked).first else { throw .lost("no answer") }
        let here = before + (WallClock.milliseconds - before) / 2
        let version = row.text(0).prefix { $0 != " " }
        let schema = connection.session?.schema ?? ""
        return [
            LedgerFinding(
                "server", "PostgreSQL \(version), \(row.text(1)), collation \(row.text(2)), schema \(schema)"),
            Self.durability(
                fsync: row.text(3), fullPageWrites: row.text(4), synchronousCommit: row.text(5), standbys: row.text(6)),
            Self.clock(lead: row.integer(7) - here),
        ]
    }

    /// The rights that this user has with the ledger's tables.
    func rights(prunes: Bool) throws(PostgresFailure) -> LedgerFinding {
        let missing = try WorkerRights.missing(for: connection, prunes: prunes)
        let spare = try WorkerRights.spare(for: connection)
        let warning =
            "this user may take grants back (\(spare.map(\.description).joined(separator: ", "))); "
            + "docs/postgresql.md has a role for workers"
        return LedgerFinding(
            "rights", "user \(try user())", failures: missing.isEmpty ? [] : [WorkerRights.refusal(missing)],
            warnings: spare.isEmpty ? [] : [warning])
    }

    /// Writes a row and takes it back. This shows that the server takes writes, and has room on its disk.
    func write() -> LedgerFinding {
        do throws(PostgresFailure) {
            try connection.script(
                "BEGIN; INSERT INTO workers (id, name, version, started_at, seen_at) VALUES (0, '', '', 0, 0); ROLLBACK"
            )
            return LedgerFinding("write", "a row can be written")
        } catch {
            let detail = error.error(at: "the server", isOpening: false).detail
            return LedgerFinding("write", "no row can be written", failures: [detail])
        }
    }

    private func user() throws(PostgresFailure) -> String {
        try connection.run(PostgresStatement("SELECT current_user::text")).first?.text(0) ?? ""
    }

    private static let asked = PostgresStatement(
        """
        SELECT current_setting('server_version'), current_setting('server_encoding'),
            (SELECT datcollate::text FROM pg_database WHERE datname = current_database()),
            current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
            current_setting('synchronous_standby_names'), (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        """)

    static func durability(
        fsync: String, fullPageWrites: String, synchronousCommit: String, standbys: String
    ) -> LedgerFinding {
        let copies = standbys.isEmpty ? "no synchronous standby" : "synchronous standbys: \(standbys)"
        return LedgerFinding(
            "durability",
            "fsync \(fsync), full_page_writes \(fullPageWrites), synchronous_commit \(synchronousCommit), \(copies)",
            failures: fsync == "on" ? [] : ["without fsync a power cut could take commits back"],
            warnings: fullPageWrites == "on"
                ? [] : ["without full_page_writes a crash can damage pages, unless the file system writes them whole"])
    }

    /// - Parameter lead: Milliseconds that the server's clock is ahead.
    static func clock(lead: Int64) -> LedgerFinding {
        LedgerFinding(
            "clock", "\(lead.magnitude) ms \(lead < 0 ? "behind" : "ahead of") this host's",
            warnings: lead.magnitude > mostClockDifference
                ? ["one of the two is wrong; rows are due by the server's, and Apple is asked by this host's"] : [])
    }
}
