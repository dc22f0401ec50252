/// Reads requests out of bytes as they come, as strictly as HTTP/1.1 allows (RFC 9112). Pure: no sockets, no time.
///
/// Lenient readers of one message and strict ones of the same message disagree on where it ends, and that is how requests
/// are smuggled. So lines end in CR LF and nothing else, no field is folded, no white space stands before a colon, there is
/// one `Host` and at most one `Content-Length`, of digits. Transfer codings are refused: whoever sends a body says its
/// length. Targets are paths (origin form) only.
///
/// The events depend on the bytes alone, not on the pieces in which they come. Memory is bounded by the head's limit and by
/// the length of a body that the caller lets come.
public struct RequestReader: Sendable {
    public enum Event: Hashable, Sendable {
        /// Nothing more can be said until there are more bytes.
        case incomplete
        /// A head is complete. The caller compares its `contentLength` with what it takes, and answers an expectation, before
        /// it reads on.
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
        /// A transfer coding and a length, of which one must be a lie, is `badRequest`; this is any version but 1.0 and 1.1.
        case versionNotSupported = 505
    }

    /// Most bytes of a request line.
    public static let maxRequestLineBytes = 8 << 10
    /// Most bytes of a head, the empty line at its end included.
    public static let maxHeadBytes = 16 << 10
    /// Most header fields.
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

    /// The next event.
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
