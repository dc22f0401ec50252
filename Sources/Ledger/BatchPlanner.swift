public import Contract

/// Decides what a batch of decisions means for a ledger. Pure. Every driver reads and writes as the planner says, in
/// one transaction.
///
///     var planner = BatchPlanner(batch)
///     planner.admit(owned)                           // by generations and leases, read under locks
///     planner.inserted(fast: flags)                 // planner.fast, without those whose submission has an answer
///     let grants = planner.readAnswers(answers)      // planner.submissions
///     planner.inserted(flags)
///     let told = planner.conclude(held, own, ours)   // planner.questions
///     let writes = planner.answered(flags)
///     …commit…
///     return planner.results()
///
/// Decisions do not depend on each other: a batch holds each grant key, transaction and submission once.
public struct BatchPlanner: Sendable {
    private var entries: [Entry]
    private var order: [(entry: Int, purchase: Int)] = []
    private var answers: [NewAnswer] = []
    private var writes = BatchWrites()

    /// - Parameter batch: Decisions in which each grant key, transaction and submission stands once.
    public init(_ batch: [Decision]) { entries = batch.enumerated().map(Entry.init) }

    // MARK: Ownership

    /// Ends every decision whose generation or lease is not the present one.
    /// - Parameter owned: One per decision, in order.
    public mutating func admit(_ owned: [Bool]) {
        for index in entries.indices where !owned[index] { entries[index].state = .ended(.notOwned) }
    }

    // MARK: The fast path

    /// The grants that one statement may add, see ``isFast(_:)``: each unless its submission has an answer or one of
    /// its keys is taken. As many rows as were sent means that all are done.
    public var fast: [NewGrant] {
        entries.indices.compactMap { index in
            let decision = entries[index].decision
            guard entries[index].isOpen, Self.isFast(decision), case .grant(let purchases, let by) = decision.content,
                let purchase = purchases.first, case .submission(let submission) = decision.subject
            else { return nil }
            return NewGrant(decision: index, grant: Self.grant(purchase, submission, by: by, decision))
        }
    }

    /// Whether only a row of `grants` is written if its keys are free: for a record's one purchase that owes no call.
    public static func isFast(_ decision: Decision) -> Bool {
        guard case .record = decision.source, case .grant(let purchases, _) = decision.content else { return false }
        return purchases.count == 1 && !decision.owesCall
    }

    /// Takes the results of ``fast``, in its order. The rest is decided in the full form.
    public mutating func inserted(fast grants: [NewGrant], _ flags: [Bool]) {
        for (new, isNew) in zip(grants, flags) where isNew {
            entries[new.decision].state = .concluded(.granted(created: 1), tell: [.grant(new.grant, repeatOf: nil)])
            if let passedOver = new.grant.passedOver { entries[new.decision].passesOver = passedOver.counts }
        }
    }

    public var isComplete: Bool { !entries.contains(where: \.isOpen) }

    // MARK: The full form

    /// The submissions whose rows of `answers` are read.
    public var submissions: [SubmissionKey] { entries.filter(\.isOpen).map(\.claimant.submissionKey) }

    /// Takes the answers of ``submissions``, and says which grants are tried: in the order of their keys, in which
    /// every driver locks them. A failed claim stays failed.
    public mutating func readAnswers(_ found: FoundAnswers) -> [NewGrant] {
        let answers = Dictionary(found.known.map { ($0.claimant.submissionKey, $0) }) { first, _ in first }
        let later = Set(found.later.map(\.claimant.submissionKey))
        var seen: Set<SubmissionKey> = []
        for index in entries.indices where entries[index].isOpen {
            let key = entries[index].claimant.submissionKey
            guard seen.insert(key).inserted else {
                entries[index].state = .ended(.undecided)
                continue
            }
            if later.contains(key) {
                guard entries[index].waits else {
                    entries[index].end(forLaterVersion: "the submission's answer")
                    continue
                }
                entries[index].hasLaterAnswer = true
            }
            entries[index].answer = answers[key]
            if case .failed(let failure) = answers[key], failure.digest == entries[index].digest() {
                entries[index].state = .concluded(.failed(reason: failure.reason), tell: [.failure(failure)])
                continue
            }
            guard !entries[index].isAbandoned, case .grant(let purchases, let by) = entries[index].decision.content,
                case .submission(let submission) = entries[index].decision.subject
            else { continue }
            entries[index].grants = purchases.map { Self.grant($0, submission, by: by, entries[index].decision) }
            entries[index].isNew = Array(repeating: false, count: purchases.count)
            for purchase in purchases.indices { order.append((index, purchase)) }
        }
        order.sort { left, right in
            let (first, second) = (
                entries[left.entry].grants[left.purchase], entries[right.entry].grants[right.purchase]
            )
            return (first.environment.rawValue, first.key.name, first.transactionID)
                < (second.environment.rawValue, second.key.name, second.transactionID)
        }
        return order.map { NewGrant(decision: $0.entry, grant: entries[$0.entry].grants[$0.purchase]) }
    }

    private static func grant(
        _ purchase: GrantablePurchase, _ submission: Submission, by: VerifiedBy, _ decision: Decision
    ) -> Grant {
        Grant(of: purchase, to: submission, by: by, attempts: decision.attempts, grantedAt: decision.decidedAt)
    }

