import Contract
import Ledger
import Scheduling

/// Submissions that Apple has to be asked about: look-ups, gates, attempts, repetitions.
extension WorkerCore {
    // MARK: Before the call

    /// Evidence that needs Apple's word. Before the App Store Server API, which is rate-limited, the ledger is asked.
    mutating func ask(_ token: SubmissionToken, _ question: Question, _ lookUp: GrantLookup?, isSigned: Bool?) {
        flights[token].question = question
        flights[token].isSigned = isSigned
        guard let lookUp else { return enterGate(token) }
        move(token, to: .lookingUp)
        flights[token].lookUp = lookUp
        lookUps.append(token)
    }

    /// Looks all up that wait for it, in one call.
    mutating func makeLookUps(into actions: inout Actions) {
        guard !lookUps.isEmpty, !ledgerCalls.isUnderWay(.lookUp) else { return }
        var tokens: [SubmissionToken] = []
        var questions: [GrantLookup] = []
        for token in lookUps where flights.contains(token) && flights[token].state == .lookingUp {
            guard let lookUp = flights[token].lookUp else { continue }
            tokens.append(token)
            questions.append(lookUp)
        }
        lookUps.removeAll(keepingCapacity: true)
        guard !tokens.isEmpty else { return }
        ledgerCalls.make(.lookUp(questions), for: .lookUp(tokens), at: now, into: &actions)
    }

    /// A grant that answers it spares the call; else it waits for its endpoint.
    mutating func lookedUp(_ tokens: [SubmissionToken], _ grants: [GrantReference?]) {
        for (token, grant) in zip(tokens, grants) where flights.contains(token) && flights[token].state == .lookingUp {
            if let grant { decide(token, .repeated(grant)) } else { enterGate(token) }
        }
    }

    mutating func enterGate(_ token: SubmissionToken) {
        guard let question = flights[token].question else { return orphan(token) }
        let place = gates.place(of: .apple(question.endpoint))
        flights[token].gate = place
        move(token, to: .waiting)
        let isRetry = flights[token].attempts.hasFailed
        let lane: EndpointGate.Lane = flights[token].isContinuing ? .continuation : isRetry ? .retry : .first
        let now = now
        gates.update(place) { $0.enter(token, lane, at: now) }
    }

    // MARK: Gates

    var areGatesCrowded: Bool { limit.isCrowded(recordsAtGates: recordsAtGates, bytesAtGates: bytesAtGates) }

    /// Lets calls go, and sends those to `retries` whose endpoint is away.
    mutating func advanceGates(into actions: inout Actions) {
        let now = now
        var index = 0
        // Nothing that happens here gives another gate work before the end of the turn.
        while index < gates.active.count {
            let place = gates.active[index]
            index += 1
            gates.update(place) { $0.advance(to: now) }
            noticeTrouble(at: place, into: &actions)
            guard gates[place].waiting > 0 else { continue }
            if gates[place].isAway(areCrowded: areGatesCrowded, at: now) { shed(at: place, into: &actions) }
            while stopping == .running || stopping.isCalling,
                let (token, pass) = gates.next(at: place, now, in: flights)
            {
                attempt(token, pass, into: &actions)
            }
        }
    }

    private mutating func noticeTrouble(at place: Int, into actions: inout Actions) {
        if gates[place].breaker.phase != .halfOpen, gates[place].isProbing {
            gates.update(place) { $0.isProbing = false }
        }
        let isTroubled = gates[place].isTroubled
        let since = gates[place].troubledSinceTold
        guard isTroubled != (since != nil) || gates[place].breaker.phase == .halfOpen else { return }
        guard case .apple(let endpoint) = gates[place].key else { return }
        if gates[place].breaker.phase == .halfOpen {
            // Rows that wait are its probes, whatever their due time.
            if gates[place].held == 0, !gates[place].isProbing { dueWork.schedule(at: now) }
            return gates.update(place) { $0.isProbing = true }
        }
        let (now, wall) = (now, wall)
        gates.update(place) {
            $0.troubledSinceTold = isTroubled ? now : nil
            $0.troubleToldAt = $0.troubledSinceTold
            $0.takesEarlySince = isTroubled ? nil : wall
        }
        if isTroubled {
            actions.alerts.append(.breakerOpened(endpoint, fault: gates[place].fault))
        } else {
            actions.alerts.append(
                .breakerClosed(
                    endpoint, after: since.map { now - $0 } ?? .zero, waited: samples.rows(waitingFor: endpoint)))
            dueWork.noteRows(at: place)
            dueWork.schedule(at: now)
        }
    }

