import Contract
import Ledger

extension LedgerConformance {
    static let severalRules: [ConformanceRule] = [
        ConformanceRule("Of several purchases the new ones are told, and nothing else") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1"), Samples.purchase("1")),
                Samples.grant(Samples.submission("t1", user: "other", offset: 8), Samples.purchase("2")))
            let result = try subject.write(
                Samples.grant(
                    Samples.submission("s2", offset: 9), Samples.purchase("1"), Samples.purchase("2"),
                    Samples.purchase("3"), Samples.purchase("4")))[0]
            try expect(result.outcome, .granted(created: 2), "outcome")
            try expect(result.events.map(\.repeatOf), [nil, nil], "marks")
            try expect(
                Set(result.events.map(\.id)),
                Set(["3", "4"].map { GrantedEvent.id(of: Samples.purchase($0).grantKey.grantID) }), "events")
            let again = try subject.write(
                Samples.grant(
                    Samples.submission("s2", offset: 9), Samples.purchase("1"), Samples.purchase("3"),
                    Samples.purchase("4")))[0]
            try expect(again.outcome, .redelivery, "the same record")
            try expect(Set(again.events), Set(result.events), "its events")
        },
        ConformanceRule("If nothing is new, the newest is told once more") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1", at: -300)),
                Samples.grant(Samples.submission("s2", offset: 2), Samples.purchase("2", at: -100)),
                Samples.grant(Samples.submission("s3", offset: 3), Samples.purchase("3", at: -200)))
            let result = try subject.write(
                Samples.grant(
                    Samples.submission("s4", offset: 4), Samples.purchase("1", at: -300),
                    Samples.purchase("2", at: -100),
                    Samples.purchase("3", at: -200)))[0]
            try expect(result.outcome, .repeated, "outcome")
            try expect(
                result.events.map(\.id), [GrantedEvent.id(of: Samples.purchase("2").grantKey.grantID)], "events")
            try expect(result.events.map(\.repeatOf), ["s4"], "marks")
        },
        ConformanceRule("If none is the user's, the first one's reason is told") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1", order: "o1", offset: 1), Samples.purchase("1")),
                Samples.grant(Samples.submission("s2", user: "other", offset: 2), Samples.purchase("2")))
            let result = try subject.write(
                Samples.grant(
                    Samples.submission("s3", order: "o3", offset: 3), Samples.purchase("2"), Samples.purchase("1")))[0]
            try expect(result.outcome, .failed(reason: "owned_by_another_user"), "outcome")
        },
        ConformanceRule("A purchase and its restore in one receipt are granted once") { subject in
            try subject.own()
            let durable = Samples.gems(.nonConsumable)
            let result = try subject.write(
                Samples.grant(
                    Samples.submission("s1"), Samples.purchase("12", original: "11", product: durable),
                    Samples.purchase("11", product: durable)))[0]
            try expect(result.outcome, .granted(created: 1), "outcome")
            try expect(result.events.count, 1, "events")
        },
        ConformanceRule("A receipt of old purchases under a new order is a doubt first") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", order: "o1"), Samples.purchase("1")))
            let purchase = Samples.purchase("1")
            func write(_ id: SubmissionID, order: OrderID?, doubts: Bool) throws -> DecisionResult {
                let submission = Samples.submission(id, order: order, offset: 8)
                return try subject.write(Samples.grant(submission, purchase, doubts: doubts))[0]
            }
            try expect(try write("s2", order: "o2", doubts: true), .nothingNew, "an order that no grant has")
            try expect(try subject.ledger.submissions(SubmissionQuery(state: .failed)).count, 0, "failures")
            try expect(try write("s3", order: "o1", doubts: true).outcome, .repeated, "the grant's order")
            try expect(try write("s4", order: nil, doubts: true).outcome, .repeated, "no order")
            try expect(
                try write("s2", order: "o2", doubts: false).outcome, .failed(reason: "granted_to_another_order"),
                "once the doubt has ended")
            let redelivery = Samples.grant(Samples.submission("s1", order: "o1"), purchase, doubts: true)
            try expect(try subject.write(redelivery)[0].outcome, .redelivery, "the same record")
            let new = Samples.grant(
                Samples.submission("s5", order: "o5", offset: 9), purchase, Samples.purchase("5"), doubts: true)
            try expect(try subject.write(new)[0].outcome, .granted(created: 1), "with something new")
        },
    ]

    static let unlistedRules: [ConformanceRule] = [
        ConformanceRule("Old purchases do not answer for one that the apps file lacks") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1", order: "o1"), Samples.purchase("1")),
                Samples.grant(Samples.submission("t1", user: "other", offset: 8), Samples.purchase("2")))
            func write(
                _ id: SubmissionID, order: OrderID? = nil, _ transaction: TransactionID = "1", offset: Int64 = 9,
                reason: PassedOver.Reason = .productNotConfigured
            ) throws -> DecisionResult {
                let purchase = Samples.purchase(transaction, passingOver: reason)
                return try subject.write(
                    Samples.grant(Samples.submission(id, order: order, offset: offset), purchase))[0]
            }
            let held = DecisionResult.toBeHeld(
                .productNotConfigured, detail: "Apple attests what the apps file does not list: com.example.new.")
            try expect(try write("s2"), held, "no order")
            try expect(try write("s2", order: "o2"), held, "another order")
            try expect(try write("s2", "2"), held, "another user's")
            try expect(try subject.ledger.submissions(SubmissionQuery(state: .failed)).count, 0, "failures")
            try expect(try write("s3", order: "o1").outcome, .repeated, "the grant's order")
            try expect(try write("s1", order: "o1", offset: 7).outcome, .redelivery, "the same record")
            try expect(try write("s1", offset: 10), held, "the same submission, whose grant does not show it")
            try expect(try write("s4", reason: .transactionRevoked).outcome, .repeated, "another reason")
            try expect(try write("s4"), held, "answered before, without it")
            try expect(try write("s3", order: "o1", offset: 11).outcome, .repeated, "answered so before")
            try expect(try write("s5", "3").outcome, .granted(created: 1), "with something new")
            try expect(try write("s5", "3", offset: 12).outcome, .repeated, "its grant shows it")
        },
        ConformanceRule("A purchase that was granted while its product was listed holds no repeat") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1"), Samples.purchase("1")),
                Samples.grant(Samples.submission("t1", user: "other", offset: 8), Samples.purchase("99")))
            func write(_ id: SubmissionID, _ key: String, offset: Int64 = 9) throws -> DecisionResult {
                var purchase = Samples.purchase("1")
                purchase.passedOver = PassedOver(
                    [PassedOver.Entry("98", "com.example.old", .productNotConfigured)],
                    holding: [PassedOver.Holding(.productNotConfigured, Samples.named("98", key))])
                return try subject.write(Samples.grant(Samples.submission(id, offset: offset), purchase))[0]
            }
            try expect(try write("s2", "t:99").outcome, .repeated, "restored, and granted before")
            guard case .toBeHeld(.productNotConfigured, _) = try write("s3", "t:97", offset: 10) else {
                throw Violation(description: "answered by an old purchase, and nobody has the other one")
            }
        },
        ConformanceRule("What was passed over stands beside the grant and the answer, and in no event") { subject in
            try subject.own()
            let purchase = Samples.purchase("1", passingOver: .subscriptionExpired)
            let granted = try subject.write(Samples.grant(Samples.submission("s1"), purchase))[0]
            try expect(try subject.grantRows().map(\.passedOver), [purchase.passedOver], "the grant's")
            let bare = Grant(
                of: Samples.purchase("1"), to: Samples.submission("s1"), by: .verifyReceipt, attempts: 1,
                grantedAt: Samples.noon)
            try expect(granted.events, [GrantedEvent.event(of: bare)], "event")
            try subject.write(Samples.grant(Samples.submission("s2", offset: 8), purchase))
            let key = SubmissionKey(bundleID: Samples.app, submissionID: "s2")
            guard case .repeated(let repeated)? = try subject.ledger.submission(key).answer else {
                throw Violation(description: "no answer row")
            }
            try expect(repeated.passedOver, purchase.passedOver, "the answer's")
        },
    ]

    static let failureRules: [ConformanceRule] = [
        ConformanceRule("A failure is told from its row, and again by the same bytes") { subject in
            try subject.own()
            let submission = Samples.submission("s1", order: "o1", traceparent: "00-1")
            let first = try subject.write(Samples.fail(submission))[0]
            try expect(first.outcome, .failed(reason: "receipt_not_authentic"), "outcome")
            let answer = try subject.ledger.submission(submission.claimant.submissionKey).answer
            guard case .failed(let failure)? = answer else { throw Violation(description: "no answer row") }
            try expect(first.events, [FailedEvent.event(of: failure)], "events")
            try expect(failure.digest, ClaimDigest(of: submission), "digest")
            let again = try subject.write(Samples.fail(submission, at: 60_000))[0]
            try expect(again.events, first.events, "written again")
        },
        ConformanceRule("A failed claim stays failed; another one under its id can be granted") { subject in
            try subject.own()
            let failed = Samples.submission("s1")
            let first = try subject.write(Samples.fail(failed))[0]
            let same = try subject.write(Samples.grant(failed, Samples.purchase("1")))[0]
            try expect(same.outcome, .failed(reason: "receipt_not_authentic"), "the same claim")
            try expect(same.events, first.events, "its event")
            try expect(try subject.grantRows().count, 0, "grants")
            let other = Samples.submission("s1", offset: 8, receipt: "b3RoZXI=")
            let granted = try subject.write(Samples.grant(other, Samples.purchase("1")))[0]
            try expect(granted.outcome, .granted(created: 1), "another claim")
            let waiting = try subject.write(Samples.wait(failed))[0]
            try expect(waiting.events, first.events, "the same claim, once it would wait")
        },
        ConformanceRule("A second failure under one id tells the first one's bytes") { subject in
            try subject.own()
            let first = try subject.write(Samples.fail(Samples.submission("s1")))[0]
            let other = Samples.submission("s1", offset: 8, receipt: "b3RoZXI=")
            let second = try subject.write(Samples.fail(other, .unknownProduct, at: 5_000))[0]
            try expect(second.outcome, .failed(reason: "receipt_not_authentic"), "outcome")
            try expect(second.events, first.events, "events")
        },
        ConformanceRule("A submission that has a grant does not fail") { subject in
            try subject.own()
            let granted = try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))[0]
            let redelivery = try subject.write(Samples.fail(Samples.submission("s1")))[0]
            try expect(redelivery.outcome, .redelivery, "the same record")
            try expect(redelivery.events, granted.events, "its events")
            let again = try subject.write(Samples.fail(Samples.submission("s1", offset: 8)))[0]
            try expect(again.outcome, .repeated, "another record")
            try expect(again.events.map(\.repeatOf), ["s1"], "mark")
            try expect(again.events.map(\.unmarked), granted.events, "events")
            try expect(try subject.ledger.submissions(SubmissionQuery(state: .failed)).count, 0, "failures")
            let refused = Samples.grant(Samples.submission("s1", offset: 9), Samples.purchase("2"))
            try subject.write(
                Samples.grant(Samples.submission("t1", user: "other", offset: 10), Samples.purchase("2")))
            try expect(try subject.write(refused)[0].outcome, .repeated, "one more purchase that is another's")
        },
        ConformanceRule("Grants of another app or of another user do not keep a submission from failing") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1", app: "com.example.other", offset: 1), Samples.purchase("1")),
                Samples.grant(Samples.submission("s2", user: "other", offset: 2), Samples.purchase("2")))
            for id: SubmissionID in ["s1", "s2"] {
                let result = try subject.write(Samples.fail(Samples.submission(id, offset: 3)))[0]
                try expect(result.outcome, .failed(reason: "receipt_not_authentic"), id.rawValue)
            }
        },
        ConformanceRule("One id fails in each app by itself") { subject in
            try subject.own()
            let apps: [BundleID] = ["com.example.game", "com.example.other"]
            let events = try apps.map { app in
                try subject.write(Samples.fail(Samples.submission("s1", app: app)))[0].events
            }
            try expect(Set(events.flatMap { $0 }.map(\.id)).count, 2, "events")
        },
        ConformanceRule("A failure that finds a repeat tells the grant that answers it") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            let repeated = try subject.write(
                Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1")))[0]
            let failed = try subject.write(Samples.fail(Samples.submission("s2", offset: 8)))[0]
            try expect(failed, repeated, "result")
        },
        ConformanceRule("A failure under an id whose answer is another user's repeat is told") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            try subject.write(Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1")))
            let other = Samples.submission("s2", user: "other", offset: 9)
            let failed = try subject.write(Samples.fail(other))[0]
            try expect(failed.outcome, .failed(reason: "receipt_not_authentic"), "outcome")
            try expect(try subject.write(Samples.fail(other))[0], failed, "written again")
            let again = try subject.write(Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1")))[0]
            try expect(again.outcome, .repeated, "the repeat")
        },
        ConformanceRule("A malformed submission fails by the digest of its bytes") { subject in
            try subject.own()
            let malformed = MalformedSubmission(
                claimant: Claimant(
                    submissionID: "s1", userID: "player-1", bundleID: "", orderID: nil, traceparent: nil),
                rejection: Rejection(.malformedSubmission, "receipt is no text"),
                digest: ClaimDigest(of: Samples.submission("x")), origin: Samples.submission("s1").origin,
                receivedAt: Samples.noon)
            let decision = Decision(
                subject: .malformed(malformed), source: .record(Samples.ownership()),
                content: .fail(malformed.rejection),
                attempts: 0, decidedAt: Samples.noon, owesCall: false, tellsWaiting: false, repeats: .publish,
                doubtsNothingNew: false)
            let first = try subject.write(decision)[0]
            try expect(first.outcome, .failed(reason: "malformed_submission"), "outcome")
            try expect(try subject.write(decision)[0], first, "written again")
        },
        ConformanceRule("A submission that stands twice in a batch is decided once, and then again") { subject in
            try subject.own()
            let results = try subject.write(
                Samples.fail(Samples.submission("s1", offset: 1)), Samples.fail(Samples.submission("s1", offset: 2)))
            try expect(results[0].outcome, .failed(reason: "receipt_not_authentic"), "the first")
            try expect(results[1], .undecided, "the second")
        },
    ]

    static let callRules: [ConformanceRule] = [
        ConformanceRule("Nothing is told while a call is owed") { subject in
            try subject.own()
            let decision = Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: true)
            let first = try subject.write(decision)[0]
            try expect(first, .written(.granted(created: 1), publish: []), "the grant")
            try expect(try subject.write(decision)[0], .written(.redelivery, publish: []), "the same record")
            let copy = Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1"), owesCall: true)
            try expect(try subject.write(copy)[0], .written(.repeated, publish: []), "a repeat")
            try expect(
                try subject.write(Samples.fail(Samples.submission("s1")))[0], .written(.redelivery, publish: []),
                "a later refusal")
            try expect(try subject.drain(), [], "events in the outbox")
            let known = try subject.ledger.knownOutcomes(of: [7, 8].map(Samples.origin))
            try expect(known.map(\.kind), [.granted, .repeated], "known outcomes")
            try expect(known.flatMap(\.publish), [], "their events")
        },
        ConformanceRule("The service hears of each new grant, and then its event is told") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(
                    Samples.submission("s1"), Samples.purchase("1"), Samples.purchase("2"), owesCall: true))
            let items = try subject.ledger.takeOutbox([OutboxRequest(target: .service(Samples.app), limit: 10)])
            let rows = try subject.grantRows()
            try expect(Set(items.compactMap(\.called)), Set(rows), "calls")
            try subject.ledger.report(items.map { .called($0.lease) })
            try expect(Set(try subject.drain()), Set(rows.map { GrantedEvent.event(of: $0) }), "events")
            let copy = Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1"), owesCall: true)
            try expect(try subject.write(copy)[0].events.map(\.repeatOf), ["s2"], "a repeat after it")
            try expect(try subject.ledger.outbox(limit: 10), [], "outbox")
        },
        ConformanceRule("A repeat before the service's yes gets its copy after a call of its own") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: true))
            let copy = Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1"), owesCall: true)
            for _ in 1...2 {
                try expect(try subject.write(copy)[0], .written(.repeated, publish: []), "nothing at once")
            }
            let items = try subject.ledger.takeOutbox([OutboxRequest(target: .service(Samples.app), limit: 10)])
            try expect(items.compactMap(\.called).map(\.submissionID), ["s1", "s1"], "calls")
            try subject.ledger.report(items.filter { $0.lease.key.isCopy }.map { .called($0.lease) })
            try expect(try subject.drain().map(\.repeatOf), ["s2"], "the copy")
            try subject.ledger.report(items.filter { !$0.lease.key.isCopy }.map { .called($0.lease) })
            try expect(try subject.drain().map(\.repeatOf), [nil], "the grant's own event")
        },
        ConformanceRule("A submission that comes again in another record owes no second call") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: true))
            let again = Samples.grant(Samples.submission("s1", offset: 8), Samples.purchase("1"), owesCall: true)
            try expect(try subject.write(again)[0], .written(.repeated, publish: []), "its own grant answers it")
            try expect(try subject.ledger.outbox(limit: 10).map(\.key.isCopy), [false], "owed")
        },
        ConformanceRule("A repeat of an app whose repeats are ignored owes no call") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: true))
            try subject.write(
                Samples.grant(
                    Samples.submission("s2", offset: 8), Samples.purchase("1"), owesCall: true, repeats: .ignore))
            try expect(try subject.ledger.outbox(limit: 10).map(\.key.isCopy), [false], "owed")
        },
        ConformanceRule("Of several purchases only the new ones owe a call") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            try subject.write(
                Samples.grant(
                    Samples.submission("s2", offset: 8), Samples.purchase("1"), Samples.purchase("2"), owesCall: true))
            try expect(
                try subject.ledger.outbox(limit: 10).map(\.key), [.granted(Samples.reference("2"), repeatOf: nil)],
                "owed")
        },
    ]
}

extension Samples {
    static func origin(_ offset: Int64) -> Origin {
        Origin(topic: partition.topic, partition: partition.partition, offset: offset)
    }
}

extension OutboxKey {
    fileprivate var isCopy: Bool {
        if case .granted(_, _?) = self { true } else { false }
    }
}

extension OutboxItem {
    var called: Grant? {
        guard case .call(let grant) = work else { return nil }
        return grant
    }

    var published: Event? {
        guard case .publish(let event) = work else { return nil }
        return event
    }
}
