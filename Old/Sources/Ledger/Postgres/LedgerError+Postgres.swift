extension LedgerError {
    /// What a failure means to a caller while a worker runs: all that may pass by itself is `.unavailable`.
    init(_ failure: PostgresFailure) {
        switch failure {
        case .unreachable(let text, let state):
            self = .unavailable(Self.text("PostgreSQL cannot be reached", state, text))
        // A password file may just be being changed, or a schema, or the server that a name leads to.
        case .misconfigured(let text), .unusable(let text): self = .unavailable(text)
        // A standby may just be on its way to be the primary, or the address on its way to another server.
        case .readOnly(.standby):
            self = .unavailable(
                """
                PostgreSQL takes no writes here, because this server is a standby: name all hosts in the URL, or the \
                address that always leads to the primary
                """)
        case .readOnly(.setting):
            self = .unavailable(
                """
                PostgreSQL takes no writes from this user: default_transaction_read_only is on for the role, the \
                database or the server
                """)
        case .refused(let text, let state):
            let text = Self.text("PostgreSQL refused a statement", state, text)
            self = Self.passes(state) ? .unavailable(text) : .damaged(text)
        case .lost(let text): self = .unavailable("PostgreSQL's connection was lost: \(text)")
        case .overtaken: self = .unavailable("other workers settled the same submissions meanwhile, again and again")
        case .damaged(let text): self = .damaged(text)
        case .schema(let found, let known) where found > known: self = .schemaAhead(found: found, known: known)
        case .schema(let found, let known): self = .schemaBehind(found: found, known: known)
        }
    }

    /// What a failure means at the first connection: what a person has to set right is said at once.
    init(opening failure: PostgresFailure) {
        switch failure {
        case .unreachable(let text, let state?) where Self.needsPerson(state):
            self = .unusable(Self.text("PostgreSQL refused the connection", state, text))
        case .misconfigured(let text), .unusable(let text): self = .unusable(text)
        case .refused(let text, let state) where state == "42501":
            self = .unusable(Self.text("PostgreSQL refused a statement", state, text))
        default: self.init(failure)
        }
    }

    private static func text(_ what: String, _ state: String?, _ text: String) -> String {
        what + (state.map { " (\($0))" } ?? "") + ": " + text
    }

    /// Whether a statement's SQLSTATE is of the kind that passes: by itself, or because somebody mends the server.
    private static func passes(_ state: String) -> Bool {
        switch state.prefix(2) {
        // Connections, transactions that lost against others, resources, locks and operators, I/O.
        case "08", "40", "53", "55", "57", "58": true
        // A password or role that is being changed.
        case "28": true
        // read_only_sql_transaction: a fail-over is under way; idle_in_transaction_session_timeout; transaction_timeout, which
        // administrators set since PostgreSQL 17.
        case "25": ["25006", "25P03", "25P04"].contains(state)
        // internal_error, but not the two that tell of damaged data or indexes.
        case "XX": state == "XX000"
        // insufficient_privilege, or no tables: rights are being changed, or a backup is being put back, under the worker, which
        // had everything when it started.
        default: state == "42501" || PostgresFailure.withoutTables.contains(state)
        }
    }

    /// Authentication, and a database that does not exist.
    private static func needsPerson(_ state: String) -> Bool {
        state.hasPrefix("28") || state == "3D000" || state == "42501"
    }
}
