import Contract
import Ledger
import Scheduling

/// From a verdict to a decision that is written and published: final, to be repeated, or a row of `retries`.
extension Submissions {
    /// How long a submission waits for room in `retries` before it looks again.
    private static let roomPause: Duration = .seconds(1)
    private static let undecidedPause = Backoff(base: .milliseconds(10), cap: .seconds(1), jitter: .equal)

    // MARK: Verdicts

    /// Applies the retry policy to a verdict.
    mutating func conclude(_ token: SubmissionToken, _ verdict: Verdict, _ turn: inout Turn) {
        let (gate, now) = (flights[token].gate, turn.now)
        let mayRepeat = gate < 0 || gates.update(gate) { $0.hasBudgetForRepeat(at: now) }
        let step = RetryPolicy.step(
            after: verdict, &flights[token].attempts, endpoint: flights[token].endpoint,
            isTroubled: gate >= 0 && gates[gate].isTroubled, mayRepeat: mayRepeat, doubtLimit: doubtLimit, at: now,
            wall: turn.wall, using: &turn.generator)
        switch step {
        case .decide(let content): decide(token, content, &turn)
        case .again(let pause):
            let state: FlightState = flights[token].question == nil ? .rechecking : .repeating
            delay(token, state, until: turn.now + pause, &turn)
        case .wait(let entry): waitInRetries(token, entry, &turn)
        }
    }

    /// Sends a submission to `retries`, if these have room for it. Else it waits here, and in the end reading stops.
    ///
    /// A receipt's signature is verified on its way there, because rows that Apple has signed are taken first.
    /// - Parameters:
    ///   - mayDecide: whether the signature is enough where the app's rules say that.
    ///   - due: when it is checked anew if there is no room; nil for the row's own moment.
    mutating func waitInRetries(
        _ token: SubmissionToken, _ entry: RetryEntry, mayDecide: Bool = false, due: Instant? = nil, _ turn: inout Turn
    ) {
        let due = due ?? turn.now + .milliseconds(entry.delay)
        if flights[token].isSigned == nil, flights[token].isRecord || mayDecide,
            flights[token].question?.endpoint.service == .verifyReceipt, let submission = flights[token].submission
        {
            flights[token].postponed = PostponedEntry(entry: entry, due: due)
            return check(token, .signature(submission, mayDecide: mayDecide), &turn)
        }
        var entry = entry
        entry.isSigned = flights[token].isSigned ?? false
        if flights[token].isRecord, !retryBytes.take(flights[token].bytes) {
            flights[token].postponed = PostponedEntry(entry: entry, due: due)
            return delay(token, .awaitingRoom, until: turn.now + Self.roomPause, &turn)
        }
        turn.signal(.retriesGrew)
        decide(token, .wait(entry), &turn)
    }

    /// Sends a submission to `retries` whose endpoint cannot be asked now.
    mutating func waitForEndpoint(
        _ token: SubmissionToken, _ cause: RetryCause, mayDecide: Bool = false, _ turn: inout Turn
    ) {
        guard let question = flights[token].question else { return }
        let entry = RetryPolicy.notAsked(
            cause, &flights[token].attempts, endpoint: question.endpoint,
            awayFor: gates[flights[token].gate].awayFor(at: turn.now), using: &turn.generator)
        waitInRetries(token, entry, mayDecide: mayDecide, due: turn.now, &turn)
    }

    /// Apple's signature was looked at: it decides, or says when the row of `retries` is taken.
    mutating func signatureChecked(
        _ token: SubmissionToken, _ holds: Bool, _ verdict: Verdict?, _ turn: inout Turn
    ) {
        flights[token].isSigned = holds
        guard let verdict else { return waitAgain(token, &turn) }
        flights[token].postponed = nil
        conclude(token, verdict, &turn)
    }

