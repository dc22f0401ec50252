import AppStore
import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("A target of Apple's that is away alone, through the pipeline", .timeLimit(.minutes(5)))
struct AwayAloneTests {
    private static let broken = AppStoreReply.response(httpStatus: 500, retryAfter: nil, body: [])

    private static func waiting(_ id: SubmissionID, _ evidence: Evidence, after delay: Duration) -> Settlement {
        let submission = Submission(id: id, userID: "u", bundleID: "com.example.game", evidence: evidence)
        return Settlement(
            claimant: Claimant(submissionID: id, userID: "u", bundleID: "com.example.game"), fingerprint: id.rawValue,
            origin: Origin(topic: "receipts.submitted", partition: 0, offset: 0),
            receivedAt: Timestamp(milliseconds: 0), attempts: 4,
            decision: .wait(Waiting(.parked(.noAnswer), detail: "Nothing.", submission: submission, delay: delay)))
    }

    @Test("what is due for it does not keep others from their turn")
    func due() async throws {
        let outage = try await OutageBench(app: { try .withKey($0) }, lookup: { _ in Self.broken })
        let lookups = (0..<200).map { number in
            Self.waiting(SubmissionID("l-\(number)"), .transactionID(TransactionID("\(1000 + number)")), after: .zero)
        }
        let receipt = try outage.bench.appStore.receipt().base64
        let other = Self.waiting("other", .receipt(base64: EvidenceText(receipt)), after: .seconds(60))
        _ = try await outage.bench.ledger.settle(
            lookups + [other], quarantines: [], now: outage.clock.now())
        let end = Shared(Duration.zero)
        try await outage.run { bench, elapsed in
            end.change { $0 = elapsed }
            return try await bench.ledger.counts().grants == 1 || elapsed > .seconds(4 * 3600)
        }
        #expect(end.value < .seconds(3600), "\(end.value)")
    }
}
