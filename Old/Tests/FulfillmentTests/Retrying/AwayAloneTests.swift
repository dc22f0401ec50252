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

    /// When so many grants were made; four hours are as good as never.
    private static func moment(of grants: Int, on outage: OutageBench) async throws -> Duration {
        let end = Shared(Duration.zero)
        try await outage.run { bench, elapsed in
            end.change { $0 = elapsed }
            return try await bench.ledger.counts().grants == grants || elapsed > .seconds(4 * 3600)
        }
        return end.value
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
        let end = try await Self.moment(of: 1, on: outage)
        #expect(end < .seconds(1800), "\(end)")
    }

    @Test("what is new for it does not keep others from being read")
    func new() async throws {
        let outage = try await OutageBench(app: { try .withKey($0) }, lookup: { _ in Self.broken })
        outage.bench.source.write(
            (0..<200).map { PipelineBench.message("l-\($0)", evidence: #""transactionId":"\#(1000 + $0)""#) })
        try outage.submit(10)
        let end = try await Self.moment(of: 10, on: outage)
        #expect(end < .seconds(1800), "\(end)")
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
        let end = try await Self.moment(of: 10, on: outage)
        #expect(end < .seconds(1800), "\(end)")
        #expect(try await outage.bench.ledger.counts().failures.isEmpty)
    }

    @Test(
        "a verifyReceipt that was limited once, and is asked by nobody since, does not count as away beside broken lookups"
    )
    func idleBeside() async throws {
        let outage = try await OutageBench(
            app: { try .withKey($0) }, lookup: { _ in Self.broken },
            answer: { _, call in
                call == 1 ? .reply(.response(httpStatus: 429, retryAfter: "1", body: [])) : .usual
            })
        try outage.submit(1)
        outage.bench.source.write(
            (0..<200).map { PipelineBench.message("l-\($0)", evidence: #""transactionId":"\#(1000 + $0)""#) })
        try outage.submit(from: 1, 10)
        let end = try await Self.moment(of: 11, on: outage)
        #expect(end < .seconds(1800), "\(end)")
    }

    /// When something does not answer, in seconds.
    struct Away: Sendable {
        let lookups: ClosedRange<Int>
        let receipts: ClosedRange<Int>
    }

    @Test(
        "after an hour without Apple all is granted soon, what was due included, though targets go and come one by one",
        arguments: [
            Away(lookups: 5...3605, receipts: 5...3625), Away(lookups: 5...3625, receipts: 5...3605),
            Away(lookups: 5...3605, receipts: 12...3605), Away(lookups: 12...3612, receipts: 5...3605),
        ])
    func backOneByOne(away: Away) async throws {
        let outage = try await OutageBench(
            app: { try .withKey($0) },
            lookup: { away.lookups.contains(Int($0 / .seconds(1))) ? Self.broken : nil },
            answer: { elapsed, _ in
                away.receipts.contains(Int(elapsed / .seconds(1))) ? .reply(Self.broken) : .usual
            })
        let due = try (0..<100).map {
            let receipt = try outage.bench.appStore.receipt().base64
            return Self.waiting(
                SubmissionID("d-\($0)"), .receipt(base64: EvidenceText(receipt)), after: .seconds(600))
        }
        _ = try await outage.bench.ledger.settle(due, quarantines: [], now: outage.clock.now())
        for number in 0..<Self.backlog {
            try outage.submit(from: number, 1)
            let signed = try outage.bench.appStore.signedTransaction()
            outage.bench.appStore.answer(about: signed.transactionID, with: signed.text)
            outage.bench.source.write([
                PipelineBench.message("l-\(number)", evidence: #""transactionId":"\#(signed.transactionID)""#)
            ])
        }
        let end = try await Self.moment(of: 100 + 2 * Self.backlog, on: outage)
        let back = Duration.seconds(max(away.lookups.upperBound, away.receipts.upperBound))
        #expect(end > back && end < back + .seconds(120), "\(end)")
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
