import Contract
import MemberTesting
import Testing

@testable import Ledger

@Suite struct BatchPlannerTests {
    private static let ownership = PartitionOwnership(
        partition: TopicPartition(topic: "in", partition: 0), generation: Generation(rawValue: 1))
    private static let noon = Timestamp(milliseconds: 1_795_953_600_000)

    private func decision(
        _ id: SubmissionID, _ transactions: [TransactionID], source: DecisionSource = .record(ownership),
        owesCall: Bool = false
    ) -> Decision {
        let product = Product(id: "gems", type: .consumable, items: [])
        let purchases = transactions.compactMap { GrantablePurchase(.sample($0), of: product) }
        let submission = Submission(
            claimant: Claimant(
                submissionID: id, userID: "player-1", bundleID: "com.example.game", orderID: nil, traceparent: nil),
            claim: .nothing,
            evidence: .transactionID("1"), origin: Origin(topic: "in", partition: 0, offset: 1),
            receivedAt: Self.noon)
        return Decision(
            subject: .submission(submission), source: source, content: .grant(purchases, by: .serverAPI), attempts: 1,
            decidedAt: Self.noon,
            owesCall: owesCall, tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
    }

    @Test("The fast path is for a record's one purchase that owes no call")
    func fast() {
        let lease = RetryLease(key: ClaimDigest(of: submission("s")), number: 1)
        #expect(BatchPlanner.isFast(decision("s", ["1"])))
        #expect(!BatchPlanner.isFast(decision("s", ["1", "2"])))
        #expect(!BatchPlanner.isFast(decision("s", ["1"], owesCall: true)))
        #expect(!BatchPlanner.isFast(decision("s", ["1"], source: .row(lease))))
    }

    private func submission(_ id: SubmissionID) -> Submission {
        Submission(
            claimant: Claimant(
                submissionID: id, userID: "player-1", bundleID: "com.example.game", orderID: nil, traceparent: nil),
            claim: .nothing,
            evidence: .transactionID("1"), origin: Origin(topic: "in", partition: 0, offset: 1), receivedAt: Self.noon)
    }

    @Test("Grants are tried in the order of their keys, whatever the batch's is")
    func order() {
        var planner = BatchPlanner([decision("a", ["9", "3"]), decision("b", ["5", "1"])])
        planner.admit([true, true])
        #expect(planner.readAnswers(FoundAnswers()).map(\.grant.transactionID) == ["1", "3", "5", "9"])
    }

    @Test("Of decisions that do not count nothing is read or tried")
    func notOwned() {
        var planner = BatchPlanner([decision("a", ["1"]), decision("b", ["2", "3"])])
        planner.admit([false, false])
        #expect(planner.fast.isEmpty)
        #expect(planner.isComplete)
        #expect(planner.submissions.isEmpty)
        #expect(planner.readAnswers(FoundAnswers()).isEmpty)
        #expect(planner.questions.holders.isEmpty && planner.questions.submissions.isEmpty)
        #expect(planner.results() == [.notOwned, .notOwned])
    }

    @Test("A refused purchase without a visible holder takes the submission's other grants back")
    func withdrawn() {
        var planner = BatchPlanner([decision("a", ["1", "2"], owesCall: true)])
        planner.admit([true])
        _ = planner.readAnswers(FoundAnswers())
        planner.inserted([true, false])
        #expect(planner.conclude(held: FoundGrants(), own: FoundGrants()) == [])
        let writes = planner.answered([])
        #expect(writes.withdrawn.map(\.grant.transactionID) == ["1"])
        #expect(writes.withdrawn.map(\.decision) == [0])
        #expect(writes.outbox.isEmpty)
        #expect(planner.results() == [.undecided])
    }

    @Test("A batch on the fast path that is written whole reads nothing more")
    func wholeFast() {
        var planner = BatchPlanner([decision("a", ["1"]), decision("b", ["2"])])
        planner.admit([true, true])
        let fast = planner.fast
        planner.inserted(fast: fast, [true, true])
        #expect(planner.isComplete)
        #expect(
            planner.results()
                == fast.map { new in
                    .written(
                        .granted(created: 1),
                        publish: [
                            RenderedEvent(
                                key: .granted(new.grant.reference, repeatOf: nil),
                                event: GrantedEvent.event(of: new.grant))
                        ])
                })
    }

