/// One request to be made.
public struct HTTPCall: Sendable {
    /// Names the call in its outcome; the client does not read it.
    public var token: UInt64
    /// The request, which other calls may share.
    public var request: HTTPRequest
    /// The body. Nil, as with `get`, for none; with `post` that is an empty one.
    public var body: HTTPBody?
    /// For the whole exchange, connecting included, from when the call left the queue; rounded up to milliseconds,
    /// 1 ms to 1 h. Nil: ``HTTPClientConfiguration/totalTimeout``.
    public var timeout: Duration?
    /// Whether it goes over a connection that is made for it and closed after it, whatever others are open. Its answer
    /// can then be the answer to nothing else.
    public var usesFreshConnection: Bool

    /// A call; a GET with a body or a timeout out of range ends with ``HTTPFailure/invalidCall(_:)``.
    public init(
        token: UInt64, request: HTTPRequest, body: HTTPBody? = nil, timeout: Duration? = nil,
        usesFreshConnection: Bool = false
    ) {
        self.token = token
        self.request = request
        self.body = body
        self.timeout = timeout
        self.usesFreshConnection = usesFreshConnection
    }

    /// Refuses what would be sent as something else.
    func validate() throws(HTTPFailure) {
        guard request.method != .get || (body?.count ?? 0) == 0 else { throw .invalidCall("a GET has no body") }
        if let timeout, !(HTTPClientConfiguration.timeoutRange ~= timeout) {
            throw .invalidCall("the timeout is outside 1 ms to 1 h")
        }
    }
}

/// The end of a call.
public struct HTTPOutcome: Sendable {
    public var token: UInt64
    /// The whole response, whatever its status, or why there is none.
    public var result: Result<HTTPResponse, HTTPFailure>

    /// An outcome, as tests make one.
    public init(token: UInt64, result: Result<HTTPResponse, HTTPFailure>) {
        self.token = token
        self.result = result
    }
}

/// A request's body, whole and at a place that does not change: libcurl reads from there without a copy of its own. A
/// caller that asks again keeps the object and needs no copy either.
///
/// Unchecked, because the compiler cannot see that nobody writes behind the pointer once the object is made.
public final class HTTPBody: @unchecked Sendable {
    let start: UnsafeRawPointer
    /// Bytes.
    public let count: Int

    /// A body of parts, one after another; without any it is empty, which is not the same as none.
    public init(_ parts: [some Collection<UInt8>]) {
        count = parts.reduce(0) { $0 + $1.count }
        // An address is needed for no bytes, too.
        let start = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 1)
        var end = 0
        for part in parts {
            UnsafeMutableRawBufferPointer(start: start + end, count: part.count).copyBytes(from: part)
            end += part.count
        }
        self.start = UnsafeRawPointer(start)
    }

    convenience init() { self.init([[UInt8]]()) }

    deinit { start.deallocate() }

    /// A copy.
    public var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: start, count: count)) }
}
