import AppStore
import Purchases
import Testing

@testable import Fulfillment

@Suite("What an inventory service's reply says")
struct DeliveryAnswerTests {
    private static let grant: GrantID = "0b7d9a52-0000-5000-8000-000000000001"
    private static let now = Timestamp(milliseconds: 1_795_000_000_000)

    private static func answer(
        _ status: Int, key: String? = nil, retryAfter: String? = nil, _ body: String = ""
    ) -> DeliveryAnswer {
        DeliveryAnswer(
            .response(httpStatus: status, idempotencyKey: key, retryAfter: retryAfter, body: Array(body.utf8)),
            to: grant, now: now)
    }

    @Test("2xx is a yes, whatever the body", arguments: [200, 201, 202, 204, 299])
    func yes(status: Int) {
        #expect(Self.answer(status, "<html>") == .done)
        #expect(Self.answer(status).outcome == .answered)
    }

    @Test(
        "409 is a yes only if it names this grant",
        arguments: [
            (key: grant.rawValue, body: "", isYes: true),
            (key: nil, body: #"{"grantId":"\#(grant)","more":{}}"#, isYes: true),
            (key: nil, body: #"{"idempotencyKey":"\#(grant)"}"#, isYes: true),
            (key: nil, body: "", isYes: false),
            (key: "another", body: #"{"grantId":"another"}"#, isYes: false),
            (key: nil, body: #"{"grant":"\#(grant)"}"#, isYes: false),
            (key: nil, body: #"{"nested":{"grantId":"\#(grant)"}}"#, isYes: false),
            (key: nil, body: #"{"grantId":"\#(grant)","grantId":"another"}"#, isYes: false),
            (key: nil, body: #"{"grantId":"\#(grant)""#, isYes: false),
        ])
    func conflict(key: String?, body: String, isYes: Bool) {
        let answer = Self.answer(409, key: key, body)
        #expect(answer == (isYes ? .doneBefore : .failed(.conflict, status: 409)))
        #expect(answer.outcome == .answered)
    }

    @Test(
        "Any other status is to be tried again",
        arguments: [
            (101, DeliveryFailure.unexpected, CallOutcome.failed), (301, .redirected, .failed),
            (302, .redirected, .failed), (400, .refused, .answered), (401, .refused, .failed), (404, .refused, .failed),
            (408, .refused, .overloaded), (410, .refused, .answered), (422, .refused, .answered),
            (423, .refused, .answered), (500, .failed, .failed), (503, .failed, .overloaded),
            (600, .unexpected, .failed),
        ])
    func other(status: Int, failure: DeliveryFailure, outcome: CallOutcome) {
        let answer = Self.answer(status, key: Self.grant.rawValue)
        #expect(answer == .failed(failure, status: status))
        #expect(answer.outcome == outcome)
    }

    @Test(
        "A no may be about this grant alone if the service was reached and spoke for itself",
        arguments: [
            (200, false), (301, true), (400, true), (404, true), (408, false), (429, false), (500, true), (501, true),
            (502, false), (503, false), (504, false),
        ])
    func ownNo(status: Int, isOwn: Bool) {
        #expect(Self.answer(status).isOwnNo == isOwn)
    }

    @Test(
        "Retry-After is followed, for at most a quarter of an hour", arguments: [("7", 7), ("86400", 900), ("-3", 0)])
    func retryAfter(header: String, seconds: Int) {
        let answer = Self.answer(429, retryAfter: header)
        #expect(answer == .failed(.limited, status: 429, retryAfter: .seconds(seconds)))
        #expect(answer.outcome == .limited(wait: .seconds(seconds)))
        #expect(Self.answer(503, retryAfter: header) == .failed(.failed, status: 503, retryAfter: .seconds(seconds)))
    }

    @Test(
        "No reply is to be tried again, and a call that we gave up says nothing", arguments: TransportFailure.allCases)
    func noReply(failure: TransportFailure) {
        let answer = DeliveryAnswer(.failed(failure), to: Self.grant, now: Self.now)
        switch failure {
        case .cancelled: #expect(answer == .unknown)
        default: #expect(answer == .failed(DeliveryFailure(rawValue: failure.rawValue) ?? .conflict))
        }
        #expect(DeliveryAnswer.words.contains(answer.word))
    }
}
