internal import CLibcurl

/// The end of a transfer as libcurl reports it, and its meaning for the caller.
struct CurlOutcome {
    var code: CURLcode
    var text: String
    /// The connection was ready for the request, TLS included.
    var wasConnected: Bool
    var responseBegun: Bool
    /// OpenSSL's `X509_V_...` number.
    var verifyResult: Int
    var usesProxy = false
    /// The proxy's reply to CONNECT; 0 for none.
    var proxyStatus = 0

    /// The failure that it is; only asked when `code` is not `CURLE_OK`.
    var error: HTTPFailure {
        func failed(_ kind: HTTPFailure.Kind, _ words: String) -> HTTPFailure {
            HTTPFailure(kind, words, CurlFailure(code: Int32(code.rawValue), text: text))
        }
        if isRefusedByProxy {
            return failed(
                .proxyFailed, "the proxy does not connect\(proxyStatus == 0 ? "" : ", status \(proxyStatus)")")
        }
        switch code {
        // Said of a response without a status line, which libcurl takes for HTTP/0.9.
        case CURLE_UNSUPPORTED_PROTOCOL where wasConnected: return failed(.malformedResponse, Self.unreadable)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return failed(.dnsFailed, "the host's name cannot be looked up")
        case CURLE_COULDNT_CONNECT: return failed(.connectFailed, "no connection")
        // All time limits share one code. The progress of the transfer shows which limit it was.
        case CURLE_OPERATION_TIMEDOUT:
            return wasConnected
                ? failed(.timedOut, "no whole response in time") : failed(.connectTimeout, "no connection in time")
        case CURLE_PEER_FAILED_VERIFICATION: return failed(.tlsFailed, "the server's certificate is \(distrust)")
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE:
            return failed(.tlsFailed, "the file of trusted certificates cannot be read")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_ISSUER_ERROR,
            CURLE_USE_SSL_FAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            return failed(.tlsFailed, "no TLS connection")
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            // An unreadable chunk is reported like a connection that cannot be read, in each version's own words.
            return text.contains("chunk")
                ? failed(.malformedResponse, Self.unreadable) : failed(.connectionLost, Self.broken)
        case CURLE_ABORTED_BY_CALLBACK:
            // Our own end before the request is sent: the connection has unrequested bytes, and ends with the transfer.
            let failure = CurlFailure(code: Int32(code.rawValue), text: "the server said more than it was asked")
            return HTTPFailure(.connectionLost, Self.broken, failure)
        case CURLE_FILESIZE_EXCEEDED: return .bodyTooLarge
        // libcurl 7.88 reports a header line over its own 100 KiB as lack of memory, later ones as too large.
        case CURLE_OUT_OF_MEMORY where responseBegun, Self.tooLarge: return .headersTooLarge
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
            return failed(.malformedResponse, Self.unreadable)
        default: return failed(.libraryFault, "libcurl failed")
        }
    }

    private static let unreadable = "the response cannot be read"
    private static let broken = "the connection broke"

    /// A proxy that refuses a tunnel, or breaks off meanwhile. libcurl reports both as a failed `recv`.
    private var isRefusedByProxy: Bool {
        guard usesProxy, !wasConnected else { return false }
        return proxyStatus == 0
            ? code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING || code == CURLE_PROXY : proxyStatus / 100 != 2
    }

    /// `CURLE_TOO_LARGE`, which the headers of 7.88 do not know yet.
    private static let tooLarge = CURLcode(rawValue: 100)

    private var distrust: String {
        switch verifyResult {
        // X509_V_ERR_CERT_NOT_YET_VALID and ..._HAS_EXPIRED: openssl/x509_vfy.h.
        case 9, 10: "out of date"
        // X509_V_OK, and the X509_V_ERR_UNSPECIFIED that libcurl starts with. libcurl compares names itself, and only
        // when the chain has passed.
        case 0, 1: "for another host"
        default: "not trusted"
        }
    }
}
