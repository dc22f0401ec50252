import Contract
import Ledger

/// Rows with words that this version does not know, as a later version writes them beside it. Each change of a column
/// with a word has a rule.
extension LedgerConformance {
    public static let laterRules = laterGrantRules + laterAnswerRules + laterRetryRules + laterOutboxRules

    private static let grantChanges = [
        "grants SET ownership = 'later'", "grants SET offer = 'later'",
        "grants SET offer = 'trial', offer_discount = 'later'", "grants SET format = 99", "grants SET kind = 7",
        "products SET type = 'later'", "products SET items = 'later'",
    ]

    private static func rules(
        _ description: String, _ changes: [String],
        _ check: @escaping @Sendable (ConformanceSubject, _ change: String) throws -> Void
    ) -> [ConformanceRule] {
        changes.map { change in
            ConformanceRule("\(description): \(change)") { subject in
                try subject.own()
                try check(subject, change)
            }
        }
    }

    private static func claim(_ id: SubmissionID, user: UserID = "player-1", offset: Int64 = 1) -> Decision {
        Samples.grant(Samples.submission(id, user: user, offset: offset), Samples.purchase("1"))
    }

    /// A purchase of a product that no row of a later version names.
    private static func other(_ transaction: TransactionID) -> GrantablePurchase {
        let product = Product(id: "other", type: .consumable, items: [Item(item: "other", quantity: 1)])
        return Samples.purchase(transaction, product: product)
    }

    private static func grantRules(
        _ description: String, _ changes: [String],
        _ check: @escaping @Sendable (ConformanceSubject) throws -> Void
    ) -> [ConformanceRule] {
        rules("A grant of a later version " + description, changes) { subject, change in
            try expect(try subject.write(claim("s1"))[0].outcome, .granted(created: 1), "a grant")
            _ = try subject.run("UPDATE \(change)")
            try check(subject)
        }
    }

    private static let laterGrantRules =
        grantRules("keeps what it holds: whoever claims it is held", grantChanges) { subject in
            try expect(try subject.isHeld(claim("s1")), "the same record")
            try expect(try subject.isHeld(claim("s1", offset: 2)), "the same submission from another record")
            try expect(try subject.isHeld(claim("s2", user: "other", offset: 3)), "another user")
            let restored = Samples.purchase("9", original: "1", product: Samples.gems(.nonConsumable, 120))
            try expect(
                try subject.isHeld(Samples.grant(Samples.submission("s3", offset: 4), restored)), "its key")
            let mixed = Samples.grant(Samples.submission("s4", offset: 5), Samples.purchase("1"), other("2"))
            try expect(try subject.isHeld(mixed), "beside a new purchase")
            let found = Samples.decision(Samples.submission("s5", offset: 6), .repeated(Samples.reference("1")))
            try expect(try subject.isHeld(found), "found by a look-up before")
            try expect(try subject.isHeld(Samples.fail(Samples.submission("s1", offset: 1))), "a failure")
            try expect(try subject.run("SELECT count(*) FROM grants"), "1", "grants beside it")
            try expect(try subject.run("SELECT count(*) FROM answers"), "0", "answers")
            let waits = Samples.wait(Samples.submission("s1", offset: 1))
            try expect(try subject.write(waits)[0].outcome, .retrying(.unreachable), "it waits for that version")
        }
        + grantRules(
            "is no known outcome, and answers no look-up", grantChanges + ["grants SET environment = 2"]
        ) { subject in
            let two = Samples.grant(Samples.submission("s2", offset: 2), other("2"), other("3"))
            try expect(try subject.write(two)[0].outcome, .granted(created: 2), "two more")
            _ = try subject.run("UPDATE grants SET format = 99 WHERE transaction_id = '3'")
            try expect(try subject.ledger.knownOutcomes(of: [1, 2].map(Samples.origin)).isEmpty, "not even in part")
            try expect(try subject.ledger.lookUp([Samples.lookup("1")]), [nil], "a look-up")
            try expect(try subject.isHeld(Samples.fail(Samples.submission("s1", offset: 1))), "a failure")
            let key = SubmissionKey(bundleID: Samples.app, submissionID: "s1")
            try expect(try subject.ledger.submission(key).later, 1, "of a later version")
            let listed = try subject.ledger.grants(GrantQuery(limit: 1)).map(\.grant.transactionID)
            try expect(listed, ["2"], "in the list")
        }
        + grantRules("is told by its version's workers, and hides nothing that is owed", grantChanges) { subject in
            try subject.write(Samples.grant(Samples.submission("s2", offset: 2), other("2")))
            let keys = ["1", "2"].map { OutboxKey.granted(Samples.reference($0), repeatOf: nil) }
            for key in keys { try subject.owe(key) }
            let taken = try subject.ledger.takeOutbox([OutboxRequest(target: .topic(.granted), limit: 1)])
            try expect(taken.map(\.lease.key), [keys[1]], "taken")
            let row = try subject.ledger.outbox(limit: 9).first { $0.key == keys[0] }
            try expect(row?.attempts == 1 && row?.isLeased == false, "it waits for another worker")
        }
        + grantRules("keeps a submission beside it from being given up, which stays as it is", grantChanges) {
            subject in
            let waiting = Samples.submission("s1", offset: 2, receipt: "b3RoZXI=")
            try subject.write(Samples.wait(waiting))
            let row = "SELECT takings || ' ' || (leased_until IS NULL) || ' ' || due_at FROM retries"
            let before = try subject.run(row)
            let note = OperatorNote(actor: "kim", reason: "asked", at: Samples.noon)
            let key = waiting.claimant.submissionKey
            try expect(try subject.ledger.abandon(key, note), [.held(.laterVersion)], "giving up")
            try expect(try subject.run(row), before, "its row")
            try expect(try subject.ledger.actions(on: key).isEmpty, "no action")
        }
        + grantRules("is not erased, and is counted", grantChanges) { subject in
            try subject.write(Samples.grant(Samples.submission("s2", offset: 2), other("2")))
            try subject.pass(to: 3)
            let note = OperatorNote(actor: "kim", reason: "asked", at: Samples.noon)
            let rows = ErasureResult.Rows(grants: 1, answers: 0, actions: 0, isComplete: true, later: 1)
            try expect(try subject.ledger.erase(Samples.playersErasure, note), .done(rows), "an erasure")
            let left = try subject.run("SELECT count(*) FROM grants WHERE user_id = 'player-1'")
            try expect(left, "1", "rows with the user's id")
        }
        + grantRules("with a word of its verifier alone is like others", ["grants SET verified_by = 'later'"]) {
            try expect(try $0.write(claim("s1"))[0].outcome, .redelivery, "the same record")
        }

