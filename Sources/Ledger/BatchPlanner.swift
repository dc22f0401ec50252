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

    /// Whether nothing but a row of `grants` is written if its keys are free: a record's one purchase that owes no
    /// call.
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
            guard case .grant(let purchases, let by) = entries[index].decision.content,
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

    /// Decides all that is open, and says which answers are tried: in the order of the batch.
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

    /// Takes what became of the answers that ``conclude(held:own:ours:)`` named, in its order, and says all that is
    /// left to be written. A refused one was written by another session meanwhile, perhaps with other bytes: its
    /// decision is written again.
    public mutating func answered(_ flags: [Bool]) -> BatchWrites {
        for (new, isNew) in zip(answers, flags) where !isNew { entries[new.decision].state = .ended(.undecided) }
        for entry in entries {
            guard case .row(let lease) = entry.decision.source, case .concluded(let outcome, let tell) = entry.state
            else { continue }
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
                // The outbox has what is told of a leased row.
                .written(
                    outcome, publish: entry.isLeased ? [] : tell.map(\.event), passedOver: entry.passesOver)
            }
        }
    }
}

// MARK: - Conclusions

extension BatchPlanner {
    private static func conclude(
        _ entry: inout Entry, holders: Holders, own: [StoredGrant], into writes: inout BatchWrites
    ) {
        switch entry.decision.content {
        case .grant, .repeated:
            var claim = JudgedClaim(entry.decision)
            let judged = zip(entry.grants, entry.isNew)
            claim.new = judged.filter(\.1).map(\.0)
            for (grant, isNew) in judged where !isNew {
                claim.add(holders.holder(of: grant.reference, grant.key), productID: grant.productID, grant.reference)
            }
            if case .repeated(let reference) = entry.decision.content {
                let holder = holders.holder(of: reference, nil)
                claim.add(holder, productID: holder.row?.grant.productID, reference)
            }
            conclude(&entry, claim, holders: holders, own: own, into: &writes)
        case .fail(let rejection): fail(&entry, rejection, holders: holders, own: own)
        case .wait(let row): wait(&entry, row, holders: holders, own: own, into: &writes)
        }
    }

    private static func conclude(
        _ entry: inout Entry, _ claim: JudgedClaim, holders: Holders, own: [StoredGrant], into writes: inout BatchWrites
    ) {
        let decision = entry.decision
        guard !claim.isUndecided, !claim.isLater else {
            writes.withdrawn += claim.new.map { NewGrant(decision: entry.index, grant: $0) }
            entry.state = .ended(.undecided)
            if claim.isLater { entry.end(forLaterVersion: "a grant of the purchase") }
            return
        }
        if !claim.new.isEmpty || !claim.redelivered.isEmpty {
            if decision.owesCall {
                writes.outbox += claim.new.map(NewOutboxRow.init(call:))
            }
            if let passedOver = claim.new.isEmpty ? nil : decision.content.passedOver {
                entry.passesOver = passedOver.counts
            }
            let told = (decision.owesCall ? [] : claim.new) + claim.redelivered.filter { !$0.owesCall }.map(\.grant)
            entry.state = .concluded(
                claim.new.isEmpty ? .redelivery : .granted(created: claim.new.count),
                tell: told.map { .grant($0, repeatOf: nil) })
            return
        }
        // Answered by a former grant, a paid purchase that holds by itself would be lost, such as one that a late
        // catalogue lacks. One that was granted before, such as while its product was listed, is none.
        let passedOver = decision.content.passedOver
        func isGranted(_ purchase: NamedPurchase) -> Bool {
            holders.holder(of: purchase.reference, purchase.key).isThere
        }
        if let passedOver, let hold = passedOver.hold(isGranted: isGranted),
            !claim.isAnswered(entry.answer, isShown: { passedOver.isShown(by: $0, isGranted: isGranted) })
        {
            entry.state = .ended(.toBeHeld(hold.cause, detail: hold.detail))
            return
        }
        guard !(decision.doubtsNothingNew && claim.namesUnknownOrder) else {
            entry.state = .ended(.nothingNew)
            return
        }
        if let answering = claim.answering(entry.answer) {
            repeated(&entry, answering)
            if let passedOver, entry.newAnswer != nil {
                entry.passesOver = passedOver.counts(isGranted: isGranted)
            }
        } else if let rejection = claim.rejection {
            fail(&entry, rejection, holders: holders, own: own)
        } else {
            // Nothing to grant at all: a decision that says nothing.
            entry.state = .ended(.undecided)
        }
    }

    /// Another submission's grant answers, or this one's from another record.
    private static func repeated(_ entry: inout Entry, _ stored: StoredGrant) {
        let claimant = entry.claimant
        if entry.answer == nil, stored.grant.submissionID != claimant.submissionID {
            entry.newAnswer = .repeated(
                Repeat(
                    claimant: claimant, grant: stored.grant.reference, origin: entry.decision.origin,
                    answeredAt: entry.decision.decidedAt, passedOver: entry.decision.content.passedOver))
        }
        let isTold = entry.decision.repeats == .publish && !stored.owesCall
        entry.state = .concluded(.repeated, tell: isTold ? [.grant(stored.grant, repeatOf: claimant.submissionID)] : [])
    }