    /// A submission waits for room in `retries`. Once its row would be due, its check begins anew if its gate has room.
    /// Otherwise reading would go on only as other rows make room, perhaps those of an endpoint that is away for hours.
    /// - Parameter calledBack: how many came back in this turn, by gate.
    mutating func roomAwaited(_ token: SubmissionToken, _ calledBack: inout [Int: Int], _ turn: inout Turn) {
        guard let due = flights[token].postponed?.due, due <= turn.now, !flights[token].isSuspect,
            let submission = flights[token].submission
        else { return waitAgain(token, &turn) }
        let gate = flights[token].gate
        if gate >= 0 {
            let room = gates[gate].roomForRecords(crowding: crowding, at: turn.now)
            guard room > calledBack[gate, default: 0] else { return waitAgain(token, &turn) }
            calledBack[gate, default: 0] += 1
        }
        flights[token].postponed = nil
        flights[token].question = nil
        check(token, .submission(submission), &turn)
    }

    /// A submission that was kept from `retries` goes there.
    mutating func waitAgain(_ token: SubmissionToken, _ turn: inout Turn) {
        guard let postponed = flights[token].postponed else { return orphan(token, &turn) }
        flights[token].postponed = nil
        waitInRetries(token, postponed.entry, due: postponed.due, &turn)
    }

    // MARK: Batches

    /// A submission is decided: it waits for the next batch.
    mutating func decide(_ token: SubmissionToken, _ content: Decision.Content, _ turn: inout Turn) {
        if case .grant(let purchases, _) = content {
            limit.take(purchases: purchases.count - flights[token].purchases)
            flights[token].purchases = purchases.count
        }
        flights[token].content = content
        flights[token].decidedAt = nil
        writeAgain(token, &turn)
    }

    /// The decision goes into the next batch.
    mutating func writeAgain(_ token: SubmissionToken, _ turn: inout Turn) {
        guard !flights[token].isOrphan, let claimant = flights[token].claimant, let content = flights[token].content
        else { return leave(token, &turn) }
        move(token, to: .writing, &turn)
        let keys = BatchKeys(submission: claimant, content)
        let isRecord = flights[token].isRecord
        // A row of `retries` that goes on waiting has its evidence there.
        let bytes = if isRecord, case .wait = content { flights[token].bytes } else { 0 as Int64 }
        batcher.add(token, rows: content.batchRows, bytes: bytes, keys, isLeased: !isRecord)
    }

    mutating func startBatch(_ turn: inout Turn) {
        guard let (id, tokens) = batcher.start(at: turn.now, in: flights) else { return }
        var decisions: [Decision] = []
        decisions.reserveCapacity(tokens.count)
        for token in tokens {
            guard let decision = flights[token].decision(at: turn.wall, tellsWaiting: tellsWaiting) else { continue }
            flights[token].isInBatch = true
            decisions.append(decision)
        }
        turn.actions.writes.append(WriteBatch(id: id, decisions: decisions))
    }

    /// It is unknown whether the batch was written, so the same decisions are written again. Submissions of lost
    /// partitions leave; the new owners read them again.
    mutating func batchFailed(_ batch: BatchID, _ turn: inout Turn) {
        batcher.failed(batch, at: turn.now, using: &turn.generator)
        for token in flights.tokens where flights[token].isInBatch {
            flights[token].isInBatch = false
            guard flights[token].isOrphan else { continue }
            tellOfRow(token, &turn)
            leave(token, &turn)
        }
    }

    /// A write of a row of `retries` may be done although no reply says so, and nobody reads the row again. So it is
    /// told what the decision passes over.
    private mutating func tellOfRow(_ token: SubmissionToken, _ turn: inout Turn) {
        guard !flights[token].isRecord, let passedOver = flights[token].content?.passedOver,
            let claimant = flights[token].claimant
        else { return }
        news.passedOver(passedOver, by: claimant.submissionKey, turn.now)
    }

    /// The ledger has the results of a batch's decisions.
    mutating func batchWritten(_ tokens: [SubmissionToken], _ results: [DecisionResult], _ turn: inout Turn) {
        for (token, result) in zip(tokens, results) {
            guard flights.contains(token), flights[token].state == .writing else { continue }
            flights[token].isInBatch = false
            switch result {
            case .written(let outcome, let events, let passedOver):
                if let claimant = flights[token].claimant {
                    if !passedOver.isEmpty {
                        let purchases = flights[token].content?.passedOver
                        news.passedOver(purchases, passedOver, by: claimant.submissionKey, turn.now)
                    }
                    news.written(outcome, by: claimant, turn.now)
                }
                written(token, outcome, &turn)
                publish(token, events, &turn)
            case .notOwned:
                tellOfRow(token, &turn)
                notOwned(token, &turn)
            case _ where flights[token].isOrphan: leave(token, &turn)
            case .nothingNew: nothingNew(token, &turn)
            case .undecided: undecided(token, &turn)
            case .toBeHeld(let cause, let detail): toBeHeld(token, cause, detail, &turn)
            case .refused(let detail): refused(token, detail, &turn)
            }
        }
    }

