import Contract

/// The end of each decision, once it is known who holds what.
extension BatchPlanner {
    /// - Parameters:
    ///   - own: Grants of the submission, of its own user.
    ///   - writes: Takes what is written beside the entry's answer.
    static func conclude(
        _ entry: inout Entry, holders: Holders, own: [StoredGrant], into writes: inout BatchWrites
    ) {
        // Beside a later version's grant it waits, as others do.
        let mayWait = entry.waits && entry.hasLaterGrants
        guard !entry.isAbandoned || mayWait || !isAnswered(&entry, own: own) else { return }
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
                writes.outbox += claim.new.map { NewOutboxRow(call: $0) }
            }
            // The grants' rows are written, so the counts alone tell of another user's purchases.
            entry.passesOver = PassedOver.joined(decision.content.passedOver, claim.strangers)?.counts ?? [:]
            let told = (decision.owesCall ? [] : claim.new) + claim.redelivered.filter { !$0.owesCall }.map(\.grant)
            entry.state = .concluded(
                claim.new.isEmpty ? .redelivery : .granted(created: claim.new.count),
                tell: told.map { .grant($0, repeatOf: nil) })
            return
        }
        // A former grant's answer would lose a paid purchase that holds by itself, such as one that a late catalogue
        // lacks. A purchase that was granted before, such as while its product was listed, does not count.
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
            let all = PassedOver.joined(passedOver, claim.strangers)
            repeated(&entry, answering, passingOver: all)
            if let all, entry.newAnswer != nil || entry.answer?.origin == decision.origin {
                entry.passesOver = all.counts(isGranted: isGranted)
            }
        } else if let rejection = claim.rejection {
            fail(&entry, rejection, holders: holders, own: own)
        } else {
            // Nothing to grant at all: a decision that says nothing.
            entry.state = .ended(.undecided)
        }
    }

    /// The answer is another submission's grant, or this submission's from another record.
    /// - Parameter passedOver: Purchases left out beside it, if the claim's purchases were judged.
    private static func repeated(
        _ entry: inout Entry, _ stored: StoredGrant, passingOver passedOver: PassedOver? = nil
    ) {
        let claimant = entry.claimant
        if entry.answer == nil, stored.grant.submissionID != claimant.submissionID {
            entry.newAnswer = .repeated(
                Repeat(
                    claimant: claimant, grant: stored.grant.reference, origin: entry.decision.origin,
                    answeredAt: entry.decision.decidedAt,
                    passedOver: passedOver ?? entry.decision.content.passedOver))
        }
        let isTold = entry.decision.repeats == .publish
        if isTold, stored.owesCall, stored.grant.submissionID != claimant.submissionID {
            // The call under way tells the grant's own submission alone. The service gives nothing twice.
            entry.owedCopy = NewOutboxRow(call: stored.grant, repeatOf: claimant.submissionID)
        }
        let tell = isTold && !stored.owesCall ? [Telling.grant(stored.grant, repeatOf: claimant.submissionID)] : []
        entry.state = .concluded(.repeated, tell: tell)
    }

    /// A failure is written only where neither a grant nor an answer of the submission is there.
    private static func fail(
        _ entry: inout Entry, _ rejection: Rejection, holders: Holders, own: [StoredGrant]
    ) {
        guard !isAnswered(&entry, own: own) else { return }
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

    /// Ends a decision of a submission that has a grant of its own, or a failure.
    private static func isAnswered(_ entry: inout Entry, own: [StoredGrant]) -> Bool {
        guard !entry.hasLaterGrants else {
            entry.end(forLaterVersion: "a grant of the submission")
            return true
        }
        let redelivered = own.filter { $0.grant.origin == entry.decision.origin }
        if !redelivered.isEmpty {
            redeliver(&entry, redelivered)
        } else if let newest = own.max(by: JudgedClaim.isOlder) {
            repeated(&entry, newest)
        } else if case .failed(let failure) = entry.answer {
            entry.state = .concluded(.failed(reason: failure.reason), tell: [.failure(failure)])
        } else {
            return false
        }
        return true
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
        // Another record of the submission has its answer, which ends the waiting for consumers.
        let isAnswered = !own.isEmpty || entry.hasLaterGrants || entry.hasLaterAnswer || entry.isAnswered
        guard decision.tellsWaiting, !isAnswered, case .submission(let submission) = decision.subject else {
            return entry.state = .concluded(outcome, tell: [])
        }
        let pending = PendingSubmission(
            submission.claimant, retry.cause.state, cause: retry.cause.word, attempts: decision.attempts,
            receivedAt: submission.receivedAt, latest: retry.history.attempts.last?.at,
            dueAt: decision.decidedAt.advanced(by: .milliseconds(retry.delay)))
        // A row that waits already stays as it is, and so does its pending event.
        entry.state = .concluded(outcome, tell: [.pending(entry.waiting?.pending ?? pending, key)])
    }

    /// A claim that waits ends as if it did not, where its purchases were all granted before and no other can come to
    /// it.
    private static func claim(of entry: Entry, on purchases: [NamedPurchase], _ holders: Holders) -> JudgedClaim? {
        guard !purchases.isEmpty, !entry.hasLaterGrants, !entry.hasLaterAnswer else { return nil }
        var claim = JudgedClaim(entry.decision)
        for purchase in purchases {
            let holder = holders.holder(of: purchase.reference, purchase.key)
            claim.add(holder, productID: holder.row?.grant.productID ?? purchase.productID, purchase.reference)
        }
        let mayMoreCome = entry.decision.doubtsNothingNew && claim.namesUnknownOrder
        return claim.isUndecided || claim.isLater || mayMoreCome ? nil : claim
    }
}
