import LedgerConformance
import Purchases
import Testing

@testable import Ledger

@Suite struct BatchDecisionTests {
    private func decide(
        _ settlements: Settlement..., quarantines: [Quarantine] = [], known: KnownRows = .nothing
    ) -> BatchDecision {
        let claims = settlements.map { settlement -> [GrantClaim] in
            guard case .grant(let purchases, let verifiedBy) = settlement.decision else { return [] }
            return GrantClaim.claims(of: purchases, by: verifiedBy, claimant: settlement.claimant, at: Samples.noon)
        }
        return BatchDecision(settlements, claims: claims, quarantines: quarantines, now: Samples.noon, known: known)
    }

    private func told(_ decision: BatchDecision) -> [EventID] {
        decision.entries.map { entry in
            switch entry {
            case .event(let event, _): event.id
            case .copy(let id): id
            }
        }
    }

    @Test func aBatchOfNewSubmissionsHasNoRepeats() {
        let decision = decide(
            Samples.grant("s2", Samples.purchase("2")), Samples.failure("s1"), Samples.held("s3"),
            quarantines: [Samples.quarantine(offset: 1)])
        #expect(!decision.hasRepeats)
        #expect(decision.newRows.map(\.settlement.claimant.submissionID) == ["s1", "s2", "s3"], "in the order of keys")
        #expect(
            told(decision).dropLast() == [Samples.event(Samples.purchase("2")), Samples.failedEvent("s1")],
            "in the order of the batch")
        #expect(decision.changedRows.isEmpty && decision.extendedRows.isEmpty)
    }

    @Test func theSameSubmissionTwiceIsOneRowAndACopy() {
        let settlement = Samples.grant("s1", Samples.purchase("1"))
        let decision = decide(settlement, settlement)
        #expect(decision.hasRepeats)
        #expect(decision.newRows.count == 1)
        #expect(decision.grants.count == 1)
        #expect(told(decision) == Array(repeating: Samples.event(Samples.purchase("1")), count: 2))
    }

    @Test func aRowThatTheBatchWroteIsExtendedInPlace() {
        let decision = decide(
            Samples.grant("s1", Samples.purchase("1")), Samples.grant("s1", content: "second", Samples.purchase("2")))
        #expect(decision.extendedRows.isEmpty)
        #expect(decision.newRows.map(\.content.events.count) == [2])
    }

    @Test func aRowThatTheDatabaseHasIsExtendedThere() {
        var known = KnownRows()
        known.submissions[Samples.key("s1")] = PriorSubmission(
            fingerprint: "first", outcome: .granted, cause: nil, events: [Samples.event(Samples.purchase("1"))])
        let decision = decide(Samples.grant("s1", content: "second", Samples.purchase("2")), known: known)
        #expect(decision.newRows.isEmpty && decision.changedRows.isEmpty)
        #expect(decision.extendedRows.map(\.events.count) == [2])
    }

    @Test func aRowThatTheDatabaseHasIsExtendedOnceForAllOfTheBatch() {
        var known = KnownRows()
        known.submissions[Samples.key("s1")] = PriorSubmission(
            fingerprint: "first", outcome: .granted, cause: nil, events: [Samples.event(Samples.purchase("1"))])
        let decision = decide(
            Samples.grant("s1", content: "second", Samples.purchase("2")),
            Samples.grant("s1", content: "third", Samples.purchase("3")), known: known)
        #expect(decision.newRows.isEmpty && decision.changedRows.isEmpty)
        #expect(
            decision.extendedRows.map(\.events)
                == [["1", "2", "3"].map { Samples.event(Samples.purchase(TransactionID($0))) }])
    }

    @Test func whatWaitsAndIsDecidedInOneBatchIsOneDecidedRow() {
        let decision = decide(Samples.parked("s1"), Samples.grant("s1", Samples.purchase("1")))
        #expect(decision.newRows.map(\.content.outcome) == [.granted])
        #expect(decision.newRows.allSatisfy { $0.content.waiting == nil })
        #expect(decision.grants.count == 1)
    }

    @Test func whatWaitsIsNotReplacedByAnotherOfItsIDInTheSameBatch() {
        let decision = decide(Samples.parked("s1"), Samples.grant("s1", content: "second", Samples.purchase("1")))
        #expect(decision.newRows.map(\.content.outcome) == [.parked])
        #expect(decision.newRows.map(\.content.events) == [[Samples.event(Samples.purchase("1"))]])
        #expect(decision.grants.count == 1)
    }

    @Test func aHeldRowIsWrittenAnew() {
        var known = KnownRows()
        known.submissions[Samples.key("s1")] = PriorSubmission(
            fingerprint: "first", outcome: .held, cause: .held(.sharedSecretRefused), events: [])
        let decision = decide(Samples.failure("s1"), known: known)
        #expect(decision.newRows.isEmpty)
        #expect(decision.changedRows.map(\.content.outcome) == [.failed])
    }

    @Test func whatTheDatabaseGrantedToAnotherIsNotGranted() {
        var known = KnownRows()
        let purchase = Samples.purchase("1")
        known.grants[GrantKey(of: purchase).text] = GrantHolder(
            userID: "bob", orderID: nil, eventID: Samples.event(purchase))
        let decision = decide(Samples.grant("s1", purchase), known: known)
        #expect(decision.hasRepeats)
        #expect(decision.grants.isEmpty)
        #expect(
            decision.conclusions.map(\.outcome) == [
                .failed(event: Samples.failedEvent("s1"), reason: .ownedByAnotherUser)
            ])
    }

    @Test func idsThatOnlyLookAlikeAreDifferentSubmissions() {
        let decision = decide(Samples.failure("caf\u{e9}"), Samples.failure("cafe\u{301}"))
        #expect(!decision.hasRepeats)
        #expect(decision.newRows.count == 2)
    }
}
