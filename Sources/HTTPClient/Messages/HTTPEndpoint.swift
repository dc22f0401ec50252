/// A service: the URL that its paths follow, and the way there.
public struct HTTPEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// An absolute URL, as given.
    public let baseURL: String
    /// The proxy on the way there, if any.
    public let proxy: HTTPProxy?
    /// Scheme, host and port. A path may be a secret.
    public let description: String

    /// Checks the URL; nothing is connected.
    ///
    /// - Parameters:
    ///   - baseURL: `https`, without user name, password and fragment, at most 8,192 bytes.
    ///   - proxy: An HTTP proxy that tunnels to the service. Nil: none, whatever the environment says.
    ///   - allowsPlainLoopback: Whether `http` will do where the host is `localhost`, in `127.0.0.0/8` or `::1`.
    /// - Throws: ``HTTPClientError/invalidURL`` or ``HTTPClientError/notHTTPS``.
    public init(
        baseURL: String, proxy: HTTPProxy? = nil, allowsPlainLoopback: Bool = false
    ) throws(HTTPClientError) {
        let parsed = try ParsedURL(baseURL)
        guard !parsed.hasCredentials, !baseURL.utf8.contains(UInt8(ascii: "#")) else { throw .invalidURL }
        guard parsed.scheme == "https" || allowsPlainLoopback && parsed.scheme == "http" && parsed.isLoopback else {
            throw .notHTTPS
        }
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
    /// Scheme, host and port.
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
