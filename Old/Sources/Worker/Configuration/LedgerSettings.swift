import Ledger

/// Where the ledger is.
enum LedgerSettings: Hashable, Sendable, CustomStringConvertible {
    /// A SQLite file on a local disk; a relative path starts at the working directory.
    case file(String)
    /// A PostgreSQL database.
    case server(PostgresLedgerConfiguration)

    /// The embedded ledger of a worker that was told of no other.
    static let standard = LedgerSettings.file("grantor.db")

    init(_ values: ConfigurationValues) throws(ConfigurationError) {
        guard let url = try values.text(.ledgerURL) else {
            self = .standard
            return
        }
        let requirement = """
            sqlite: and the path of a file, such as sqlite:grantor.db, or postgres: and what PostgreSQL's own URLs have, \
            such as postgres://user@host/database (in it @ : / and % of a password are %40 %3A %2F and %25)
            """
        if url.hasPrefix("postgres:") || url.hasPrefix("postgresql:") {
            guard let configuration = PostgresLedgerConfiguration(url: url) else {
                throw .invalid(.ledgerURL, requirement: requirement)
            }
            self = .server(configuration)
            return
        }
        // Of the URL forms only the bare path: `//` would begin a host's name.
        let scheme = "sqlite:"
        let rest = url.dropFirst(scheme.count)
        guard url.hasPrefix(scheme), let first = rest.first, let last = rest.last, !first.isWhitespace,
            !last.isWhitespace,
            !rest.hasPrefix("//"), first != ":", last != "/"
        else {
            throw .invalid(.ledgerURL, requirement: requirement)
        }
        self = .file(String(rest))
    }

    /// As a URL, without a password.
    var description: String {
        switch self {
        case .file(let path): "sqlite:\(path)"
        case .server(let configuration): "\(configuration)"
        }
    }
}
