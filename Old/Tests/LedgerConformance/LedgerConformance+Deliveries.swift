import Ledger
import Purchases

extension LedgerConformance {
    private static let minute: Duration = .seconds(60)
    private static let one = Samples.purchase("1")
    private static let two = Samples.purchase("2")

    private static func after(_ seconds: Int) -> Timestamp { Samples.noon.advanced(by: .seconds(seconds)) }

    private static func take(
        _ ledger: ConformanceRule.AnyLedger, _ worker: WorkerID, at seconds: Int, limit: Int = 10
    ) async throws -> [Delivery] {
        try await ledger.takeDeliveries(
            worker, [DeliveryShare(bundleID: Samples.bundle, limit: limit)], for: minute, now: after(seconds))
    }

    private static func taken(
        _ ledger: ConformanceRule.AnyLedger, _ worker: WorkerID, at seconds: Int, limit: Int = 10
    ) async throws -> [EventID] {
        try await take(ledger, worker, at: seconds, limit: limit).map(\.event.id)
    }

    private static func done(_ purchases: GrantablePurchase..., attempts: Int = 1) -> [DeliveryReport] {
        purchases.map {
            DeliveryReport(eventID: Samples.event($0), attempts: attempts, history: AttemptHistory(), end: .done)
        }
    }

    private static func again(_ purchase: GrantablePurchase, in delay: Duration, attempts: Int = 1) -> DeliveryReport {
        DeliveryReport(
            eventID: Samples.event(purchase), attempts: attempts,
            history: AttemptHistory([Attempt(at: Samples.noon, cause: "failed", detail: "HTTP 500.")]),
            end: .again(after: delay))
    }

