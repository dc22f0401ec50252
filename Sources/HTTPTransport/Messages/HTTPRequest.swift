/// One request. It is sent once as far as this module decides; see ``HTTPTransport/send(_:)`` for when libcurl repeats it.
public struct HTTPRequest: Sendable {
    /// What is asked of the resource.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// Reads; has no body.
        case get = "GET"
        /// Hands the body to the resource.
        case post = "POST"
        /// Replaces the resource by the body.
        case put = "PUT"
    }

    /// The method.
    public var method: Method
    /// An absolute `https` URL without user name and password, at most 8,192 bytes.
    public var url: String
    /// Sent in this order, after the ones the transport adds: `Host`, `User-Agent`, `Accept`, `Accept-Encoding`,
    /// `Content-Length`. Framing headers (`Content-Length`, `Transfer-Encoding`, `Connection`) are refused.
    public var headers: [HTTPHeader]
    /// The body, in parts that are sent one after another, so that a large part can be shared with whoever made it. Empty
    /// for `get`.
    public var bodyParts: [[UInt8]]
    /// Replaces ``HTTPTransportConfiguration/totalTimeout`` for this request; rounded up to milliseconds.
    public var totalTimeout: Duration?

    /// A request; nothing is checked before it is sent.
    public init(
        method: Method, url: String, headers: [HTTPHeader] = [], bodyParts: [[UInt8]], totalTimeout: Duration? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.bodyParts = bodyParts
        self.totalTimeout = totalTimeout
    }

    /// A request with a body of one part, or with none; nothing is checked before it is sent.
    public init(
        method: Method, url: String, headers: [HTTPHeader] = [], body: [UInt8] = [], totalTimeout: Duration? = nil
    ) {
        self.init(method: method, url: url, headers: headers, bodyParts: [body], totalTimeout: totalTimeout)
    }

    /// Bytes of the body.
    var bodyLength: Int { bodyParts.reduce(0) { $0 + $1.count } }
}

/// One field of a header section.
public struct HTTPHeader: Sendable, Hashable {
    /// As written; compared without regard to case.
    public var name: String
    /// Without surrounding white space.
    public var value: String

    /// A field; a name or value that cannot be sent is refused when it is sent.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
