import Ledger
import Purchases

extension LedgerConformance {
    static let holdRules: [ConformanceRule] = [
        ConformanceRule("a held submission has no event and says why it waits") { ledger in
            let subject = Subject(ledger)
            let outcomes = try await subject.settle(Samples.held("s1"))
            try expect(outcomes, [.waiting(.held(.sharedSecretRefused))], "outcome")
            try expect(try await subject.copies(), [:], "outbox")
            let row = try await subject.row("s1")
            try expect(row?.reason, HoldCause.sharedSecretRefused.rawValue, "cause")
            try expect(row?.detail, "No secret fits.", "detail")
            try expect(row?.eventIDs, [], "events")
        },
        ConformanceRule("a new decision takes a held submission's place") { ledger in
            let subject = Subject(ledger)
            let event = Samples.event(Samples.purchase("1"))
            try await subject.settle(Samples.held("s1"), Samples.held("s2"))
            let outcomes = try await subject.settle(
                Samples.grant("s1", Samples.purchase("1")), Samples.failure("s2"))
            try expect(outcomes[0], .granted(events: [event], created: 1), "granted")
            try expect(
                outcomes[1], .failed(event: Samples.failedEvent("s2"), reason: .receiptNotAuthentic), "failed")
            let row = try await subject.row("s1")
            try expect(row?.outcome, .granted, "row")
            try expect(row?.reason, nil, "reason")
            try expect(try await ledger.counts().submissions, [.granted: 1, .failed: 1], "counts")
        },
        ConformanceRule("a reused id that is held after an answer keeps that answer") { ledger in
            let subject = Subject(ledger)
            let event = Samples.event(Samples.purchase("1"))
            try await subject.settle(Samples.grant("s1", Samples.purchase("1")), Samples.failure("s2"))
            try await subject.settle(Samples.held("s1", content: "second"), Samples.held("s2", content: "second"))
            try expect(try await ledger.counts().submissions, [.held: 2], "held meanwhile")
            let outcomes = try await subject.settle(
                Samples.failure("s1", content: "second"), Samples.failure("s2", content: "second"))
            try expect(outcomes[0], .answeredAgain(events: [event]), "granted before")
            try expect(outcomes[1], .answeredAgain(events: [Samples.failedEvent("s2")]), "failed before")
            try expect(try await ledger.counts().submissions, [.granted: 1, .failed: 1], "back to their outcomes")
        },
        ConformanceRule("an answer that is not recorded cannot be repeated: the submission is held") { ledger in
            let subject = Subject(ledger)
            let outcomes = try await subject.settle(
                Samples.settlement("s1", offset: 42, .answerAgain),
                Samples.settlement("s2", .grant([], by: .verifyReceipt)))
            try expect(outcomes, [.waiting(.held(.incompleteAnswer)), .waiting(.held(.incompleteAnswer))], "outcomes")
            try expect(try await subject.row("s1")?.origin.offset, 42, "where its record is")
            let decided = try await subject.settle(Samples.grant("s1", Samples.purchase("1")))
            try expect(
                decided, [.granted(events: [Samples.event(Samples.purchase("1"))], created: 1)], "decided later")
        },
        ConformanceRule("an answer asked for while a submission is held leaves it as it is") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.held("s1"))
            let row = try await subject.row("s1")
            let outcomes = try await subject.settle(
                Samples.settlement("s1", .answerAgain), now: Samples.noon.advanced(by: .seconds(1)))
            try expect(outcomes, [.waiting(.held(.sharedSecretRefused))], "outcome")
            try expect(try await subject.row("s1"), row, "row")
        },
    ]
}
