internal import CLibcurl

/// Reads URLs with libcurl's own parser, so that what is checked is what is later connected to.
enum EndpointURL {
    /// Refuses a URL that libcurl cannot read, that carries credentials, or whose scheme is not `https`.
    ///
    /// - Parameter plainLoopback: whether `http` will do where the host is this one.
    static func check(_ text: String, plainLoopback: Bool = false) throws(HTTPTransportError) {
        let (scheme, host) = try withParsed(text) { url throws(HTTPTransportError) in
            guard part(CURLUPART_USER, of: url) == nil, part(CURLUPART_PASSWORD, of: url) == nil else {
                throw .invalidURL
            }
            return (part(CURLUPART_SCHEME, of: url), part(CURLUPART_HOST, of: url))
        }
        guard scheme == "https" || plainLoopback && scheme == "http" && isLoopback(host) else { throw .notHTTPS }
    }

    /// Names and addresses that libcurl connects to on this host, whatever a resolver says.
    private static func isLoopback(_ host: String?) -> Bool {
        guard let host else { return false }
        if host.lowercased() == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return parts.count == 4 && parts[0] == 127 && !parts.contains(nil)
    }

    /// The host, for logs; nil if the URL cannot be read.
    static func host(_ text: String) -> String? {
        try? withParsed(text) { url throws(HTTPTransportError) in part(CURLUPART_HOST, of: url) }
    }

    private static func withParsed<Value>(
        _ text: String, _ body: (OpaquePointer) throws(HTTPTransportError) -> Value
    ) throws(HTTPTransportError) -> Value {
        guard let url = curl_url() else { throw .resourcesExhausted("curl_url", errno: 0) }
        defer { curl_url_cleanup(url) }
        // Other schemes are read, too, so that `http:` can be told apart from nonsense.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME)
        // A NUL would end the text early for libcurl, but not for whoever wrote it.
        guard !text.utf8.contains(0), curl_url_set(url, CURLUPART_URL, text, flags) == CURLUE_OK else {
            throw .invalidURL
        }
        return try body(url)
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &value, 0) == CURLUE_OK, let value else { return nil }
        defer { curl_free(value) }
        return String(cString: value)
    }
}