    @Test("An answer that was refused is told by nobody here, and its decision is written again")
    func refusedAnswer() {
        let lease = RetryLease(key: ClaimDigest(of: submission("b")), number: 1)
        func fail(_ id: SubmissionID, _ source: DecisionSource) -> Decision {
            Decision(
                subject: .submission(submission(id)), source: source,
                content: .fail(Rejection(.unknownProduct, "Not listed.")), attempts: 1, decidedAt: Self.noon,
                owesCall: false, tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
        }
        var planner = BatchPlanner([fail("a", .record(Self.ownership)), fail("b", .row(lease)), decision("c", ["1"])])
        planner.admit([true, true, true])
        let fast = planner.fast
        planner.inserted(fast: fast, [true])
        _ = planner.readAnswers(FoundAnswers())
        planner.inserted([])
        #expect(planner.conclude(held: FoundGrants(), own: FoundGrants()).map(\.decision) == [0, 1])
        let writes = planner.answered([true, false])
        #expect(writes.outbox.isEmpty && writes.endedRetries.isEmpty)
        let results = planner.results()
        guard case .written(.failed, _, _) = results[0] else { return #expect(results[0] == .undecided) }
        #expect(results[1] == .undecided)
        guard case .written(.granted, _, _) = results[2] else { return #expect(results[2] == .undecided) }
    }

    private func hold(_ purchases: NamedPurchase...) -> Decision {
        let entry = RetryEntry(
            cause: .held(.productNotConfigured), detail: "Not listed.", delay: 0, history: AttemptHistory(), doubt: nil,
            isSigned: false, purchases: purchases)
        return Decision(
            subject: .submission(submission("s")), source: .record(Self.ownership), content: .wait(entry), attempts: 1,
            decidedAt: Self.noon, owesCall: false, tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
    }

    private func conclude(
        _ decision: Decision, answers: FoundAnswers = FoundAnswers(), held: FoundGrants = FoundGrants(),
        own: FoundGrants = FoundGrants()
    ) -> [DecisionResult] {
        var planner = BatchPlanner([decision])
        planner.admit([true])
        _ = planner.readAnswers(answers)
        let told = planner.conclude(held: held, own: own)
        _ = planner.answered(told.map { _ in true })
        return planner.results()
    }

    private let named = NamedPurchase("1", of: "gems", GrantKey(environment: .production, name: "t:1"))
    private let heldResult = DecisionResult.written(.held(.productNotConfigured), publish: [])

    @Test("A held claim asks who has its purchases, and nobody where they have no names")
    func askedForHeld() {
        for (decision, questions) in [(hold(), []), (hold(named), [HolderQuestion(named.reference, named.key)])] {
            var planner = BatchPlanner([decision])
            planner.admit([true])
            _ = planner.readAnswers(FoundAnswers())
            #expect(planner.questions.holders == questions)
        }
    }

    @Test("A held claim stays held beside rows that only a later version can read")
    func heldBesideLaterRows() throws {
        let claimant = submission("s").claimant
        let origin = Origin(topic: "in", partition: 0, offset: 9)
        let later = LaterRow(claimant, origin, reference: named.reference, key: named.key)
        let purchase = try #require(decision("other", ["1"]).content.first)
        let grant = StoredGrant(
            Grant(of: purchase, to: submission("other"), by: .serverAPI, attempts: 1, grantedAt: Self.noon),
            owesCall: false)
        let found = FoundGrants(known: [grant])
        guard case .written(.repeated, _, _)? = conclude(hold(named), held: found).first else {
            Issue.record("a grant of it does not end it")
            return
        }
        #expect(conclude(hold(named), held: FoundGrants(later: [later])) == [heldResult], "its holder")
        #expect(conclude(hold(named), held: found, own: FoundGrants(later: [later])) == [heldResult], "its own grant")
        let answers = FoundAnswers(later: [LaterRow(claimant, origin, reference: nil, key: nil)])
        #expect(conclude(hold(named), answers: answers, held: found) == [heldResult], "its answer")
    }

    @Test("A grant of no purchases is undecided")
    func nothing() {
        var planner = BatchPlanner([decision("a", [])])
        planner.admit([true])
        _ = planner.readAnswers(FoundAnswers())
        #expect(planner.conclude(held: FoundGrants(), own: FoundGrants()) == [])
        #expect(planner.results() == [.undecided])
    }
}

extension Decision.Content {
    fileprivate var first: GrantablePurchase? {
        guard case .grant(let purchases, _) = self else { return nil }
        return purchases.first
    }
}
