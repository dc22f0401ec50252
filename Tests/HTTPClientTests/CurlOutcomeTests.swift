import CLibcurl
import Testing

@testable import HTTPClient

struct CurlOutcomeTests {
    private func error(
        _ code: CURLcode, text: String = "text", connected: Bool = true, sent: Bool = true, begun: Bool = false,
        verifyResult: Int = 0
    ) -> HTTPFailure {
        CurlOutcome(
            code: code, text: text, wasConnected: connected, requestSent: sent, responseBegun: begun,
            verifyResult: verifyResult
        ).error
    }

    @Test func `one code for all time limits is told apart by how far it came`() {
        let failure = CurlFailure(code: 28, text: "text")
        #expect(error(CURLE_OPERATION_TIMEDOUT, connected: false) == .connectTimeout(failure))
        #expect(error(CURLE_OPERATION_TIMEDOUT) == .timedOut(failure))
    }

    @Test(arguments: [
        (9, HTTPFailure.TLSReason.outOfDate), (10, .outOfDate), (18, .untrusted), (19, .untrusted),
        (20, .untrusted), (0, .wrongHost), (1, .wrongHost),
    ])
    func `OpenSSL's verdict says why the other side is not trusted`(
        verifyResult: Int, reason: HTTPFailure.TLSReason
    ) {
        let expected = HTTPFailure.tlsFailed(reason, CurlFailure(code: 60, text: "text"))
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

    @Test func `a proxy's refusal is told from the server's, as long as there is no tunnel`() {
        func error(_ code: CURLcode, status: Int, connected: Bool = false) -> HTTPFailure {
            CurlOutcome(
                code: code, text: "text", wasConnected: connected, requestSent: connected, responseBegun: false,
                verifyResult: 0, usesProxy: true, proxyStatus: status
            ).error
        }
        let failure = CurlFailure(code: 56, text: "text")
        #expect(error(CURLE_RECV_ERROR, status: 407) == .proxyFailed(status: 407, failure))
        #expect(error(CURLE_RECV_ERROR, status: 0) == .proxyFailed(status: nil, failure))
        #expect(error(CURLE_RECV_ERROR, status: 200) == .connectionLost(requestSent: false, failure))
        #expect(error(CURLE_RECV_ERROR, status: 200, connected: true) == .connectionLost(requestSent: true, failure))
        #expect(error(CURLE_COULDNT_RESOLVE_PROXY, status: 0).kind == .dnsFailed)
        #expect(error(CURLE_OPERATION_TIMEDOUT, status: 0).kind == .connectTimeout)
    }

    @Test func `what is unknown is a fault of the library, with what it said`() {
        let error = error(CURLE_BAD_FUNCTION_ARGUMENT)
        #expect(error == .libraryFault(CurlFailure(code: 43, text: "text")))
        #expect(error.failure?.description == "text (libcurl 43)")
    }
}
