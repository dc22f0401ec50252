import Purchases
import Testing

@testable import AppStore

@Suite("Answer judge")
struct AnswerJudgeTests {
    private func judge(
        _ body: [UInt8], from endpoint: Environment = .production, _ submission: Submission = Fixture.submission()
    ) throws -> Verdict {
        AnswerJudge(app: Fixture.app(), submission: submission, receivedAt: Fixture.now)
            .verdict(on: try #require(VerifyReceiptResponse(json: body)), from: endpoint)
    }

    @Test("refuses another app's receipt and holds one of nobody's")
    func bundle() throws {
        #expect(
            try judge(Answer.authentic(bundleID: "com.example.other", inApp: [Answer.record()])).reason
                == .bundleMismatch)
        #expect(
            try judge(Answer.authentic(bundleID: "com.example.GAME", inApp: [Answer.record()])).reason
                == .bundleMismatch)
        #expect(try judge(Answer.authentic(bundleID: nil, inApp: [Answer.record()])).hold == .incompleteAnswer)
        #expect(try judge(Answer.status(0)).hold == .incompleteAnswer)
    }

    @Test("never takes one environment's answer for the other's")
    func environment() throws {
        let record = [Answer.record()]
        #expect(
            try judge(Answer.authentic(environment: "Production", inApp: record), from: .sandbox).hold == .unknownAnswer
        )
        #expect(try judge(Answer.authentic(environment: "Sandbox", inApp: record)).hold == .unknownAnswer)
        #expect(try judge(Answer.authentic(environment: "Moon", inApp: record)).hold == .unknownAnswer)
        #expect(try judge(Answer.authentic(environment: "Xcode", inApp: record), from: .sandbox).hold == .unknownAnswer)
        let typed =
            "{\"status\":0,\"receipt\":{\"bundle_id\":\"com.example.game\",\"receipt_type\":\"ProductionSandbox\"}}"
        #expect(try judge(Array(typed.utf8)).hold == .unknownAnswer)
        #expect(try judge(Array(typed.utf8), from: .sandbox).retry?.cause == .notFoundYet)
    }

    @Test("waits for a purchase that is not in the answer yet, within the window")
    func notFound() throws {
        let claims = [
            Fixture.submission(), Fixture.submission(transactionID: "2"), Fixture.submission(productID: "level"),
        ]
        let bodies = [
            Answer.authentic(), Answer.authentic(inApp: [Answer.record()]), Answer.authentic(inApp: [Answer.record()]),
        ]
        for (claim, body) in zip(claims, bodies) {
            let retry = try judge(body, from: .production, claim).retry
            #expect(retry?.cause == .notFoundYet)
            #expect(retry?.then == .transactionNotFound)
        }
    }

    @Test("passes over a record that cannot be read if others serve, else holds")
    func unreadable() throws {
        let broken = Answer.record("7", product: "level", ["purchase_date_ms": "soon"])
        let nameless = Answer.record("7", ["transaction_id": ""])
        let good = Answer.record("1001")
        #expect(try judge(Answer.authentic(inApp: [broken, nameless, good])).granted == ["1001"])
        #expect(try judge(Answer.authentic(inApp: [broken])).hold == .incompleteAnswer)
        let both = Answer.authentic(inApp: [broken, good])
        #expect(try judge(both, from: .production, Fixture.submission(transactionID: "7")).hold == .incompleteAnswer)
        #expect(try judge(both, from: .production, Fixture.submission(transactionID: "8")).retry?.cause == .notFoundYet)
        #expect(try judge(both, from: .production, Fixture.submission(productID: "level")).hold == .incompleteAnswer)
        #expect(try judge(both, from: .production, Fixture.submission(productID: "pass")).retry?.cause == .notFoundYet)
        let named = Fixture.submission(transactionID: "1001", productID: "level")
        #expect(
            try judge(Answer.authentic(inApp: [nameless, good]), from: .production, named).reason == .productMismatch)
    }
}
