extension HTTPRequest {
    static let maxURLBytes = 8192
    /// Below what servers commonly take (8-16 KiB for the whole section), above what a bearer token needs.
    static let maxHeaderBytes = 16384

    /// Refuses a request, the body aside, that would not arrive as it was meant. The URL is taken apart by libcurl, which later
    /// uses it.
    ///
    /// Field names and values: [RFC 9110, 5.1 and 5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5). A line break
    /// in a value would let whoever chose the value add fields of their own.
    func validateHead(plainLoopback: Bool = false) throws(HTTPTransportError) {
        guard url.utf8.count <= Self.maxURLBytes else { throw .invalidURL }
        try EndpointURL.check(url, plainLoopback: plainLoopback)
        if let totalTimeout, !(HTTPTransportConfiguration.timeoutRange ~= totalTimeout) {
            throw .invalidRequest("totalTimeout is outside 1 ms ... 1 h")
        }
        var headerBytes = 0
        for header in headers {
            try header.validate()
            headerBytes += header.name.utf8.count + header.value.utf8.count
        }
        guard headerBytes <= Self.maxHeaderBytes else { throw .invalidRequest("the headers are over 16 KiB") }
    }

    /// Refuses a body that has no place.
    func validateBody() throws(HTTPTransportError) {
        guard method != .get || (body?.count ?? 0) == 0 else { throw .invalidRequest("a GET request has no body") }
    }
}

extension HTTPHeader {
    /// They decide where a message ends, which is the transport's business.
    private static let framing: Set<String> = ["connection", "content-length", "transfer-encoding"]

    func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count && name.lowercased() == other.lowercased()
    }

    fileprivate func validate() throws(HTTPTransportError) {
        guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenByte) else {
            throw .invalidRequest("a header's name is not a token")
        }
        guard value.utf8.allSatisfy(\.isFieldByte) else {
            throw .invalidRequest("the value of header \(name) has a control character")
        }
        guard !Self.framing.contains(name.lowercased()) else {
            throw .invalidRequest("header \(name) belongs to the transport")
        }
    }
}

extension UInt8 {
    private static let tokenMarks = Set("!#$%&'*+-.^_`|~".utf8)

    fileprivate var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: Self.tokenMarks.contains(self)
        }
    }

    fileprivate var isFieldByte: Bool { self == UInt8(ascii: "\t") || (self >= 0x20 && self != 0x7F) }
}
