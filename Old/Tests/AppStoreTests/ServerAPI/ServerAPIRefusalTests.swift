import Purchases
import Testing

@testable import AppStore

@Suite("Refusal of the App Store Server API")
struct ServerAPIRefusalTests {
    private func verdict(_ status: Int, _ code: Int? = nil, notBefore: Timestamp? = nil) -> Verdict {
        ServerAPIRefusal(httpStatus: status, code: code, notBefore: notBefore).verdict(on: "7", "gems")
    }

    @Test("a rejection says what it is about and what Apple said")
    func rejection() {
        guard case .rejected(let rejection) = verdict(400, 4_000_006) else {
            Issue.record("not rejected")
            return
        }
        #expect(rejection.transactionID == "7")
        #expect(rejection.productID == "gems")
        #expect(rejection.detail.contains("4000006"))
    }

    @Test("a hold says the code, or the HTTP status where there is none")
    func hold() {
        for (verdict, said) in [
            (verdict(404, 4_040_999), "4040999"), (verdict(400, 4_000_000), "4000000"), (verdict(401), "401"),
        ] {
            guard case .hold(_, let detail) = verdict else {
                Issue.record("not held")
                continue
            }
            #expect(detail.contains(said))
        }
    }

    @Test("only what Apple may still find is bounded, and only what passes waits for the named moment")
    func patience() {
        let later = Fixture.now.advanced(by: .seconds(5))
        #expect(verdict(404, 4_040_010, notBefore: later).retry?.then == .transactionNotFound)
        #expect(verdict(404, 4_040_001, notBefore: later).retry?.then == .accountGone)
        for (status, code, cause) in [
            (429, nil, RetryCause.rateLimited), (500, 5_000_001, .temporarilyUnable), (502, nil, .noAnswer),
        ] as [(Int, Int?, RetryCause)] {
            #expect(
                verdict(status, code, notBefore: later)
                    == .retry(cause, notBefore: later, patience: .unlimited))
        }
    }
}
