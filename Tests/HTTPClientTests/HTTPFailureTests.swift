import HTTPClient
import Testing

struct HTTPFailureTests {
    private static let failure = CurlFailure(code: 1, text: "text")

    @Test(arguments: [
        HTTPFailure.dnsFailed(failure), .connectFailed(failure), .connectTimeout(failure), .timedOut(failure),
        .responseTooLarge(.body), .malformedResponse(failure), .connectionLost(requestSent: true, failure),
        .queueFull, .tlsFailed(.handshake, failure),
    ])
    func `a failure that may pass is tried again`(failure: HTTPFailure) {
        #expect(failure.disposition == .retry)
    }

    @Test(arguments: [
        HTTPFailure.tlsFailed(.untrusted, failure), .tlsFailed(.outOfDate, failure), .tlsFailed(.wrongHost, failure),
        .proxyFailed(status: 407, failure),
    ])
    func `a failure of trust is tried again and told`(failure: HTTPFailure) {
        #expect(failure.disposition == .retryAndAlert)
        #expect(!failure.mayHaveArrived)
    }

    @Test func `names for metrics are lower-case words`() {
        for kind in HTTPFailure.Kind.allCases {
            #expect(kind.rawValue.allSatisfy { ("a"..."z").contains($0) || $0 == "_" })
        }
    }
}
