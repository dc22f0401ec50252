import Ledger
import Purchases
import Synchronization
import Testing

@testable import Fulfillment

@Suite("What waited in the ledger and is due", .timeLimit(.minutes(5)))
struct DueStageTests {
    @Test("is held, and not failed, if its app is not in the apps file any more")
    func appIsGone() async throws {
        let bench = try await PipelineBench()
        let submission = Submission(
            id: "s", userID: "u", bundleID: "com.example.gone", evidence: .receipt(base64: "AAAA"))
        let parked = Settlement(
            claimant: Claimant(submissionID: "s", userID: "u", bundleID: "com.example.gone"), fingerprint: "f",
            origin: Origin(topic: "receipts.submitted", partition: 0, offset: 0),
            receivedAt: Timestamp(milliseconds: 0),
            attempts: 4,
            decision: .wait(Waiting(.parked(.noAnswer), detail: "Nothing.", submission: submission, delay: .zero)))
        _ = try await bench.ledger.settle([parked], quarantines: [], now: Timestamp(milliseconds: 0))

        // As it was when it was first seen so: held ones are tried again.
        let first = Mutex<SubmissionRow?>(nil)
        try await bench.run {
            let row = try await $0.ledger.submissions(SubmissionFilter(outcome: .held), before: nil, limit: 1).first
            first.withLock { $0 = $0 ?? row }
            return row != nil
        }

        let row = try #require(first.withLock { $0 })
        #expect(row.reason == HoldCause.appNotConfigured.rawValue)
        #expect(row.attempts == 5)
        #expect(row.dueAt != nil)
        #expect(try await bench.ledger.counts().unpublished == 0)
    }
}