    /// - Parameter grants: Whether a grant would contradict it.
    private static func expectItStands(_ subject: ConformanceSubject, grants: Bool = true) throws {
        let submission = Samples.submission("s1", offset: 1)
        try expect(try subject.ledger.knownOutcomes(of: [Samples.origin(1)]).isEmpty, "a known outcome")
        try expect(try subject.isHeld(Samples.fail(submission, .bundleMismatch)), "another failure")
        if grants {
            try expect(try subject.isHeld(Samples.grant(submission, other("2"))), "a grant may contradict it")
            try expect(try subject.ledger.submission(submission.claimant.submissionKey).later, 1, "later rows")
        }
        let outcome = try subject.write(Samples.wait(submission))[0].outcome
        try expect(outcome, .retrying(.unreachable), "it waits for that version")
    }

    private static let laterAnswerRules =
        rules(
            "An answer of a later version stands: its submission is held",
            ["answers SET format = 99", "answers SET digest = substr(digest, 1, 1)"]
        ) { subject, change in
            try subject.write(Samples.fail(Samples.submission("s1", offset: 1)))
            _ = try subject.run("UPDATE \(change)")
            try expectItStands(subject)
        }
        + rules(
            "An answer of a later version stands where another submission's grant answers, too",
            ["answers SET environment = 2", "grants SET format = 99"]
        ) { subject, change in
            try subject.write(claim("s0", offset: 0))
            try expect(try subject.write(claim("s1"))[0].outcome, .repeated, "a repeat")
            _ = try subject.run("UPDATE \(change)")
            try expect(try subject.isHeld(claim("s1")), "the same record")
            try expectItStands(subject, grants: change.hasPrefix("answers"))
        }
        + rules(
            "An answer with a word of its reason alone is like others", ["answers SET reason = 'later'"]
        ) { subject, change in
            let failure = Samples.fail(Samples.submission("s1", offset: 1))
            try subject.write(failure)
            _ = try subject.run("UPDATE \(change)")
            try expect(try subject.write(failure)[0].outcome, .failed(reason: "later"), "written again")
            let causes = try subject.ledger.submissions(SubmissionQuery(state: .failed)).map(\.cause)
            try expect(causes, ["later"], "in the list")
        }

