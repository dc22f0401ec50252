import FoundationEssentials

extension ValueForm<String> {
    /// A URL of `https` that is no more than host, port and path. The text stays as it is.
    static var httpsURL: Self {
        ValueForm("a URL that begins with https:// and is no more than host, port and path") { text in
            URLParts(text)?.scheme == "https" ? text : nil
        }
    }

    /// A URL that paths are appended to: without a slash at its end, and without `/inApps`, which the paths begin with.
    static var serverAPIBase: Self {
        let requirement = "a base URL that begins with https://, without /inApps"
        return ValueForm(requirement) { text in
            guard URLParts(text)?.scheme == "https", !text.contains("/inApps") else { return nil }
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
    }

    /// A URL of a service of the operator's own: `https`, or `http` to this host, where nobody can listen in.
    static var serviceURL: Self {
        ValueForm("an https URL without user name, password and query; http only to localhost") { text in
            guard let parts = URLParts(text) else { return nil }
            let isHere = ["localhost", "127.0.0.1", "[::1]", "::1"].contains(parts.host)
            return parts.scheme == "https" || parts.scheme == "http" && isHere ? text : nil
        }
    }
}

extension ValueForm<ProxyURL> {
    static var proxy: Self {
        ValueForm("an http URL of a proxy with its port and without path, such as http://proxy.example.com:3128") {
            ProxyURL($0)
        }
    }
}

/// An HTTP proxy. Its description hides user name and password.
public struct ProxyURL: Hashable, Sendable, CustomStringConvertible {
    private let text: SecretText
    public let description: String

    init?(_ text: String) {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            scheme == "http", let host = url.host, !host.isEmpty, let port = url.port, ["", "/"].contains(url.path),
            url.query == nil, url.fragment == nil
        else { return nil }
        self.text = SecretText(text)
        let user = url.user == nil && url.password == nil ? "" : "<redacted>@"
        description = "\(scheme)://\(user)\(host):\(port)"
    }

    /// The whole URL, for the HTTP client.
    public func revealed() -> String { text.revealed() }
}

/// A URL without user name, password, query and fragment: there secrets stand, and URLs are printed.
private struct URLParts {
    let scheme: String
    let host: String

    init?(_ text: String) {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(), let host = url.host,
            !host.isEmpty, url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
        else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
    }
}
