internal import CLibcurl

/// The end of a transfer as libcurl reports it, and its meaning for the caller.
struct CurlOutcome {
    var code: CURLcode
    var text: String
    /// The connection was ready for the request, TLS included.
    var wasConnected: Bool
    /// Some of the request was handed to the connection. A proxy's CONNECT is none of it.
    var requestSent: Bool
    /// Some of the response came.
    var responseBegun: Bool
    /// OpenSSL's `X509_V_...` number.
    var verifyResult: Int
    /// The connection leads through a proxy.
    var usesProxy = false
    /// The proxy's answer to CONNECT; 0 for none.
    var proxyStatus = 0

    /// The failure that it is; only asked when `code` is not `CURLE_OK`.
    var error: HTTPFailure {
        let failure = CurlFailure(code: Int32(code.rawValue), text: text)
        if usesProxy, !wasConnected, let refusal = proxyRefusal(failure) { return refusal }
        switch code {
        // Said of a response without a status line, which libcurl takes for HTTP/0.9.
        case CURLE_UNSUPPORTED_PROTOCOL where wasConnected: return .malformedResponse(failure)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: return .dnsFailed(failure)
        case CURLE_COULDNT_CONNECT: return .connectFailed(failure)
        // One code for all time limits; which one it was shows in how far the transfer had come.
        case CURLE_OPERATION_TIMEDOUT: return wasConnected ? .timedOut(failure) : .connectTimeout(failure)
        case CURLE_PEER_FAILED_VERIFICATION: return .tlsFailed(verificationReason, failure)
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE: return .tlsFailed(.authorityFile, failure)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_ISSUER_ERROR,
            CURLE_USE_SSL_FAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            return .tlsFailed(.handshake, failure)
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            return lost(failure)
        case CURLE_ABORTED_BY_CALLBACK:
            // Ours, before the request is sent: the connection has bytes that nobody asked for, and ends with the
            // transfer.
            return .connectionLost(
                requestSent: false, CurlFailure(code: failure.code, text: "the server said more than it was asked"))
        case CURLE_FILESIZE_EXCEEDED: return .responseTooLarge(.body)
        case CURLE_OUT_OF_MEMORY where responseBegun, Self.tooLarge:
            // libcurl 7.88 reports a header line over its own 100 KiB as lack of memory, later ones as too large.
            return .responseTooLarge(.headers)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: return .malformedResponse(failure)
        default: return .libraryFault(failure)
        }
    }

    /// A proxy that says no, or breaks off, while it is asked for a tunnel. libcurl reports both as a failed `recv`.
    private func proxyRefusal(_ failure: CurlFailure) -> HTTPFailure? {
        if proxyStatus != 0, proxyStatus / 100 != 2 { return .proxyFailed(status: proxyStatus, failure) }
        return proxyStatus == 0 && (code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING || code == CURLE_PROXY)
            ? .proxyFailed(status: nil, failure) : nil
    }

    private func lost(_ failure: CurlFailure) -> HTTPFailure {
        // A chunk that cannot be read is reported like a connection that cannot.
        text.contains("chunked-encoding")
            ? .malformedResponse(failure) : .connectionLost(requestSent: requestSent, failure)
    }

    /// `CURLE_TOO_LARGE`, which the headers of 7.88 do not know yet.
    private static let tooLarge = CURLcode(rawValue: 100)
    /// `X509_V_ERR_CERT_NOT_YET_VALID`, `..._HAS_EXPIRED`: openssl/x509_vfy.h.
    private static let outOfDate: Set<Int> = [9, 10]
    /// `X509_V_OK`, and the `X509_V_ERR_UNSPECIFIED` that libcurl starts with: the chain is not what failed.
    private static let chainNotJudged: Set<Int> = [0, 1]

    private var verificationReason: HTTPFailure.TLSReason {
        if Self.outOfDate.contains(verifyResult) { return .outOfDate }
        // libcurl compares names itself, and only when the chain has passed.
        return Self.chainNotJudged.contains(verifyResult) ? .wrongHost : .untrusted
    }
}
