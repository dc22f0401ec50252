/// Reads requests out of bytes as they come, as strictly as HTTP/1.1 allows (RFC 9112). Pure: no sockets, no time.
///
/// Lenient and strict readers disagree on where a message ends, which allows request smuggling. So lines end in CR LF,
/// no field is folded, and no white space precedes a colon. There is one `Host` and at most one `Content-Length`, of
/// digits. Transfer codings are refused, so every body has a length. Targets are paths (origin form) only.
///
/// The events depend on the bytes alone, not on the pieces in which they come. Memory is bounded by the limit of the
/// head and by the length of a body that the caller admits.
public struct RequestReader: Sendable {
    public enum Event: Hashable, Sendable {
        /// Nothing more can be said until there are more bytes.
        case incomplete
        /// A head is complete. The caller compares its `contentLength` with what it takes, and answers an expectation,
        /// before it reads on.
        case head(RequestHead)
        /// A request is complete. Bytes behind it stay for the next one.
        case request(Request)
        /// The bytes are no request that is taken. Nothing behind them can be understood: this is the last event.
        case refused(Refusal)
    }

    /// Why bytes are not taken; the raw value is the status to answer with.
    public enum Refusal: Int, Error, Hashable, Sendable {
        case badRequest = 400
        /// A transfer coding in place of a length.
        case lengthRequired = 411
        case targetTooLong = 414
        case expectationFailed = 417
        case headTooLarge = 431
        /// A transfer coding and a length, of which one must be a lie, is `badRequest`; this is any version but 1.0 and
        /// 1.1.
        case versionNotSupported = 505
    }

    /// Most bytes of a request line.
    public static let maxRequestLineBytes = 8 << 10
    /// Most bytes of a head, the empty line at its end included.
    public static let maxHeadBytes = 16 << 10
    public static let maxFields = 100

    private enum State: Sendable {
        case requestLine
        case fields(HeadBuilder)
        case body(RequestHead)
        case refused(Refusal)
    }

    private var state = State.requestLine
    /// From the first byte of the present request on.
    private var bytes: [UInt8] = []
    /// Where the present line, or the body, begins.
    private var start = 0
    /// How far the present line was looked at.
    private var scanned = 0

    public init() {}

    /// Bytes that came and belong to no complete request yet. Not zero: a request has begun.
    public var bufferedBytes: Int { bytes.count }

    /// Whether a part of the body has come, behind a head that was reported.
    public var hasBodyBytes: Bool {
        if case .body = state { bytes.count > start } else { false }
    }

    /// Takes bytes that came. Call ``next()`` until it says that they are used up.
    public mutating func append(_ more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    public mutating func next() -> Event {
        while true {
            switch state {
            case .refused(let refusal):
                return .refused(refusal)
            case .body(let head):
                guard bytes.count - start >= head.contentLength else { return .incomplete }
                return .request(finish(head))
            case .requestLine, .fields:
                do {
                    guard let line = try nextLine() else { return .incomplete }
                    if let head = try take(line) { return .head(head) }
                } catch {
                    bytes = []
                    state = .refused(error)
                }
            }
        }
    }

    /// Adds a line to the head.
    ///
    /// - Returns: the head if the line is its end.
    private mutating func take(_ line: Range<Int>) throws(Refusal) -> RequestHead? {
        switch state {
        case .requestLine:
            state = .fields(try HeadBuilder(requestLine: bytes[line]))
        case .fields(var builder):
            if line.isEmpty {
                let head = try builder.head()
                state = .body(head)
                return head
            }
            // Given up before it is changed, or each field would copy those before it.
            state = .requestLine
            try builder.add(bytes[line])
            state = .fields(builder)
        case .body, .refused:
            break
        }
        return nil
    }

    /// Looks for the end of the present line, byte for byte, so that the first offence decides whatever the pieces.
    private mutating func nextLine() throws(Refusal) -> Range<Int>? {
        let isRequestLine = if case .requestLine = state { true } else { false }
        var followsReturn = scanned > start && bytes[scanned - 1] == UInt8(ascii: "\r")
        for index in scanned..<bytes.count {
            if isRequestLine, index >= Self.maxRequestLineBytes { throw .targetTooLong }
            guard index < Self.maxHeadBytes else { throw .headTooLarge }
            let byte = bytes[index]
            if followsReturn {
                guard byte == UInt8(ascii: "\n") else { throw .badRequest }
                defer { start = index + 1 }
                scanned = index + 1
                return start..<(index - 1)
            }
            switch byte {
            case UInt8(ascii: "\r"): followsReturn = true
            case UInt8(ascii: "\t"): break
            case 0..<0x20, 0x7F: throw .badRequest
            default: break
            }
        }
        scanned = bytes.count
        return nil
    }

    private mutating func finish(_ head: RequestHead) -> Request {
        let end = start + head.contentLength
        let request = Request(head: head, body: Array(bytes[start..<end]))
        // A connection that rests holds no memory.
        bytes = end == bytes.count ? [] : Array(bytes[end...])
        start = 0
        scanned = 0
        state = .requestLine
        return request
    }
}

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

/// One header field of a request.
public struct HeaderField: Hashable, Sendable {
    /// In lower case.
    public let name: String
    /// Without the white space around it.
    public let value: String
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
    /// In the order in which they came.
    public let fields: [HeaderField]
    /// Bytes of the body that follows.
    public let contentLength: Int
    /// Whether the client waits for `100 Continue` before it sends the body.
    public let expectsContinue: Bool
    /// Whether the client lets the connection be used again: HTTP/1.1 and no `Connection: close`.
    public let keepsAlive: Bool

    /// The value of a field; nil if it is missing or stands there several times.
    ///
    /// - Parameter name: in lower case.
    public subscript(_ name: String) -> String? {
        var found: String?
        for field in fields where field.name == name {
            guard found == nil else { return nil }
            found = field.value
        }
        return found
    }
}

public struct Request: Hashable, Sendable {
    public let head: RequestHead
    public let body: [UInt8]
}
