internal import CLibcurl

/// Sets options of one easy handle; the first that libcurl refuses is thrown.
struct CurlOptions {
    let easy: UnsafeMutableRawPointer

    func set(_ option: CURLoption, _ value: Int) throws(CurlFailure) {
        try check(grantor_easy_set_long(easy, option, value), option)
    }

    func set(_ option: CURLoption, offset value: Int) throws(CurlFailure) {
        try check(grantor_easy_set_offset(easy, option, curl_off_t(value)), option)
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) throws(CurlFailure) {
        try check(grantor_easy_set_string(easy, option, value), option)
    }

    func clear(_ option: CURLoption) throws(CurlFailure) {
        try check(grantor_easy_set_string(easy, option, nil), option)
    }

    /// libcurl keeps the pointer, so its target must outlive the handle or the next value.
    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) throws(CurlFailure) {
        try check(grantor_easy_set_pointer(easy, option, pointer), option)
    }

    /// libcurl keeps the list: it has to outlive the handle.
    func set(_ option: CURLoption, list: UnsafeMutablePointer<curl_slist>?) throws(CurlFailure) {
        try check(grantor_easy_set_list(easy, option, list), option)
    }

    func set(_ option: CURLoption, callback: curl_write_callback) throws(CurlFailure) {
        try check(grantor_easy_set_write_callback(easy, option, callback), option)
    }

    /// Called each time before the request is sent.
    func set(prerequest callback: curl_prereq_callback, _ context: UnsafeMutableRawPointer) throws(CurlFailure) {
        try check(grantor_easy_set_prerequest_callback(easy, callback, context), CURLOPT_PREREQFUNCTION)
    }

    /// Called for each socket of the connections opened from here on: when it is made, and instead of close(2).
    func set(
        made: curl_sockopt_callback, closing: curl_closesocket_callback, _ context: UnsafeMutableRawPointer
    ) throws(CurlFailure) {
        try check(grantor_easy_set_socket_callbacks(easy, made, closing, context), CURLOPT_CLOSESOCKETFUNCTION)
    }

    private func check(_ code: CURLcode, _ option: CURLoption) throws(CurlFailure) {
        guard code != CURLE_OK else { return }
        throw CurlFailure(code, about: "option \(option.rawValue): ")
    }
}

extension CurlOptions {
    /// Sets the options that every request shares. Defaults that security rests on are set all the same.
    func apply(_ configuration: HTTPClientConfiguration) throws(CurlFailure) {
        // With HTTP/2 libcurl gives new calls to a connection that hangs (docs/decisions/0004-http-1-by-default.md).
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        try set(CURLOPT_USERAGENT, "grantor")
        try applySecurity(configuration)
        try applyLimits(configuration)
    }

    private func applySecurity(_ configuration: HTTPClientConfiguration) throws(CurlFailure) {
        try set(CURLOPT_PROTOCOLS_STR, "https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // AES-128 first: enough, and cheaper for each record than AES-256. Else the library's own order.
        try set(CURLOPT_TLS13_CIPHERS, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256")
        try set(
            CURLOPT_SSL_CIPHER_LIST,
            "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ALL:!COMPLEMENTOFDEFAULT:!eNULL")
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        // Else libcurl takes dot segments out of a path; which spellings count as such differs between versions.
        try set(CURLOPT_PATH_AS_IS, 1)
        // A resumed session would stand for a chain that was looked at long ago. Connections are kept, so it would
        // seldom save a handshake.
        try set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        // Else `no_proxy` in the environment takes an endpoint from the proxy that it is configured with.
        try set(CURLOPT_NOPROXY, "")
        // A proxy's reply is none of the server's, and the server's headers are none of the proxy's.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        // Otherwise the system's directory of authorities is trusted in addition to a configured file. It has the same
        // authorities as the system's file, but makes libcurl read that file for each connection. With Debian's 139
        // authorities that costs 15 ms and half a megabyte each.
        try clear(CURLOPT_CAPATH)
        if let caFile = configuration.caFile { try set(CURLOPT_CAINFO, caFile) }
    }

    private func applyLimits(_ configuration: HTTPClientConfiguration) throws(CurlFailure) {
        // libcurl would use SIGALRM to interrupt name look-ups; it looks up on threads anyway.
        try set(CURLOPT_NOSIGNAL, 1)
        // Else dropping a transfer whose look-up hangs would hold up the loop, and every other transfer, until the
        // look-up ends. The thread of the look-up frees its memory by itself.
        try set(CURLOPT_QUICK_EXIT, 1)
        // No LOW_SPEED limit: libcurl computes it for every transfer every second, and the total limit suffices.
        try set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.wholeMilliseconds)
        // Ends a response at once if its announced length is too much. Other bodies are counted as they come.
        try set(CURLOPT_MAXFILESIZE_LARGE, offset: configuration.maxResponseBytes)
        try set(CURLOPT_MAXAGE_CONN, configuration.maxIdleTime.wholeSeconds)
        // The last resort: ``IdleSockets`` gives each connection a shorter lifetime of its own.
        try set(CURLOPT_MAXLIFETIME_CONN, configuration.maxConnectionAge.wholeSeconds)
        try set(CURLOPT_DNS_CACHE_TIMEOUT, 60)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        // Every request in flight holds both buffers. The first takes one TLS record of a receipt. A page holds the
        // second with the byte that libcurl adds; a longer reply comes in pieces.
        try set(CURLOPT_UPLOAD_BUFFERSIZE, 16 << 10)
        try set(CURLOPT_BUFFERSIZE, (4 << 10) - 1)
        // A connection waits for its reply most of the time. With libcurl 8.14 its two buffers of OpenSSL's would stay.
        try check(grantor_easy_give_buffers_back(easy), CURLOPT_SSL_CTX_FUNCTION)
    }
}

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

    /// Sets the body; without one, says that there is none to be sent. The bytes have to outlive the transfer: libcurl
    /// reads them while it runs, and again if it has to send them anew.
    func apply(_ body: HTTPBody?) throws(CurlFailure) {
        guard let body else { return try set(CURLOPT_HTTPGET, 1) }
        try set(CURLOPT_POST, 1)
        // The size first: without it libcurl would look for a NUL.
        try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: body.count)
        // It takes any pointer, and only reads from this one.
        try set(CURLOPT_POSTFIELDS, pointer: UnsafeMutableRawPointer(mutating: body.start))
    }
}

/// libcurl's linked list of a request's headers; freed with the object, which has to outlive the transfer.
final class HeaderList {
    private(set) var head: UnsafeMutablePointer<curl_slist>?

    init(_ request: HTTPRequest) throws(CurlFailure) {
        for header in request.headers {
            // libcurl takes `Name:`, with or without blanks after it, as an order to leave a header out, and `Name;` as
            // a header without a value.
            let hasValue = header.value.utf8.contains { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            try append(hasValue ? "\(header.name): \(header.value)" : "\(header.name);")
        }
        // A pause for `100 Continue` costs a round trip, or a second where the server does not know it.
        try append("Expect:")
        // Else libcurl declares every body a web form.
        if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) { try append("Content-Type:") }
    }

    deinit { curl_slist_free_all(head) }

    private func append(_ line: String) throws(CurlFailure) {
        guard let head = curl_slist_append(head, line) else { throw CurlFailure.outOfMemory }
        self.head = head
    }
}
