import Contract
import Ledger
import Scheduling

/// Decisions are batched and written, and their results are handled.
extension WorkerCore {
    private static let undecidedPause = Backoff(base: .milliseconds(10), cap: .seconds(1), jitter: .equal)

    mutating func startBatch(into actions: inout Actions) {
        guard let (id, tokens) = batcher.start(at: now, in: flights) else { return }
        var decisions: [Decision] = []
        decisions.reserveCapacity(tokens.count)
        for token in tokens {
            guard let decision = decision(of: token) else { continue }
            flights[token].isInBatch = true
            decisions.append(decision)
        }
        actions.writes.append(WriteBatch(id: id, decisions: decisions))
    }

    /// A second write of it is the same to the last byte, its time included.
    private mutating func decision(of token: SubmissionToken) -> Decision? {
        guard let subject = flights[token].subject, let content = flights[token].content else { return nil }
        let source: DecisionSource
        switch flights[token].source {
        case .record(_, _, _, let ownership): source = .record(ownership)
        case .retry(let lease): source = .retry(lease)
        case .nobody: return nil
        }
        let rules = flights[token].rules
        let decidedAt = flights[token].decidedAt ?? wall
        flights[token].decidedAt = decidedAt
        return Decision(
            subject: subject, source: source, content: content, attempts: flights[token].attempts.attempts,
            decidedAt: decidedAt, owesCall: rules.owesCall, repeats: rules.repeats,
            doubtsNothingNew: rules.doubtsNothingNew)
    }

    // MARK: Results

    mutating func batchEnded(
        _ batch: BatchID, _ result: Result<[DecisionResult], LedgerError>, into actions: inout Actions
    ) {
        switch result {
        case .success(let results):
            guard let tokens = batcher.ended(batch) else { return }
            writesAreAway = false
            noticeLedgerAnswers(into: &actions)
            for (token, result) in zip(tokens, results) {
                guard flights.contains(token), flights[token].state == .writing else { continue }
                flights[token].isInBatch = false
                decisionEnded(token, result, into: &actions)
            }
        case .failure(.unavailable(let detail)):
            batchFailed(batch, detail, into: &actions)
        case .failure(.disconnected(let detail)):
            batchFailed(batch, detail, into: &actions)
            loseConnection(into: &actions)
        case .failure(.unusable(let detail)): stop(for: .unusable(detail: detail))
        }
    }

    /// It is unknown whether the batch was written, so the same decisions are written again. Submissions of lost
    /// partitions leave; the new owners read them again.
    private mutating func batchFailed(_ batch: BatchID, _ detail: String, into actions: inout Actions) {
        writesAreAway = true
        noticeLedgerAway(detail, into: &actions)
        batcher.failed(batch, at: now, using: &generator)
        for token in flights.tokens where flights[token].isInBatch {
            flights[token].isInBatch = false
            if flights[token].isOrphan { leave(token) }
        }
    }

    private mutating func decisionEnded(
        _ token: SubmissionToken, _ result: DecisionResult, into actions: inout Actions
    ) {
        switch result {
        case .written(let outcome, let events, _):
            written(token, outcome)
            publish(token, events, into: &actions)
        case .notOwned: notOwned(token, into: &actions)
        case .nothingNew: nothingNew(token, into: &actions)
        case .undecided: undecided(token)
        case .toBeHeld(let cause, let detail): toBeHeld(token, cause, detail, into: &actions)
        case .refused(let detail): refused(token, detail, into: &actions)
        }
    }

    /// A decision is durable. Its evidence is dropped, and its rows in the ledger become due.
    private mutating func written(_ token: SubmissionToken, _ outcome: Outcome) {
        switch outcome {
        case .retrying, .held:
            guard case .retry(let entry) = flights[token].content else { break }
            switch entry.cause {
            case .retrying(_, let endpoint): dueWork.noteRows(at: gates.place(of: .apple(endpoint)))
            case .held: dueWork.noteHeld()
            }
            dueWork.schedule(at: now + .milliseconds(entry.delay))
        case .granted, .redelivery, .repeated, .failed:
            // Events of due rows are owed from the start, and calls come before events.
            if !flights[token].isRecord || flights[token].rules.owesCall { outboxWork.schedule(at: now) }
        }
        flights[token].content = nil
        flights[token].subject = nil
        flights[token].question = nil
    }

    /// Nothing was written, because the partition or the row is another's.
    mutating func notOwned(_ token: SubmissionToken, into actions: inout Actions) {
        let source = flights[token].source
        leave(token)
        if case .record(let place, let assignment, _, _) = source, partitions.isCurrent(assignment, at: place) {
            loseToAnother(place, into: &actions)
        }
    }

