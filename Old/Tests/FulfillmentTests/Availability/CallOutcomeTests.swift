import AppStore
import Purchases
import Testing

@testable import Fulfillment

@Suite("What a call says about its target")
struct CallOutcomeTests {
    private static let now = Timestamp(milliseconds: 1_795_255_200_000)

    private func outcome(
        _ status: Int, _ service: AppleService, retryAfter: String? = nil, verdict: Verdict? = nil
    ) -> CallOutcome {
        CallOutcome(
            .response(httpStatus: status, retryAfter: retryAfter, body: []), from: service, concluded: verdict,
            now: Self.now)
    }

    @Test("a refused key is an answer: one app's bad credentials stop nobody")
    func credentials() {
        #expect(outcome(401, .serverAPI) == .answered)
        #expect(outcome(200, .verifyReceipt, verdict: .hold(.sharedSecretRefused, detail: "")) == .answered)
    }

    @Test("what is decided, doubted or unknown is an answer", arguments: [200, 400, 404])
    func answers(status: Int) {
        let rejection = Rejection(.transactionNotFound, "")
        for verdict in [
            nil, .rejected(rejection), .hold(.unknownAnswer, detail: ""),
            .retry(.notFoundYet, notBefore: nil, patience: .window(then: rejection)),
            .retry(.perhapsMalformed, notBefore: nil, patience: .window(then: rejection)),
        ] as [Verdict?] {
            #expect(outcome(status, .serverAPI, verdict: verdict) == .answered)
        }
    }

    @Test("try later, and a page that is no answer, are failures though they come with 200")
    func later() {
        for cause in [RetryCause.temporarilyUnable, .noAnswer] {
            let verdict = Verdict.retry(cause, notBefore: nil, patience: .unlimited)
            #expect(outcome(200, .verifyReceipt, verdict: verdict) == .failed)
            #expect(outcome(200, .serverAPI, verdict: verdict) == .failed)
        }
    }

    @Test("what stands between us and verifyReceipt fails for everybody, unless it finds fault with one request")
    func between() {
        for status in [302, 403, 404, 407, 500, 502, 999] { #expect(outcome(status, .verifyReceipt) == .failed) }
        for status in [400, 413, 414, 431] { #expect(outcome(status, .verifyReceipt) == .answered) }
        for status in [408, 503, 504] { #expect(outcome(status, .verifyReceipt) == .overloaded) }
    }

    @Test("429 is a pause, for as long as it says")
    func limited() {
        #expect(outcome(429, .serverAPI) == .limited(wait: nil))
        #expect(outcome(429, .verifyReceipt, retryAfter: "30") == .limited(wait: .seconds(30)))
        #expect(outcome(429, .serverAPI, retryAfter: "1795255207500") == .limited(wait: .milliseconds(7500)))
        #expect(outcome(429, .serverAPI, retryAfter: "86400") == .limited(wait: .seconds(900)), "not for hours")
    }

    @Test("no response is a failure, but for one that is too large or that we gave up")
    func transport() {
        #expect(
            TransportFailure.allCases.map(CallOutcome.of) == [
                .failed, .overloaded, .failed, .failed, .answered, .unknown,
            ])
    }
}
