public import HTTPServer

/// Reads requests with their bodies out of bytes as they come. Pure: no sockets, no time.
///
/// The events depend on the bytes alone, not on the pieces in which they come. Memory is bounded by the head's limit
/// and by the length of a body that the caller lets come.
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
        case refused(HeadReader.Refusal)
    }

    private var reader = HeadReader()
    /// The head whose body comes.
    private var head: RequestHead?
    private var body: [UInt8] = []
    private var refusal: HeadReader.Refusal?

    public init() {}

    /// Bytes that came and belong to no complete request yet. Not zero: a request has begun.
    public var bufferedBytes: Int { reader.count + body.count }

    /// Whether a part of the body has come, behind a head that was reported.
    public var hasBodyBytes: Bool { !body.isEmpty }

    /// Takes bytes that came. Call ``next()`` until it says that they are used up.
    public mutating func append(_ more: some Collection<UInt8>) {
        if head == nil {
            reader.append(more)
        } else {
            body.append(contentsOf: more)
        }
    }

    public mutating func next() -> Event {
        if let refusal { return .refused(refusal) }
        if let head {
            guard body.count >= head.contentLength else { return .incomplete }
            let request = Request(head: head, body: Array(body.prefix(head.contentLength)))
            reader.append(body.dropFirst(head.contentLength))
            body = []
            self.head = nil
            return .request(request)
        }
        do {
            guard let next = try reader.next() else { return .incomplete }
            head = next
            body = Array(reader.rest)
            reader = HeadReader()
            return .head(next)
        } catch {
            reader = HeadReader()
            refusal = error
            return .refused(error)
        }
    }
}

public struct Request: Hashable, Sendable {
    public let head: RequestHead
    public let body: [UInt8]
}

extension RequestHead {
    /// Whether the client waits for `100 Continue` before it sends the body.
    public var expectsContinue: Bool {
        isVersion11 && contentLength > 0 && self["expect"]?.lowercased() == "100-continue"
    }

    /// Whether the client lets the connection be used again: HTTP/1.1 and no `Connection: close`.
    public var keepsAlive: Bool {
        let options = fields.filter { $0.name == "connection" }.flatMap { $0.value.lowercased().split(separator: ",") }
        return isVersion11 && !options.contains { $0.split(separator: " ") == ["close"] }
    }
}