    /// All but a few probes wait in `retries`, or for nobody where Apple's signature is enough meanwhile.
    private mutating func shed(at place: Int, into actions: inout Actions) {
        let gone = gates.shed(at: place, areCrowded: areGatesCrowded, at: now, in: flights)
        // Rows that go back at once were taken too early.
        if !gone.isEmpty { gates.update(place) { $0.takesEarlySince = nil } }
        let awayFor = gates[place].awayFor(at: now)
        let isKnownAway = gates[place].breaker.isKnownAway(at: now)
        for token in gone {
            guard let question = flights[token].question else { continue }
            // From its row, its attempt begins anew.
            flights[token].isContinuing = false
            let entry = RetryPolicy.notAsked(
                &flights[token].attempts, endpoint: question.endpoint, awayFor: awayFor, wall: wall,
                using: &generator)
            waitInRetries(token, entry, mayDecide: isKnownAway, into: &actions)
        }
    }

    // MARK: Attempts

    private mutating func attempt(_ token: SubmissionToken, _ pass: EndpointGate.Pass, into actions: inout Actions) {
        guard let rules, let question = flights[token].question, let submission = flights[token].submission
        else { return orphan(token) }
        move(token, to: .asking)
        flights[token].pass = pass
        actions.attempts.append(
            AttemptTask(
                token: token, submission: submission, question: question,
                attempts: flights[token].attempts.attempts, rules: rules))
    }

    mutating func attemptEnded(_ answered: Answered, into actions: inout Actions) {
        let token = answered.token
        guard flights.contains(token), flights[token].state == .asking, let pass = flights[token].pass else { return }
        let isRetry = flights[token].attempts.hasFailed
        let (now, unit) = (now, Double.random(in: 0..<1, using: &generator))
        gates.update(flights[token].gate) {
            $0.ended(pass, answered.outcome, isRetry: isRetry, took: answered.took, at: now, unit: unit)
            if answered.fault != nil || $0.breaker.phase == .closed { $0.fault = answered.fault }
        }
        flights[token].pass = nil
        guard !flights[token].isOrphan else { return leave(token) }
        attemptLed(token, to: answered.result, into: &actions)
    }

    /// Takes the result of a call or of the check of its answer.
    mutating func attemptLed(_ token: SubmissionToken, to result: AttemptResult, into actions: inout Actions) {
        switch result {
        case .concluded(let verdict):
            flights[token].isContinuing = false
            conclude(token, verdict, into: &actions)
        case .next(let question):
            flights[token].isContinuing = true
            flights[token].question = question
            enterGate(token)
        case .check(let question):
            guard let submission = flights[token].submission else { return orphan(token) }
            check(token, .answer(submission, question), into: &actions)
        }
    }

    // MARK: Delays

    /// - Parameter state: what it waits to do.
    mutating func delay(_ token: SubmissionToken, _ state: FlightState, until moment: Instant) {
        move(token, to: state)
        if flights[token].gate >= 0 { gates.update(flights[token].gate) { $0.delayed += 1 } }
        delays.insert(token, due: moment)
    }

    mutating func advanceDelays(into actions: inout Actions) {
        while let token = delays.popDue(at: now) {
            guard flights.contains(token), flights[token].state.isPause else { continue }
            undelay(token)
            switch flights[token].state {
            case .repeating: enterGate(token)
            case .rechecking:
                guard let submission = flights[token].submission else { orphan(token); continue }
                check(token, .submission(submission), into: &actions)
            case .rewriting: writeAgain(token)
            case .awaitingRoom:
                guard let entry = flights[token].postponed else { orphan(token); continue }
                flights[token].postponed = nil
                waitInRetries(token, entry, into: &actions)
            default: continue
            }
        }
        while let token = republishing.popDue(at: now) { publishAgain(token, into: &actions) }
    }
}
