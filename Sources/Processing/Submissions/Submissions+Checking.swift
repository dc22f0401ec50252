import Contract
import Ledger
import Scheduling

/// Submissions come in, are checked, and are asked about: known outcomes, look-ups, gates, attempts.
extension Submissions {
    // MARK: Records

    /// Takes records in.
    /// - Parameter partition: as it is after they were registered.
    /// - Returns: the records that wait for their mark, because they are checked one by one.
    mutating func read(_ records: [InputRecord], of partition: RecordSource, _ turn: inout Turn) -> [SubmissionToken] {
        var loading: [SubmissionToken] = []
        var suspects: [SubmissionToken] = []
        for (index, record) in records.enumerated() {
            let token = admit(record, partition.source(of: index))
            // The poison record may have its outcome, whose event may be unpublished.
            flights[token].isPoison = record.origin.offset == partition.poison
            if partition.isOneByOne, !flights[token].isPoison {
                move(token, to: .marking, &turn)
                flights[token].record = record
                suspects.append(token)
            } else {
                let mayBeKnown = flights[token].isPoison || partition.mayBeKnown(record.origin.offset)
                begin(token, record, mayBeKnown: mayBeKnown, loading: &loading, &turn)
            }
        }
        load(loading, &turn)
        return suspects
    }

    private mutating func admit(_ record: InputRecord, _ source: FlightSource) -> SubmissionToken {
        var flight = Flight(source)
        flight.bytes = Int64(record.byteCount)
        limit.take(.record, bytes: flight.bytes)
        return flights.insert(flight)
    }

    /// Checks records that have waited for that, behind their outcomes where they may be redeliveries.
    mutating func begin(_ tokens: [SubmissionToken], highestOrigin: Int64?, _ turn: inout Turn) {
        var loading: [SubmissionToken] = []
        for token in tokens {
            guard let record = flights[token].record else { continue }
            begin(token, record, mayBeKnown: record.origin.offset <= highestOrigin ?? -1, loading: &loading, &turn)
        }
        load(loading, &turn)
    }

    /// Checks a record, or first asks for its known outcome together with others.
    private mutating func begin(
        _ token: SubmissionToken, _ record: InputRecord, mayBeKnown: Bool, loading: inout [SubmissionToken],
        _ turn: inout Turn
    ) {
        guard mayBeKnown else { return check(token, .record(record, known: nil), &turn) }
        move(token, to: .loading, &turn)
        flights[token].record = record
        loading.append(token)
    }

    /// Asks for the outcomes that the ledger has of these records.
    private mutating func load(_ tokens: [SubmissionToken], _ turn: inout Turn) {
        guard !tokens.isEmpty else { return }
        turn.call(.knownOutcomes(tokens.compactMap { flights[$0].record?.origin }), for: .knownOutcomes(tokens))
    }

    /// The outcomes of a batch are known: each record is checked against the one of its origin. The record whose check
    /// ends workers is quarantined unread.
    mutating func outcomesLoaded(_ tokens: [SubmissionToken], _ outcomes: [KnownOutcome], _ turn: inout Turn) {
        let byOrigin = Dictionary(outcomes.map { ($0.origin, $0) }) { $1 }
        for token in tokens where flights.contains(token) && flights[token].state == .loading {
            guard let record = flights[token].record else { continue }
            let known = byOrigin[record.origin]
            flights[token].known = known
            if flights[token].isPoison {
                turn.alert(.recordEndsWorkers(record.origin))
                check(token, .quarantine(record, .endsWorkers), &turn)
            } else {
                check(token, .record(record, known: known), &turn)
            }
        }
    }

    // MARK: Due rows

    /// A due row is checked again from the start: the apps file and roots may have changed since.
    mutating func admit(_ row: DueRetry, _ turn: inout Turn) {
        let flight = Flight(row)
        limit.take(.due, bytes: flight.bytes)
        let token = flights.insert(flight)
        if renewAt == nil { renewAt = turn.now + Self.renewInterval }
        guard row.takings < DueRetry.takingsOfSuspicion + PoisonWatch.endsOfPoison else {
            turn.alert(.rowEndsWorkers(row.submission.origin))
            return decide(token, .wait(RetryPolicy.endsWorkers(&flights[token].attempts)), &turn)
        }
        flights[token].isSuspect = row.isSuspect
        if row.isSuspect { suspectRows.marked = token }
        check(token, .submission(row.submission), &turn)
    }

    /// A suspect row needs another check: it counts as taken again.
    mutating func markNextRow(_ turn: inout Turn) {
        guard let token = suspectRows.markNext(in: flights), let renewal = renewal(of: token) else { return }
        turn.call(.renew([renewal]), for: .markRow(token))
    }

