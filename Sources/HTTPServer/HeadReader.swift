/// Reads the head of one request out of bytes as they come, as strictly as HTTP/1.1 allows (RFC 9112).
///
/// A lenient and a strict reader disagree on where a message ends. That is how requests are smuggled. So lines end in
/// CR LF and nothing else, no field is folded, and no white space stands before a colon. There is one `Host` and at
/// most one `Content-Length`, of digits. Transfer codings are refused: a body has a length. Targets are paths (origin
/// form) only.
///
/// The result depends on the bytes alone, not on the pieces in which they come.
public struct HeadReader: Sendable {
    /// Why bytes are no head that is taken; the raw value is the status to answer with.
    public enum Refusal: Int, Error, Hashable, Sendable {
        case badRequest = 400
        /// A transfer coding instead of a length. With both, one must be a lie, and it is `badRequest`.
        case lengthRequired = 411
        case targetTooLong = 414
        case headTooLarge = 431
        /// Any version but 1.0 and 1.1.
        case versionNotSupported = 505
    }

    /// Most bytes of a request line.
    public static let maxRequestLineBytes = 8 << 10
    /// Most bytes of a head, the empty line at its end included.
    public static let maxHeadBytes = 16 << 10
    /// Most header fields of a head; one more is refused as too large.
    public static let maxFields = 100

    /// Nil before the request line is complete.
    private var head: RequestHead?
    private var bytes: [UInt8] = []
    /// Where the present line begins.
    private var start = 0
    /// How far the present line was looked at.
    private var scanned = 0

    public init() {}

    /// Bytes that came. Not zero: a request has begun.
    public var count: Int { bytes.count }

    /// Bytes behind the head, once it is complete.
    public var rest: ArraySlice<UInt8> { bytes[start...] }

    /// Takes bytes that came, however many; only ``next()`` refuses a head over the limits.
    public mutating func append(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    /// The head; nil if it is not complete.
    /// - Throws: ``Refusal``; nothing behind the bytes can be understood then, and this reader is of no further use.
    public mutating func next() throws(Refusal) -> RequestHead? {
        while let line = try nextLine() {
            guard head != nil else {
                head = try RequestHead(requestLine: bytes[line])
                continue
            }
            if line.isEmpty {
                try head?.checkFraming()
                return head
            }
            try head?.add(bytes[line])
        }
        return nil
    }

    /// Looks for the end of the present line, byte for byte, so that the first offence decides however the bytes are
    /// split.
    private mutating func nextLine() throws(Refusal) -> Range<Int>? {
        var followsReturn = scanned > start && bytes[scanned - 1] == UInt8(ascii: "\r")
        for index in scanned..<bytes.count {
            if head == nil, index >= Self.maxRequestLineBytes { throw .targetTooLong }
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
}