    /// A failure is written only where neither a grant nor an answer of the submission is there.
    private static func fail(
        _ entry: inout Entry, _ rejection: Rejection, holders: Holders, own: [StoredGrant]
    ) {
        guard !entry.hasLaterGrants else { return entry.end(forLaterVersion: "a grant of the submission") }
        let redelivered = own.filter { $0.grant.origin == entry.decision.origin }
        if !redelivered.isEmpty {
            redeliver(&entry, redelivered)
            return
        }
        if let newest = own.max(by: JudgedClaim.isOlder) {
            repeated(&entry, newest)
            return
        }
        if case .failed(let failure) = entry.answer {
            entry.state = .concluded(.failed(reason: failure.reason), tell: [.failure(failure)])
            return
        }
        if case .repeated(let answer) = entry.answer, answer.claimant.userID == entry.claimant.userID {
            switch holders.holder(of: answer.grant, nil) {
            case .row(let stored):
                repeated(&entry, stored)
                return
            case .later: return entry.end(forLaterVersion: "the grant that answers the submission")
            case .none: break
            }
        }
        guard !(rejection.reason == .unknownApp && entry.isAppOurs) else {
            let detail = "No app with this bundle id is configured here, and the ledger has purchases of it."
            entry.state = .ended(.toBeHeld(.appNotConfigured, detail: detail))
            return
        }
        let failure = Failure(
            of: entry.claimant, rejection, failedAt: entry.decision.decidedAt, attempts: entry.decision.attempts,
            digest: entry.digest(), origin: entry.decision.origin)
        entry.newAnswer = .failed(failure)
        entry.state = .concluded(.failed(reason: failure.reason), tell: [.failure(failure)])
    }

    private static func redeliver(_ entry: inout Entry, _ grants: [StoredGrant]) {
        let told = grants.filter { !$0.owesCall }.sorted { $0.grant.reference < $1.grant.reference }
        entry.state = .concluded(.redelivery, tell: told.map { .grant($0.grant, repeatOf: nil) })
    }

    private static func wait(
        _ entry: inout Entry, _ retry: RetryEntry, holders: Holders, own: [StoredGrant], into writes: inout BatchWrites
    ) {
        let redelivered = own.filter { $0.grant.origin == entry.decision.origin }
        if !redelivered.isEmpty {
            redeliver(&entry, redelivered)
            return
        }
        if let claim = claim(of: entry, on: retry.purchases, holders) {
            conclude(&entry, claim, holders: holders, own: own, into: &writes)
            return
        }
        let outcome: Outcome =
            switch retry.cause {
            case .retrying(let cause, _): .retrying(cause)
            case .held(let cause): .held(cause)
            }
        let key: RetryKey
        switch (entry.decision.source, entry.decision.subject) {
        case (.row(let lease), _):
            key = lease.key
            writes.updatedRetries.append(RetryUpdate(lease: lease, attempts: entry.decision.attempts, entry: retry))
        case (.record, .submission(let submission)):
            key = entry.digest()
            writes.retries.append(
                NewRetry(key: key, submission: submission, attempts: entry.decision.attempts, entry: retry))
        case (.record, .malformed):
            entry.state = .ended(.refused(detail: "A malformed submission has no evidence to try again with."))
            return
        }
        let decision = entry.decision
        // Another record of it has its answer, which ends the waiting for whoever reads the events.
        let isAnswered = !own.isEmpty || entry.hasLaterGrants || entry.hasLaterAnswer || entry.isAnswered
        guard decision.tellsWaiting, !isAnswered, case .submission(let submission) = decision.subject else {
            return entry.state = .concluded(outcome, tell: [])
        }
        let pending = PendingSubmission(
            submission.claimant, retry.cause.state, cause: retry.cause.word, attempts: decision.attempts,
            receivedAt: submission.receivedAt, latest: retry.history.attempts.last?.at,
            dueAt: decision.decidedAt.advanced(by: .milliseconds(retry.delay)))
        // A row that waits already stays as it is, and so does what it tells.
        entry.state = .concluded(outcome, tell: [.pending(entry.waiting?.pending ?? pending, key)])
    }

    /// A held claim whose purchases were all granted before, and nothing else is to come: it ends as if it were not held.
    private static func claim(of entry: Entry, on purchases: [NamedPurchase], _ holders: Holders) -> JudgedClaim? {
        guard !purchases.isEmpty, !entry.hasLaterGrants, !entry.hasLaterAnswer else { return nil }
        var claim = JudgedClaim(entry.decision)
        for purchase in purchases {
            claim.add(
                holders.holder(of: purchase.reference, purchase.key), productID: purchase.productID, purchase.reference)
        }
        let mayMoreCome = entry.decision.doubtsNothingNew && claim.namesUnknownOrder
        return claim.isUndecided || claim.isLater || mayMoreCome ? nil : claim
    }
}
