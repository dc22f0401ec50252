import Purchases
import Testing

@testable import AppStore

@Suite("Reading of the App Store Server API's replies")
struct ServerAPIReadingTests {
    private func refusal(_ reply: AppStoreReply) -> ServerAPIRefusal? {
        guard case .refused(let refusal) = ServerAPIReading(reply, now: Fixture.now) else { return nil }
        return refusal
    }

    @Test("200 alone is an answer, up to a size")
    func answer() {
        guard case .answer(let body) = ServerAPIReading(LookupScript.reply(200, "{}"), now: Fixture.now) else {
            Issue.record("no answer")
            return
        }
        #expect(body == Array("{}".utf8))
        let large = AppStoreReply.response(
            httpStatus: 200, retryAfter: nil, body: Array(repeating: 0x20, count: ServerAPIReading.maxBytes + 1))
        guard case .noAnswer(let verdict) = ServerAPIReading(large, now: Fixture.now) else {
            Issue.record("a body beyond the limit was taken")
            return
        }
        #expect(verdict == ServerAPIReading.unreadable)
        for status in [0, 100, 201, 204, 301, 304, 400, 401, 429, 500, 599] {
            #expect(refusal(LookupScript.reply(status, "{}"))?.httpStatus == status)
        }
    }

    @Test(
        "the error code is found in whatever form it comes",
        arguments: [
            (#"{"errorCode":4040010}"#, 4_040_010), (#"{"errorCode":"4040010"}"#, 4_040_010),
            (#"{"errorCode":4040010.0,"errorMessage":[]}"#, 4_040_010), (#"{"errorCode":1.5}"#, nil),
            (#"{"errorCode":99999999999999999999}"#, .max), (#"{"errorCode":{}}"#, nil),
            (#"{"errorCode":null}"#, nil), ("{}", nil), ("[4040010]", nil), ("Unauthenticated", nil), ("", nil),
            (#"{"errorCode":40400"#, nil),
        ] as [(String, Int?)])
    func errorCode(body: String, code: Int?) throws {
        #expect(try #require(refusal(LookupScript.reply(404, body))).code == code)
    }

    @Test("the body of a refusal has a limit, too")
    func largeRefusal() throws {
        let body = #"{"errorCode":4040010,"x":""# + String(repeating: "x", count: ServerAPIReading.maxBytes) + #""}"#
        #expect(try #require(refusal(LookupScript.reply(404, body))).code == nil)
    }

    @Test("Retry-After is UNIX time in milliseconds")
    func retryAfter() {
        let later = Fixture.now.advanced(by: .seconds(60))
        let reply = LookupScript.reply(429, "", retryAfter: String(later.milliseconds))
        #expect(refusal(reply)?.notBefore == later)
    }

    @Test("a failure of the transport is one", arguments: TransportFailure.allCases)
    func failures(failure: TransportFailure) {
        guard case .noAnswer(.retry(let cause, nil, .unlimited)) = ServerAPIReading(.failed(failure), now: Fixture.now)
        else {
            Issue.record("not tried again")
            return
        }
        #expect(cause == (failure == .tooLarge ? .noAnswer : .unreachable))
    }
}
