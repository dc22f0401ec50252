import Contract
import Ledger
import Scheduling

/// Events: on their way to the broker, acknowledged, or owed in the outbox.
extension WorkerCore {
    private static let republishPause: Duration = .seconds(1)

    /// Publishes the events of a submission, which is complete once the broker has all of them.
    mutating func tell(_ token: SubmissionToken, _ stored: [StoredEvent], into actions: inout Actions) {
        guard !stored.isEmpty, case .record(_, _, _, let ownership) = flights[token].source else {
            return complete(token)
        }
        move(token, to: .publishing)
        flights[token].untold = stored.count
        for event in stored {
            let entry = OutboxEntry(ownership: ownership, key: event.key, delay: 0)
            publish(event.event, .submission(token), entry, into: &actions)
        }
    }

    mutating func publish(
        _ event: Event, _ owner: EventFlight.Owner, _ entry: OutboxEntry?, into actions: inout Actions
    ) {
        let token = events.insert(EventFlight(owner: owner, entry: entry, event: event))
        actions.publishes.append(PublishTask(token: token, event: event))
    }

    mutating func publishAgain(_ token: PublishToken, into actions: inout Actions) {
        guard events.contains(token) else { return }
        actions.publishes.append(PublishTask(token: token, event: events[token].event))
    }

    mutating func publishEnded(_ report: PublishReport, into actions: inout Actions) {
        let token = report.token
        guard events.contains(token) else { return }
        let topic = events[token].event.topic
        if report.result == .acknowledged { refusals[topic] = nil }
        if let cause = report.cause, refusals[topic, default: []].insert(cause).inserted {
            actions.alerts.append(.eventsNotTaken(topic, cause: cause))
        }
        switch (events[token].owner, report.result) {
        case (.submission(let submission), .acknowledged):
            events.remove(token)
            told(submission)
        case (.submission(let submission), .failed): untaken(token, of: submission)
        case (.outbox(let row), let result):
            events.remove(token)
            rowPublished(row, result)
        }
    }

    /// One more event of a submission is with the broker, or in the outbox.
    private mutating func told(_ token: SubmissionToken) {
        guard flights.contains(token) else { return }
        flights[token].untold -= 1
        if flights[token].untold <= 0 { complete(token) }
    }

    /// The broker did not take an event in time, or refuses it: it is owed in the outbox. Where that is full, the event
    /// waits for the broker instead.
    private mutating func untaken(_ token: PublishToken, of submission: SubmissionToken) {
        if outboxWork.isFull, stopping == .running {
            republishing.insert(token, due: now + Self.republishPause)
            return
        }
        let entry = events[token].entry
        events.remove(token)
        guard flights.contains(submission), let entry else { return }
        // The next owner reads it again. An entry under the old ownership must not reach a ledger that was set back.
        guard !flights[submission].isOrphan else { return leave(submission) }
        move(submission, to: .owing)
        owed.append((submission, entry))
    }

    /// Writes all waiting entries to the outbox in one call.
    mutating func makeOwed(into actions: inout Actions) {
        guard !owed.isEmpty, !ledgerCalls.isUnderWay(.owe) else { return }
        owed.removeAll { !flights.contains($0.token) }
        guard !owed.isEmpty else { return }
        let part = owed.prefix(settings.owedPerCall)
        ledgerCalls.make(.owe(part.map(\.entry)), for: .owe(part.map(\.token)), at: now, into: &actions)
        owed.removeFirst(part.count)
    }

    /// Any worker tells an outcome that is in the outbox. If it is not there, the partition has another owner, who
    /// reads the record again.
    mutating func owedEnded(_ tokens: [SubmissionToken], _ isOwed: [Bool], into actions: inout Actions) {
        for (token, isOwed) in zip(tokens, isOwed) where flights.contains(token) {
            if isOwed { told(token) } else { notOwned(token, into: &actions) }
        }
        outboxWork.poll(at: now + .seconds(1))
    }
}

/// Rows of the outbox: leased when due, called or published, reported.
extension WorkerCore {
    var mayTakeOutbox: Bool {
        // A row whose call has ended is due once the ledger has the report.
        stopping == .running && reports.isEmpty && !ledgerCalls.isUnderWay(.takeOutbox)
    }

    mutating func takeOutbox(into actions: inout Actions) {
        guard mayTakeOutbox else { return }
        if outboxWork.isUnfinished, limit.outboxRoom * 2 >= limit.outboxCount { outboxWork.poll(at: now) }
        guard outboxWork.takePoll(at: now) else { return }
        var room = limit.outboxRoom
        guard room > 0 else { return outboxWork.poll(at: now + OutboxWork.roomPause) }
        if !outboxWork.isAmidRound { outboxWork.beginRound(services: rules?.services ?? []) }
        // A target that takes nothing can hold only its part of the allowance.
        let part = min(settings.outboxRowsPerTarget, max(1, room / 4))
        var requests: [OutboxRequest] = []
        let now = now
        while room > 0, let target = outboxWork.nextTarget() {
            var most = min(part, room)
            if case .service(let service) = target {
                most = min(most, gates.update(gates.place(of: .service(service))) { $0.dueRoom(at: now) })
            }
            guard most > 0 else { continue }
            requests.append(OutboxRequest(target: target, limit: most))
            room -= most
        }
        if outboxWork.isAmidRound { outboxWork.poll(at: now + OutboxWork.roomPause) }
        guard !requests.isEmpty else { return }
        ledgerCalls.make(.takeOutbox(requests), for: .takeOutbox(requests), at: now, into: &actions)
    }

