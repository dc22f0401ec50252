/// One field of a head; several may have the same name.
public struct HeaderField: Hashable, Sendable {
    /// In lower case if it was read.
    public let name: String
    /// Without the white space around it.
    public let value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request without its body.
public struct RequestHead: Hashable, Sendable {
    /// As it came: methods are case-sensitive.
    public let method: String
    /// The request's target up to a question mark, as it came: nothing is decoded or normalised. It begins with a
    /// slash.
    public let path: String
    /// The target behind the question mark; nil without one.
    public let query: String?
    /// HTTP/1.1; else it is HTTP/1.0.
    public let isVersion11: Bool
    /// In the order in which they came.
    public private(set) var fields: [HeaderField] = []
    /// Bytes of the body that follows.
    public private(set) var contentLength = 0

    /// The value of a field; nil if it is missing or stands there several times.
    /// - Parameter name: in lower case.
    public subscript(_ name: String) -> String? {
        let found = fields.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }

    /// Method, target and version with one space between them (RFC 9112, section 3). Lines come without control
    /// characters.
    init(requestLine line: ArraySlice<UInt8>) throws(HeadReader.Refusal) {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(Self.isToken) else { throw .badRequest }
        guard parts[1].first == UInt8(ascii: "/"),
            parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { throw .badRequest }
        switch String(decoding: parts[2], as: UTF8.self) {
        case "HTTP/1.1": isVersion11 = true
        case "HTTP/1.0": isVersion11 = false
        case let version where Self.isVersion(version): throw .versionNotSupported
        default: throw .badRequest
        }
        method = String(decoding: parts[0], as: UTF8.self)
        let target = parts[1].split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        path = String(decoding: target[0], as: UTF8.self)
        query = target.count > 1 ? String(decoding: target[1], as: UTF8.self) : nil
    }

    /// Name, colon and value, with white space around the value only (RFC 9112, section 5).
    mutating func add(_ line: ArraySlice<UInt8>) throws(HeadReader.Refusal) {
        guard fields.count < HeadReader.maxFields else { throw .headTooLarge }
        // A folded line begins with white space, which is no token.
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(Self.isToken)
        else { throw .badRequest }
        let name = String(decoding: line[..<colon].map(Self.lowercased), as: UTF8.self)
        let value = Self.trimmed(line[(colon + 1)...])
        if name == "host" {
            guard !has(name), value.utf8.allSatisfy(Self.isHost) else { throw .badRequest }
        } else if name == "content-length" {
            guard !has(name), (1...18).contains(value.utf8.count), value.utf8.allSatisfy(Self.isDigit),
                let length = Int(value)
            else { throw .badRequest }
            contentLength = length
        }
        fields.append(HeaderField(name, value))
    }

    /// Refuses what only all fields together show to be wrong (RFC 9112, sections 3.2 and 6.1).
    func checkFraming() throws(HeadReader.Refusal) {
        if has("transfer-encoding") {
            throw isVersion11 && !has("content-length") ? .lengthRequired : .badRequest
        }
        guard has("host") || !isVersion11 else { throw .badRequest }
    }

    private func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

    private static func isVersion(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 8 && text.hasPrefix("HTTP/") && isDigit(bytes[5]) && bytes[6] == UInt8(ascii: ".")
            && isDigit(bytes[7])
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// A character of a token (RFC 9110, section 5.6.2): a letter, a digit or one of ``!#$%&'*+-.^_`|~``.
    private static func isToken(_ byte: UInt8) -> Bool { isOne(0x03FF_6CFA_0000_0000, 0x57FF_FFFF_C7FF_FFFE, byte) }

    /// A character of a host and its port (RFC 3986, section 3.2.2), except the comma: of two hosts neither counts.
    private static func isHost(_ byte: UInt8) -> Bool { isOne(0x2FFF_6FF2_0000_0000, 0x47FF_FFFE_AFFF_FFFE, byte) }

    /// Whether a byte is in a set of characters. The set has a bit for each character, because every byte of a head is
    /// looked up.
    private static func isOne(_ below64: UInt64, _ from64: UInt64, _ byte: UInt8) -> Bool {
        byte < 64 ? below64 >> UInt64(byte) & 1 == 1 : byte < 128 && from64 >> UInt64(byte - 64) & 1 == 1
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var rest = bytes
        while let first = rest.first, isSpace(first) { rest.removeFirst() }
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }
}