    /// The ledger counts the row as taken: it is checked.
    mutating func markedRow(_ token: SubmissionToken, _ isOurs: Bool, _ turn: inout Turn) {
        guard flights.isAwaitingMark(token), suspectRows.marked == token else { return }
        if isOurs { checkAwaited(token, &turn) } else { orphan(token, &turn) }
    }

    // MARK: Checks

    mutating func check(_ token: SubmissionToken, _ work: CheckTask.Work, _ turn: inout Turn) {
        guard let apps = turn.apps else { return orphan(token, &turn) }
        if flights[token].isSuspect, !isMarked(token) { return awaitMark(token, work, &turn) }
        if case .reply = work { move(token, to: .verifying, &turn) } else { move(token, to: .checking, &turn) }
        flights[token].record = nil
        turn.actions.checks.append(CheckTask(token: token, work: work, apps: apps))
    }

    /// Whether the ledger has the mark of a suspect, so that it may be checked.
    private func isMarked(_ token: SubmissionToken) -> Bool {
        flights[token].isRecord ? flights[token].isMarked : suspectRows.marked == token
    }

    /// A suspect needs another check than its first.
    private mutating func awaitMark(_ token: SubmissionToken, _ work: CheckTask.Work, _ turn: inout Turn) {
        guard let submission = flights[token].submission else { return orphan(token, &turn) }
        move(token, to: .marking, &turn)
        flights[token].awaited = work
        switch flights[token].source {
        case .record(let index, let assignment, _, _):
            let suspect = PoisonWatch.Suspect(token: token, offset: submission.origin.offset)
            turn.signal(.checkAgain(index: index, assignment, suspect))
        case .row: suspectRows.checkAgain(token)
        case .nobody: return
        }
    }

    /// The mark of one suspect record replaces another one's.
    mutating func mark(_ next: SubmissionToken?, insteadOf last: SubmissionToken?) {
        if let last, flights.contains(last) { flights[last].isMarked = false }
        if let next { (flights[next].isSuspect, flights[next].isMarked) = (true, true) }
    }

    mutating func checkAwaited(_ token: SubmissionToken, _ turn: inout Turn) {
        guard let work = flights[token].awaited else { return }
        flights[token].awaited = nil
        check(token, work, &turn)
    }

    /// - Parameter checked: of a submission that is in flight.
    mutating func checkEnded(_ checked: Checked, _ turn: inout Turn) {
        let token = checked.token
        switch (flights[token].state, checked.result) {
        case (.checking, .unreadable(let event, let stub, let kind)):
            quarantine(token, kind, event, stub, &turn)
        case (.checking, .known(let repeats)): redelivered(token, repeats, &turn)
        case (.checking, .malformed(let malformed)):
            flights[token].subject = .malformed(malformed)
            decide(token, .fail(malformed.rejection), &turn)
        case (.checking, .submission(let submission, let options, let check)):
            flights[token].subject = .submission(submission)
            flights[token].options = options
            flights[token].known = nil
            switch check {
            case .concluded(let verdict): conclude(token, verdict, &turn)
            case .ask(let question, let lookUp, let isSigned):
                ask(token, question, lookUp, isSigned: isSigned, &turn)
            }
        case (.checking, .signature(let holds, let verdict)): signatureChecked(token, holds, verdict, &turn)
        case (.verifying, .reply(let result)): attemptLed(token, to: result, &turn)
        default: assertionFailure("a submission has the result of another check")
        }
        // The worker lives: the ledger hears so before another suspect row is taken.
        guard suspectRows.ended(token, in: flights), flights.contains(token), let renewal = renewal(of: token)
        else { return }
        turn.call(.renew([renewal]), for: .renew([token]))
    }

    // MARK: Look-ups

    /// Evidence that needs Apple's word. Before the App Store Server API, which is rate-limited, the ledger is asked.
    private mutating func ask(
        _ token: SubmissionToken, _ question: Question, _ lookUp: GrantLookup?, isSigned: Bool?, _ turn: inout Turn
    ) {
        flights[token].question = question
        flights[token].isSigned = isSigned
        guard let lookUp else { return enterGate(token, &turn) }
        move(token, to: .lookingUp, &turn)
        flights[token].lookUp = lookUp
        lookUps.append(token)
    }

    /// Looks all up that wait for it, in one call.
    mutating func makeLookUps(_ turn: inout Turn) {
        guard !lookUps.isEmpty, !turn.ledgerCalls.isUnderWay(.lookUp) else { return }
        let tokens = lookUps.filter { flights.isLookingUp($0) }
        lookUps.removeAll(keepingCapacity: true)
        guard !tokens.isEmpty else { return }
        turn.call(.lookUp(tokens.compactMap { flights[$0].lookUp }), for: .lookUp(tokens))
    }

