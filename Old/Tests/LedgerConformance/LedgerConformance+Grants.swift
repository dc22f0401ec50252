import Ledger
import Purchases

extension LedgerConformance {
    static let grantRules: [ConformanceRule] = [
        ConformanceRule("a grant, its event and its submission appear together") { ledger in
            let subject = Subject(ledger)
            let purchase = Samples.purchase("1")
            let outcomes = try await subject.settle(Samples.grant("s1", order: "o1", purchase))
            let event = Samples.event(purchase)
            try expect(outcomes, [.granted(events: [event], created: 1)], "outcome")
            try expect(try await subject.copies(), [event: 1], "outbox")
            let grant = try await ledger.grants(GrantFilter(), before: nil, limit: 10)
            try expect(grant.map(\.granted), [purchase], "granted")
            try expect(grant.map(\.claimant.orderID), ["o1"], "claimant")
            try expect(grant.map(\.grantedAt), [Samples.noon], "time")
            let row = try await subject.row("s1")
            try expect(row?.outcome, .granted, "row")
            try expect(row?.eventIDs, [event], "events of the row")
        },
        ConformanceRule("the same user without another order gets the stored event again, bytes unchanged") { ledger in
            let subject = Subject(ledger)
            let purchase = Samples.purchase("1")
            let event = Samples.event(purchase)
            try await subject.settle(Samples.grant("s1", order: "o1", purchase))
            let bytes = try await subject.event(event)
            let later = Samples.noon.advanced(by: .seconds(60))
            let outcomes = try await subject.settle(
                Samples.grant("s2", order: "o1", purchase), Samples.grant("s3", purchase), now: later)
            try expect(
                outcomes, [.granted(events: [event], created: 0), .granted(events: [event], created: 0)], "both")
            try expect(try await subject.event(event), bytes, "bytes")
            try expect(try await subject.copies(), [event: 3], "copies")
        },
        ConformanceRule("the same user with another order is refused") { ledger in
            let subject = Subject(ledger)
            let purchase = Samples.purchase("1")
            let outcomes = try await subject.settle(
                Samples.grant("s1", order: "o1", purchase), Samples.grant("s2", order: "o2", purchase))
            try expect(
                outcomes[1], .failed(event: Samples.failedEvent("s2"), reason: .grantedToAnotherOrder), "second")
            try expect(try await ledger.counts().grants, 1, "grants")
        },
        ConformanceRule("another user is refused, and is not told whose it is") { ledger in
            let subject = Subject(ledger)
            let purchase = Samples.purchase("1")
            let outcomes = try await subject.settle(
                Samples.grant("s1", user: "alice", purchase), Samples.grant("s2", user: "bob", purchase))
            let failed = Samples.failedEvent("s2")
            try expect(outcomes[1], .failed(event: failed, reason: .ownedByAnotherUser), "second")
            let value = String(decoding: try await subject.event(failed)?.value ?? [], as: UTF8.self)
            try expect(value.contains("bob"), true, "own id in the event")
            try expect(value.contains("alice"), false, "owner's id in the event")
        },
        ConformanceRule("a transaction is granted once, also where its key is another than before") { ledger in
            let subject = Subject(ledger)
            // A period without its line item, and with it; and a product whose type was corrected.
            let twins = [
                (
                    Samples.purchase("11", original: "10", type: .autoRenewable),
                    Samples.purchase("11", original: "10", type: .autoRenewable, lineItem: "900")
                ),
                (Samples.purchase("20", type: .autoRenewable, lineItem: "901"), Samples.purchase("20")),
            ]
            for (index, (first, second)) in twins.enumerated() {
                let event = Samples.event(first)
                try await subject.settle(Samples.grant(SubmissionID("first-\(index)"), user: "alice", first))
                try expect(
                    try await subject.settle(Samples.grant(SubmissionID("mallory-\(index)"), user: "mallory", second)),
                    [
                        .failed(
                            event: Samples.failedEvent(SubmissionID("mallory-\(index)")), reason: .ownedByAnotherUser)
                    ], "another")
                try expect(
                    try await subject.settle(Samples.grant(SubmissionID("again-\(index)"), user: "alice", second)),
                    [.granted(events: [event], created: 0)], "the same user")
            }
            // Together with what is new, and in one batch and in one submission.
            let (bare, named) = (
                Samples.purchase("31", original: "30", type: .autoRenewable),
                Samples.purchase("31", original: "30", type: .autoRenewable, lineItem: "902")
            )
            let outcomes = try await subject.settle(
                Samples.grant("b1", user: "alice", named), Samples.grant("b2", user: "bob", bare),
                Samples.grant("b3", user: "carol", Samples.purchase("40")))
            let event = Samples.event(named)
            try expect(outcomes.first, .granted(events: [event], created: 1), "first of the batch")
            try expect(
                outcomes[1], .failed(event: Samples.failedEvent("b2"), reason: .ownedByAnotherUser), "second of it")
            try expect(
                try await subject.settle(Samples.grant("c", user: "alice", bare, named)),
                [.granted(events: [event], created: 0)], "both in one")
            try expect(try await ledger.counts().grants, 4, "grants")
            // The sandbox numbers for itself.
            let sandbox = Samples.purchase("40", environment: .sandbox)
            try expect(
                try await subject.settle(Samples.grant("d", user: "dora", sandbox)),
                [.granted(events: [Samples.event(sandbox)], created: 1)], "another environment")
        },
        ConformanceRule("user ids that differ in bytes are different users") { ledger in
            let subject = Subject(ledger)
            // Equal to Unicode; and equal up to a NUL.
            let pairs: [(UserID, UserID)] = [("caf\u{e9}", "cafe\u{301}"), ("a\u{0}b", "a\u{0}c")]
            for (index, pair) in pairs.enumerated() {
                let purchase = Samples.purchase(TransactionID("\(index)"))
                let outcomes = try await subject.settle(
                    Samples.grant(SubmissionID("a\(index)"), user: pair.0, purchase),
                    Samples.grant(SubmissionID("b\(index)"), user: pair.1, purchase))
                try expect(
                    outcomes[1],
                    .failed(event: Samples.failedEvent(SubmissionID("b\(index)")), reason: .ownedByAnotherUser),
                    "pair \(index)")
                let own = try await ledger.grants(GrantFilter(userID: pair.0), before: nil, limit: 10)
                try expect(own.map { Array($0.claimant.userID.rawValue.utf8) }, [Array(pair.0.rawValue.utf8)], "kept")
            }
        },
        ConformanceRule("one purchase of several that is the user's makes a granted outcome") { ledger in
            let subject = Subject(ledger)
            let theirs = Samples.purchase("1")
            let mine = Samples.purchase("2")
            let new = Samples.purchase("3")
            let outcomes = try await subject.settle(
                Samples.grant("s1", user: "bob", theirs), Samples.grant("s2", mine),
                Samples.grant("s3", theirs, mine, new))
            try expect(
                outcomes[2], .granted(events: [Samples.event(mine), Samples.event(new)], created: 1), "third")
            try expect(try await subject.row("s3")?.eventIDs, [Samples.event(mine), Samples.event(new)], "events")
            try expect(
                try await subject.copies(),
                [Samples.event(theirs): 1, Samples.event(mine): 2, Samples.event(new): 1], "copies")
        },
        ConformanceRule("no purchase that is the user's fails as the first one did") { ledger in
            let subject = Subject(ledger)
            let first = Samples.purchase("1")
            let second = Samples.purchase("2")
            let outcomes = try await subject.settle(
                Samples.grant("s1", order: "o1", first), Samples.grant("s2", user: "bob", second),
                Samples.grant("s3", order: "o3", first, second))
            try expect(
                outcomes[2], .failed(event: Samples.failedEvent("s3"), reason: .grantedToAnotherOrder), "third")
        },
        ConformanceRule("purchases of one submission with the same key are one") { ledger in
            let subject = Subject(ledger)
            let purchase = Samples.purchase("1", type: .nonConsumable)
            let restored = Samples.purchase("2", original: "1", type: .nonConsumable)
            let outcomes = try await subject.settle(Samples.grant("s1", purchase, restored))
            try expect(outcomes, [.granted(events: [Samples.event(purchase)], created: 1)], "outcome")
            try expect(try await subject.copies(), [Samples.event(purchase): 1], "copies")
        },
        ConformanceRule("the same transaction in sandbox is another purchase") { ledger in
            let subject = Subject(ledger)
            let real = Samples.purchase("1")
            let test = Samples.purchase("1", environment: .sandbox)
            let outcomes = try await subject.settle(
                Samples.grant("s1", user: "alice", real), Samples.grant("s2", user: "bob", test))
            try expect(outcomes[1], .granted(events: [Samples.event(test)], created: 1), "sandbox")
        },
        ConformanceRule("a failed submission has exactly one event of its own") { ledger in
            let subject = Subject(ledger)
            let outcomes = try await subject.settle(Samples.failure("s1"), Samples.failure("s2"))
            try expect(
                outcomes,
                ["s1", "s2"].map { .failed(event: Samples.failedEvent($0), reason: .receiptNotAuthentic) }, "outcomes")
            try expect(
                try await subject.copies(), [Samples.failedEvent("s1"): 1, Samples.failedEvent("s2"): 1], "outbox")
            let row = try await subject.row("s1")
            try expect(row?.reason, "receipt_not_authentic", "reason")
            try expect(row?.detail, "It is not authentic.", "detail")
        },
    ]
}
