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
    /// The body, which can be shared with whoever made it. Nil for none, as with `get`; elsewhere that is an empty one.
    public var body: RequestBody?
    /// Replaces ``HTTPTransportConfiguration/totalTimeout`` for this request; rounded up to milliseconds.
    public var totalTimeout: Duration?
    /// Whether it goes over a connection that is made for it and closed behind it, whatever others are open: its answer is then
    /// the answer to nothing else.
    public var isOnFreshConnection: Bool

    /// A request; nothing is checked before it is sent.
    public init(
        method: Method, url: String, headers: [HTTPHeader] = [], body: RequestBody?, totalTimeout: Duration? = nil,
        isOnFreshConnection: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.totalTimeout = totalTimeout
        self.isOnFreshConnection = isOnFreshConnection
    }

    /// A request with a body of its own, or with none; nothing is checked before it is sent.
    public init(
        method: Method, url: String, headers: [HTTPHeader] = [], body: [UInt8] = [], totalTimeout: Duration? = nil
    ) {
        self.init(
            method: method, url: url, headers: headers, body: body.isEmpty ? nil : RequestBody([body]),
            totalTimeout: totalTimeout)
    }

    var withoutBody: HTTPRequest {
        HTTPRequest(
            method: method, url: url, headers: headers, body: nil, totalTimeout: totalTimeout,
            isOnFreshConnection: isOnFreshConnection)
    }

    /// Byte by byte: texts that Swift takes for equal can be different to libcurl.
    func differsInBodyAlone(from other: HTTPRequest) -> Bool {
        method == other.method && totalTimeout == other.totalTimeout
            && isOnFreshConnection == other.isOnFreshConnection && url.hasBytes(of: other.url)
            && headers.elementsEqual(other.headers) {
                $0.name.hasBytes(of: $1.name) && $0.value.hasBytes(of: $1.value)
            }
    }
}

extension String {
    fileprivate func hasBytes(of other: String) -> Bool {
        let (own, others) = (utf8.span, other.utf8.span)
        guard own.count == others.count else { return false }
        for place in own.indices where own[place] != others[place] { return false }
        return true
    }
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
