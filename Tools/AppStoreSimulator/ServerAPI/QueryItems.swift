/// The parameters of a call's query, each name with its values in their order.
struct QueryItems: Sendable {
    private var values: [String: [String]] = [:]

    /// Reads a URL's text behind the question mark. A query that is not encoded by RFC 3986, section 2.1, has no
    /// parameters.
    init(_ query: String?) {
        var values: [String: [String]] = [:]
        for item in (query ?? "").split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]) else { return }
            values[name, default: []] += []
            guard parts.count == 2 else { continue }
            guard let value = Self.decoded(parts[1]) else { return }
            values[name, default: []].append(value)
        }
        self.values = values
    }

    func all(_ name: String) -> [String] {
        values[name] ?? []
    }

    /// The one value of a parameter, read by the closure; nil if it is left out.
    ///
    /// - Parameter error: Thrown if the closure cannot read it, or if there are several.
    func one<Value>(
        _ name: String, or error: ServerAPIError, _ read: (String) -> Value?
    ) throws(ServerAPIError) -> Value? {
        let given = all(name)
        guard !given.isEmpty else { return nil }
        guard given.count == 1, let value = read(given[0]) else { throw error }
        return value
    }

    /// Nil for a character that has to be encoded, or an encoding that is none.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Self.digit), let low = rest.popFirst().flatMap(Self.digit)
                else { return nil }
                bytes.append(high << 4 | low)
            case 0x21...0x7E where !"\"#<>[]\\^`{|}".utf8.contains(byte): bytes.append(byte)
            default: return nil
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