    /// Of two rows of `retries` that are due, a later version wrote the first.
    private static func retryRules(
        _ description: String, _ changes: [String],
        _ check: @escaping @Sendable (ConformanceSubject, _ change: String) throws -> Void
    ) -> [ConformanceRule] {
        rules("A row of a later version that waits " + description, changes) { subject, change in
            for (index, id) in ["later", "known"].enumerated() {
                let submission = Samples.submission(SubmissionID(id), offset: Int64(index))
                try subject.write(Samples.wait(submission, delay: Int64(index)))
            }
            _ = try subject.run("UPDATE retries SET \(change) WHERE submission_id = 'later'")
            subject.setClock(Samples.later(1000))
            try check(subject, change)
        }
    }

    private static let retryChanges = ["evidence_kind = 'later'", "environment = 'later'"]

    private static let laterRetryRules =
        retryRules("hides no other that is due", retryChanges + ["endpoint = 'later/production/'"]) { subject, _ in
            let due = try subject.ledger.takeDue([DueRequest(endpoint: Samples.endpoint, limit: 1)], bytes: .max)
            try expect(due.map(\.submission.id), ["known"], "due")
            try expect(try subject.measure().later, 1, "of a later version")
        }
        + retryRules("hides no other that is suspect", retryChanges) { subject, _ in
            _ = try subject.run("UPDATE retries SET takings = 2, leased_until = due_at")
            try expect(
                try subject.ledger.takeDue([], bytes: .max).map(\.submission.id), ["known"], "suspect")
            try expect(try subject.ledger.takeDue([], bytes: .max).isEmpty, "it is leased now")
        }
        + retryRules("is a known outcome and stands in lists, whatever its evidence is", retryChanges) { subject, _ in
            let outcomes = try subject.ledger.knownOutcomes(of: [0, 1].map(Samples.origin))
            try expect(outcomes.map(\.kind), [.waiting, .waiting], "outcomes")
            let list = try subject.ledger.submissions(SubmissionQuery(state: .retrying))
            try expect(list.map(\.claimant.submissionID), ["known", "later"], "in the list")
            let key = SubmissionKey(bundleID: Samples.app, submissionID: "later")
            try expect(try subject.ledger.submission(key).later, 1, "of a later version")
        }
        + retryRules(
            "for a word of that version is taken as the least that it can mean",
            ["cause = 'later'", "cause = 'later', endpoint = NULL"]
        ) { subject, change in
            let endpoint = change.hasSuffix("NULL") ? nil : Samples.endpoint
            let due = try subject.ledger.takeDue([DueRequest(endpoint: endpoint, limit: 1)], bytes: .max)
            try expect(
                due.map(\.cause), [endpoint.map { .retrying(.noAnswer, $0) } ?? .held(.unknownAnswer)], "causes")
        }

    private static let laterOutboxRules = rules(
        "A row of the outbox that a later version wrote stays for its workers, hides no other, and is counted",
        ["key = 'later:1'", "step = 'later'", "target = 'topic:later'", "key = 'granted:later:1'"]
    ) { subject, change in
        for (id, offset) in [("s1", 1), ("s2", 2)] as [(SubmissionID, Int64)] {
            try subject.write(Samples.fail(Samples.submission(id, offset: offset)))
            try subject.owe(.failed(Samples.key(id)))
        }
        _ = try subject.run("UPDATE outbox SET \(change) WHERE sequence = 1")
        let row = "SELECT due_at || ' ' || attempts || ' ' || lease FROM outbox WHERE sequence = 1"
        let before = try subject.run(row)
        try expect(before != nil, "the row is there")
        let taken = try subject.ledger.takeOutbox([OutboxRequest(target: .topic(.failed), limit: 1)])
        try expect(taken.map(\.lease.key), [.failed(Samples.key("s2"))], "taken")
        try expect(try subject.run(row), before, "the row")
        try expect(try subject.measure().later, 1, "of a later version")
        try expect(try subject.ledger.outbox(limit: 1).map(\.key), [.failed(Samples.key("s2"))], "in a page of one")
        try expect(try subject.ledger.laterOwed(), 1, "owed beside it")
    }
}

extension ConformanceSubject {
    /// Whether a decision meets a row of a later version.
    fileprivate func isHeld(_ decision: Decision) throws -> Bool {
        if case .toBeHeld(.laterVersion, _) = try write(decision)[0] { true } else { false }
    }

    fileprivate func owe(_ key: OutboxKey) throws {
        _ = try ledger.owe([OutboxEntry(ownership: Samples.ownership(), key: key, delay: 0, stub: nil)])
    }
}