    // MARK: Results

    /// A decision is durable. Its evidence is dropped, and its rows in the ledger become due.
    private mutating func written(_ token: SubmissionToken, _ outcome: Outcome, _ turn: inout Turn) {
        switch outcome {
        case .retrying, .held:
            guard case .wait(let entry) = flights[token].content else { break }
            let due = turn.now + .milliseconds(entry.delay)
            let gate: Int? = if let endpoint = entry.cause.endpoint { gates.index(of: .apple(endpoint)) } else { nil }
            turn.signal(.rowWaits(gate: gate, triedAt: entry.history.attempts.last?.at, due: due))
            if !flights[token].isRecord, tellsWaiting, flights[token].beginsToWait(entry) {
                turn.signal(.outboxDue(turn.now))
            }
        case .granted, .redelivery, .repeated, .failed:
            // Events of due rows are owed from the start, and calls come before events.
            if flights[token].options.owesCall, let app = flights[token].claimant?.bundleID {
                turn.signal(.callOwed(app))
            }
            if !flights[token].isRecord || flights[token].options.owesCall { turn.signal(.outboxDue(turn.now)) }
        }
        flights[token].content = nil
        flights[token].subject = nil
        flights[token].question = nil
    }

    /// Nothing was written, because the partition or the row is another's.
    mutating func notOwned(_ token: SubmissionToken, _ turn: inout Turn) {
        if case .record(let index, let assignment, _, _) = flights[token].source {
            turn.signal(.ownershipLost(index: index, assignment))
        }
        leave(token, &turn)
    }

    /// Everything that Apple has was granted before, and the claim seems to be about a new purchase. That is a doubt
    /// at first. After the doubt's limit the former grant answers the claim.
    private mutating func nothingNew(_ token: SubmissionToken, _ turn: inout Turn) {
        if case .grant(_, by: .local) = flights[token].content, flights[token].question != nil {
            // Its signature stood in for Apple's reply, so it is a doubt only once Apple has been asked.
            return waitForEndpoint(token, .endpointUnavailable, &turn)
        }
        guard let endpoint = flights[token].question?.endpoint,
            RetryPolicy.doubted(.nothingNew, &flights[token].attempts, limit: doubtLimit, wall: turn.wall)
        else {
            flights[token].options.doubtsNothingNew = false
            flights[token].decidedAt = nil
            return writeAgain(token, &turn)
        }
        let entry = RetryPolicy.nothingNew(flights[token].attempts, endpoint: endpoint, using: &turn.generator)
        waitInRetries(token, entry, &turn)
    }

    /// An unfinished transaction has one of its keys, so the same decision is written again a little later.
    private mutating func undecided(_ token: SubmissionToken, _ turn: inout Turn) {
        // The grant that answered it existed at the look-up, and is gone because the ledger was set back.
        if case .repeated = flights[token].content {
            flights[token].content = nil
            return enterGate(token, &turn)
        }
        flights[token].timesUndecided = min(flights[token].timesUndecided, 99) + 1
        let times = Int(flights[token].timesUndecided)
        let pause = Self.undecidedPause.delay(afterFailures: times, using: &turn.generator)
        delay(token, .rewriting, until: turn.now + pause, &turn)
    }

    /// The ledger does not write the decision, and says why the submission is to be held.
    private mutating func toBeHeld(
        _ token: SubmissionToken, _ cause: HoldCause, _ detail: String, _ turn: inout Turn
    ) {
        let entry = RetryPolicy.held(
            cause, &flights[token].attempts, detail: detail, wall: turn.wall, using: &turn.generator)
        waitInRetries(token, entry, &turn)
    }

