import Contract
import Ledger
import Scheduling

/// Rows of `retries`: taken when due, under a lease that is renewed until they are decided.
extension WorkerCore {
    private static let renewInterval: Duration = .seconds(20)
    private static let reminderPause: Duration = .seconds(600)

    var mayTakeDue: Bool {
        rules != nil && stopping == .running && !ledgerCalls.isUnderWay(.takeDue) && !suspectRows.isInCheck(in: flights)
            && !isAnyMarked()
            // A sample under way says more about what to ask for.
            && !ledgerCalls.isUnderWay(.measure)
    }
    var mayRenew: Bool { !ledgerCalls.isUnderWay(.renew) }
    var mayMeasure: Bool { stopping == .running && !ledgerCalls.isUnderWay(.measure) }

    /// Asks for due rows: per endpoint as many as its gate may start, and only probes if it is away.
    mutating func takeDue(into actions: inout Actions) {
        guard mayTakeDue else { return }
        if hasRoomForMore() { dueWork.schedule(at: now) }
        guard dueWork.takeTurn(at: now) else { return }
        var room = limit.dueRoom
        let bytes = limit.dueBytesRoom
        guard room > 0, bytes > 0 else { return dueWork.schedule(at: now + DueWork.roomPause) }
        var requests: [DueRequest] = []
        var isCrowded = false
        let now = now
        if !dueWork.isAmidRound { dueWork.beginRound() }
        if dueWork.hasHeld || dueWork.takesHeldEarlySince != nil {
            let most = min(settings.heldPerCall, max(1, room / 4))
            requests.append(DueRequest(endpoint: nil, limit: most, beforeDue: dueWork.takesHeldEarlySince != nil))
            room -= most
        }
        while room > 0, requests.count < settings.endpointsPerCall, let place = dueWork.nextPlace() {
            guard case .apple(let endpoint) = gates[place].key else { continue }
            let ofGate = gates.update(place) { $0.dueRoom(at: now) }
            guard ofGate > 0 else {
                isCrowded = isCrowded || !gates[place].breaker.isAway
                continue
            }
            let early = gates[place].takesEarly || gates[place].breaker.phase == .halfOpen
            requests.append(DueRequest(endpoint: endpoint, limit: min(ofGate, room), beforeDue: early))
            room -= min(ofGate, room)
        }
        if isCrowded || dueWork.isAmidRound { dueWork.schedule(at: now + DueWork.roomPause) }
        guard !requests.isEmpty else { return }
        let most = Int(clamping: bytes)
        ledgerCalls.make(.takeDue(requests, bytes: most), for: .takeDue(requests, bytes: most), at: now, into: &actions)
    }

    /// Whether more rows are worth a call before the pause is over: a quarter of the allowance is free.
    private mutating func hasRoomForMore() -> Bool {
        guard limit.isDueRoomWorthACall else { return false }
        let now = now
        return dueWork.unfinished.contains { place in
            gates.update(place) { $0.dueRoom(at: now) * 4 >= $0.mostCalls }
        }
    }

    mutating func dueTaken(
        _ requests: [DueRequest], bytes: Int, _ rows: [DueRetry], into actions: inout Actions
    ) {
        for row in rows { admit(row, into: &actions) }
        // A suspect row comes alone, and says nothing about the others.
        if rows.first?.isSuspect == true { return dueWork.schedule(at: now) }
        // If all requested rows came, in number or bytes, there may be more.
        let isCut = rows.reduce(0) { $0 + $1.submission.retainedBytes } >= bytes
        var hasMore = false
        for request in requests {
            let found = rows.filter { $0.cause.endpoint == request.endpoint }
            let isAll = found.count < request.limit && !isCut
            if !isAll {
                hasMore = true
                if let endpoint = request.endpoint { dueWork.unfinished.append(gates.place(of: .apple(endpoint))) }
            }
            guard request.beforeDue, isAll || isTriedAgain(found, of: request.endpoint) else { continue }
            if let endpoint = request.endpoint {
                gates.update(gates.place(of: .apple(endpoint))) { $0.takesEarlySince = nil }
            } else {
                dueWork.takesHeldEarlySince = nil
            }
        }
        if hasMore { dueWork.schedule(at: now + DueWork.roomPause) }
    }

    /// Whether all these rows were tried since rows are taken early. Otherwise the same rows would be asked about again
    /// and again, without their pauses.
    private mutating func isTriedAgain(_ rows: [DueRetry], of endpoint: Endpoint?) -> Bool {
        let since = endpoint.map { gates[gates.place(of: .apple($0))].takesEarlySince } ?? dueWork.takesHeldEarlySince
        guard let since else { return true }
        return rows.allSatisfy { row in row.history.attempts.last.map { $0.at >= since } ?? false }
    }

