import AppStore
import Contract
import Testing

@testable import Fulfilment

@Suite("What a service's reply says")
struct FulfilmentAnswerTests {
    private static let key: EventID = "5f6b2c64-37a5-5d0e-9d83-0e1c6f0f5c9d"
    private static let now = Timestamp(milliseconds: 1_795_000_000_000)

    private static func answer(_ status: Int, key: String? = nil, retryAfter: String? = nil) -> FulfilmentAnswer {
        FulfilmentAnswer(.response(status: status, key: key, retryAfter: retryAfter), to: Self.key, at: now)
    }

    @Test("2xx is a yes", arguments: [200, 201, 204, 299])
    func accepted(status: Int) {
        #expect(Self.answer(status) == .accepted)
        #expect(Self.answer(status).isAccepted && Self.answer(status).outcome == .replied)
    }

    @Test("409 is a yes where its header names this grant, and says nothing otherwise")
    func conflict() {
        #expect(Self.answer(409, key: Self.key.rawValue) == .acceptedBefore)
        for key in [nil, "", "another"] {
            let answer = Self.answer(409, key: key)
            #expect(!answer.isAccepted && !answer.isRefusal && answer.outcome == .failed)
        }
    }

    @Test("410 and 422 are about the grant, and the service answers", arguments: [410, 422])
    func refused(status: Int) {
        let answer = Self.answer(status)
        #expect(answer.isRefusal && !answer.isAccepted && answer.outcome == .replied)
        #expect(answer.words == "HTTP \(status)")
    }

    @Test("A service that lets the worker not in is told with the setting that has the secret", arguments: [401, 403])
    func secret(status: Int) {
        let words = Self.answer(status).words
        #expect(
            words
                == "HTTP \(status), as from a service that does not know the secret of secretFiles, or whose clock differs from this host's"
        )
    }

    @Test(
        "Every other status is about the service",
        arguments: [100, 199, 301, 302, 307, 400, 401, 403, 404, 405, 413, 418, 421, 500, 501, 502])
    func failed(status: Int) {
        let answer = Self.answer(status)
        #expect(!answer.isAccepted && !answer.isRefusal && answer.outcome == .failed && answer.label == .failed)
    }

    @Test("Fewer calls at once may help where it took too long", arguments: [408, 503, 504])
    func overloaded(status: Int) { #expect(Self.answer(status).outcome == .overloaded) }

    @Test("A pause that it asks for holds for all grants up to a minute, and for its own as long as it says")
    func pauses() {
        for status in [429, 503] {
            let answer = Self.answer(status, retryAfter: "600")
            #expect(answer.outcome == .limited(wait: .seconds(60)))
            #expect(answer.retryAfter == .seconds(600) && answer.label == .limited)
            #expect(Self.answer(status, retryAfter: "7").outcome == .limited(wait: .seconds(7)))
        }
        #expect(Self.answer(429).outcome == .limited(wait: nil))
        #expect(Self.answer(429, retryAfter: "soon").outcome == .limited(wait: nil))
        #expect(Self.answer(422, retryAfter: "90").retryAfter == .seconds(90))
        #expect(Self.answer(422, retryAfter: "90").outcome == .replied)
    }

    @Test(
        "No response is about the service",
        arguments: [
            (TransportFailure.unreachable, CallOutcome.failed), (.timedOut, .overloaded), (.tls, .failed),
            (.interrupted, .failed), (.tooLarge, .failed), (.cancelled, .unknown),
        ])
    func silent(failure: TransportFailure, outcome: CallOutcome) {
        let answer = FulfilmentAnswer(.failed(failure), to: Self.key, at: Self.now)
        #expect(!answer.isAccepted && !answer.isRefusal && answer.outcome == outcome)
        #expect(!answer.words.isEmpty && answer.retryAfter == nil)
    }

    @Test("Each has one of a few words for metrics")
    func labels() {
        let answers: [FulfilmentAnswer] =
            [Self.answer(200), Self.answer(422), Self.answer(429), Self.answer(500), .silent(.timedOut)]
        #expect(answers.map(\.label) == FulfilmentAnswer.Label.allCases)
        #expect(Self.answer(409, key: Self.key.rawValue).label == .accepted)
        #expect(TransportFailure.allCases.allSatisfy { FulfilmentAnswer.silent($0).label == .unanswered })
    }
}
