/// One HTTPS request to be made, with its limits.
public struct HTTPCall: Sendable {
    /// Names the call in its outcome; the client does not read it.
    public let token: UInt64
    /// The request, which other calls may share.
    public let request: HTTPRequest
    /// Sent with a `post`; nil for an empty body; a `get` sends none.
    public let body: HTTPBody?
    /// For the whole exchange, connecting included, from when the call left the queue; rounded up to milliseconds. Nil:
    /// ``HTTPClientConfiguration/totalTimeout``.
    public let timeout: Duration?
    /// Whether it goes over a connection of its own, which is made for it and closed after it. Its reply can then be
    /// the reply to nothing else.
    public let usesFreshConnection: Bool

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
}

/// The end of a call.
public struct HTTPOutcome: Sendable {
    /// As ``HTTPCall/token`` of the call that ended.
    public let token: UInt64
    /// The whole response, whatever its status, or why there is none.
    public let result: Result<HTTPResponse, HTTPFailure>

    public init(token: UInt64, result: Result<HTTPResponse, HTTPFailure>) {
        self.token = token
        self.result = result
    }
}

/// A request's body, whole and at a fixed address: libcurl reads it there without a copy of its own. A caller that asks
/// again keeps the object and needs no copy either.
///
/// Unchecked, because the compiler cannot see that the bytes never change once the object is made.
public final class HTTPBody: @unchecked Sendable {
    let start: UnsafeRawPointer
    public let count: Int

    /// - Parameter parts: Follow each other in the body.
    public init(_ parts: [ArraySlice<UInt8>]) {
        count = parts.reduce(0) { $0 + $1.count }
        // An address is needed for no bytes, too.
        let start = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 1)
        var end = 0
        for part in parts {
            part.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(start: start + end, count: bytes.count).copyMemory(from: bytes)
            }
            end += part.count
        }
        self.start = UnsafeRawPointer(start)
    }

    deinit { start.deallocate() }
    public var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: start, count: count)) }
}