    /// A due row is checked again from the start: rules and roots may have changed since.
    private mutating func admit(_ row: DueRetry, into actions: inout Actions) {
        guard stopping == .running else { return unstartedLeases.append(row.lease) }
        var flight = Flight(.retry(row.lease))
        flight.bytes = Int64(row.submission.evidence.byteCount)
        flight.attempts.attempts = row.attempts
        flight.attempts.history = row.history
        flight.attempts.doubt = row.doubt
        flight.takings = UInt8(clamping: row.takings)
        limit.take(.due, bytes: flight.bytes)
        let token = flights.insert(flight)
        flights[token].subject = .submission(row.submission)
        if renewAt == nil { renewAt = now + Self.renewInterval }
        guard row.takings < DueRetry.takingsOfSuspicion + PoisonWatch.endsOfPoison else {
            actions.alerts.append(.rowEndsWorkers(row.submission.origin))
            return decide(token, .retry(RetryPolicy.endsWorkers(&flights[token].attempts, wall: wall)))
        }
        flights[token].isSuspect = row.isSuspect
        if row.isSuspect { suspectRows.marked = token }
        check(token, .submission(row.submission), into: &actions)
    }

    /// Renews all leases together, so that a history of many pages can finish.
    mutating func renewLeases(into actions: inout Actions) {
        guard mayRenew, let moment = renewAt, moment <= now else { return }
        var tokens: [SubmissionToken] = []
        var renewals: [LeaseRenewal] = []
        renewAt = nil
        for token in flights.tokens {
            guard let renewal = renewal(of: token), !flights[token].isOrphan else { continue }
            renewAt = now + Self.renewInterval
            // A check that does not end may be one that ends workers: its lease ends by itself, and counts.
            guard !flights[token].state.isAtChecker else { continue }
            tokens.append(token)
            renewals.append(renewal)
        }
        guard !renewals.isEmpty else { return }
        ledgerCalls.make(.renew(renewals), for: .renew(tokens), at: now, into: &actions)
    }

    /// A row with another worker's lease is dropped here.
    mutating func renewed(_ tokens: [SubmissionToken], _ isOurs: [Bool]) {
        for (token, isOurs) in zip(tokens, isOurs) where !isOurs && flights.contains(token) { orphan(token) }
    }

    // MARK: Samples

    mutating func measure(into actions: inout Actions) {
        if retryBytes.isExhausted, let last = lastMeasure { schedule(at: last + .seconds(1)) }
        guard mayMeasure, let moment = measureAt, moment <= now else { return }
        measureAt = nil
        dueWork.beginSample()
        ledgerCalls.make(.measure(settings.worker), for: .measure, at: now, into: &actions)
    }

    /// Rows that this worker adds to `retries` count against the former sample, so the next sample must come soon.
    mutating func sampleSoon() {
        if let last = lastMeasure { schedule(at: last + Samples.interval) }
    }

    private mutating func schedule(at moment: Instant) { measureAt = min(measureAt ?? moment, moment) }

    mutating func measured(_ measure: LedgerMeasure, into actions: inout Actions) {
        if lastMeasure == nil, case let rows = measure.retries.reduce(0, { $0 + $1.rows }), rows > 0 {
            actions.alerts.append(.waitingAtStart(rows))
        }
        lastMeasure = now
        samples.taken(measure, isIdle: inFlight == 0)
        measureAt = now + samples.pause
        share(among: measure.workers)
        let isHalfPassed = retryBytes.sampled(measure)
        let bytes = retryBytes.total
        if isHalfPassed { actions.alerts.append(.retriesHalfFull(bytes: bytes, limit: settings.retryBytes)) }
        if retryBytes.isFull, isReminderDue(retriesFullToldAt) {
            retriesFullToldAt = now
            actions.alerts.append(.retriesFull(bytes: bytes, limit: settings.retryBytes))
        }
        outboxWork.sampled(rows: measure.outboxRows, at: now)
        if !outboxWork.isFull { outboxFullToldAt = nil }
        if outboxWork.isFull, isReminderDue(outboxFullToldAt) {
            outboxFullToldAt = now
            actions.alerts.append(.outboxFull)
        }
        var places: [Int] = []
        var hasHeld = false
        for waiting in measure.waiting where waiting.rows > 0 {
            if let endpoint = waiting.endpoint {
                places.append(gates.place(of: .apple(endpoint)))
            } else {
                hasHeld = true
            }
        }
        dueWork.sampled(places, hasHeld: hasHeld)
        if dueWork.hasRows { dueWork.schedule(at: now) }
        remind(of: measure, into: &actions)
    }

    private func isReminderDue(_ toldAt: Instant?) -> Bool { toldAt.map { now - $0 >= Self.reminderPause } ?? true }

    /// Tells of held submissions and of outages that last, once in a while.
    private mutating func remind(of measure: LedgerMeasure, into actions: inout Actions) {
        let now = now
        let groups = Set(measure.held.map(\.group))
        heldToldAt = heldToldAt.filter { groups.contains($0.key) }
        for held in measure.held where isReminderDue(heldToldAt[held.group]) {
            heldToldAt[held.group] = now
            actions.alerts.append(.held(held.group, rows: held.rows, details: held.details))
        }
        if measure.later == 0 { laterToldAt = nil }
        if measure.later > 0, isReminderDue(laterToldAt) {
            laterToldAt = now
            actions.alerts.append(.laterVersion(rows: measure.later))
        }
        for waiting in measure.waiting {
            guard let endpoint = waiting.endpoint, case let place = gates.place(of: .apple(endpoint)),
                let since = gates[place].troubledSinceTold, isReminderDue(gates[place].troubleToldAt)
            else { continue }
            gates.update(place) { $0.troubleToldAt = now }
            actions.alerts.append(.breakerStillOpen(endpoint, after: now - since, waiting: waiting.rows))
        }
    }
}