    mutating func outboxTaken(_ requests: [OutboxRequest], _ items: [OutboxItem], into actions: inout Actions) {
        limit.takeOutboxRows(items.count)
        for item in items {
            let row = outboxRows.insert(OutboxFlight(lease: item.lease, attempts: item.attempts))
            switch item.work {
            case .publish(let event):
                move(row, to: .publishing)
                publish(event, .outbox(row), nil, into: &actions)
            case .call(let grant): call(grant, row, into: &actions)
            }
        }
        guard !items.isEmpty else { return }
        // If all requested rows came, there may be more.
        guard items.count >= requests.map(\.limit).min() ?? 1 else { return }
        outboxWork.isUnfinished = true
        outboxWork.poll(at: now + OutboxWork.roomPause)
    }

    private mutating func call(_ grant: Grant, _ row: OutboxToken, into actions: inout Actions) {
        let place = gates.place(of: .service(grant.claimant.bundleID))
        let now = now
        let lane: EndpointGate.Lane = outboxRows[row].attempts > 0 ? .retry : .first
        guard let pass = gates.update(place, { $0.pass(lane, at: now) }) else { return postpone(row) }
        move(row, to: .calling(gate: place, pass))
        actions.calls.append(CallTask(token: row, grant: grant, attempts: outboxRows[row].attempts))
    }

    /// A fulfilment call ended. If it was accepted the row's event is next, otherwise the row is due later.
    mutating func callEnded(_ called: Called) {
        guard outboxRows.contains(called.token), case .calling(let place, let pass) = outboxRows[called.token].state
        else { return }
        let isRetry = outboxRows[called.token].attempts > 0
        let (now, unit) = (now, Double.random(in: 0..<1, using: &generator))
        gates.update(place) {
            $0.ended(pass, called.outcome, isRetry: isRetry, took: called.took, at: now, unit: unit)
        }
        switch called.result {
        case .accepted:
            finish(called.token, .called(outboxRows[called.token].lease))
            outboxWork.poll(at: now)
        case .failed: postpone(called.token)
        }
    }

    /// If the broker has a row's event the row is deleted, otherwise it is due later.
    mutating func rowPublished(_ row: OutboxToken, _ result: PublishReport.Result) {
        guard outboxRows.contains(row) else { return }
        switch result {
        case .acknowledged: finish(row, .published(outboxRows[row].lease))
        case .failed: postpone(row)
        }
    }

    private mutating func postpone(_ row: OutboxToken) {
        let delay = OutboxWork.backoff.delay(afterFailures: outboxRows[row].attempts + 1, using: &generator)
        outboxWork.poll(at: now + delay)
        finish(row, .postponed(outboxRows[row].lease, delay: delay.wholeMilliseconds))
    }

    private mutating func finish(_ row: OutboxToken, _ report: OutboxReport) {
        reports.append(report)
        endRow(row)
    }

    /// The one place where the state of a row changes.
    private mutating func move(_ row: OutboxToken, to state: OutboxFlightState) {
        transitions.take(from: outboxRows[row].state, to: state)
        outboxRows[row].state = state
    }

    mutating func endRow(_ row: OutboxToken) {
        move(row, to: .ended)
        limit.releaseOutboxRow()
        outboxRows.remove(row)
    }

    /// Reports all ended rows in one call.
    mutating func makeReports(into actions: inout Actions) {
        guard !reports.isEmpty, !ledgerCalls.isUnderWay(.report) else { return }
        ledgerCalls.make(.report(reports), for: .report, at: now, into: &actions)
        reports.removeAll(keepingCapacity: true)
    }
}

/// When the ledger is asked for due rows of the outbox: after a sample that has some, and when own work makes one due.
struct OutboxWork {
    static let roomPause: Duration = .milliseconds(250)
    /// Until a row whose event or call failed is due again.
    static let backoff = Backoff(base: .seconds(2), cap: .seconds(60), jitter: .equal)

    /// At so many rows, outcomes wait for the broker instead.
    private let full: Int
    private(set) var pollAt: Instant?
    /// Some target has more rows than the latest request took.
    var isUnfinished = false
    /// By the latest sample.
    private(set) var rows = 0
    private(set) var isFull = false
    private var round = FIFO<OutboxTarget>()

    init(full: Int) { self.full = full }

    mutating func poll(at moment: Instant) { pollAt = min(pollAt ?? moment, moment) }

    mutating func sampled(rows: Int, at now: Instant) {
        self.rows = rows
        isFull = rows >= full
        if rows > 0 { poll(at: now) }
    }

    /// The next target to ask for; nil once all were asked for in this round.
    ///
    /// A round takes several polls if few rows fit. Otherwise the first targets would always be served first.
    mutating func nextTarget() -> OutboxTarget? { round.popFirst() }

    /// Whether a round has begun and not ended.
    var isAmidRound: Bool { !round.isEmpty }

    mutating func beginRound(services: [BundleID]) {
        for topic in Topic.outputs { round.append(.topic(topic)) }
        for service in services { round.append(.service(service)) }
    }

    mutating func takePoll(at now: Instant) -> Bool {
        guard let moment = pollAt, moment <= now else { return false }
        pollAt = nil
        isUnfinished = false
        return true
    }
}