    /// A grant that answers it saves the call. Else it waits for its endpoint.
    mutating func lookedUp(_ tokens: [SubmissionToken], _ grants: [GrantReference?], _ turn: inout Turn) {
        for (token, grant) in zip(tokens, grants) where flights.isLookingUp(token) {
            if let grant { decide(token, .repeated(grant), &turn) } else { enterGate(token, &turn) }
        }
    }

    // MARK: Gates

    mutating func enterGate(_ token: SubmissionToken, _ turn: inout Turn) {
        guard let question = flights[token].question else { return orphan(token, &turn) }
        let gate = gates.index(of: .apple(question.endpoint))
        flights[token].gate = gate
        move(token, to: .waiting, &turn)
        let isRetry = flights[token].attempts.hasFailed
        let lane: EndpointGate.Lane = flights[token].isContinuing ? .continuation : isRetry ? .retry : .first
        let (isRow, now) = (flights.isRow(token), turn.now)
        gates.update(gate) { $0.enter(token, lane, isRow: isRow, at: now) }
    }

    /// Lets calls go, and sends those to `retries` whose endpoint is away.
    mutating func advanceGates(mayAsk: Bool, _ turn: inout Turn) {
        let now = turn.now
        // Nothing that happens here gives another gate work before the end of the turn.
        for gate in gates.active {
            gates.update(gate) { $0.advance(to: now) }
            switch gates.noticeTrouble(at: gate, now, wall: turn.wall) {
            case .began(.apple(let endpoint), let fault): turn.alert(.breakerOpened(endpoint, fault: fault))
            case .began(.service(let app), let fault): turn.alert(.calls(.serviceAway(app, fault: fault)))
            case .ended(.apple(let endpoint), let after):
                turn.signal(.endpointReplies(endpoint, gate: gate, after: after))
            case .ended(.service(let app), let after): turn.signal(.serviceReplies(app, after: after))
            case .needsProbes(.apple): turn.signal(.rowsDue)
            case .needsProbes(.service): turn.signal(.outboxDue(now))
            case nil: break
            }
            guard gates[gate].waiting > 0 else { continue }
            shed(at: gate, &turn)
            while mayAsk, let (token, pass) = gates.next(at: gate, now, in: flights) { attempt(token, pass, &turn) }
        }
    }

    /// Submissions that should not wait in memory wait in `retries`. Where Apple is away and its signature is enough
    /// meanwhile, they do not wait.
    private mutating func shed(at gate: Int, _ turn: inout Turn) {
        guard let (excess, gone) = gates.shed(at: gate, crowding: crowding, at: turn.now, in: flights)
        else { return }
        let cause: RetryCause
        switch excess {
        case .away:
            cause = .endpointUnavailable
            // Rows that go back at once were taken too early.
            gates.update(gate) { $0.takesEarlySince = nil }
        case .slow: cause = .endpointUnavailable
        case .beyondRate: cause = .rateLimited
        }
        for token in gone {
            // From its row, its attempt begins anew.
            flights[token].isContinuing = false
            waitForEndpoint(token, cause, mayDecide: gates[gate].breaker.isKnownAway(at: turn.now), &turn)
        }
    }

    // MARK: Attempts

    private mutating func attempt(_ token: SubmissionToken, _ pass: EndpointGate.Pass, _ turn: inout Turn) {
        guard let apps = turn.apps, let question = flights[token].question, let submission = flights[token].submission
        else { return orphan(token, &turn) }
        move(token, to: .asking, &turn)
        flights[token].pass = pass
        turn.actions.attempts.append(
            AttemptTask(
                token: token, submission: submission, question: question,
                attempts: flights[token].attempts.attempts, apps: apps))
    }

    mutating func attemptEnded(_ attempted: Attempted, _ turn: inout Turn) {
        let token = attempted.token
        guard flights.contains(token), flights[token].state == .asking, let pass = flights[token].pass else { return }
        let isRetry = flights[token].attempts.hasFailed
        let (now, unit) = (turn.now, Double.random(in: 0..<1, using: &turn.generator))
        gates.update(flights[token].gate) {
            $0.ended(pass, attempted.outcome, isRetry: isRetry, took: attempted.took, at: now, unit: unit)
            $0.note(attempted.fault, at: now)
        }
        flights[token].pass = nil
        guard !flights[token].isOrphan else { return leave(token, &turn) }
        attemptLed(token, to: attempted.result, &turn)
    }

    /// Takes the result of a call or of the check of its reply.
    private mutating func attemptLed(_ token: SubmissionToken, to result: AttemptResult, _ turn: inout Turn) {
        switch result {
        case .concluded(let verdict):
            flights[token].isContinuing = false
            conclude(token, verdict, &turn)
        case .next(let question):
            flights[token].isContinuing = true
            flights[token].question = question
            enterGate(token, &turn)
        case .check(let question):
            guard let submission = flights[token].submission else { return orphan(token, &turn) }
            check(token, .reply(submission, question), &turn)
        }
    }
}
