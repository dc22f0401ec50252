/// Where the ledger is.
public enum LedgerSettings: Hashable, Sendable, CustomStringConvertible {
    /// A SQLite file on a local disk; a relative path starts at the working directory.
    case sqlite(path: String)

    /// Reads the part of the configuration that says where the ledger is.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        self = try values.value(Settings.ledgerURL)
    }

    /// As a URL.
    public var description: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        }
    }
}

extension ValueForm<LedgerSettings> {
    static var ledger: Self {
        ValueForm("sqlite: and the path of a file, such as sqlite:/var/lib/grantor/grantor.db") { url in
            // Of the URL forms only the bare path: `//` would begin a host's name.
            let scheme = "sqlite:"
            let path = url.dropFirst(scheme.count)
            guard url.hasPrefix(scheme), let first = path.first, let last = path.last, !first.isWhitespace,
                !last.isWhitespace, !path.hasPrefix("//"), first != ":", last != "/"
            else { return nil }
            return .sqlite(path: String(path))
        }
    }
}
