import CLibpq
import Glibc
public import Ledger

/// Reads the password anew, which may have changed since the last connect. The error's text is shown to people.
public typealias PasswordSource = @Sendable () throws(LedgerError) -> String

/// Where a ledger's server is and how it is reached, read from a URL by libpq itself.
///
/// It keeps the URL's password, if there is one, and never shows it. The environment variables of libpq, such as
/// `PGPASSWORD`, count where the URL leaves something open. The URL alone says where the ledger is: variables that lead
/// elsewhere are refused.
struct PostgresOptions: Sendable, CustomStringConvertible, CustomReflectable {
    /// The servers that will do.
    enum Target: String, CaseIterable, Sendable {
        case any
        case primary
        /// A primary that also takes writes from this user.
        case readWrite = "read-write"
    }

    /// One of the URL's hosts; without a name, the distribution's socket of this machine.
    struct Host: Hashable, Sendable {
        let name: String?
        let port: String?

        fileprivate static let socket = "/var/run/postgresql"
        fileprivate static let usualPort = "5432"
    }

    static let maxHosts = 16

    /// The options that a URL may set.
    static let settable = texts.union(words.keys).union(numbers).union(files)
    private static let texts: Set = ["host", "port", "dbname", "user", "password", "application_name", "options"]
    /// Options whose values are words. `allow` and `prefer` are missing: with them an attacker chooses.
    private static let words = [
        "sslmode": ["disable", "require", "verify-ca", "verify-full"],
        "channel_binding": ["disable", "prefer", "require"], "ssl_min_protocol_version": ["TLSv1.2", "TLSv1.3"],
        "target_session_attrs": Target.allCases.map(\.rawValue),
    ]
    /// Options whose values are whole numbers from 1.
    private static let numbers: Set = [
        "connect_timeout", "tcp_user_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count",
    ]
    /// Options that name files.
    private static let files: Set = ["sslrootcert", "sslcert", "sslkey", "sslcrl"]

    /// Variables of the environment that give libpq an address beside the URL's host. No parameter can undo them: libpq
    /// takes an empty one for none.
    private static let misleading = ["PGHOSTADDR", "PGSERVICE"]

    /// Where the distribution keeps the authorities that it trusts.
    private static let authorities = "/etc/ssl/certs/ca-certificates.crt"

    /// In the URL's order, which is the order of trying.
    let hosts: [Host]
    var target: Target
    /// Time for each host.
    var connectTimeout: Duration
    /// Asked at each connect; nil if the URL or the environment has the password, or none is needed.
    let password: PasswordSource?
    /// libpq's own names, without those of ``Host``.
    private let values: [String: String]

