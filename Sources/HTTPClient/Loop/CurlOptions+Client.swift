internal import CLibcurl

extension CurlOptions {
    /// Sets the options that every request shares. Defaults that security rests on are set all the same.
    func apply(_ configuration: HTTPClientConfiguration) throws(CurlFailure) {
        // HTTP/2 costs more with libcurl 7.88, and resets streams where a server answers before it has read all.
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        try set(CURLOPT_USERAGENT, configuration.userAgent)
        try applySecurity(configuration)
        try applyLimits(configuration)
    }

    private func applySecurity(_ configuration: HTTPClientConfiguration) throws(CurlFailure) {
        // An endpoint has checked that plain HTTP stays on this host.
        try set(CURLOPT_PROTOCOLS_STR, "https,http")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // AES-128 first: enough, and cheaper for each record than AES-256. Else the library's own order.
        try set(
            CURLOPT_TLS13_CIPHERS, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256")
        try set(
            CURLOPT_SSL_CIPHER_LIST,
            "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ALL:!COMPLEMENTOFDEFAULT:!eNULL")
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        // A resumed session would stand for a chain that was looked at long ago. Connections are kept, so it would
        // seldom save a handshake.
        try set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        // Else `no_proxy` in the environment takes an endpoint from the proxy that it is configured with.
        try set(CURLOPT_NOPROXY, "")
        // A proxy's answer is none of the server's, and the server's headers are none of the proxy's.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        // Else a system's directory of authorities is trusted beside a file of somebody's own. Beside the system's file,
        // which has the same ones, it keeps libcurl from reading that once for all connections: with Debian's 139
        // authorities, 15 ms and half a megabyte for each.
        try clear(CURLOPT_CAPATH)
        if let caFile = configuration.caFile { try set(CURLOPT_CAINFO, caFile) }
    }

    private func applyLimits(_ configuration: HTTPClientConfiguration) throws(CurlFailure) {
        // libcurl would use SIGALRM to interrupt name look-ups; it looks up on threads anyway.
        try set(CURLOPT_NOSIGNAL, 1)
        // Else dropping a transfer whose look-up hangs would hold up the loop, and every other transfer, until the
        // look-up ends. The thread that looks up frees what it has by itself.
        try set(CURLOPT_QUICK_EXIT, 1)
        // No LOW_SPEED limit: libcurl computes it for every transfer every second, and the total limit suffices.
        try set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.wholeMilliseconds)
        // Ends a response at once whose announced length is too much; what is not announced is counted as it comes.
        try set(CURLOPT_MAXFILESIZE_LARGE, offset: configuration.maxResponseBytes)
        try set(CURLOPT_MAXAGE_CONN, configuration.maxIdleTime.wholeSeconds)
        // The last resort: ``IdleSockets`` gives each connection a shorter lifetime of its own.
        try set(CURLOPT_MAXLIFETIME_CONN, configuration.maxConnectionAge.wholeSeconds)
        try set(CURLOPT_DNS_CACHE_TIMEOUT, configuration.dnsCacheTime.wholeSeconds)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        // Every request in flight holds both buffers: one TLS record of a receipt, and an answer at one go.
        try set(CURLOPT_UPLOAD_BUFFERSIZE, 16 << 10)
        try set(CURLOPT_BUFFERSIZE, 16 << 10)
    }
}
