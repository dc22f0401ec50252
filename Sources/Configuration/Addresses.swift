import CommandParser
import FoundationEssentials

/// A host and a port. An IPv6 address stands in brackets.
public struct HostAndPort: Hashable, Sendable, CustomStringConvertible {
    /// Without brackets.
    public let host: String
    public let port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`; nil for a text of another form.
    init?(_ text: some StringProtocol, ports: ClosedRange<UInt16>) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        // UInt16 alone would read a sign, too.
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits), ports.contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.allSatisfy({ $0.isHexDigit || ":.".contains($0) }) else { return nil }
        } else {
            let isName = host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
            guard isName else { return nil }
        }
        guard !host.isEmpty else { return nil }
        self.init(host: String(host), port: Int(port))
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension ValueForm<HostAndPort> {
    /// An address to listen on; port 0 takes any free one.
    static var bind: Self {
        ValueForm("host:port, such as 127.0.0.1:8080 or [::1]:8080") { HostAndPort($0, ports: 0...65535) }
    }
}

extension ValueForm<String> {
    /// `host:port`, several separated by commas, without spaces.
    static var servers: Self {
        ValueForm("host:port, several separated by commas") { text in
            let all = text.split(separator: ",", omittingEmptySubsequences: false)
            return all.allSatisfy { HostAndPort($0, ports: 1...65535) != nil } ? text : nil
        }
    }

    /// A URL of `https` that is no more than host, port and path. The text stays as it is.
    static var httpsURL: Self {
        ValueForm("a URL that begins with https:// and is no more than host, port and path") { text in
            URLParts(text)?.scheme == "https" ? text : nil
        }
    }

    /// A URL that paths are appended to: without a slash at its end, and without `/inApps`, which the paths begin with.
    static var serverAPIBase: Self {
        let requirement = "a base URL that begins with https://, without /inApps"
        return ValueForm(requirement) { text in
            guard URLParts(text)?.scheme == "https", !text.contains("/inApps") else { return nil }
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
    }
}

extension ValueForm<ProxyURL> {
    static var proxy: Self {
        ValueForm("an http URL of a proxy with its port and without path, such as http://proxy.example.com:3128") {
            ProxyURL($0)
        }
    }
}

/// An HTTP proxy. Its description hides user name and password.
public struct ProxyURL: Hashable, Sendable, CustomStringConvertible {
    private let text: SecretText
    public let description: String

    init?(_ text: String) {
        guard let url = URLComponents(strict: text), let scheme = url.scheme?.lowercased(), scheme == "http",
            let host = url.host, let port = url.port, ["", "/"].contains(url.path), url.query == nil,
            url.fragment == nil
        else { return nil }
        self.text = SecretText(text)
        let user = url.user == nil && url.password == nil ? "" : "<redacted>@"
        description = "\(scheme)://\(user)\(host):\(port)"
    }

    /// The whole URL, for the HTTP client.
    public func revealed() -> String { text.revealed() }
}

/// A URL without user name, password, query and fragment: there secrets stand, and URLs are printed.
private struct URLParts {
    let scheme: String

    init?(_ text: String) {
        guard let url = URLComponents(strict: text), let scheme = url.scheme?.lowercased(), url.user == nil,
            url.password == nil, url.query == nil, url.fragment == nil
        else { return nil }
        self.scheme = scheme
    }
}

extension URLComponents {
    /// Nil where a character would have to be escaped, and where host or port cannot be one. The refusal of libcurl
    /// would come later, without the setting's name.
    fileprivate init?(strict text: String) {
        self.init(string: text, encodingInvalidCharacters: false)
        guard let host, HostAndPort("\(host):\(port ?? 443)", ports: 1...65535) != nil else { return nil }
    }
}

public enum LedgerSettings: Hashable, Sendable, CustomStringConvertible {
    /// A SQLite file on a local disk; a relative path starts at the working directory.
    case sqlite(path: String)

    case postgres(PostgresURL)

    public var description: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgres(let url): "\(url)"
        }
    }
}

/// The URL of a database, as libpq reads it. It may hold a password, so only its hosts and its database are shown. If
/// these do not stand in their plain form, nothing is shown.
public struct PostgresURL: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The URL itself, for the one caller that needs it.
    public let revealed: String
    /// Nil if no file of it is named.
    public internal(set) var password: PasswordFile?

    /// Nil unless it begins as one.
    public init?(_ text: String) {
        guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else { return nil }
        revealed = text
    }

    public var description: String {
        // In a URL with a mistake, a piece of the password may stand anywhere.
        let parts = revealed.drop { $0 != "/" }.dropFirst(2).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let user = parts[0].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let hosts = user.last, !parts[1].contains("@") else { return Self.hidden }
        let database = parts[1].prefix { $0 != "?" }
        let isPlain = database.allSatisfy { $0.isLetter || $0.isNumber || "-_.$".contains($0) }
        guard isPlain, hosts.split(separator: ",").allSatisfy(Self.isHost) else { return Self.hidden }
        return "postgres://\(hosts)/\(database)"
    }

    private static let hidden = "postgres://<redacted>"

    /// A name or an address, with a port or without.
    private static func isHost(_ text: Substring) -> Bool {
        let ports: ClosedRange<UInt16> = 1...65535
        return HostAndPort(text, ports: ports) != nil || HostAndPort("\(text):\(ports.lowerBound)", ports: ports) != nil
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ValueForm<LedgerSettings> {
    static var ledger: Self {
        ValueForm(
            "sqlite: and the path of a file, such as sqlite:/var/lib/grantor/grantor.db, or postgres:// and a database"
        ) { url in
            if let url = PostgresURL(url) { return .postgres(url) }
            // Of the URL forms only the bare path: `//` would begin a host's name, and `?` SQLite's parameters.
            let scheme = "sqlite:"
            let path = url.dropFirst(scheme.count)
            guard url.hasPrefix(scheme), let first = path.first, let last = path.last, !first.isWhitespace,
                !last.isWhitespace, !path.hasPrefix("//"), !path.contains("?"), first != ":", last != "/"
            else { return nil }
            return .sqlite(path: String(path))
        }
    }
}