    /// Takes what became of the grants that ``readAnswers(_:)`` named, in its order.
    public mutating func inserted(_ flags: [Bool]) {
        for (place, isNew) in zip(order, flags) { entries[place.entry].isNew[place.purchase] = isNew }
    }

    /// The rows of `grants` that the conclusions need. They are read after the insertion, in a separate statement,
    /// because the holder may not be visible to the refused statement.
    public var questions: BatchQuestions {
        var questions = BatchQuestions()
        for entry in entries where entry.isOpen {
            for (grant, isNew) in zip(entry.grants, entry.isNew) where !isNew {
                questions.holders.append(HolderQuestion(grant.reference, grant.key))
            }
            for purchase in entry.isNew.contains(true) ? [] : entry.decision.content.waitingPurchases {
                questions.holders.append(HolderQuestion(purchase.reference, purchase.key))
            }
            if case .repeated(let reference) = entry.decision.content {
                questions.holders.append(HolderQuestion(reference))
            }
            if case .repeated(let repeated) = entry.answer { questions.holders.append(HolderQuestion(repeated.grant)) }
            if !entry.isNew.contains(true) { questions.submissions.append(entry.claimant.submissionKey) }
            if entry.decision.tellsWaiting, entry.waits, !entry.isLeased {
                var entry = entry
                questions.waiting.insert(entry.digest())
            }
            if case .fail(let rejection) = entry.decision.content, rejection.reason == .unknownApp {
                questions.apps.insert(entry.claimant.bundleID)
            }
        }
        return questions
    }

    /// Grants that were refused although no row has their keys. No session deletes grants, so the database is at fault.
    /// - Parameter held: The rows that ``BatchQuestions/holders`` found.
    public func refusedForNothing(_ held: FoundGrants) -> [NewGrant] {
        let holders = Holders(held)
        return entries.filter(\.isOpen).flatMap { entry in
            zip(entry.grants, entry.isNew)
                .filter { grant, isNew in !isNew && !holders.holder(of: grant.reference, grant.key).isThere }
                .map { grant, _ in NewGrant(decision: entry.index, grant: grant) }
        }
    }

    /// Decides everything that is open, and says which answers are tried, in the order of the batch.
    /// - Parameters:
    ///   - held: The rows that ``BatchQuestions/holders`` found, in any order.
    ///   - own: The rows that ``BatchQuestions/submissions`` found, in any order.
    ///   - ours: The apps of ``BatchQuestions/apps`` that the ledger has granted purchases of, or has in `retries`.
    ///   - waiting: The rows that ``BatchQuestions/waiting`` found.
    public mutating func conclude(
        held: FoundGrants, own: FoundGrants, ours: Set<BundleID> = [], waiting: [RetryKey: WaitingRow] = [:]
    ) -> [NewAnswer] {
        let holders = Holders(held)
        let later = Set(own.later.map { OwnClaim($0.claimant) })
        let own = Dictionary(grouping: own.known, by: \.grant.claimant.submissionKey)
        for index in entries.indices where entries[index].isOpen {
            let claimant = entries[index].claimant
            entries[index].hasLaterGrants = !later.isEmpty && later.contains(OwnClaim(claimant))
            if !waiting.isEmpty { entries[index].waiting = waiting[entries[index].digest()] }
            entries[index].isAppOurs = !ours.isEmpty && ours.contains(claimant.bundleID)
            let mine = (own[claimant.submissionKey] ?? []).filter { $0.grant.userID == claimant.userID }
            Self.conclude(&entries[index], holders: holders, own: mine, into: &writes)
            if let answer = entries[index].newAnswer {
                answers.append(NewAnswer(decision: index, answer: answer, replaces: entries[index].answer != nil))
            }
        }
        return answers
    }

    /// Takes the results of the answers that ``conclude(held:own:ours:)`` named, in its order, and returns all further
    /// writes. Another session has written a refused answer meanwhile, perhaps with other bytes: its decision is
    /// written again.
    public mutating func answered(_ flags: [Bool]) -> BatchWrites {
        for (new, isNew) in zip(answers, flags) where !isNew { entries[new.decision].state = .ended(.undecided) }
        for entry in entries {
            guard case .concluded(let outcome, let tell) = entry.state else { continue }
            if let copy = entry.owedCopy { writes.outbox.append(copy) }
            guard case .row(let lease) = entry.decision.source else { continue }
            // The events of a leased row are owed in the outbox from the start.
            writes.outbox += tell.map(\.outboxRow)
            // A leased row that has its outcome goes.
            switch outcome {
            case .retrying, .held: break
            case .granted, .redelivery, .repeated, .failed: writes.endedRetries.append(lease)
            }
        }
        return writes
    }

    /// The result of each decision, in order, once the transaction is committed.
    public func results() -> [DecisionResult] {
        entries.map { entry in
            switch entry.state {
            case .open: .undecided
            case .ended(let result): result
            case .concluded(let outcome, let tell):
                // The outbox has the events of a leased row.
                .written(
                    outcome, publish: entry.isLeased ? [] : tell.map(\.event), passedOver: entry.passesOver)
            }
        }
    }
}
