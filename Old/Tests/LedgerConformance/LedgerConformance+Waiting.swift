import Ledger
import Purchases

extension LedgerConformance {
    private static let minute: Duration = .seconds(60)

    private static func after(_ seconds: Int) -> Timestamp { Samples.noon.advanced(by: .seconds(seconds)) }

    private static func due(_ subject: Subject, _ worker: WorkerID, at seconds: Int) async throws -> [SubmissionID] {
        try await subject.ledger.takeDue(worker, limit: 10, for: minute, now: after(seconds)).map(\.key.submissionID)
    }

    private static let note = OperatorNote(actor: "ann", reason: "Apple mended it.")

    static let waitingRules: [ConformanceRule] = [
        ConformanceRule("a parked submission comes back when it is due, with all that another try needs") { ledger in
            let subject = Subject(ledger)
            let history = [Attempt(at: Samples.noon, cause: "noAnswer", detail: "HTTP 503.")]
            let settlement = Samples.parked("s1", after: .seconds(5), attempts: 3, history: history)
            try expect(try await subject.settle(settlement), [.waiting(.parked(.noAnswer))], "outcome")
            try expect(try await subject.copies(), [:], "no event")
            try expect(try await due(subject, "first", at: 4), [], "not yet")
            let found = try await ledger.takeDue("first", limit: 10, for: minute, now: after(5))
            let waiting = Samples.waiting("s1", .parked(.noAnswer), detail: "HTTP 503.")
            try expect(
                found,
                [
                    DueSubmission(
                        submission: waiting.submission, claimant: settlement.claimant, fingerprint: "first",
                        origin: settlement.origin, receivedAt: settlement.receivedAt, attempts: 3,
                        history: AttemptHistory(history), cause: .parked(.noAnswer), doubtSince: Samples.noon)
                ], "due")
        },
        ConformanceRule("every kind of evidence comes back as it was parked") { ledger in
            let subject = Subject(ledger)
            let kinds: [Evidence] = [
                .receipt(base64: "AAAA"), .signedTransaction("a.b.c"), .transactionID("9"),
            ]
            for (index, evidence) in kinds.enumerated() {
                let id = SubmissionID("s\(index)")
                let submission = Submission(
                    id: id, userID: "alice", bundleID: Samples.bundle, evidence: evidence,
                    transactionID: index == 2 ? "9" : nil)
                let waiting = Waiting(.held(.credentialsRefused), detail: "x", submission: submission, delay: .zero)
                try await subject.settle(Samples.settlement(id, .wait(waiting)))
            }
            let due = try await ledger.takeDue("first", limit: 10, for: minute, now: after(1))
            try expect(due.map { $0.submission?.evidence }, kinds, "evidence")
            try expect(due.map(\.cause), Array(repeating: .held(.credentialsRefused), count: 3), "cause")
        },
        ConformanceRule("nothing that comes under the id of what waits takes its place or its evidence") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.parked("s", after: .seconds(1)))
            try await subject.settle(Samples.failure("s", content: "second"))
            try await subject.settle(Samples.failure("s", reason: .malformedSubmission))
            try await subject.settle(Samples.parked("s", content: "third", after: .zero))
            try await subject.settle(Samples.grant("s", content: "fourth", Samples.purchase("1")))
            let counts = try await ledger.counts()
            try expect(counts.submissions, [.parked: 1], "outcomes")
            try expect(counts.grants, 1, "the purchase was granted")
            let found = try await ledger.takeDue("first", limit: 10, for: minute, now: after(5))
            try expect(found.map(\.fingerprint), ["first"], "what waits")
            try expect(found.map { $0.submission?.evidence }, [.receipt(base64: "c2VjcmV0")], "its evidence")
            try await subject.settle(Samples.grant("s", Samples.purchase("2")))
            try expect(try await ledger.counts().submissions, [.granted: 1], "its own outcome")
            try expect(try await ledger.counts().grants, 2, "both")
        },
        ConformanceRule("what is due is one worker's, the longest due first, until its lease ends") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(
                Samples.parked("late", after: .seconds(9)), Samples.parked("early", after: .seconds(1)),
                Samples.parked("not", after: .seconds(500)))
            let first = try await ledger.takeDue("first", limit: 1, for: minute, now: after(10))
            try expect(first.map(\.key.submissionID), ["early"], "one")
            try expect(try await due(subject, "second", at: 10), ["late"], "the other")
            try expect(try await due(subject, "second", at: 69), [], "taken")
            try expect(
                try await ledger.waiting(Samples.key("early")), WaitingState(dueAt: after(70), worker: "first"), "state"
            )
            let keys = [Samples.key("early"), Samples.key("late")]
            try await ledger.keepDue("first", keys, for: minute, now: after(60))
            try expect(try await due(subject, "third", at: 70), ["late"], "kept and not kept")
            try expect(try await due(subject, "third", at: 120), ["early"], "its worker is silent")
        },
        ConformanceRule("a worker keeps what it names, and what it never heard that it took comes due again") {
            ledger in
            let subject = Subject(ledger)
            try await subject.settle(
                Samples.parked("heard", after: .zero), Samples.parked("unheard", after: .seconds(1)))
            try expect(try await due(subject, "first", at: 1), ["heard", "unheard"], "taken")
            try await ledger.keepDue("first", [Samples.key("heard")], for: minute, now: after(60))
            try expect(try await due(subject, "second", at: 61), ["unheard"], "not named")
            try await ledger.keepDue("first", [], for: minute, now: after(100))
            try expect(try await due(subject, "second", at: 119), [], "named")
            try expect(try await due(subject, "second", at: 120), ["heard"], "not named any more")
        },
        ConformanceRule("a worker takes as many as their bytes allow, and the others are due as they were") { ledger in
            let subject = Subject(ledger)
            let evidence = String(repeating: "A", count: DueSubmission.maxTakenBytes / 4)
            for index in 0..<6 {
                let id = SubmissionID("s\(index)")
                let submission = Submission(
                    id: id, userID: "alice", bundleID: Samples.bundle,
                    evidence: .receipt(base64: EvidenceText(evidence)))
                let waiting = Waiting(
                    .parked(.noAnswer), detail: "x", submission: submission, delay: .milliseconds(index))
                try await subject.settle(Samples.settlement(id, .wait(waiting)))
            }
            try expect(try await due(subject, "first", at: 1), ["s0", "s1", "s2", "s3"], "until the bytes are reached")
            try expect(try await ledger.waiting(Samples.key("s4"))?.worker, nil, "left as it was")
            try expect(try await due(subject, "second", at: 1), ["s4", "s5"], "the rest")
        },
        ConformanceRule("one that is larger than all that is taken at once is taken alone") { ledger in
            let subject = Subject(ledger)
            let evidence = String(repeating: "A", count: DueSubmission.maxTakenBytes + 1)
            let large = Submission(
                id: "large", userID: "alice", bundleID: Samples.bundle,
                evidence: .receipt(base64: EvidenceText(evidence)))
            try await subject.settle(
                Samples.settlement(
                    "large", .wait(Waiting(.parked(.noAnswer), detail: "x", submission: large, delay: .zero))),
                Samples.parked("small", after: .milliseconds(1)))
            try expect(try await due(subject, "first", at: 1), ["large"], "alone")
            try expect(try await due(subject, "first", at: 1), ["small"], "the next")
        },
        ConformanceRule("what a worker gives back is due at once, and counts no try") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.parked("s1", after: .zero, attempts: 3))
            try expect(try await due(subject, "first", at: 1), ["s1"], "taken")
            try await ledger.giveBackDue("second", now: after(2))
            try expect(try await due(subject, "second", at: 2), [], "not the other's to give back")
            try await ledger.giveBackDue("first", now: after(2))
            let again = try await ledger.takeDue("second", limit: 10, for: minute, now: after(2))
            try expect(again.map(\.attempts), [3], "tries")
        },
        ConformanceRule("a decision ends the stay, and the row keeps the tries before it") { ledger in
            let subject = Subject(ledger)
            let history = [Attempt(at: Samples.noon, cause: "noAnswer", detail: "HTTP 503.")]
            try await subject.settle(Samples.parked("s1", after: .zero), Samples.parked("s2", after: .zero))
            let purchase = Samples.purchase("1")
            let granted = Settlement(
                claimant: Samples.grant("s1").claimant, fingerprint: "first",
                origin: Origin(topic: "t", partition: 0, offset: 1), receivedAt: Samples.noon, attempts: 4,
                history: AttemptHistory(history), decision: .grant([purchase], by: .verifyReceipt))
            let outcomes = try await subject.settle(granted, Samples.failure("s2"))
            try expect(outcomes[0], .granted(events: [Samples.event(purchase)], created: 1), "granted")
            try expect(try await due(subject, "first", at: 500), [], "nothing waits")
            try expect(try await ledger.waiting(Samples.key("s1")), nil, "state")
            try expect(try await subject.row("s1")?.history.attempts, history, "history")
            try expect(try await ledger.backlog().waiting, [:], "backlog")
        },
        ConformanceRule("a submission that is parked again is due later, with its longer history") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.parked("s1", after: .zero, attempts: 1))
            _ = try await due(subject, "first", at: 1)
            let history = [Attempt(at: after(2), cause: "rateLimited", detail: "HTTP 429.")]
            try await subject.settle(
                Samples.parked("s1", cause: .rateLimited, after: .seconds(30), attempts: 2, history: history),
                now: after(2))
            try expect(
                try await ledger.waiting(Samples.key("s1")), WaitingState(dueAt: after(32), worker: nil), "state")
            let again = try await ledger.takeDue("second", limit: 10, for: minute, now: after(32))
            try expect(again.map(\.attempts), [2], "tries")
            try expect(again.map(\.history.attempts), [history], "history")
            try expect(again.map(\.cause), [.parked(.rateLimited)], "cause")
        },
        ConformanceRule("a repeat of a submission that waits is told so, and changes nothing") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.parked("s1"))
            let row = try await subject.row("s1")
            let outcomes = try await subject.settle(Samples.settlement("s1", .answerAgain), now: after(1))
            try expect(outcomes, [.waiting(.parked(.noAnswer))], "outcome")
            try expect(try await subject.row("s1"), row, "row")
            try expect(try await ledger.waiting(Samples.key("s1"))?.dueAt, after(60), "due")
        },
        ConformanceRule("the backlog tells what waits by cause, since when the first is due, and what is unpublished") {
            ledger in
            try await Subject(ledger).settle(
                Samples.parked("s1", after: .seconds(9)), Samples.parked("s2", after: .seconds(5)),
                Samples.parked("s3", cause: .rateLimited), Samples.held("s4"), Samples.failure("s5"))
            try expect(
                try await ledger.backlog(),
                LedgerBacklog(
                    waiting: [.held(.sharedSecretRefused): 1, .parked(.noAnswer): 2, .parked(.rateLimited): 1],
                    firstDueAt: after(5), unpublished: 1), "backlog")
            let parked = SubmissionFilter(outcome: .parked, reason: "noAnswer")
            let rows = try await ledger.submissions(parked, before: nil, limit: 10)
            try expect(rows.map(\.claimant.submissionID), ["s2", "s1"], "list")
        },
        ConformanceRule("a person's retry makes one due at once, and leaves its name") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.parked("s1", after: .seconds(900)), Samples.failure("s2"))
            let key = Samples.key("s1")
            try expect(try await ledger.retry(key, note, now: after(1)), .due, "outcome")
            try expect(try await due(subject, "first", at: 1), ["s1"], "due")
            try expect(
                try await ledger.actions(on: key),
                [OperatorAction(at: after(1), kind: .retry, note: note, count: 1)], "action")
            try expect(try await ledger.retry(Samples.key("s2"), note, now: after(1)), .settled(.failed), "settled")
            try expect(try await ledger.retry(Samples.key("s3"), note, now: after(1)), .notFound, "unknown")
            try expect(try await ledger.actions(on: Samples.key("s2")), [], "nothing was done")
        },
        ConformanceRule("a person's retry says what it cannot change: what is being tried, and what has no evidence") {
            ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.parked("s1", after: .zero), Samples.settlement("s2", .answerAgain))
            _ = try await due(subject, "first", at: 1)
            try expect(try await ledger.retry(Samples.key("s1"), note, now: after(2)), .underWay("first"), "taken")
            try expect(try await ledger.waiting(Samples.key("s1"))?.dueAt, after(61), "its lease")
            try expect(try await ledger.retry(Samples.key("s2"), note, now: after(2)), .notKept, "held alone")
            for id in ["s1", "s2"] as [SubmissionID] {
                try expect(try await ledger.actions(on: Samples.key(id)), [], "nothing was done to \(id)")
            }
        },
        ConformanceRule("a person's retry of a cause brings them back at a rate, the oldest first") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(
                Samples.parked("s1", after: .seconds(900)), Samples.parked("s2", after: .seconds(800)),
                Samples.parked("s3", cause: .rateLimited, after: .seconds(700)),
                Samples.parked("s4", after: .seconds(600)))
            let count = try await ledger.retryAll(
                .parked(.noAnswer), bundleID: Samples.bundle, perSecond: 0.5, note, now: after(1))
            try expect(count, 3, "count")
            try expect(try await due(subject, "first", at: 1), ["s1"], "first")
            try expect(try await due(subject, "first", at: 3), ["s2"], "second")
            try expect(try await due(subject, "first", at: 5), ["s4"], "third")
            try expect(
                try await ledger.retryAll(.parked(.noAnswer), bundleID: "other", perSecond: 1, note, now: after(9)), 0,
                "another app")
        },
        ConformanceRule("a submission that is given up fails, with its event and the person's reason") { ledger in
            let subject = Subject(ledger)
            try await subject.settle(Samples.parked("s1"))
            let event = Samples.failedEvent("s1")
            let key = Samples.key("s1")
            try expect(try await ledger.abandon(key, note, now: after(1)), .abandoned(event), "outcome")
            let row = try await subject.row("s1")
            try expect(row?.reason, FailureReason.abandonedByOperator.rawValue, "reason")
            try expect(row?.detail, note.reason, "detail")
            try expect(row?.attempts, 3, "tries")
            try expect(row?.transactionID, "77", "transaction")
            let found = try await ledger.submissions(SubmissionFilter(transactionID: "77"), before: nil, limit: 10)
            try expect(found.map(\.claimant.submissionID), ["s1"], "found by its transaction")
            try expect(try await subject.copies(), [event: 1], "event")
            try expect(try await due(subject, "first", at: 900), [], "nothing waits")
            try expect(try await ledger.actions(on: key).map(\.kind), [.abandon], "action")
            try expect(try await ledger.abandon(key, note, now: after(2)), .settled(.failed), "again")
            try expect(try await ledger.abandon(Samples.key("s9"), note, now: after(2)), .notFound, "unknown")
        },
        ConformanceRule("submissions are found by transaction, whatever became of them, and by age") { ledger in
            let subject = Subject(ledger)
            let rejection = Rejection(.transactionNotFound, "Not there.", transactionID: "77")
            try await subject.settle(
                Samples.grant("s1", Samples.purchase("77")), Samples.settlement("s2", .fail(rejection)),
                Samples.parked("s3"), Samples.failure("s4"))
            let found = try await ledger.submissions(SubmissionFilter(transactionID: "77"), before: nil, limit: 10)
            try expect(found.map(\.claimant.submissionID), ["s3", "s2", "s1"], "transaction")
            try expect(found.map(\.transactionID), ["77", "77", nil], "what rows tell")
            let old = SubmissionFilter(receivedUntil: Timestamp(milliseconds: 1_793_999_999_999))
            try expect(try await ledger.submissions(old, before: nil, limit: 10), [], "age")
        },
    ]
}
