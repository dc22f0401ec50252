import Contract
import Testing

@testable import AppStore

@Suite("A call's meaning for its endpoint")
struct CallOutcomeTests {
    private func signal(
        _ status: Int, _ service: Endpoint.Service, retryAfter: String? = nil, verdict: Verdict? = nil
    ) -> CallOutcome {
        CallOutcome(
            .response(httpStatus: status, retryAfter: retryAfter, body: []), from: service, concluded: verdict,
            now: Fixture.now)
    }

    @Test("counts a refused key as an answer: one app's bad credentials stop nobody")
    func credentials() {
        #expect(signal(401, .serverAPI) == .answered)
        #expect(signal(200, .verifyReceipt, verdict: .hold(.sharedSecretRefused, detail: "")) == .answered)
    }

    @Test("counts decisions, doubts and unknown answers as answers", arguments: [200, 400, 404])
    func answers(status: Int) {
        let rejection = Rejection(.transactionNotFound, "")
        for verdict in [
            nil, .rejected(rejection), .hold(.unknownAnswer, detail: ""),
            .doubt(.notFoundYet, becomes: .rejected(rejection)),
            .doubt(.perhapsMalformed, becomes: .rejected(rejection)),
        ] as [Verdict?] {
            #expect(signal(status, .serverAPI, verdict: verdict) == .answered)
        }
    }

    @Test("counts \"try later\" and a page that is no answer as failures, though they come with 200")
    func later() {
        for cause in [RetryCause.temporarilyUnable, .noAnswer] {
            for service in Endpoint.Service.allCases {
                #expect(signal(200, service, verdict: .retry(cause, notBefore: nil)) == .failed)
            }
        }
    }

    @Test("fails verifyReceipt for everybody where something stands between, unless it finds fault with one request")
    func between() {
        for status in [302, 403, 404, 407, 500, 502, 999] { #expect(signal(status, .verifyReceipt) == .failed) }
        for status in [400, 413, 414, 431] { #expect(signal(status, .verifyReceipt) == .answered) }
        for status in [408, 503, 504] { #expect(signal(status, .verifyReceipt) == .overloaded) }
    }

    @Test("takes 429 for a pause, as long as it says")
    func limited() {
        func waiting(_ duration: Duration) -> CallOutcome { .limited(wait: duration) }
        #expect(signal(429, .serverAPI) == .limited(wait: nil))
        #expect(signal(429, .verifyReceipt, retryAfter: "30") == waiting(.seconds(30)))
        let moment = String(Fixture.now.milliseconds + 7500)
        #expect(signal(429, .serverAPI, retryAfter: moment) == waiting(.milliseconds(7500)))
        #expect(signal(429, .serverAPI, retryAfter: "86400") == waiting(.seconds(900)), "not for hours")
    }

    @Test(
        "fails without a response, unless it is too large or was given up",
        arguments: zip(
            TransportFailure.allCases,
            [CallOutcome.failed, .overloaded, .failed, .failed, .answered, .unknown]))
    func transport(failure: TransportFailure, signal: CallOutcome) {
        #expect(CallOutcome(.failed(failure), from: .serverAPI, concluded: nil, now: Fixture.now) == signal)
    }
}

@Suite("Retry-After")
struct RetryAfterTests {
    /// 2026-11-21T05:00:00Z.
    let now = Fixture.now

    @Test(
        "takes seconds, dates, UNIX seconds and UNIX milliseconds, within fifteen minutes from now",
        arguments: [
            ("0", 0), ("120", 120), (" 7", 7), ("900", 900), ("901", 900), ("999999999", 900), ("-5", 0),
            ("1795237260", 60), ("1795237260000", 60), ("1795237100000", 0), ("9223372036854775807", 900),
            ("Sat, 21 Nov 2026 05:01:00 GMT", 60), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
            ("Sat, 21 Nov 2099 05:01:00 GMT", 900),
        ])
    func forms(header: String, seconds: Int64) {
        #expect(RetryAfter.moment(header, now: now) == Timestamp(milliseconds: now.milliseconds + seconds * 1000))
    }

    @Test(
        "ignores anything else",
        arguments: [
            nil, "", " ", "soon", "1.5", "99999999999999999999", "Sat, 21 Foo 2026 05:01:00 GMT", "Sat, 21 Nov 2026",
        ])
    func garbage(header: String?) {
        #expect(RetryAfter.moment(header, now: now) == nil)
    }
}
