import Ledger
import Purchases

extension LedgerConformance {
    static let repeatRules: [ConformanceRule] = [
        ConformanceRule("a batch settled again changes nothing but the copies asked for") { ledger in
            let subject = Subject(ledger)
            let purchase = Samples.purchase("1")
            let batch = [Samples.grant("s1", purchase), Samples.failure("s2")]
            _ = try await ledger.settle(batch, quarantines: [], now: Samples.noon)
            let rows = try await ledger.submissions(SubmissionFilter(), before: nil, limit: 10)
            let grants = try await ledger.grants(GrantFilter(), before: nil, limit: 10)
            let events = try await ledger.events(after: 0, limit: 10).map(\.event)
            let outcomes = try await ledger.settle(
                batch, quarantines: [], now: Samples.noon.advanced(by: .seconds(9))
            ).outcomes
            try expect(
                outcomes,
                [
                    .answeredAgain(events: [Samples.event(purchase)]),
                    .answeredAgain(events: [Samples.failedEvent("s2")]),
                ], "outcomes")
            try expect(try await ledger.submissions(SubmissionFilter(), before: nil, limit: 10), rows, "rows")
            try expect(try await ledger.grants(GrantFilter(), before: nil, limit: 10), grants, "grants")
            try expect(try await ledger.events(after: 0, limit: 10).map(\.event), events, "events")
            try expect(
                try await subject.copies(), [Samples.event(purchase): 2, Samples.failedEvent("s2"): 2], "copies")
        },
        ConformanceRule("a repeat is answered as recorded, whatever it was decided to be this time") { ledger in
            let subject = Subject(ledger)
            let event = Samples.event(Samples.purchase("1"))
            try await subject.settle(Samples.grant("s1", Samples.purchase("1")))
            let outcomes = try await subject.settle(
                Samples.failure("s1"), Samples.held("s1"), Samples.grant("s1", Samples.purchase("2")),
                Samples.settlement("s1", .answerAgain))
            try expect(outcomes, Array(repeating: .answeredAgain(events: [event]), count: 4), "outcomes")
            try expect(try await subject.copies(), [event: 5], "copies")
        },
        ConformanceRule("a repeat inside the batch is a repeat") { ledger in
            let subject = Subject(ledger)
            let purchase = Samples.purchase("1")
            let outcomes = try await subject.settle(Samples.grant("s1", purchase), Samples.grant("s1", purchase))
            try expect(outcomes[1], .answeredAgain(events: [Samples.event(purchase)]), "second")
            try expect(try await subject.copies(), [Samples.event(purchase): 2], "copies")
        },
        ConformanceRule("a reused id that claims another purchase is granted it, and the row tells of both") { ledger in
            let subject = Subject(ledger)
            let first = Samples.event(Samples.purchase("1"))
            let second = Samples.event(Samples.purchase("2"))
            try await subject.settle(Samples.grant("s1", Samples.purchase("1")))
            let outcomes = try await subject.settle(Samples.grant("s1", content: "second", Samples.purchase("2")))
            try expect(outcomes, [.granted(events: [second], created: 1)], "outcome")
            try expect(try await subject.row("s1")?.eventIDs, [first, second], "events")
            let again = try await subject.settle(Samples.grant("s1", Samples.purchase("1")))
            try expect(again, [.answeredAgain(events: [first, second])], "repeat of the first")
        },
        ConformanceRule("a reused id that fails after a grant is answered with the grant") { ledger in
            let subject = Subject(ledger)
            let event = Samples.event(Samples.purchase("1"))
            try await subject.settle(Samples.grant("s1", Samples.purchase("1")))
            let outcomes = try await subject.settle(Samples.failure("s1", content: "second"))
            try expect(outcomes, [.answeredAgain(events: [event])], "outcome")
            try expect(try await subject.copies(), [event: 2], "no failed event")
            try expect(try await subject.row("s1")?.outcome, .granted, "row")
        },
        ConformanceRule("a reused id that fails after a failure is answered with the first failure's event") { ledger in
            let subject = Subject(ledger)
            let event = Samples.failedEvent("s1")
            try await subject.settle(Samples.failure("s1"))
            let bytes = try await subject.event(event)
            let outcomes = try await subject.settle(
                Samples.failure("s1", user: "bob", content: "second", reason: .bundleMismatch))
            try expect(outcomes, [.answeredAgain(events: [event])], "outcome")
            try expect(try await subject.event(event), bytes, "bytes")
            try expect(try await subject.row("s1")?.reason, "receipt_not_authentic", "reason")
        },
        ConformanceRule("a reused id that is granted after a failure becomes granted, and stays so") { ledger in
            let subject = Subject(ledger)
            let event = Samples.event(Samples.purchase("1"))
            try await subject.settle(Samples.failure("s1"))
            let outcomes = try await subject.settle(Samples.grant("s1", content: "second", Samples.purchase("1")))
            try expect(outcomes, [.granted(events: [event], created: 1)], "outcome")
            let row = try await subject.row("s1")
            try expect(row?.outcome, .granted, "row")
            try expect(row?.eventIDs, [event], "answers")
            let again = try await subject.settle(Samples.failure("s1"))
            try expect(again, [.answeredAgain(events: [event])], "repeat of the failure")
        },
        ConformanceRule("a malformed submission without a bundle id is settled like any other") { ledger in
            let claimant = Claimant(submissionID: "s1", userID: "alice", bundleID: "")
            let settlement = Settlement(
                claimant: claimant, fingerprint: "f", origin: Origin(topic: "t", partition: 0, offset: 0),
                receivedAt: Samples.noon, attempts: 0, decision: .fail(Rejection(.malformedSubmission, "No bundle id."))
            )
            let event = FailedEvent.id(bundleID: "", submissionID: "s1")
            let first = try await Subject(ledger).settle(settlement, Samples.failure("s1"))
            try expect(first[0], .failed(event: event, reason: .malformedSubmission), "first")
            try expect(first[1], .failed(event: Samples.failedEvent("s1"), reason: .receiptNotAuthentic), "other app")
            try expect(try await Subject(ledger).settle(settlement), [.answeredAgain(events: [event])], "again")
        },
        ConformanceRule("look-ups tell fingerprint and outcome of what is known, and of nothing else") { ledger in
            try await Subject(ledger).settle(
                Samples.grant("s1", Samples.purchase("1")), Samples.failure("s2"), Samples.held("s3"))
            let many = (0..<600).map { Samples.key(SubmissionID("unknown-\($0)")) }
            let recorded = try await ledger.recorded(many + [Samples.key("s1"), Samples.key("s2"), Samples.key("s3")])
            try expect(
                recorded,
                [
                    Samples.key("s1"): RecordedSubmission(fingerprint: "first", outcome: .granted),
                    Samples.key("s2"): RecordedSubmission(fingerprint: "first", outcome: .failed),
                    Samples.key("s3"): RecordedSubmission(fingerprint: "first", outcome: .held),
                ], "recorded")
        },
    ]
}
