import Contract
import Ledger

/// Opens a database and makes sure that it is a ledger of this version.
struct PostgresOpening {
    /// A statement of a step may take so long, such as an index of all grants.
    private static let stepLimit = Duration.seconds(3_600)

    let configuration: PostgresLedgerConfiguration
    var migrations = Migrations.postgres

    func isThere() throws(LedgerError) -> Bool {
        try opening { () throws(PostgresFailure) in
            try version(of: PostgresConnection(configuration.options, configuration.settings)) > 0
        }
    }

    /// Opens a ledger that is there.
    func open() throws(LedgerError) -> (connection: PostgresConnection, place: LedgerPlace) {
        try opening { () throws(PostgresFailure) in
            var place: LedgerPlace?
            let connection = try PostgresConnection(configuration.options, configuration.settings) {
                (connection) throws(PostgresFailure) in
                try checkVersion(try version(of: connection), in: connection)
                place = try connection.run(configuration.look).first.map(LedgerPlace.init)
                if let place { try configuration.mark.open(place) }
            }
            guard let place else { throw .unfit("the ledger has no id") }
            return (connection, place)
        }
    }

    /// Looks at the server, and at the ledger if there is one.
    func examine(prunes: Bool) throws(LedgerError) -> [LedgerFinding] {
        try opening { () throws(PostgresFailure) in
            var settings = configuration.settings
            settings.demandsFsync = false
            let connection = try PostgresConnection(configuration.options, settings)
            let examination = PostgresExamination(connection: connection)
            let findings = try examination.settings()
            let version = try version(of: connection)
            guard version > 0 else { return findings }
            if let refusal = SchemaVersion.refusal(of: version, by: migrations.newest) {
                return findings + [LedgerFinding("schema", "version \(version)", failures: [refusal])]
            }
            let rights = try examination.rights(prunes: prunes)
            let about = findings + [LedgerFinding("schema", "version \(version)"), rights]
            // Without the right to it a write would only say so again.
            return rights.failures.isEmpty ? about + [examination.write()] : about
        }
    }

    /// Makes a ledger, or brings one up to date. May be called again and by several processes at once. Each step is a
    /// transaction: whatever ends it leaves the ledger at the version before.
    /// - Returns: The versions of the schema before and after; 0 where there was none.
    func migrate() throws(LedgerError) -> (from: Int, to: Int) {
        try opening { () throws(PostgresFailure) in
            if let fault = migrations.fault { throw .unfit(fault) }
            let connection = try PostgresConnection(configuration.options, configuration.settings)
            let from = try version(of: connection)
            var reached = from
            while let step = migrations.next(after: reached) {
                do throws(PostgresFailure) {
                    try carryOut(step, in: connection)
                } catch {
                    guard !connection.isClosed else { throw error }
                    try connection.rollBack()
                    // Another process may have been quicker.
                    guard try version(of: connection) > reached else { throw error.of(step) }
                }
                reached = try version(of: connection)
            }
            try checkVersion(reached, in: connection)
            return (from, reached)
        }
    }

    /// Carries a step out, unless another process has done so.
    private func carryOut(_ step: Migration, in connection: PostgresConnection) throws(PostgresFailure) {
        let limit = "SET LOCAL statement_timeout = \(Self.stepLimit.milliseconds)"
        guard step.version > 1 else {
            let mark = "INSERT INTO ledger (one, version, id) VALUES (1, 1, '\(LedgerID.random())')"
            return try connection.script("BEGIN; \(limit);\n\(step.sql)\n; \(mark); COMMIT", within: Self.stepLimit)
        }
        // Only a migration locks this row. It waits for another migration, and has nothing to do after it.
        try connection.script(
            "BEGIN; \(limit); SET LOCAL lock_timeout = 0; SELECT FROM ledger FOR UPDATE", within: Self.stepLimit)
        guard try version(of: connection) < step.version else { return try connection.rollBack() }
        // Workers wait behind a step that waits for a table.
        let lock = "SET LOCAL lock_timeout = \(configuration.settings.lock.milliseconds)"
        let mark = "UPDATE ledger SET version = \(step.version)"
        try connection.script("\(lock);\n\(step.sql)\n; \(mark); COMMIT", within: Self.stepLimit)
    }

    private func opening<Value>(_ body: () throws(PostgresFailure) -> Value) throws(LedgerError) -> Value {
        do throws(PostgresFailure) {
            return try body()
        } catch {
            // A worker that had its ledger waits for it, also where a person must mend a password, a right or a schema.
            throw error.error(at: configuration.options.description, isOpening: !configuration.mark.wasOpened)
        }
    }

    /// The schema's version; 0 where there is no ledger.
    private func version(of connection: PostgresConnection) throws(PostgresFailure) -> Int {
        let exists = PostgresStatement("SELECT to_regclass('ledger') IS NOT NULL")
        guard try connection.run(exists).first?.int(0) == 1 else { return 0 }
        do throws(PostgresFailure) {
            return try connection.run(PostgresStatement("SELECT version FROM ledger")).first?.int(0) ?? 0
        } catch {
            guard case .server("42703", _, _) = error else { throw error }
            throw .unfit("the table ledger is another program's")
        }
    }

    private func checkVersion(_ found: Int, in connection: PostgresConnection) throws(PostgresFailure) {
        guard let refusal = SchemaVersion.refusal(of: found, by: migrations.newest) else { return }
        guard found == 0 else { throw .another(refusal) }
        // The role's search path may lead elsewhere.
        throw .unfit("the schema \(connection.session?.schema ?? "") is searched, and \(refusal)")
    }
}

extension PostgresFailure {
    /// The failure of a step, with the ledger's name for people.
    fileprivate func of(_ step: Migration) -> PostgresFailure {
        guard case .server(let state, let message, let statement) = self else { return self }
        return .server(state: state, message: "step \(step.version) (\(step.name)): \(message)", statement: statement)
    }
}
