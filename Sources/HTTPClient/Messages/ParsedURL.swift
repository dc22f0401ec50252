internal import CLibcurl

/// The parts of a URL as libcurl's own parser reads them, so that what is checked is what is later connected to.
struct ParsedURL {
    static let maxBytes = 8192

    let scheme: String
    let host: String
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
        hasCredentials =
            Self.part(CURLUPART_USER, of: url) != nil || Self.part(CURLUPART_PASSWORD, of: url) != nil
    }

    /// Scheme, host and port: what may be shown.
    var origin: String { "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")" }

    /// Whether libcurl connects to this host itself, whatever a resolver says.
    var isLoopback: Bool {
        if host.lowercased() == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return parts.count == 4 && parts[0] == 127 && !parts.contains(nil)
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &value, 0) == CURLUE_OK, let value else { return nil }
        defer { curl_free(value) }
        return String(cString: value)
    }
}
