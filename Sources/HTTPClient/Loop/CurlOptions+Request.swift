internal import CLibcurl

extension CurlOptions {
    /// Sets the options that differ from request to request; headers are set by ``HeaderList``.
    func apply(_ request: HTTPRequest) throws(CurlFailure) {
        try set(CURLOPT_URL, request.url)
        // Empty: none. Without any value libcurl takes a proxy from `https_proxy` and its like.
        try set(CURLOPT_PROXY, request.endpoint.proxy?.url ?? "")
        // The two that the limit on decompressed size was tested with.
        if request.acceptsGzip {
            try set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate")
        } else {
            try clear(CURLOPT_ACCEPT_ENCODING)
        }
    }

    func apply(timeout: Duration) throws(CurlFailure) {
        try set(CURLOPT_TIMEOUT_MS, timeout.wholeMilliseconds)
    }

    func apply(usesFreshConnection: Bool) throws(CurlFailure) {
        try set(CURLOPT_FRESH_CONNECT, usesFreshConnection ? 1 : 0)
        try set(CURLOPT_FORBID_REUSE, usesFreshConnection ? 1 : 0)
    }

    /// Sets the body; without one, says that there is none to be sent.
    func apply(_ body: HTTPBody?) throws(CurlFailure) {
        guard let body else { return try set(CURLOPT_HTTPGET, 1) }
        try set(CURLOPT_POST, 1)
        try setBody(body)
    }

    /// Has libcurl forget where the body was, which it asks for no more.
    func forgetBody() throws(CurlFailure) { try set(CURLOPT_POSTFIELDS, pointer: nil) }

    /// The connection ends after the exchange under way.
    func closeAfterwards() throws(CurlFailure) { try set(CURLOPT_FORBID_REUSE, 1) }
}

/// libcurl's linked list of a request's headers; freed with the object, which has to outlive the transfer.
final class HeaderList {
    private(set) var head: UnsafeMutablePointer<curl_slist>?

    init(_ request: HTTPRequest) throws(CurlFailure) {
        for header in request.headers {
            // libcurl takes `Name:` as an order to leave a header out, blanks after it or none, and `Name;` as one
            // without a value.
            let hasValue = header.value.utf8.contains { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            try append(hasValue ? "\(header.name): \(header.value)" : "\(header.name);")
        }
        // A pause for `100 Continue` costs a round trip, or a second where the server does not know it.
        try append("Expect:")
        if !request.headers.contains(where: { $0.isNamed("content-type") }) {
            // Else libcurl declares every body a web form.
            try append("Content-Type:")
        }
    }

    deinit { curl_slist_free_all(head) }

    private func append(_ line: String) throws(CurlFailure) {
        guard let head = curl_slist_append(head, line) else { throw CurlFailure.outOfMemory }
        self.head = head
    }
}
