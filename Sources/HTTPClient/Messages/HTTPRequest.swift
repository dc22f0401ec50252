/// All of a request but its body. It is checked once and shared by any number of calls, which then cost less: a handle
/// of libcurl's that sent the same request before needs a new body alone.
public final class HTTPRequest: Sendable {
    /// The methods in use.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// Reads; has no body.
        case get = "GET"
        /// Hands the body to the resource.
        case post = "POST"
    }

    /// Below what servers commonly take (8 to 16 KiB for the whole section), above what a bearer token needs.
    static let maxHeaderBytes = 16384

    /// The method.
    public let method: Method
    /// The service that is asked.
    public let endpoint: HTTPEndpoint
    /// Sent in this order, after the ones that the client adds: `Host`, `User-Agent`, `Accept`, `Content-Length`.
    public let headers: [HTTPHeader]
    /// Whether the answer may come compressed. It costs some 60 us to take apart a small one, more than it saves.
    public let acceptsGzip: Bool
    let url: String

    /// Checks a request.
    ///
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
