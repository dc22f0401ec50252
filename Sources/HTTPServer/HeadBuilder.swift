/// The lines of a request's head, one after the other. Lines come without their ends and without control characters.
struct HeadBuilder: Sendable {
    private let method: String
    private let path: String
    private let query: String?
    private let isVersion11: Bool
    private var fields: [HeaderField] = []
    private var contentLength: Int?
    private var hasTransferEncoding = false
    private var hosts = 0
    private var expectsContinue = false
    private var closes = false

    /// RFC 9112, section 3: method, target and version with one space between them.
    init(requestLine line: ArraySlice<UInt8>) throws(RequestReader.Refusal) {
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

    /// RFC 9112, section 5: name, colon and value, with white space around the value only.
    mutating func add(_ line: ArraySlice<UInt8>) throws(RequestReader.Refusal) {
        guard fields.count < RequestReader.maxFields else { throw .headTooLarge }
        // A folded line begins with white space, which is no token.
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(Self.isToken)
        else { throw .badRequest }
        let field = HeaderField(
            name: Self.lowercased(line[..<colon]), value: Self.trimmed(line[(colon + 1)...]))
        fields.append(field)
        switch field.name {
        case "host": try addHost(field.value)
        case "content-length": try addLength(field.value)
        case "transfer-encoding": hasTransferEncoding = true
        case "expect":
            guard Self.lowercased(field.value.utf8) == "100-continue" else { throw .expectationFailed }
            expectsContinue = true
        case "connection":
            let options = field.value.utf8.split(separator: UInt8(ascii: ","))
            closes = closes || options.contains { Self.trimmed(Self.lowercased($0).utf8) == "close" }
        default: break
        }
    }

    /// The head, once its empty line has come.
    func head() throws(RequestReader.Refusal) -> RequestHead {
        if hasTransferEncoding { throw isVersion11 && contentLength == nil ? .lengthRequired : .badRequest }
        // RFC 9112, section 3.2.
        guard hosts == 1 || (hosts == 0 && !isVersion11) else { throw .badRequest }
        let length = contentLength ?? 0
        return RequestHead(
            method: method, path: path, query: query, fields: fields, contentLength: length,
            expectsContinue: expectsContinue && isVersion11 && length > 0, keepsAlive: isVersion11 && !closes)
    }

    private mutating func addHost(_ value: String) throws(RequestReader.Refusal) {
        hosts += 1
        guard hosts == 1, value.utf8.allSatisfy(Self.isHost) else { throw .badRequest }
    }

    private mutating func addLength(_ value: String) throws(RequestReader.Refusal) {
        guard contentLength == nil, (1...18).contains(value.utf8.count), value.utf8.allSatisfy(Self.isDigit),
            let length = Int(value)
        else { throw .badRequest }
        contentLength = length
    }

    private static func isVersion(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 8 && text.hasPrefix("HTTP/") && isDigit(bytes[5]) && bytes[6] == UInt8(ascii: ".")
            && isDigit(bytes[7])
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// A character of a token (RFC 9110, section 5.6.2): a letter, a digit or one of ``!#$%&'*+-.^_`|~``.
    private static func isToken(_ byte: UInt8) -> Bool { isOne(0x03FF_6CFA_0000_0000, 0x57FF_FFFF_C7FF_FFFE, byte) }

    /// A character of a host and its port (RFC 3986, section 3.2.2), but for the comma: of two hosts none is meant.
    private static func isHost(_ byte: UInt8) -> Bool { isOne(0x2FFF_6FF2_0000_0000, 0x47FF_FFFE_AFFF_FFFE, byte) }

    /// Whether a byte is one of a set of characters, which has a bit for each: this is asked for each byte of a head.
    private static func isOne(_ below64: UInt64, _ from64: UInt64, _ byte: UInt8) -> Bool {
        byte < 64 ? below64 >> UInt64(byte) & 1 == 1 : byte < 128 && from64 >> UInt64(byte - 64) & 1 == 1
    }

    private static func lowercased(_ bytes: some Collection<UInt8>) -> String {
        let lower = bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return String(decoding: lower, as: UTF8.self)
    }

    private static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> String {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var rest = bytes[...]
        while let first = rest.first, isSpace(first) { rest.removeFirst() }
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }
}
