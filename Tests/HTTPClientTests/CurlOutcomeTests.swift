import CLibcurl
import Testing

@testable import HTTPClient

struct CurlOutcomeTests {
    private func error(
        _ code: CURLcode, text: String = "text", connected: Bool = true, begun: Bool = false, verifyResult: Int = 0
    ) -> HTTPFailure {
        CurlOutcome(
            code: code, text: text, wasConnected: connected, responseBegun: begun, verifyResult: verifyResult
        ).error
    }

    @Test("One code for all time limits is told apart by how far it came")
    func timeLimits() {
        #expect(error(CURLE_OPERATION_TIMEDOUT, connected: false).kind == .connectTimeout)
        #expect(error(CURLE_OPERATION_TIMEDOUT).kind == .timedOut)
    }

    @Test(
        "OpenSSL's verdict says why the other side is not trusted",
        arguments: [
            (9, "out of date"), (10, "out of date"), (18, "not trusted"), (19, "not trusted"), (20, "not trusted"),
            (0, "for another host"), (1, "for another host"),
        ])
    func untrusted(verifyResult: Int, reason: String) {
        let error = error(CURLE_PEER_FAILED_VERIFICATION, verifyResult: verifyResult)
        #expect(error.kind == .tlsFailed)
        #expect(error.description == "the server's certificate is \(reason): text (libcurl 60)")
    }

    @Test("Lack of memory is the header limit of libcurl once a response has begun")
    func headerLimit() {
        #expect(error(CURLE_OUT_OF_MEMORY, begun: true) == .headersTooLarge)
        #expect(error(CURLE_OUT_OF_MEMORY).kind == .libraryFault)
        #expect(error(CURLcode(rawValue: 100)) == .headersTooLarge)
    }

    /// Debian 12's words, and Debian 13's.
    @Test(
        "A chunk that cannot be read is told from a broken connection",
        arguments: [
            "Illegal or missing hexadecimal sequence in chunked-encoding", "invalid chunk size: 'zz'",
            "chunk hex-length char not a hex digit: 0x7a",
        ])
    func chunks(text: String) {
        #expect(error(CURLE_RECV_ERROR, text: text).kind == .malformedResponse)
        #expect(error(CURLE_RECV_ERROR, text: "Recv failure: Connection reset by peer").kind == .connectionLost)
    }

    @Test("A proxy's refusal is told from the server's, as long as there is no tunnel")
    func proxy() {
        func error(_ code: CURLcode, status: Int, connected: Bool = false) -> HTTPFailure {
            CurlOutcome(
                code: code, text: "text", wasConnected: connected, responseBegun: false, verifyResult: 0,
                usesProxy: true, proxyStatus: status
            ).error
        }
        let words = "the proxy does not connect"
        #expect(error(CURLE_RECV_ERROR, status: 407).kind == .proxyFailed)
        #expect(error(CURLE_RECV_ERROR, status: 407).description == "\(words), status 407: text (libcurl 56)")
        #expect(error(CURLE_RECV_ERROR, status: 0).description == "\(words): text (libcurl 56)")
        #expect(error(CURLE_RECV_ERROR, status: 200).kind == .connectionLost)
        #expect(error(CURLE_RECV_ERROR, status: 200, connected: true).kind == .connectionLost)
        #expect(error(CURLE_COULDNT_RESOLVE_PROXY, status: 0).kind == .dnsFailed)
        #expect(error(CURLE_OPERATION_TIMEDOUT, status: 0).kind == .connectTimeout)
    }

    @Test("What is unknown is a fault of the library, with what it said")
    func unknown() {
        let error = error(CURLE_BAD_FUNCTION_ARGUMENT)
        #expect(error.kind == .libraryFault)
        #expect(error.description == "libcurl failed: text (libcurl 43)")
    }
}
