/// A response's header section as it came, read when somebody asks: it has a dozen fields, and of most responses
/// nobody wants to know any.
struct HeaderLines: Sendable {
    /// Field lines, each with its line end.
    private var bytes: [UInt8] = []

    /// No lines.
    init() {}

    /// Lines that say these fields.
    init(_ fields: [HTTPHeader]) {
        bytes = fields.flatMap { "\($0.name): \($0.value)\r\n".utf8 }
    }

    /// Adds a line, with its line end.
    mutating func append(_ line: some RandomAccessCollection<UInt8>) { bytes.append(contentsOf: line) }

    /// Forgets all lines.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// The fields in the order they came, without blanks around their values. What is no field is left out.
    var fields: [HTTPHeader] {
        var fields: [HTTPHeader] = []
        for line in bytes.split(separator: Self.lineFeed) {
            let text = Self.trimmed(line)
            if let first = line.first, Self.isBlank(first) {
                // A folded line (RFC 9112, 5.2) continues the value before it; the first of all continues nothing.
                guard let last = fields.indices.last else { continue }
                fields[last].value += " " + String(decoding: text, as: UTF8.self)
            } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
                fields.append(
                    HTTPHeader(
                        name: String(decoding: text[..<colon], as: UTF8.self),
                        value: String(decoding: Self.trimmed(text[text.index(after: colon)...]), as: UTF8.self)))
            }
        }
        return fields
    }

    /// Whether there can be a field of this name, in whatever case. It allocates nothing, so a miss costs little.
    func mayHave(_ name: String) -> Bool {
        let name = name.utf8
        var line = bytes[...]
        while !line.isEmpty {
            if line.starts(with: name, by: { $0 | Self.lowerCase == $1 | Self.lowerCase }) { return true }
            guard let end = line.firstIndex(of: Self.lineFeed) else { return false }
            line = line[(end + 1)...]
        }
        return false
    }

    /// Whether a line has nothing but blanks, as the one at a section's end.
    static func isEmpty(_ line: some RandomAccessCollection<UInt8>) -> Bool { line.allSatisfy(isBlank) }

    private static let lineFeed = UInt8(ascii: "\n")
    /// Of letters. Other characters may look alike with it, so it tells only what can be.
    private static let lowerCase: UInt8 = 0x20

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let start = bytes.firstIndex(where: { !isBlank($0) }), let end = bytes.lastIndex(where: { !isBlank($0) })
        else { return [] }
        return bytes[start...end]
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r") || byte == lineFeed
    }
}
