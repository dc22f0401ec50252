import CLibcurl
import Testing

@testable import HTTPTransport

struct CurlOutcomeTests {
    private func error(
        _ code: CURLcode, text: String = "text", connected: Bool = true, sent: Bool = true, begun: Bool = false,
        verifyResult: Int = 0
    ) -> HTTPTransportError {
        CurlOutcome(
            code: code, text: text, wasConnected: connected, requestSent: sent, responseBegun: begun,
            verifyResult: verifyResult
        ).error
    }

    @Test func `one code for all time limits is told apart by how far it came`() {
        let failure = CurlFailure(code: 28, text: "text")
        #expect(error(CURLE_OPERATION_TIMEDOUT, connected: false) == .connectTimeout(failure))
        #expect(error(CURLE_OPERATION_TIMEDOUT) == .timedOut(failure))
        let slow = "Operation too slow. Less than 16 bytes/sec transferred the last 12 seconds"
        #expect(error(CURLE_OPERATION_TIMEDOUT, text: slow).kind == .tooSlow)
        #expect(error(CURLE_OPERATION_TIMEDOUT, text: slow, connected: false).kind == .connectTimeout)
    }

    @Test(arguments: [
        (9, HTTPTransportError.TLSReason.outOfDate), (10, .outOfDate), (18, .untrusted), (19, .untrusted),
        (20, .untrusted), (0, .wrongHost), (1, .wrongHost),
    ])
    func `OpenSSL's verdict says why the other side is not trusted`(
        verifyResult: Int, reason: HTTPTransportError.TLSReason
    ) {
        let expected = HTTPTransportError.tlsFailed(reason, CurlFailure(code: 60, text: "text"))
        #expect(error(CURLE_PEER_FAILED_VERIFICATION, verifyResult: verifyResult) == expected)
    }

    @Test func `a lost connection tells whether anything was sent`() {
        let failure = CurlFailure(code: 55, text: "text")
        #expect(error(CURLE_SEND_ERROR, sent: false) == .connectionLost(requestSent: false, failure))
        #expect(error(CURLE_SEND_ERROR, sent: true) == .connectionLost(requestSent: true, failure))
    }

    @Test func `lack of memory is the header limit of libcurl once a response has begun`() {
        #expect(error(CURLE_OUT_OF_MEMORY, begun: true) == .responseTooLarge(.headers))
        #expect(error(CURLE_OUT_OF_MEMORY).kind == .libraryFault)
        #expect(error(CURLcode(rawValue: 100)) == .responseTooLarge(.headers))
    }

    @Test(arguments: [CURLE_HTTP2, CURLE_HTTP2_STREAM])
    func `HTTP/2's resets are retryable`(code: CURLcode) {
        #expect(error(code).kind == .http2Stream)
        #expect(error(code).isRetryable)
    }

    @Test func `what is unknown is a fault of the library, with what it said`() {
        let error = error(CURLE_BAD_FUNCTION_ARGUMENT)
        #expect(error == .libraryFault(CurlFailure(code: 43, text: "text")))
        #expect(error.failure?.description == "text (libcurl 43)")
        #expect(error.disposition == .recreate)
    }
}
