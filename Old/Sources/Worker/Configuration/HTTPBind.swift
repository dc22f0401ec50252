/// The address that health and metrics are served on.
struct HTTPBind: Hashable, Sendable, CustomStringConvertible {
    static let standard = HTTPBind(host: "127.0.0.1", port: 8080)

    let host: String
    /// 0 takes any free port.
    let port: Int

    /// An address whose parts are known.
    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`; an IPv6 address stands in brackets.
    init?(_ text: String) {
        guard let (host, port) = HostAndPort.parse(text, smallest: 0) else { return nil }
        self.init(host: host, port: port)
    }

    init(_ values: ConfigurationValues) throws(ConfigurationError) {
        guard let text = try values.text(.httpBind) else {
            self = .standard
            return
        }
        guard let bind = HTTPBind(text) else {
            throw .invalid(.httpBind, requirement: "host:port, such as 127.0.0.1:8080 or [::1]:8080")
        }
        self = bind
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Splits `host:port`.
enum HostAndPort {
    /// Host without brackets, and a port up to 65535; nil for a text of another form.
    static func parse(_ text: some StringProtocol, smallest: UInt16 = 1) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        // UInt16 alone would read a sign, too.
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits), port >= smallest else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.allSatisfy({ $0.isHexDigit || ":.".contains($0) }) else { return nil }
        } else {
            guard host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }) else {
                return nil
            }
        }
        return host.isEmpty ? nil : (String(host), Int(port))
    }
}