    static let deliveryRules: [ConformanceRule] = [
        ConformanceRule("a grant that is to be delivered is granted at once, and its event waits for the delivery") {
            ledger in
            let subject = Subject(ledger)
            try expect(
                try await subject.settle(Samples.delivered("s1", one)),
                [.granted(events: [Samples.event(one)], created: 1)], "outcome")
            try expect(try await subject.copies(), [:], "outbox")
            let counts = try await ledger.counts()
            try expect([counts.grants, counts.unpublished, counts.openDeliveries], [1, 0, 1], "counts")
            let added = try await ledger.report(done(one), "first", now: after(1))
            try expect(added?.map(\.event.id), [Samples.event(one)], "added")
            try expect(added?.map(\.sequence), [1], "sequence")
            try expect(try await subject.copies(), [Samples.event(one): 1], "outbox after it")
            try expect(try await ledger.counts().openDeliveries, 0, "open after it")
        },
        ConformanceRule("a delivery tells the event that is published, byte for byte, as one that is published at once")
        {
            ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.delivered("s1", one))
            let delivery = try await take(ledger, "first", at: 0).first
            try expect(delivery?.bundleID, Samples.bundle, "app")
            try expect(delivery?.grantID, GrantKey(of: one).grantID, "grant")
            _ = try await ledger.report(done(one), "first", now: after(1))
            let published = try await ledger.outbox(after: 0, limit: 10).first?.event
            try expect(delivery?.event, published, "event")
            let claim = GrantClaim.claims(
                of: [one], by: .verifyReceipt, claimant: Samples.grant("s1").claimant, at: Samples.noon)
            try expect(published, claim.first?.event, "bytes")
            try expect(
                try await ledger.grants(
                    GrantFilter(grantID: GrantKey(of: one).grantID), before: nil, limit: 1
                ).map(\.eventID), [Samples.event(one)], "grant by id")
        },
        ConformanceRule("the worker that settles has the delivery by its order, and nobody else until its lease ends") {
            ledger in
            let result = try await ledger.settle(
                [Samples.delivered("s1", one, two, by: .held(by: "first", for: minute))], quarantines: [],
                now: Samples.noon)
            try expect(result.opened.map(\.event.id), [one, two].map(Samples.event), "opened")
            try expect(result.added, [], "added")
            try expect(try await taken(ledger, "second", at: 59), [], "held")
            let row = try await ledger.deliveries([Samples.event(one)]).first
            try expect(row?.state, .open(dueAt: after(60), worker: "first"), "row")
            try await ledger.keepDeliveries([Samples.event(one)], "first", for: minute, now: after(50))
            try expect(try await taken(ledger, "second", at: 60), [Samples.event(two)], "one was kept")
            try await ledger.keepDeliveries([Samples.event(two)], "first", for: minute, now: after(61))
            try expect(try await taken(ledger, "third", at: 110), [Samples.event(one)], "its worker is silent")
            try expect(try await taken(ledger, "third", at: 120), [Samples.event(two)], "not the first's to keep")
        },
        ConformanceRule("a delivery that is due for all is nobody's, and the longest due is taken first") { ledger in
            let subject = Subject(ledger)
            let result = try await ledger.settle(
                [Samples.delivered("s1", one)], quarantines: [], now: Samples.noon)
            try expect(result.opened, [], "opened")
            try await subject.settle(Samples.delivered("s2", two), now: after(-5))
            try expect(try await taken(ledger, "first", at: 0, limit: 1), [Samples.event(two)], "first")
            try expect(try await taken(ledger, "second", at: 0), [Samples.event(one)], "the other")
            try expect(
                try await ledger.takeDeliveries(
                    "third", [DeliveryShare(bundleID: "com.example.other", limit: 9)], for: minute, now: after(900)),
                [],
                "another app's")
        },
        ConformanceRule("a call that did not help makes the delivery due later, with its history") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.delivered("s1", one))
            _ = try await take(ledger, "first", at: 0)
            let report = again(one, in: .seconds(30))
            _ = try await ledger.report([report], "second", now: after(1))
            try expect(try await taken(ledger, "second", at: 40), [], "not the second's to give back")
            try expect(try await ledger.report([report], "first", now: after(1)), [], "added")
            try expect(try await taken(ledger, "second", at: 30), [], "not yet")
            let again = try await take(ledger, "second", at: 31).first
            try expect(again?.attempts, 1, "attempts")
            try expect(again?.history, report.history, "history")
            try expect(try await subject.copies(), [:], "outbox")
        },
        ConformanceRule("what was told was told, whoever has the delivery by now, and it counts once") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.delivered("s1", one))
            _ = try await take(ledger, "first", at: 0)
            _ = try await take(ledger, "second", at: 61)
            let added = try await ledger.report(done(one, attempts: 2), "first", now: after(62))
            try expect(added?.count, 1, "added")
            try expect(try await ledger.report(done(one), "second", now: after(63)), [], "again")
            try expect(try await ledger.report([again(one, in: .zero)], "second", now: after(63)), [], "late failure")
            try expect(try await subject.copies(), [Samples.event(one): 1], "outbox")
            try expect(try await taken(ledger, "third", at: 900), [], "nothing is due")
            let row = try await ledger.deliveries([Samples.event(one)]).first
            try expect(row?.state, .done(at: after(62)), "state")
            try expect(row?.attempts, 2, "attempts")
            try expect(row?.openedAt, Samples.noon, "opened")
        },
        ConformanceRule("of reports on one delivery in a call the first counts, and a yes comes after any of them") {
            ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.delivered("s1", one), Samples.delivered("s2", two))
            _ = try await take(ledger, "first", at: 0)
            let twice = [again(one, in: minute, attempts: 1), again(one, in: .zero, attempts: 2)]
            try expect(try await ledger.report(twice, "first", now: after(1)), [], "again and again")
            let row = try await ledger.deliveries([Samples.event(one)]).first
            try expect(row?.state, .open(dueAt: after(61), worker: nil), "state")
            try expect(row?.attempts, 1, "attempts")
            let yes = done(one, two, one) + [again(two, in: .zero)]
            let added = try await ledger.report([again(two, in: .zero)] + yes, "first", now: after(2))
            try expect(added?.map(\.event.id), [one, two].map(Samples.event), "added")
            try expect(try await subject.copies(), [Samples.event(one): 1, Samples.event(two): 1], "outbox")
            try expect(try await taken(ledger, "second", at: 900), [], "nothing is due")
        },
        ConformanceRule("events enter the outbox in the order in which their deliveries were done") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.delivered("s1", one), Samples.delivered("s2", two, one))
            let added = try await ledger.report(done(two, one), "first", now: after(1))
            try expect(added, nil, "copies are among it")
            try expect(
                try await ledger.outbox(after: 0, limit: 10).map(\.event.id), [two, one, one].map(Samples.event),
                "outbox")
        },
        ConformanceRule("a submission that asks for the event joins the open delivery, and is answered after it") {
            ledger in
            let subject = Subject(ledger)
            let id = Samples.event(one)
            try await subject.settle(Samples.delivered("s1", one))
            try expect(
                try await subject.settle(Samples.settlement("s1", .answerAgain), Samples.delivered("s2", one)),
                [.answeredAgain(events: [id]), .granted(events: [id], created: 0)], "outcomes")
            try expect(try await subject.copies(), [:], "nothing is published before the call")
            let added = try await ledger.report(done(one), "first", now: after(1))
            try expect(added, nil, "copies have to be read")
            try expect(
                try await ledger.outbox(after: 0, limit: 10).map(\.event.id), [id, id, id], "the event and two copies")
            try await subject.settle(Samples.settlement("s1", .answerAgain))
            try expect(try await ledger.outbox(after: 3, limit: 10).map(\.event.id), [id], "published at once by now")
        },
        ConformanceRule("another submission of a purchase joins its delivery, and has a copy once that is done") {
            ledger in
            let subject = Subject(ledger)
            let id = Samples.event(one)
            try await subject.settle(Samples.delivered("s1", one))
            try expect(
                try await subject.settle(Samples.delivered("s2", one), Samples.delivered("s3", two)),
                [.granted(events: [id], created: 0), .granted(events: [Samples.event(two)], created: 1)], "open")
            try expect(try await ledger.counts().openDeliveries, 2, "each grant is delivered once")
            _ = try await ledger.report(done(one), "first", now: after(1))
            try expect(try await subject.copies(), [id: 2], "after it")
            try expect(
                try await subject.settle(Samples.delivered("s4", one)), [.granted(events: [id], created: 0)], "done")
            try expect(try await subject.copies(), [id: 3], "published at once by now")
        },
        ConformanceRule("a repeat in the same batch joins, too") { ledger in
            let subject = Subject(ledger)
            let id = Samples.event(one)
            try await subject.settle(
                Samples.delivered("s1", one), Samples.delivered("s2", one), Samples.delivered("s1", one))
            try expect(try await subject.copies(), [:], "outbox")
            _ = try await ledger.report(done(one), "first", now: after(1))
            try expect(try await ledger.outbox(after: 0, limit: 10).map(\.event.id), [id, id, id], "outbox after it")
        },
        ConformanceRule("copies that join are bounded: what asks for more is answered by these") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.delivered("s1", one))
            for _ in 0..<Delivery.maxJoined + 3 { try await subject.settle(Samples.settlement("s1", .answerAgain)) }
            _ = try await ledger.report(done(one), "first", now: after(1))
            try expect(try await ledger.outbox(after: 0, limit: 100).count, 1 + Delivery.maxJoined, "entries")
        },
        ConformanceRule("events that are published at once and delivered ones share the outbox without gaps") {
            ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.delivered("s1", one), Samples.grant("s2", two), Samples.failure("s3"))
            _ = try await ledger.report(done(one), "first", now: after(1))
            let outbox = try await ledger.outbox(after: 0, limit: 10)
            try expect(outbox.map(\.sequence), [1, 2, 3], "sequences")
            try expect(outbox.last?.event.id, Samples.event(one), "the delivered one is last")
        },
        ConformanceRule("counts tell how many deliveries are open, and since when the first is due") { ledger in
            try expect(
                try await ledger.deliveryCounts(), DeliveryCounts(open: 0, firstDueAt: nil), "of an empty ledger")
            let subject = Subject(ledger)
            try await subject.settle(Samples.delivered("s1", one), now: after(5))
            try await subject.settle(Samples.delivered("s2", two, by: .held(by: "first", for: minute)))
            try expect(
                try await ledger.deliveryCounts(), DeliveryCounts(open: 2, firstDueAt: after(5)), "open")
            _ = try await ledger.report(done(one), "first", now: after(6))
            try expect(
                try await ledger.deliveryCounts(), DeliveryCounts(open: 1, firstDueAt: after(60)), "one is done")
            let snapshot = try await ledger.snapshot()
            let rows = try await snapshot.deliveries(after: 0, limit: 10)
            try expect(rows.map(\.isOpen), [false, true], "snapshot")
            try expect(rows.map(\.grantID), [one, two].map { GrantKey(of: $0).grantID }, "grants")
            let rest = try await snapshot.deliveries(after: rows[0].sequence, limit: 10)
            await snapshot.close()
            try expect(rest, [rows[1]], "second page")
        },
    ]
}
