import Contract
import Ledger

extension LedgerConformance {
    static let heldRules: [ConformanceRule] = [
        ConformanceRule("A held row ends as a repeat once its user was granted the purchase") { subject in
            try subject.own()
            let held = Samples.submission("s1")
            try expect(
                try subject.write(Samples.hold(held, "1"))[0].outcome, .held(.accountTokenMissing), "nobody has it")
            var lease = try subject.takeOne(nil).lease
            try expect(
                try subject.write(Samples.hold(held, "1", lease: lease))[0].outcome, .held(.accountTokenMissing),
                "still nobody")
            let granted = try subject.write(Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1")))[
                0]
            lease = try subject.takeOne(nil).lease
            let ended = try subject.write(Samples.hold(held, "1", lease: lease))[0]
            try expect(ended, .written(.repeated, publish: []), "granted under another submission")
            let events = try subject.drain()
            try expect(events.map(\.repeatOf), ["s1"], "marks")
            try expect(events.map(\.unmarked), granted.events, "events")
            let record = try subject.ledger.submission(held.claimant.submissionKey)
            try expect(record.waiting, [], "rows")
            guard case .repeated(let answer)? = record.answer else { throw Violation(description: "no answer row") }
            try expect(answer.grant, Samples.reference("1"), "answer")
        },
        ConformanceRule("A held row of a purchase that another user was granted fails, and grants nothing") { subject in
            try subject.own()
            let held = Samples.submission("s1", user: "thief")
            try subject.write(Samples.hold(held, "1"))
            let lease = try subject.takeOne(nil).lease
            try subject.write(Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1")))
            let ended = try subject.write(Samples.hold(held, "1", lease: lease))[0]
            try expect(ended.outcome, .failed(reason: "owned_by_another_user"), "outcome")
            try expect(try subject.drain().map(\.topic), [.failed], "events")
            try expect(try subject.grantRows().map(\.userID), ["player-1"], "grants")
            try expect(try subject.ledger.submission(held.claimant.submissionKey).waiting, [], "rows")
        },
        ConformanceRule("A record that would be held is answered at once by what was granted before") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1", order: "o1", offset: 1), Samples.purchase("1")),
                Samples.grant(
                    Samples.submission("s2", offset: 2),
                    Samples.purchase("20", original: "19", lineItem: "70", product: Samples.gems(.autoRenewable))),
                Samples.grant(Samples.submission("s3", offset: 3), Samples.purchase("5"), owesCall: true))
            func write(
                _ id: SubmissionID, _ purchases: (TransactionID, String)..., user: UserID = "player-1",
                order: OrderID? = nil, in environment: Environment = .production
            ) throws -> DecisionResult {
                let names = purchases.map { Samples.named($0, $1, environment) }
                let submission = Samples.submission(id, user: user, order: order, offset: 9)
                return try subject.write(Samples.hold(submission, names))[0]
            }
            let held = Outcome.held(.accountTokenMissing)
            let repeated = try write("r1", ("1", "t:1"))
            try expect(repeated.outcome, .repeated, "the purchase itself")
            try expect(repeated.events.map(\.repeatOf), ["r1"], "mark")
            try expect(try subject.ledger.submission(Samples.key("r1")).waiting, [], "rows")
            try expect(try write("r2", ("2", "t:1")).outcome, .repeated, "restored under another id")
            try expect(try write("r3", ("21", "w:70")).outcome, .repeated, "the same period")
            try expect(try write("r4", ("22", "w:71")).outcome, held, "the next period")
            try expect(try write("r5", ("1", "t:1"), in: .sandbox).outcome, held, "of the other environment")
            try expect(
                try write("r6", ("1", "t:1"), user: "other").outcome, .failed(reason: "owned_by_another_user"),
                "another user's")
            try expect(
                try write("r7", ("1", "t:1"), order: "o2").outcome, .failed(reason: "granted_to_another_order"),
                "for another order")
            try expect(try write("s1", ("1", "t:1")).outcome, .repeated, "under the same submission id")
            try expect(try write("r8", ("5", "t:5")), .written(.repeated, publish: []), "while a call is owed")
        },
        ConformanceRule("A claim that waits for Apple ends by a grant of its purchase as a held one does") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
            func write(_ id: SubmissionID, _ transaction: TransactionID, user: UserID = "player-1") throws -> Outcome? {
                let entry = RetryEntry(
                    cause: .retrying(.noLongerFound, Endpoint(.verifyReceipt, .production)), detail: "Refused.",
                    delay: 0, history: AttemptHistory(), doubt: nil, isSigned: false,
                    purchases: [Samples.named(transaction)])
                let submission = Samples.submission(id, user: user, offset: 9)
                let results = try subject.write(Samples.decision(submission, .wait(entry)))
                return results[0].outcome
            }
            try expect(try write("r1", "1"), .repeated, "the user's")
            try expect(try write("s1", "1"), .repeated, "under the same submission id, by another record")
            try expect(try write("r2", "1", user: "other"), .failed(reason: "owned_by_another_user"), "another user's")
            try expect(try write("r3", "2"), .retrying(.noLongerFound), "nobody's")
            try expect(try write("s1", "2"), .retrying(.noLongerFound), "a further purchase under the same id")
        },
        ConformanceRule("A held claim of which only a part was granted stays held") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")),
                Samples.grant(Samples.submission("t1", user: "other", offset: 2), Samples.purchase("2")))
            func write(_ id: SubmissionID, _ names: TransactionID...) throws -> Outcome? {
                let submission = Samples.submission(id, offset: 9)
                let results = try subject.write(Samples.hold(submission, names.map { Samples.named($0) }))
                return results[0].outcome
            }
            let held = Outcome.held(.accountTokenMissing)
            try expect(try write("r1", "1", "3"), held, "one nobody has")
            try expect(try write("r2", "2", "3"), held, "one nobody has beside another user's")
            try expect(try write("r3"), held, "nothing that has names")
            try expect(try subject.ledger.submissions(SubmissionQuery(state: .failed)).count, 0, "failures")
            try expect(try write("r4", "2", "1"), .repeated, "each is somebody's, and one the user's")
        },
        ConformanceRule("A held receipt for an order that no grant has waits for what is still to come") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", order: "o1"), Samples.purchase("1")))
            func write(_ id: SubmissionID, _ order: OrderID?) throws -> Outcome? {
                let submission = Samples.submission(id, order: order, offset: 9)
                let results = try subject.write(Samples.hold(submission, [Samples.named("1")], doubts: true))
                return results[0].outcome
            }
            try expect(try write("r1", "o2"), .held(.accountTokenMissing), "an order that no grant has")
            try expect(try write("r2", "o1"), .repeated, "the grant's order")
            try expect(try write("r3", nil), .repeated, "no order")
        },
        ConformanceRule("Old purchases do not answer for one that holds by itself, unless that was granted before") {
            subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")),
                Samples.grant(Samples.submission("s2", offset: 2), Samples.purchase("99")))
            func write(
                _ id: SubmissionID, _ reason: PassedOver.Reason, named: TransactionID?
            ) throws -> DecisionResult {
                var purchase = Samples.purchase("1")
                purchase.passedOver = PassedOver(
                    [PassedOver.Entry("98", "com.example.pack", reason)],
                    holding: named.map { [PassedOver.Holding(reason, Samples.named($0))] } ?? [])
                return try subject.write(Samples.grant(Samples.submission(id, offset: 9), purchase))[0]
            }
            let causes: [(PassedOver.Reason, HoldCause)] = [
                (.productNotConfigured, .productNotConfigured), (.advancedCommerce, .advancedCommerce),
                (.partialRefund, .partialRefund),
            ]
            for (reason, cause) in causes {
                for name in [nil, "98"] as [TransactionID?] {
                    guard case .toBeHeld(cause, let detail) = try write("r1", reason, named: name) else {
                        throw Violation(description: "\(reason) was answered by an old purchase")
                    }
                    try expect(detail.hasSuffix(": com.example.pack."), "\(detail) names its product")
                }
                let granted = try write(SubmissionID("r-\(cause)"), reason, named: "99")
                try expect(granted.outcome, .repeated, "\(reason), granted before")
                try expect(granted.passedOver, [:], "\(reason), granted before, is not counted")
            }
        },
        ConformanceRule("Another user's purchase is counted beside the user's own, and kept by a repeat's answer") {
            subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("other", user: "u9", offset: 1), Samples.purchase("1")),
                Samples.grant(Samples.submission("own", offset: 2), Samples.purchase("2")))
            let three = Samples.grant(
                Samples.submission("s1", offset: 3), Samples.purchase("1"), Samples.purchase("2"),
                Samples.purchase("3", passingOver: .transactionRevoked))
            let new = try subject.write(three)[0]
            try expect(new.outcome, .granted(created: 1), "one is new")
            let counts = Dictionary(
                uniqueKeysWithValues: (new.passedOver ?? [:]).map { ($0.rawValue, $1) })
            try expect(counts, ["owned_by_another_user": 1, "transaction_revoked": 1], "beside a grant")
            let two = Samples.grant(
                Samples.submission("s2", offset: 4), Samples.purchase("1"), Samples.purchase("2"))
            let repeated = try subject.write(two)[0]
            try expect(repeated.outcome, .repeated, "none is new")
            try expect((repeated.passedOver ?? [:]).values.map { $0 }, [1], "beside a repeat")
            let known = try subject.ledger.knownOutcomes(of: [Samples.origin(4)])
            try expect(known.map { $0.passedOver?.named.map(\.transactionID) }, [["1"]], "the answer's")
            let alone = Samples.grant(Samples.submission("s3", offset: 5), Samples.purchase("1"))
            try expect(try subject.write(alone)[0].outcome, .failed(reason: "owned_by_another_user"), "alone")
        },
        ConformanceRule("What is passed over is said with the grant or the answer, and again for the same record") {
            subject in
            try subject.own()
            func write(_ id: SubmissionID, offset: Int64, lease: RetryLease? = nil) throws -> DecisionResult {
                let purchase = Samples.purchase("1", passingOver: .subscriptionExpired)
                return try subject.write(Samples.grant(Samples.submission(id, offset: offset), purchase, lease: lease))[
                    0]
            }
            try expect(try write("s1", offset: 7).passedOver, [.subscriptionExpired: 1], "a grant")
            try expect(try write("s1", offset: 7).passedOver, [.subscriptionExpired: 1], "the same record")
            try expect(try write("s1", offset: 8).passedOver, [:], "the same submission")
            try expect(try write("s2", offset: 9).passedOver, [.subscriptionExpired: 1], "a repeat")
            try expect(try write("s2", offset: 9).passedOver, [.subscriptionExpired: 1], "the same repeat")
            try expect(try write("s2", offset: 11).passedOver, [:], "the repeat by another record")
            let known = try subject.ledger.knownOutcomes(of: [7, 8, 9].map { Samples.origin($0) })
            try expect(
                known.map { $0.passedOver?.counts }, [[.subscriptionExpired: 1], [.subscriptionExpired: 1]],
                "the outcomes of the grant's and the answer's record")
            let owing = Samples.grant(
                Samples.submission("s3", offset: 10), Samples.purchase("2", passingOver: .transactionRevoked),
                owesCall: true)
            try expect(try subject.write(owing)[0].passedOver, [.transactionRevoked: 1], "a grant that owes a call")
            try expect(try subject.write(owing)[0].passedOver, [.transactionRevoked: 1], "its record again")
        },
    ]
}

extension Samples {
    static func key(_ id: SubmissionID) -> SubmissionKey { SubmissionKey(bundleID: app, submissionID: id) }

    static func named(
        _ transaction: TransactionID, _ key: String? = nil, _ environment: Environment = .production
    ) -> NamedPurchase {
        NamedPurchase(
            transaction, of: "com.example.gems", GrantKey(environment: environment, name: key ?? "t:\(transaction)"))
    }

    /// A submission that is held as long as one of these purchases is not granted.
    static func hold(
        _ submission: Submission, _ purchases: [NamedPurchase], lease: RetryLease? = nil, doubts: Bool = false
    ) -> Decision {
        let entry = RetryEntry(
            cause: .held(.accountTokenMissing), detail: "No token.", delay: 0, history: AttemptHistory(), doubt: nil,
            isSigned: false, purchases: purchases)
        return decision(submission, .wait(entry), lease: lease, doubts: doubts)
    }

    static func hold(_ submission: Submission, _ transaction: TransactionID, lease: RetryLease? = nil) -> Decision {
        hold(submission, [named(transaction)], lease: lease)
    }
}
