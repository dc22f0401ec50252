internal import CLibcurl

/// A service: its base URL, and the way there.
public struct HTTPEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// An absolute URL, as given.
    public let baseURL: String
    /// The proxy on the way there, if any.
    public let proxy: HTTPProxy?
    /// Scheme, host and port. A path may be a secret.
    public let description: String

    /// Checks the URL; nothing is connected.
    /// - Parameters:
    ///   - baseURL: `https`, without user name, password and fragment, at most 8,192 bytes.
    ///   - proxy: An HTTP proxy that tunnels to the service. Nil: none, whatever the environment says.
    /// - Throws: ``HTTPClientError/invalidURL`` or ``HTTPClientError/notHTTPS``.
    public init(baseURL: String, proxy: HTTPProxy? = nil) throws(HTTPClientError) {
        let parsed = try ParsedURL(baseURL)
        guard !parsed.hasCredentials, !baseURL.utf8.contains(UInt8(ascii: "#")) else { throw .invalidURL }
        guard parsed.scheme == "https" else { throw .notHTTPS }
        self.baseURL = baseURL
        self.proxy = proxy
        description = parsed.origin
    }
}

/// An HTTP proxy. `https` goes through it by CONNECT, so that it sees host names and sizes alone:
/// [RFC 9110, 9.3.6](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6).
public struct HTTPProxy: Sendable, Hashable, CustomStringConvertible {
    /// Can have a password in it.
    let url: String
    public let description: String

    /// - Parameter url: `http://host:port`, with `user:password@` where the proxy asks for them.
    /// - Throws: ``HTTPClientError/invalidURL`` when it cannot be read or its scheme is not `http`.
    public init(url: String) throws(HTTPClientError) {
        let parsed = try ParsedURL(url)
        // Without a port libcurl takes 1080, which nobody expects of an HTTP proxy.
        guard parsed.scheme == "http", parsed.port != nil else { throw .invalidURL }
        self.url = url
        description = parsed.origin
    }
}

/// The parts of a URL as libcurl's own parser reads them, so that the check and the connection mean the same host.
struct ParsedURL {
    static let maxBytes = 8192

    let scheme: String
    private let host: String
    let port: String?
    let hasCredentials: Bool

    /// - Throws: ``HTTPClientError/invalidURL`` when libcurl cannot read it or it is longer than ``maxBytes``.
    init(_ text: String) throws(HTTPClientError) {
        // A NUL would end the text early for libcurl, but not for its author.
        guard text.utf8.count <= Self.maxBytes, !text.utf8.contains(0) else { throw .invalidURL }
        guard let url = curl_url() else { throw .resourcesExhausted("curl_url", errno: 0) }
        defer { curl_url_cleanup(url) }
        // Other schemes are read, too, so that `http:` can be told apart from nonsense.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME)
        guard curl_url_set(url, CURLUPART_URL, text, flags) == CURLUE_OK,
            let scheme = Self.part(CURLUPART_SCHEME, of: url), let host = Self.part(CURLUPART_HOST, of: url)
        else { throw .invalidURL }
        self.scheme = scheme
        self.host = host
        port = Self.part(CURLUPART_PORT, of: url)
        hasCredentials = Self.part(CURLUPART_USER, of: url) != nil || Self.part(CURLUPART_PASSWORD, of: url) != nil
    }

    /// Scheme, host and port, which may be shown.
    var origin: String { "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")" }

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &value, 0) == CURLUE_OK, let value else { return nil }
        defer { curl_free(value) }
        return String(cString: value)
    }
}