    /// The ledger refuses the data of a decision, so it is held. If it cannot be held either, it is quarantined as a
    /// stub.
    private mutating func refused(_ token: SubmissionToken, _ detail: String, _ turn: inout Turn) {
        guard let subject = flights[token].subject else { return leave(token, &turn) }
        turn.alert(.decisionRefused(subject.origin, detail: detail))
        let wasHeld = if case .wait = flights[token].content { true } else { false }
        if !wasHeld, case .submission = subject { return toBeHeld(token, .decisionRefused, detail, &turn) }
        let stub = QuarantineStub(refused: subject)
        quarantine(token, .refusedByLedger, QuarantinedEvent.event(of: stub), stub, &turn)
    }

    // MARK: Events

    /// No submission can be read from a record: it goes to the quarantine topic. A worker may have ended before it
    /// published the outcome at the record's origin, so its event is published as well. A repeat is not, because its
    /// app's wish is not known.
    mutating func quarantine(
        _ token: SubmissionToken, _ kind: QuarantineReason.Kind, _ event: Event, _ stub: QuarantineStub,
        _ turn: inout Turn
    ) {
        guard flights[token].isRecord else { return leave(token, &turn) }
        news.quarantined(kind, at: stub.origin, turn.now)
        let first = RenderedEvent(key: stub.outboxKey, event: event)
        publish(token, [first] + takeOutcome(token, tellsRepeats: false, &turn), stub: stub, &turn)
    }

    /// A redelivery's events are published again, from the ledger's rows. No event is published while a call is owed.
    mutating func redelivered(_ token: SubmissionToken, _ repeats: RepeatPolicy, _ turn: inout Turn) {
        publish(token, takeOutcome(token, tellsRepeats: repeats == .publish, &turn), &turn)
    }

    /// The events of the outcome that stands at a record's origin. The purchases that it passes over are told, too.
    private mutating func takeOutcome(
        _ token: SubmissionToken, tellsRepeats: Bool, _ turn: inout Turn
    ) -> [RenderedEvent] {
        guard let known = flights[token].known else { return [] }
        flights[token].known = nil
        if let passedOver = known.passedOver {
            let submission = SubmissionKey(bundleID: known.bundleID, submissionID: known.submissionID)
            news.passedOver(passedOver, by: submission, turn.now)
        }
        switch known.kind {
        case .repeated where !tellsRepeats, .waiting where !tellsWaiting: return []
        case .granted, .repeated, .failed, .waiting: return known.publish
        }
    }

    /// Publishes the events of a submission, which is complete once the broker has all of them.
    /// - Parameter stub: The content that the outbox keeps for the first event, which quarantines its record.
    private mutating func publish(
        _ token: SubmissionToken, _ rendered: [RenderedEvent], stub: QuarantineStub? = nil, _ turn: inout Turn
    ) {
        guard !rendered.isEmpty, case .record(_, _, _, let ownership) = flights[token].source else {
            return complete(token, &turn)
        }
        move(token, to: .publishing, &turn)
        flights[token].unpublished = rendered.count
        for (index, event) in rendered.enumerated() {
            let entry = OutboxEntry(ownership: ownership, key: event.key, delay: 0, stub: index == 0 ? stub : nil)
            turn.signal(.publish(event.event, .submission(token), entry))
        }
    }

    /// One more event of a submission is with the broker, or in the outbox.
    mutating func published(_ token: SubmissionToken, _ turn: inout Turn) {
        guard flights.contains(token) else { return }
        flights[token].unpublished -= 1
        if flights[token].unpublished <= 0 { complete(token, &turn) }
    }

    /// The outbox is to take an event, because the broker does not.
    /// - Returns: false if the next owner of its record publishes it. An entry under the old ownership must not reach a
    ///   ledger that was set back.
    mutating func owe(_ token: SubmissionToken, _ turn: inout Turn) -> Bool {
        guard flights.contains(token) else { return false }
        guard !flights[token].isOrphan else {
            leave(token, &turn)
            return false
        }
        move(token, to: .owing, &turn)
        return true
    }

    /// Any worker publishes an outcome that is in the outbox. If it is not there, the partition has another owner, who
    /// reads the record again.
    mutating func owed(_ tokens: [SubmissionToken], _ isOwed: [Bool], _ turn: inout Turn) {
        for (token, isOwed) in zip(tokens, isOwed) where flights.contains(token) {
            if isOwed { published(token, &turn) } else { notOwned(token, &turn) }
        }
        turn.signal(.outboxDue(turn.now + .seconds(1)))
    }
}
