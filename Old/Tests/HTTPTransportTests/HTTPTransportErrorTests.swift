import HTTPTransport
import Testing

struct HTTPTransportErrorTests {
    private static let failure = CurlFailure(code: 1, text: "text")

    @Test(arguments: [
        HTTPTransportError.dnsFailed(failure), .connectFailed(failure), .connectTimeout(failure), .timedOut(failure),
        .tooSlow(failure), .responseTooLarge(.body), .malformedResponse(failure),
        .connectionLost(requestSent: true, failure), .http2Stream(failure), .tooManyWaiting,
        .tlsFailed(.handshake, failure), .tlsFailed(.untrusted, failure), .tlsFailed(.outOfDate, failure),
        .tlsFailed(.wrongHost, failure),
    ])
    func `what may pass is retryable`(error: HTTPTransportError) {
        #expect(error.isRetryable)
    }

    @Test(arguments: [
        HTTPTransportError.invalidConfiguration(field: "a", reason: "b"), .resourcesExhausted("a", errno: 1),
        .invalidURL, .notHTTPS, .invalidRequest("a"), .tlsFailed(.authorityFile, failure), .cancelled, .closed,
        .libraryFault(failure),
    ])
    func `what somebody has to change is not`(error: HTTPTransportError) {
        #expect(!error.isRetryable)
    }

    @Test func `names for metrics are lower-case words`() {
        for kind in HTTPTransportError.Kind.allCases {
            #expect(kind.rawValue.allSatisfy { ("a"..."z").contains($0) || $0.isNumber || $0 == "_" })
        }
    }
}
