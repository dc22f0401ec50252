import Contract
import Ledger

extension LedgerConformance {
    private static func held(
        _ submission: Submission, _ cause: HoldCause, lease: RetryLease, tells: Bool
    ) -> Decision {
        let entry = RetryEntry(
            cause: .held(cause), detail: "Held.", delay: 120_000,
            history: AttemptHistory([Attempt(at: Samples.later(7), cause: cause.rawValue, detail: "Held.")]),
            doubt: nil,
            isSigned: false, purchases: [])
        return Samples.decision(submission, .wait(entry), lease: lease, tellsWaiting: tells, attempts: 3)
    }

    private static let pending = OutboxRequest(target: .topic(.pending), limit: 9)

    static let pendingRules: [ConformanceRule] = [
        ConformanceRule("A record that begins to wait is told where its decision says so") { subject in
            try subject.own()
            let history = AttemptHistory([Attempt(at: Samples.later(5), cause: "unreachable", detail: "Nothing.")])
            let results = try subject.write(
                Samples.wait(Samples.submission("s1", offset: 1), history: history, tellsWaiting: true),
                Samples.wait(Samples.submission("s2", offset: 2)))
            let pending = PendingSubmission(
                claimant: Samples.submission("s1", offset: 1).claimant, state: .retrying, cause: "unreachable",
                attempts: 1, receivedAt: Samples.submission("s1", offset: 1).receivedAt, at: Samples.later(5),
                nextTryAt: Samples.later(15_000))
            try expect(results[0].events, [PendingEvent.event(of: pending)], "events of the first")
            try expect(results[1].events, [], "events of the second")
            try expect(try subject.ledger.outbox(limit: 9), [], "rows of the outbox")
        },
        ConformanceRule("A row that begins to wait for somebody else owes an event, of the row as it is then") {
            subject in
            try subject.own()
            let submission = Samples.submission("s1")
            try subject.write(Samples.wait(submission, delay: 0))
            let lease = try subject.takeOne().lease
            try subject.write(held(submission, .sharedSecretRefused, lease: lease, tells: true))
            try expect(
                try subject.ledger.submission(submission.claimant.submissionKey).owed.map(\.key),
                [.pending(ClaimDigest(of: submission))], "owed")
            subject.setClock(Samples.later(120_000))
            let again = try subject.takeOne(nil).lease
            try subject.write(held(submission, .unknownAnswer, lease: again, tells: false))
            let items = try subject.ledger.takeOutbox([pending])
            let told = PendingSubmission(
                claimant: submission.claimant, state: .held, cause: "unknown_answer", attempts: 3,
                receivedAt: submission.receivedAt, at: Samples.later(7), nextTryAt: Samples.later(240_000))
            try expect(items.map(\.work), [.publish(PendingEvent.event(of: told))], "work")
            try subject.ledger.report(items.map { .published($0.lease) })
            try expect(try subject.ledger.outbox(limit: 9), [], "rows of the outbox")
        },
        ConformanceRule("A row that changes while it is told is told anew") { subject in
            try subject.own()
            let submission = Samples.submission("s1")
            try subject.write(Samples.wait(submission, delay: 0))
            try subject.write(held(submission, .sharedSecretRefused, lease: try subject.takeOne().lease, tells: true))
            let first = try subject.ledger.takeOutbox([pending])
            subject.setClock(Samples.later(120_000))
            let again = try subject.takeOne(nil).lease
            try subject.write(Samples.wait(submission, lease: again, attempts: 4, tellsWaiting: true))
            try expect(
                try subject.ledger.outbox(limit: 9).map(\.owedSince), [Samples.later(120_000)], "owed since the change")
            try subject.ledger.report(first.map { .published($0.lease) })
            let second = try subject.ledger.takeOutbox([pending])
            guard case .publish(let event)? = second.first?.work else {
                throw Violation(description: "the second state is not told")
            }
            try expect(String(decoding: event.value ?? [], as: UTF8.self).contains("retrying"), "the second state")
            try subject.ledger.report(second.map { .published($0.lease) })
            try expect(try subject.ledger.outbox(limit: 9), [], "rows of the outbox")
        },
        ConformanceRule("Another record of a claim that waits tells what its row says") { subject in
            try subject.own()
            let submission = Samples.submission("s1", offset: 1)
            try subject.write(Samples.wait(submission, delay: 0))
            try subject.write(held(submission, .unknownAnswer, lease: try subject.takeOne().lease, tells: false))
            let copy = try subject.write(Samples.wait(Samples.submission("s1", offset: 2), tellsWaiting: true))[0]
            let told = PendingSubmission(
                claimant: submission.claimant, state: .held, cause: "unknown_answer", attempts: 3,
                receivedAt: submission.receivedAt, at: Samples.later(7), nextTryAt: Samples.later(120_000))
            try expect(copy.events, [PendingEvent.event(of: told)], "events")
        },
        ConformanceRule("A submission that has an answer is not told to wait, whichever record asks again") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")),
                Samples.fail(Samples.submission("s2", offset: 2)))
            let copies = try subject.write(
                Samples.wait(Samples.submission("s1", offset: 3), tellsWaiting: true),
                Samples.wait(Samples.submission("s2", offset: 4, receipt: "b3RoZXI="), tellsWaiting: true))
            try expect(copies.map(\.events.count), [0, 0], "events of the copies")
            let another = Samples.submission("s1", user: "player-2", offset: 5)
            try expect(
                try subject.write(Samples.wait(another, tellsWaiting: true))[0].events.count, 1, "events of another's")
            let origins = [3, 4, 5].map { Samples.submission("s", offset: $0).origin }
            let known = try subject.ledger.knownOutcomes(of: origins).sorted { $0.origin < $1.origin }
            try expect(known.map(\.kind), [.waiting, .waiting, .waiting], "outcomes of the copies, read again")
            try expect(known.map(\.publish.count), [0, 0, 1], "events of the copies, read again")
            _ = try subject.ledger.owe([
                OutboxEntry(
                    ownership: Samples.ownership(), key: .pending(ClaimDigest(of: Samples.submission("s1"))), delay: 0,
                    stub: nil)
            ])
            try expect(try subject.ledger.takeOutbox([pending]), [], "what is owed of the copies")
            try expect(try subject.ledger.outbox(limit: 9), [], "rows of the outbox")
            subject.setClock(Samples.later(20_000))
            let taken = try subject.ledger.takeDue([DueRequest(endpoint: Samples.endpoint, limit: 9)], bytes: .max)
            try expect(Set(taken.map(\.submission.origin.offset)), [3, 4, 5], "offsets of what waits all the same")
        },
        ConformanceRule("The event of a submission that no longer waits is owed no more, and hides no other") {
            subject in
            try subject.own()
            let (first, second) = (Samples.submission("s1", offset: 1), Samples.submission("s2", offset: 2))
            try subject.write(Samples.wait(first, delay: 0), Samples.wait(second, delay: 0))
            let keys = [first, second].map { OutboxKey.pending(ClaimDigest(of: $0)) }
            _ = try subject.ledger.owe(
                keys.map { OutboxEntry(ownership: Samples.ownership(), key: $0, delay: 0, stub: nil) })
            let due = try subject.ledger.takeDue([DueRequest(endpoint: Samples.endpoint, limit: 2)], bytes: .max)
            let lease = due.first { $0.submission.id == "s1" }?.lease
            try subject.write(Samples.grant(first, Samples.purchase("1"), lease: lease))
            let one = OutboxRequest(target: .topic(.pending), limit: 1)
            try expect(try subject.ledger.takeOutbox([one]).map(\.lease.key), [keys[1]], "taken")
            try expect(
                Set(try subject.ledger.outbox(limit: 9).map(\.key)),
                [keys[1], .granted(Samples.reference("1"), repeatOf: nil)], "rows of the outbox")
        },
    ]
}
