import Purchases
import Testing

@testable import AppStore

@Suite("Reply reading")
struct ReplyReadingTests {
    private func verdict(_ reply: AppStoreReply) -> Verdict? {
        guard case .noAnswer(let verdict) = ReplyReading(reply, now: Fixture.now) else { return nil }
        return verdict
    }

    private func response(_ status: Int, retryAfter: String? = nil, body: String = "{\"status\":0}") -> Verdict? {
        verdict(.response(httpStatus: status, retryAfter: retryAfter, body: Array(body.utf8)))
    }

    @Test("a call that failed is tried again for ever", arguments: TransportFailure.allCases)
    func failures(failure: TransportFailure) {
        let cause: RetryCause = failure == .tooLarge ? .noAnswer : .unreachable
        #expect(verdict(.failed(failure)) == .retry(cause, notBefore: nil, patience: .unlimited))
    }

    @Test(
        "only 200 is an answer; anything that is none is tried again for ever",
        arguments: [
            0, 100, 201, 204, 301, 302, 307, 400, 401, 403, 404, 405, 413, 418, 499, 500, 502, 503, 599, 999, -1,
        ])
    func noAnswer(status: Int) {
        #expect(response(status) == .retry(.noAnswer, notBefore: nil, patience: .unlimited))
        #expect(response(200) == nil)
    }

    @Test("429 waits as long as Apple says, within bounds")
    func rateLimited() {
        let later = Fixture.now.advanced(by: .seconds(30))
        #expect(response(429, retryAfter: "30") == .retry(.rateLimited, notBefore: later, patience: .unlimited))
        #expect(response(429) == .retry(.rateLimited, notBefore: nil, patience: .unlimited))
        #expect(response(503, retryAfter: "30") == .retry(.noAnswer, notBefore: later, patience: .unlimited))
    }

    @Test(
        "a page, a cut or empty body with 200 is no answer",
        arguments: ["", "<html></html>", "{\"status\":", "[]", "{}"])
    func bodies(body: String) {
        #expect(response(200, body: body) == .retry(.noAnswer, notBefore: nil, patience: .unlimited))
    }
}
