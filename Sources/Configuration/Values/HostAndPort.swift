/// A host and a port. An IPv6 address stands in brackets.
public struct HostAndPort: Hashable, Sendable, CustomStringConvertible {
    /// Without brackets.
    public let host: String
    public let port: Int

    /// An address whose parts are known.
    public init(host: String, port: Int) {
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
