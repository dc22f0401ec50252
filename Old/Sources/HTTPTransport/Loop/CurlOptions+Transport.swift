internal import CLibcurl

extension CurlOptions {
    /// What is the same for every request. Defaults that security rests on are set all the same.
    func apply(_ configuration: HTTPTransportConfiguration) throws(HTTPTransportError) {
        try applySecurity(configuration)
        try applyLimits(configuration)
        try set(CURLOPT_USERAGENT, configuration.userAgent)
        // The two that this module's limit on decompressed size was tested with.
        try set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate")
        switch configuration.httpVersion {
        case .http1_1: try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        case .http2:
            try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
            // Without it a burst opens a connection for each request before the first can be shared.
            try set(CURLOPT_PIPEWAIT, 1)
        }
    }

    private func applySecurity(_ configuration: HTTPTransportConfiguration) throws(HTTPTransportError) {
        try set(CURLOPT_PROTOCOLS_STR, configuration.plainLoopback ? "https,http" : "https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        // A session that is taken up again would stand for a chain that was looked at long ago. Connections are kept, so it
        // would seldom save a handshake.
        try set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        // Else libcurl takes a proxy from https_proxy and its like.
        try set(CURLOPT_PROXY, "")
        // Else a system's directory of authorities is trusted beside a file of somebody's own; and beside the system's file,
        // which has the same ones, it keeps libcurl from reading that once for all connections: with Debian's 139
        // authorities, 15 ms and half a megabyte for each.
        try clear(CURLOPT_CAPATH)
        if let caFile = configuration.caFile { try set(CURLOPT_CAINFO, caFile) }
    }

    private func applyLimits(_ configuration: HTTPTransportConfiguration) throws(HTTPTransportError) {
        // libcurl would use SIGALRM to interrupt name look-ups; it looks up on threads anyway.
        try set(CURLOPT_NOSIGNAL, 1)
        // Else dropping a transfer whose look-up hangs would hold up the loop, and every other transfer, until the
        // look-up ends. The thread that looks up frees what it has by itself.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.wholeMilliseconds)
        try set(CURLOPT_LOW_SPEED_LIMIT, configuration.minimumBytesPerSecond)
        try set(CURLOPT_LOW_SPEED_TIME, configuration.minimumSpeedWindow.wholeSeconds)
        // Ends a response at once whose announced length is too much; what is not announced is counted as it comes.
        try set(CURLOPT_MAXFILESIZE_LARGE, offset: configuration.maxResponseBytes)
        try set(CURLOPT_MAXAGE_CONN, configuration.maxIdleTime.wholeSeconds)
        try set(CURLOPT_MAXLIFETIME_CONN, configuration.maxConnectionAge.wholeSeconds)
        try set(CURLOPT_DNS_CACHE_TIMEOUT, configuration.dnsCacheTime.wholeSeconds)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        // Every request in flight holds both buffers. Bodies are tens of kilobytes and answers a few, so the defaults of
        // 64 KB and 16 KB would mostly be empty memory.
        try set(CURLOPT_UPLOAD_BUFFERSIZE, 16 << 10)
        try set(CURLOPT_BUFFERSIZE, 4 << 10)
    }
}
