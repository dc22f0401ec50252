import Ledger
import LedgerConformance
import Purchases
import Testing

@Suite struct SettlementRulesTests {
    private static let granted = PriorSubmission(
        fingerprint: "first", outcome: .granted, cause: nil, events: ["e1"])
    private static let failed = PriorSubmission(
        fingerprint: "first", outcome: .failed, cause: nil, events: [Samples.failedEvent("s")])
    private static let held = PriorSubmission(
        fingerprint: "first", outcome: .held, cause: .held(.sharedSecretRefused), events: [])

    private func concluded(_ settlement: Settlement, _ prior: PriorSubmission?) throws -> Conclusion {
        guard case .conclude(let conclusion) = SettlementRules(settlement, prior: prior).firstStep else {
            throw Violation.notConcluded
        }
        return conclusion
    }

    private enum Violation: Error {
        case notConcluded
    }

    @Test(arguments: [granted, failed])
    func aRepeatOfAFinalSubmissionWritesNothingButCopies(prior: PriorSubmission) throws {
        let conclusion = try concluded(Samples.grant("s", Samples.purchase("1")), prior)
        #expect(conclusion.change == .keep)
        #expect(conclusion.again == prior.events)
        #expect(conclusion.failure == nil)
        #expect(conclusion.warning == nil)
    }

    @Test(arguments: [granted, failed])
    func aReusedIDIsWarnedOf(prior: PriorSubmission) throws {
        let conclusion = try concluded(Samples.failure("s", content: "second"), prior)
        #expect(conclusion.warning == .reusedID)
        #expect(conclusion.outcome == .answeredAgain(events: prior.events))
    }

    @Test func aHeldSubmissionIsDecidedAnewWithoutAWarning() throws {
        let conclusion = try concluded(Samples.failure("s", content: "second"), Self.held)
        #expect(conclusion.warning == nil)
        #expect(conclusion.failure?.reason == .receiptNotAuthentic)
    }

    private static let parked = PriorSubmission(
        fingerprint: "first", outcome: .parked, cause: .parked(.noAnswer), events: [], comesDue: true)

    @Test(arguments: [
        Samples.failure("s", content: "second"), Samples.parked("s", content: "second"),
        Samples.failure("s", reason: .malformedSubmission),
    ])
    func nothingElseTakesThePlaceOfASubmissionThatWaits(settlement: Settlement) throws {
        let conclusion = try concluded(settlement, Self.parked)
        #expect(conclusion.change == .keep)
        #expect(conclusion.outcome == .waiting(.parked(.noAnswer)))
        #expect(conclusion.failure == nil)
        #expect(conclusion.warning == .reusedID)
    }

    @Test func aPurchaseThatComesUnderTheIDOfOneThatWaitsIsGrantedBesideIt() {
        let rules = SettlementRules(Samples.grant("s", content: "second", Samples.purchase("1")), prior: Self.parked)
        #expect(rules.firstStep == .claim)
        let conclusion = rules.conclusion(of: [.created("a")])
        #expect(conclusion.change == .append(["a"]))
        #expect(conclusion.warning == .reusedID)
    }

    @Test func aFirstGrantHasToClaim() {
        let rules = SettlementRules(Samples.grant("s", Samples.purchase("1")), prior: nil)
        #expect(rules.firstStep == .claim)
    }

    @Test func eventsOfClaimsKeepTheirOrderAndOnlyStoredOnesAreAskedForAgain() {
        let rules = SettlementRules(Samples.grant("s", Samples.purchase("1")), prior: nil)
        let refusal = ClaimResult.refused(Rejection(.ownedByAnotherUser, "Taken."))
        let conclusion = rules.conclusion(of: [refusal, .answered("b"), .created("a"), refusal])
        #expect(conclusion.outcome == .granted(events: ["b", "a"], created: 1))
        #expect(conclusion.again == ["b"])
    }

    @Test func theFirstRefusalIsTheReason() {
        let rules = SettlementRules(Samples.grant("s", Samples.purchase("1")), prior: nil)
        let conclusion = rules.conclusion(of: [
            .refused(Rejection(.grantedToAnotherOrder, "One.")), .refused(Rejection(.ownedByAnotherUser, "Two.")),
        ])
        #expect(conclusion.failure == Rejection(.grantedToAnotherOrder, "One."))
    }

    @Test func aFailedEventIsNoAnswerToAGrantUnderTheSameID() {
        let rules = SettlementRules(
            Samples.grant("s", content: "second", Samples.purchase("1")), prior: Self.failed)
        guard case .write(let content) = rules.conclusion(of: [.created("a")]).change else {
            Issue.record("the row was not written")
            return
        }
        #expect(content.outcome == .granted)
        #expect(content.events == ["a"])
    }

    @Test func anAnswerThatIsNotRecordedIsHeldAndWarnedOf() throws {
        let conclusion = try concluded(Samples.settlement("s", .answerAgain), nil)
        #expect(conclusion.outcome == .waiting(.held(.incompleteAnswer)))
        #expect(conclusion.warning == .undecided)
    }
}
