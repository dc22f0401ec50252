/// Where the ledger is.
struct LedgerSettings: Hashable, Sendable {
    /// A SQLite file on a local disk; a relative path starts at the working directory.
    var path = "grantor.db"

    /// The defaults.
    init() {}
}

extension LedgerSettings {
    init(_ values: ConfigurationValues) throws(ConfigurationError) {
        self.init()
        guard let url = try values.text(.ledgerURL) else { return }
        if url.hasPrefix("postgres:") || url.hasPrefix("postgresql:") {
            throw .keyNotSupported(.ledgerURL, what: "PostgreSQL is")
        }
        // Of the URL forms only the bare path: `//` would begin a host's name.
        let scheme = "sqlite:"
        let rest = url.dropFirst(scheme.count)
        guard url.hasPrefix(scheme), !rest.isEmpty, !rest.hasPrefix("//"), !rest.hasPrefix(":"), !rest.hasSuffix("/")
        else {
            throw .invalid(.ledgerURL, requirement: "sqlite: and the path of a file, such as sqlite:grantor.db")
        }
        path = String(rest)
    }
}
