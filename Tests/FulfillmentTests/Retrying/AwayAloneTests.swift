import AppStore
import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("A target of Apple's that is away alone, through the pipeline", .timeLimit(.minutes(5)))
struct AwayAloneTests {
    private static let backlog = 400
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
        #expect(end.value < .seconds(1800), "\(end.value)")
    }

    @Test("what is new for it does not keep others from being read")
    func new() async throws {
        let outage = try await OutageBench(app: { try .withKey($0) }, lookup: { _ in Self.broken })
        outage.bench.source.write(
            (0..<200).map { PipelineBench.message("l-\($0)", evidence: #""transactionId":"\#(1000 + $0)""#) })
        try outage.submit(10)
        let end = Shared(Duration.zero)
        try await outage.run { bench, elapsed in
            end.change { $0 = elapsed }
            return try await bench.ledger.counts().grants == 10 || elapsed > .seconds(4 * 3600)
        }
        #expect(end.value < .seconds(1800), "\(end.value)")
    }

    @Test(
        "what stands in its line when it goes away, or asks for a long pause, keeps no others from being read",
        arguments: [
            AppStoreReply.failed(.timedOut), .response(httpStatus: 429, retryAfter: "86400", body: []),
        ])
    func standing(reply: AppStoreReply) async throws {
        // Fewer calls at once than stop them: most of the window stands in line by then.
        let outage = try await OutageBench(app: { try .withKey($0) }, lookup: { _ in reply })
        outage.bench.source.write(
            (0..<100).map { PipelineBench.message("l-\($0)", evidence: #""transactionId":"\#(1000 + $0)""#) })
        try outage.submit(10)
        let end = Shared(Duration.zero)
        try await outage.run { bench, elapsed in
            end.change { $0 = elapsed }
            return try await bench.ledger.counts().grants == 10 || elapsed > .seconds(4 * 3600)
        }
        #expect(end.value < .seconds(1800), "\(end.value)")
        #expect(try await outage.bench.ledger.counts().failures.isEmpty)
    }

    @Test(
        "while nothing else is known to be in use the ledger takes a few at a time, and all is granted when it is back")
    func nothingElse() async throws {
        let back = Duration.seconds(1800)
        let outage = try await OutageBench(app: { try .withKey($0) }, lookup: { $0 < back ? Self.broken : nil })
        let purchases = try (0..<Self.backlog).map { _ in
            let signed = try outage.bench.appStore.signedTransaction()
            outage.bench.appStore.answer(about: signed.transactionID, with: signed.text)
            return signed.transactionID
        }
        outage.bench.source.write(
            purchases.enumerated().map { PipelineBench.message("l-\($0)", evidence: #""transactionId":"\#($1)""#) })
        let most = Shared((parked: 0, held: 0))
        try await outage.run { bench, elapsed in
            let counts = try await bench.ledger.counts()
            if elapsed < back {
                let held = bench.pipeline.status.heldSubmissions
                most.change { $0 = (max($0.parked, counts.submissions[.parked] ?? 0), max($0.held, held)) }
            }
            return counts.grants == Self.backlog || elapsed > .seconds(4 * 3600)
        }
        // A quarter of the calls at once every fifteen seconds, and each time it goes away again.
        #expect(most.value.parked < 4 * 1800 / 5, "\(most.value)")
        #expect(most.value.held <= OutageBench.window)
        let counts = try await outage.bench.ledger.counts()
        #expect(counts.submissions == [.granted: Self.backlog])
    }
}
