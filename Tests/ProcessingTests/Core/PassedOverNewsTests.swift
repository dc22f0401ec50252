import Contract
import Ledger
import Testing

@testable import Processing

@Suite("Purchases that are passed over")
struct PassedOverNewsTests {
    private let bench = CoreBench()
    private let passedOver = PassedOver([PassedOver.Entry("2", "new", .productNotConfigured)])

    private var verdict: Verdict {
        var purchase = Fixture.purchase("t1")
        purchase.passedOver = passedOver
        return .verified([purchase], by: .verifyReceipt)
    }

    private func isTold() -> Bool {
        let told = Alert.passedOver(Fixture.app, "new", .productNotConfigured, purchases: 1, example: "s0")
        return bench.takeAlerts().contains(told) && bench.core.status.passedOver == [.productNotConfigured: 1]
    }

    /// The next batch ends without a result.
    private func lose() throws {
        bench.wait(WriteBatcher.mostPause)
        let batch = try #require(bench.takeWrites().first)
        bench.send(.written(batch.id, .failure(.unavailable(detail: "away"))))
        #expect(!bench.takeAlerts().contains { if case .passedOver = $0 { true } else { false } })
        bench.wait(.seconds(10))
        let again = try #require(bench.takeWrites().first)
        #expect(again.decisions == batch.decisions)
        let result: DecisionResult =
            if case .row = batch.decisions[0].source {
                .notOwned
            } else {
                .written(.redelivery, publish: [Fixture.rendered("t1")], passedOver: passedOver?.counts ?? [:])
            }
        bench.send(.written(again.id, .success([result])))
    }

    @Test("are told with the second write of a record whose first one had no reply")
    func secondWrite() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, verdict)
        try lose()
        #expect(isTold())
    }

    @Test("are counted where the ledger alone knows of them, as of another user's")
    func strangers() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, .verified([Fixture.purchase("t1")], by: .verifyReceipt))
        try bench.written(
            .written(.granted(created: 1), publish: [Fixture.rendered("t1")], passedOver: [.transactionRevoked: 1]))
        #expect(bench.core.status.passedOver == [.transactionRevoked: 1])
    }

    @Test("are told where a row of retries is gone after a write without a reply")
    func goneRow() throws {
        try bench.own()
        bench.isNothingDue = false
        let check = try #require(try bench.takeDue([Fixture.due(0)]).first)
        bench.conclude(check, verdict)
        try lose()
        #expect(isTold() && bench.core.inFlight == 0)
    }

    @Test("are told again with a record that is read again", arguments: RepeatPolicy.allCases)
    func readAgain(repeats: RepeatPolicy) throws {
        bench.read(0, in: try bench.own(highestOrigin: 0))
        let (id, _) = try #require(
            bench.takeRequest { if case .knownOutcomes(let list) = $0 { list } else { nil } })
        let known = KnownOutcome(
            origin: Fixture.origin(0), bundleID: Fixture.app, submissionID: "s0", userID: "u1", kind: .repeated,
            publish: [Fixture.rendered("t1")], passedOver: passedOver)
        bench.send(.ledger(id, .success(.knownOutcomes([known]))))
        let check = try #require(bench.takeChecks().first)
        bench.send(.checked([Checked(token: check.token, result: .known(repeats))]))
        #expect(isTold())
    }
}