    /// Everything that Apple has was granted before, and the claim seems to be about a new purchase. That is a doubt
    /// at first. After the doubt's limit the former grant answers the claim.
    private mutating func nothingNew(_ token: SubmissionToken, into actions: inout Actions) {
        flights[token].decidedAt = nil
        guard !flights[token].isOrphan else { return leave(token) }
        if case .grant(_, by: .local) = flights[token].content, let question = flights[token].question {
            // Its signature stood in for Apple's answer, so it is a doubt only once Apple has been asked.
            let entry = RetryPolicy.notAsked(
                &flights[token].attempts, endpoint: question.endpoint,
                awayFor: gates[flights[token].gate].awayFor(at: now), wall: wall, using: &generator)
            return waitInRetries(token, entry, into: &actions)
        }
        guard let endpoint = flights[token].question?.endpoint,
            RetryPolicy.doubted(.nothingNew, &flights[token].attempts, limit: settings.doubtLimit, wall: wall)
        else {
            flights[token].rules.doubtsNothingNew = false
            return writeAgain(token)
        }
        waitInRetries(
            token, RetryPolicy.nothingNew(flights[token].attempts, endpoint: endpoint, using: &generator),
            into: &actions)
    }

    /// Another unfinished transaction has one of its keys, so the same decision is written again a little later.
    private mutating func undecided(_ token: SubmissionToken) {
        guard !flights[token].isOrphan else { return leave(token) }
        // The grant that answered it was there when it was looked up, and went with a ledger that was set back.
        if case .repeated = flights[token].content {
            flights[token].content = nil
            flights[token].decidedAt = nil
            return enterGate(token)
        }
        let times = min(flights[token].timesUndecided, 99) + 1
        flights[token].timesUndecided = times
        delay(
            token, .rewriting, until: now + Self.undecidedPause.delay(afterFailures: Int(times), using: &generator))
    }

    /// The decision goes into the next batch.
    mutating func writeAgain(_ token: SubmissionToken) {
        guard !flights[token].isOrphan else { return leave(token) }
        guard let claimant = flights[token].claimant, let content = flights[token].content
        else { return leave(token) }
        move(token, to: .writing)
        batcher.add(token, rows: content.batchRows, BatchKeys(submission: claimant, content))
    }

    /// The ledger does not write the decision, and says why the submission is to be held.
    private mutating func toBeHeld(
        _ token: SubmissionToken, _ cause: HoldCause, _ detail: String, into actions: inout Actions
    ) {
        flights[token].decidedAt = nil
        guard !flights[token].isOrphan else { return leave(token) }
        let entry = RetryPolicy.held(cause, &flights[token].attempts, detail: detail, wall: wall, using: &generator)
        waitInRetries(token, entry, into: &actions)
    }

    /// The ledger refuses the data of a decision, so it is held. If it cannot be held either, it is quarantined as a
    /// stub.
    private mutating func refused(_ token: SubmissionToken, _ detail: String, into actions: inout Actions) {
        let origin =
            switch flights[token].subject {
            case .submission(let submission): submission.origin
            case .malformed(let malformed): malformed.origin
            case nil: nil as Origin?
            }
        let wasHeld =
            if case .retry = flights[token].content { true } else { false }
        flights[token].decidedAt = nil
        guard !flights[token].isOrphan, let origin else { return leave(token) }
        actions.alerts.append(.decisionRefused(origin, detail: detail))
        if !wasHeld, flights[token].submission != nil {
            let entry = RetryPolicy.held(
                .decisionRefused, &flights[token].attempts, detail: detail, wall: wall, using: &generator)
            return waitInRetries(token, entry, into: &actions)
        }
        guard flights[token].isRecord else { return leave(token) }
        quarantineStub(token, origin, into: &actions)
    }

    private mutating func quarantineStub(_ token: SubmissionToken, _ origin: Origin, into actions: inout Actions) {
        guard case .record(_, _, _, let ownership) = flights[token].source, let subject = flights[token].subject
        else { return leave(token) }
        let stub =
            switch subject {
            case .submission(let submission):
                Self.stub(origin, ClaimDigest(of: submission), submission.receivedAt)
            case .malformed(let malformed): Self.stub(origin, malformed.digest, malformed.receivedAt)
            }
        let entry = OutboxEntry(ownership: ownership, key: stub.outboxKey, delay: 0, stub: stub)
        move(token, to: .publishing)
        flights[token].unpublished = 1
        publish(QuarantinedEvent.event(of: stub), .submission(token), entry, into: &actions)
    }

    private static func stub(_ origin: Origin, _ digest: ClaimDigest, _ receivedAt: Timestamp) -> QuarantineStub {
        QuarantineStub(
            origin: origin, reason: "the ledger refuses its data", timestamp: receivedAt, digest: digest.digest, size: 0
        )
    }
}
