import Testing

@testable import AppStoreSimulator

struct StageTests {
    @Test func noFaultAndADelayGiveTheAnswer() {
        #expect(act(nil) == .reply(real))
        #expect(act(.delay(milliseconds: 5)) == .reply(real))
    }

    @Test func aStatusHasItsFlagInEitherSpellingOrNone() {
        #expect(body(.status(code: 21009)) == "{\"status\":21009}")
        #expect(body(.status(code: 21104, isRetryable: true)) == "{\"status\":21104,\"is_retryable\":true}")
        #expect(
            body(.status(code: 21104, isRetryable: false, spelling: .hyphen))
                == "{\"status\":21104,\"is-retryable\":false}")
    }

    @Test func httpFaultsHaveTheirCodesAndHeaders() {
        #expect(reply(.http(code: 502))?.code == 502)
        #expect(reply(.apiError(code: 4_040_002))?.code == 404)
        #expect(reply(.rateLimited(retryAfter: "1795237153000"))?.code == 429)
        #expect(reply(.rateLimited(retryAfter: "1795237153000"))?.headers == ["Retry-After": "1795237153000"])
        #expect(reply(.redirect(location: "https://127.0.0.1:1/"))?.code == 302)
        #expect(reply(.redirect(location: "https://127.0.0.1:1/"))?.headers == ["Location": "https://127.0.0.1:1/"])
    }

    @Test func bodiesThatAreNoAnswers() {
        #expect(reply(.html)?.contentType == "text/html; charset=UTF-8")
        #expect(reply(.html)?.code == 200)
        #expect(reply(.empty) == HTTPReply())
        #expect(body(.truncated) == "{\"stat")
        #expect(reply(.oversized(bytes: 5000))?.body.count == 5000)
        #expect(act(.cutOff) == .cutOff(real))
    }

    @Test func anAnswerWithoutPurchasesIsAskedFor() {
        #expect(body(.withoutPurchases) == "without")
    }

    @Test func connectionsAreTreatedAsTold() {
        #expect(act(.drip(bytes: 0, everyMilliseconds: 0)) == .drip(real, bytes: 1, everyMilliseconds: 1))
        #expect(act(.reset) == .reset)
        #expect(act(.close) == .close)
        #expect(act(.hang) == .hang)
    }

    private let real = HTTPReply(body: Array("{\"status\":0}".utf8))

    private func act(_ fault: Fault?) -> Performance.Act {
        Stage.act(of: fault) { $0 ? HTTPReply(body: Array("without".utf8)) : real }
    }

    private func reply(_ fault: Fault) -> HTTPReply? {
        guard case .reply(let reply) = act(fault) else { return nil }
        return reply
    }

    private func body(_ fault: Fault) -> String? {
        reply(fault).map { String(decoding: $0.body, as: UTF8.self) }
    }
}
