import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("What is under way from the ledger")
struct UnderWayTests {
    private func due(_ id: SubmissionID, bytes: Int) -> DueSubmission {
        DueSubmission(
            submission: Submission(
                id: id, userID: "u", bundleID: "b",
                evidence: .receipt(base64: EvidenceText(String(repeating: "A", count: bytes)))),
            claimant: Claimant(submissionID: id, userID: "u", bundleID: "b"), fingerprint: "f",
            origin: Origin(topic: "t", partition: 0, offset: 0), receivedAt: Timestamp(milliseconds: 0), attempts: 4,
            history: AttemptHistory(), cause: .parked(.noAnswer), doubtSince: nil)
    }

    @Test("counts each submission and its evidence once, from its beginning to its end")
    func counts() {
        var running = UnderWay()
        let begun = [due("b", bytes: 20), due("a", bytes: 300), due("b", bytes: 20)].map { running.begin($0) }
        #expect(begun == [true, true, false])
        #expect(running.count == 2)
        #expect(running.bytes == 320)
        #expect(running.keys.map(\.submissionID) == ["a", "b"])
        for _ in 0..<2 { running.end(due("a", bytes: 300).key) }
        #expect(running.count == 1)
        #expect(running.bytes == 20)
    }

    @Test("takes a take as full by its rows or by its bytes")
    func full() {
        let small = (0..<DueStage.maxBatch).map { due(SubmissionID("s\($0)"), bytes: 1) }
        #expect(UnderWay.isFull(small))
        #expect(!UnderWay.isFull(Array(small.dropLast())))
        let large = (0..<4).map { due(SubmissionID("s\($0)"), bytes: 2 << 20) }
        #expect(UnderWay.isFull(large))
        #expect(!UnderWay.isFull(Array(large.prefix(1))))
    }
}
