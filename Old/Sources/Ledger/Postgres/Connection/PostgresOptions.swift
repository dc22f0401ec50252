internal import CLibpq
import Glibc

/// What libpq is told to connect with. Holds the password, if the URL has one, and is printed nowhere.
struct PostgresOptions: Hashable, Sendable {
    /// libpq's own option names; no empty values.
    private(set) var values: [String: String]

    /// Reads a URL with libpq's own parser; nil if it cannot be read. libpq's explanation quotes the URL, so it is not told.
    ///
    /// Nil, too, for hosts and ports that are none: most likely pieces of a password with an `@` or `/` in it that is not
    /// encoded, and hosts and ports are shown.
    init?(url: String) {
        guard let options = PQconninfoParse(url, nil) else { return nil }
        defer { PQconninfoFree(options) }
        values = Self.values(options)
        let ports = (values["port"] ?? "").split(separator: ",")
        guard !hosts.contains(where: { $0.dropFirst().contains("@") }), ports.allSatisfy({ UInt16($0) != nil }) else {
            return nil
        }
    }

    /// Adds what a worker needs where neither the URL nor libpq's environment variables say otherwise.
    ///
    /// A host that is not this one is to prove its name: certificates are those of `systemCertificates` then.
    func completed(connectTimeout: Duration, silence: Duration, systemCertificates: String) -> PostgresOptions {
        var completed = self
        let ambient = Self.ambient()
        func fill(_ name: String, _ value: String) {
            completed.values[name] = completed.values[name] ?? ambient[name] ?? value
        }
        fill("application_name", "grantor")
        completed.values["client_encoding"] = "UTF8"
        fill("connect_timeout", String(max(2, connectTimeout.components.seconds)))
        fill("keepalives_idle", "10")
        fill("keepalives_interval", "5")
        fill("keepalives_count", "3")
        fill("tcp_user_timeout", String(silence.wholeMillisecondsUp))
        if hosts.count > 1 { fill("target_session_attrs", "read-write") }
        if !isLocal(values["host"] ?? values["hostaddr"] ?? ambient["host"] ?? "") { fill("sslmode", "verify-full") }
        if completed.values["sslmode"]?.hasPrefix("verify") == true { fill("sslrootcert", systemCertificates) }
        return completed
    }

    /// What an option is set to, by the URL or libpq's environment variables.
    func setting(_ name: String) -> String? { values[name] ?? Self.ambient()[name] }

    /// The same settings for as many places where no server can ever be; environment variables name places, too.
    func leadingNowhere(ambient: [String: String] = Self.ambient()) -> PostgresOptions {
        var options = self
        // An address is read as a number and never looked up, so that of a file is none.
        for name in ["host", "hostaddr"] {
            guard let list = values[name] ?? ambient[name] else { continue }
            options.values[name] = list.split(separator: ",", omittingEmptySubsequences: false)
                .map { _ in Self.nowhere }.joined(separator: ",")
        }
        if options.values["host"] == nil, options.values["hostaddr"] == nil { options.values["host"] = Self.nowhere }
        return options
    }

    private static let nowhere = "/dev/null"

    /// The same with the list of hosts begun at another: one that never answers must not keep a worker from the others.
    func rotated(by count: Int) -> PostgresOptions {
        var rotated = self
        for name in ["host", "hostaddr", "port"] {
            let list = (values[name] ?? "").split(separator: ",", omittingEmptySubsequences: false)
            guard list.count > 1 else { continue }
            let start = count % list.count
            rotated.values[name] = (list[start...] + list[..<start]).joined(separator: ",")
        }
        return rotated
    }

    /// For people: user, hosts and database, and nothing else.
    var place: String {
        let user = values["user"].map { $0 + "@" } ?? ""
        let ports = (values["port"] ?? "").split(separator: ",")
        let hosts = hosts.enumerated().map { index, host in
            guard let port = ports.count == 1 ? ports.first : ports.dropFirst(index).first else { return String(host) }
            return "\(host):\(port)"
        }.joined(separator: ",")
        return "postgres://\(user)\(hosts)/\(values["dbname"] ?? "")"
    }

    func withKeywordsAndValues<Value>(
        _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> Value
    ) -> Value {
        let pairs = values.sorted { $0.key < $1.key }
        let keywords = pairs.map { strdup($0.key) }
        let texts = pairs.map { strdup($0.value) }
        defer { for text in keywords + texts { free(text) } }
        return body(keywords.map { UnsafePointer($0) } + [nil], texts.map { UnsafePointer($0) } + [nil])
    }

    private var hosts: [Substring] {
        (values["host"] ?? values["hostaddr"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
    }

    private func isLocal(_ hosts: String) -> Bool {
        hosts.split(separator: ",").allSatisfy {
            $0.hasPrefix("/") || $0.hasPrefix("@") || ["localhost", "127.0.0.1", "::1"].contains($0)
        }
    }

    /// The names of libpq's options.
    static let names: Set<Substring> = {
        guard let options = PQconndefaults() else { return [] }
        defer { PQconninfoFree(options) }
        var names: Set<Substring> = []
        var option = options
        while let keyword = option.pointee.keyword {
            names.insert(String(cString: keyword)[...])
            option += 1
        }
        return names
    }()

    /// What libpq's environment variables say.
    private static func ambient() -> [String: String] {
        guard let options = PQconndefaults() else { return [:] }
        defer { PQconninfoFree(options) }
        return values(options) { option in
            guard let compiled = option.compiled else { return true }
            return strcmp(compiled, option.val) != 0
        }
    }

    private static func values(
        _ options: UnsafeMutablePointer<PQconninfoOption>, where isWanted: (PQconninfoOption) -> Bool = { _ in true }
    ) -> [String: String] {
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val, value.pointee != 0, isWanted(option.pointee) {
                values[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return values
    }
}
