/// A request without its body. It is checked once and shared by any number of calls. A libcurl handle that sent the
/// same request before needs only a new body, so calls cost less.
public final class HTTPRequest: Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    /// Servers commonly take 8 to 16 KiB for the whole section, and a bearer token needs less than this.
    static let maxHeaderBytes = 16384

    public let method: Method
    public let endpoint: HTTPEndpoint
    /// Sent in this order, after the ones that the client adds: `Host`, `User-Agent`, `Accept`, `Content-Length`.
    public let headers: [HTTPHeader]
    /// Whether the reply may come compressed. Reading a small one apart costs some 60 us, more than it saves.
    public let acceptsGzip: Bool
    let url: String

    /// Checks a request.
    /// - Parameters:
    ///   - path: Follows the endpoint's URL; empty, or begins with `/` or `?`.
    ///   - headers: `Content-Length`, `Transfer-Encoding` and `Connection` are refused; 16 KiB in all.
    /// - Throws: ``HTTPClientError/invalidURL`` or ``HTTPClientError/invalidRequest(_:)``.
    public init(
        _ method: Method, _ endpoint: HTTPEndpoint, path: String = "", headers: [HTTPHeader] = [],
        acceptsGzip: Bool = false
    ) throws(HTTPClientError) {
        self.method = method
        self.endpoint = endpoint
        self.headers = headers
        self.acceptsGzip = acceptsGzip
        url = endpoint.baseURL + path
        if !path.isEmpty {
            guard path.hasPrefix("/") || path.hasPrefix("?"), !path.utf8.contains(UInt8(ascii: "#")) else {
                throw .invalidURL
            }
            // With another path the host has to be the same to libcurl.
            guard try ParsedURL(url).origin == endpoint.description else { throw .invalidURL }
        }
        var headerBytes = 0
        for header in headers {
            try header.validate()
            headerBytes += header.name.utf8.count + header.value.utf8.count
        }
        guard headerBytes <= Self.maxHeaderBytes else { throw .invalidRequest("the headers are over 16 KiB") }
    }
}

public struct HTTPHeader: Sendable, Hashable, CustomStringConvertible {
    /// As written; compared without regard to case.
    public let name: String
    /// Without surrounding white space.
    public let value: String

    /// ``HTTPRequest`` refuses a name or value that cannot be sent.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// The name alone: values carry tokens and signatures.
    public var description: String { name }

    /// They decide where a message ends, which is this module's business.
    private static let framing: Set<String> = ["connection", "content-length", "transfer-encoding"]

    /// Refuses a field that would not arrive as it was meant: [RFC 9110, 5.1 and
    /// 5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5). A line break in a value would let its author add fields.
    func validate() throws(HTTPClientError) {
        guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenByte) else {
            throw .invalidRequest("a header's name is not a token")
        }
        guard value.utf8.allSatisfy(\.isFieldByte) else {
            throw .invalidRequest("the value of header \(name) has a control character")
        }
        guard !Self.framing.contains(name.lowercased()) else {
            throw .invalidRequest("header \(name) is set by the client itself")
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