    /// - Throws: `.options` for a URL that cannot be read or makes no sense, two passwords, or an environment that
    ///   leads elsewhere. The words of libpq are not shown: they quote pieces of the URL, and a piece may be of a
    ///   password.
    init(
        url: String, password: PasswordSource? = nil, isSet: (_ variable: String) -> Bool = { getenv($0) != nil }
    ) throws(PostgresFailure) {
        if let variable = Self.misleading.first(where: isSet) {
            throw .options("\(variable) of the environment leads elsewhere than the PostgreSQL URL; unset it")
        }
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
            throw .options("a PostgreSQL URL begins with postgres:// or postgresql://")
        }
        guard !url.utf8.contains(0), var values = Self.parse(url) else {
            throw .options(
                "the PostgreSQL URL cannot be read: it has an unknown parameter or a wrong %-code, \(Self.encoding)")
        }
        if let unknown = values.keys.sorted().first(where: { !Self.settable.contains($0) }) {
            let settable = Self.settable.sorted().joined(separator: ", ")
            throw .options("the PostgreSQL URL cannot set \(unknown), only \(settable)")
        }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if let words = Self.words[name], !words.contains(value) {
                throw .options("\(name) of the PostgreSQL URL is none of \(words.joined(separator: ", "))")
            }
            if Self.numbers.contains(name), !(1...86_400_000 ~= Int(value) ?? 0) {
                throw .options("\(name) of the PostgreSQL URL is no whole number from 1")
            }
        }
        // A database's name may hold all of these, but most likely they are pieces of a password.
        guard let database = values["dbname"], !database.contains(where: { "@/:?".contains($0) || $0.isNewline }) else {
            throw .options("the PostgreSQL URL names no database, \(Self.encoding)")
        }
        guard password == nil || values["password"] == nil else {
            throw .options("the PostgreSQL URL has a password, and its file is named, too; one of them must go")
        }
        self.password = password
        hosts = try Self.hosts(values.removeValue(forKey: "host"), values.removeValue(forKey: "port"))
        target = values.removeValue(forKey: "target_session_attrs").flatMap(Target.init) ?? .readWrite
        connectTimeout = .seconds(values.removeValue(forKey: "connect_timeout").flatMap { Int($0) } ?? 5)
        // Without these a connection to a host that is gone would be kept for hours.
        let defaults = [
            "application_name": "grantor", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3",
            "tcp_user_timeout": "10000",
            // Kerberos waits for servers of its own.
            "gssencmode": "disable",
        ]
        values.merge(defaults) { given, _ in given }
        if !hosts.allSatisfy(\.isLocal) { values["sslmode"] = values["sslmode"] ?? "verify-full" }
        if values["sslmode"]?.hasPrefix("verify") == true {
            values["sslrootcert"] = values["sslrootcert"] ?? Self.authorities
        }
        values["client_encoding"] = "UTF8"
        // A limit of the user's own could end the statement that sets the session's.
        values["options"] = ["-c statement_timeout=0", values["options"]].compactMap { $0 }.joined(separator: " ")
        // The session looks itself, and can say why a server will not do.
        values["target_session_attrs"] = "any"
        self.values = values
    }

    /// Hosts and database.
    var description: String {
        "postgres://\(hosts.map(\.description).joined(separator: ","))/\(values["dbname"] ?? "")"
    }

    var customMirror: Mirror { Mirror(self, children: []) }

    /// Looks at the files that the URL names. libpq would only warn of some faults, and on standard error.
    func checkFiles() throws(PostgresFailure) {
        for name in Self.files.sorted() {
            guard let path = values[name] else { continue }
            guard access(path, R_OK) == 0 else {
                throw .options("\(name) of the PostgreSQL URL, \(path): \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Runs a block with libpq's keywords and values for one of the hosts.
    func withKeywords<Outcome>(
        for host: Host, password: String? = nil, _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> Outcome
    ) -> Outcome {
        var pairs = values.map { ($0.key, $0.value) }
        if let password { pairs.append(("password", password)) }
        pairs.append(("host", host.name ?? Host.socket))
        pairs.append(("port", host.port ?? Host.usualPort))
        let keywords = pairs.map { strdup($0.0) }
        let texts = pairs.map { strdup($0.1) }
        defer { for text in keywords + texts { free(text) } }
        return body(keywords.map { UnsafePointer($0) } + [nil], texts.map { UnsafePointer($0) } + [nil])
    }

    private static let encoding = "or its password has a character that must be written as %40 (@), %2F, %3A, %3F, %25"

    private static func hosts(_ names: String?, _ ports: String?) throws(PostgresFailure) -> [Host] {
        let ports = ports.map { $0.split(separator: ",", omittingEmptySubsequences: false) } ?? []
        guard ports.allSatisfy({ $0.isEmpty || UInt16($0) ?? 0 > 0 }) else {
            throw .options("a port of the PostgreSQL URL is none, \(encoding)")
        }
        let port = { (index: Int) in
            (ports.count == 1 ? ports.first : ports.dropFirst(index).first).flatMap { $0.isEmpty ? nil : String($0) }
        }
        guard let names else { return [Host(name: nil, port: port(0))] }
        let hosts = names.split(separator: ",", omittingEmptySubsequences: false).enumerated()
            .map { Host(name: String($0.element), port: port($0.offset)) }
        guard hosts.allSatisfy(\.isPlausible) else {
            throw .options("a host of the PostgreSQL URL is none, \(encoding)")
        }
        guard hosts.count <= maxHosts, ports.count <= 1 || ports.count == hosts.count else {
            throw .options(
                "the PostgreSQL URL has \(ports.count) ports for \(hosts.count) hosts, of at most \(maxHosts)")
        }
        return hosts
    }

    /// Names and values that a URL sets; nil if libpq cannot read it.
    private static func parse(_ url: String) -> [String: String]? {
        guard let first = PQconninfoParse(url, nil) else { return nil }
        defer { PQconninfoFree(first) }
        var values: [String: String] = [:]
        var option = first
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val, value.pointee != 0 {
                values[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return values
    }
}

extension PostgresOptions.Host: CustomStringConvertible {
    var description: String {
        let name = name.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""
        return name + (port.map { ":\($0)" } ?? "")
    }

    /// A socket's folder, or this machine by its own name or address.
    fileprivate var isLocal: Bool {
        guard let name else { return true }
        return name.hasPrefix("/") || ["localhost", "127.0.0.1", "::1"].contains(name)
    }

    /// A folder, a name or an address.
    fileprivate var isPlausible: Bool {
        guard let name, !name.isEmpty else { return false }
        if name.hasPrefix("/") { return !name.contains { $0 == "@" || $0.isNewline } }
        return name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_:%".contains($0)) }
    }
}
