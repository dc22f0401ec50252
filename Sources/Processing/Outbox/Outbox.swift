import Contract
import Ledger
import Scheduling

/// The machine of the outbox's rows: leased when due, called or published, reported.
struct Outbox: ~Copyable {
    /// Most rows in flight.
    private let most: Int
    /// Most rows of one target that one call takes.
    private let mostOfTarget: Int
    /// Parts of the allowance in one call. Of more targets the rest comes in the next one.
    private static let mostParts = 8
    private(set) var work: OutboxWork
    /// Gates of services that are owed calls, and had no room when this round came to them.
    private var crowded: [Int] = []
    private var rows: Slab<OutboxFlight, OutboxRowInFlight>
    /// Of rows that have ended.
    private var reports: [OutboxReport] = []

    /// - Parameters:
    ///   - most: rows in flight.
    ///   - mostOfTarget: rows of one target that one call takes.
    ///   - full: at so many rows, outcomes wait for the broker instead.
    init(most: Int, mostOfTarget: Int, full: Int) {
        self.most = most
        self.mostOfTarget = mostOfTarget
        work = OutboxWork(full: full)
        rows = Slab(vacant: .vacant, capacity: most)
    }

    var count: Int { rows.count }
    private var room: Int { max(0, most - rows.count) }

    /// When rows are asked for; nil while they cannot be.
    func nextMoment(_ turn: borrowing Turn) -> Instant? { mayTake(turn) ? work.nextAt : nil }

    mutating func schedule(at moment: Instant) { work.schedule(at: moment) }
    mutating func sampling() { work.sampling() }
    mutating func sampled(_ measure: LedgerMeasure, at now: Instant) { work.sampled(measure, at: now) }
    mutating func owes(callTo app: BundleID, at now: Timestamp) { work.owes(callTo: app, at: now) }

    /// A row whose call has ended is due once the ledger has the report.
    private func mayTake(_ turn: borrowing Turn) -> Bool {
        reports.isEmpty && !turn.ledgerCalls.isUnderWay(.takeOutbox)
    }

    // MARK: Rows

    /// Asks for due rows of each target in turn.
    mutating func take(_ gates: inout GateTable, _ turn: inout Turn) {
        guard mayTake(turn) else { return }
        let now = turn.now
        if work.isUnfinished, room * 2 >= most { work.schedule(at: now) }
        if hasRoomAgain(&gates, at: now) { work.schedule(at: now) }
        guard work.takeTurn(at: now) else { return }
        var room = room
        guard room > 0 else { return work.schedule(at: now + OutboxWork.roomPause) }
        if !work.isAmidRound {
            work.beginRound(services: turn.apps?.services ?? [])
            crowded.removeAll(keepingCapacity: true)
        }
        // A target that takes nothing can hold only its part of the allowance.
        let part = min(mostOfTarget, max(1, room / min(work.targets, Self.mostParts)))
        var requests: [OutboxRequest] = []
        while room > 0, let target = work.nextTarget() {
            var most = min(part, room)
            if case .service(let service) = target {
                let gate = gates.index(of: .service(service))
                most = min(most, gates.update(gate) { $0.callRoom(at: now) })
                if most == 0 { crowded.append(gate) }
            }
            guard most > 0 else { continue }
            requests.append(OutboxRequest(target: target, limit: most))
            room -= most
        }
        if work.isAmidRound { work.schedule(at: now + OutboxWork.roomPause) }
        guard !requests.isEmpty else { return }
        turn.call(.takeOutbox(requests), for: .takeOutbox(requests))
    }

    /// Whether a service may be called so often that it is worth a call to the ledger. Only services count that could
    /// not be called when the round came to them.
    private func hasRoomAgain(_ gates: inout GateTable, at now: Instant) -> Bool {
        crowded.contains { gate in gates.update(gate) { $0.isCallRoomWorthACall(at: now) } }
    }

    /// Begins with rows that were asked for. Once the worker stops nothing begins, and they are given back.
    mutating func taken(
        _ requests: [OutboxRequest], _ items: [OutboxItem], mayBegin: Bool, _ gates: inout GateTable,
        _ turn: inout Turn
    ) {
        for item in items {
            let row = rows.insert(OutboxFlight(lease: item.lease, attempts: item.attempts))
            guard mayBegin else { continue }
            switch item.work {
            case .publish(let event):
                move(row, to: .publishing, &turn)
                turn.signal(.publish(event, .outbox(row), nil))
            case .call(let grant): call(grant, row, &gates, &turn)
            }
        }
        guard !items.isEmpty else { return }
        // If all requested rows came, there may be more.
        guard items.count >= requests.map(\.limit).min() ?? 1 else { return }
        work.isUnfinished = true
        work.schedule(at: turn.now + OutboxWork.roomPause)
    }

    private mutating func call(_ grant: Grant, _ row: OutboxToken, _ gates: inout GateTable, _ turn: inout Turn) {
        let gate = gates.index(of: .service(grant.claimant.bundleID))
        let lane: EndpointGate.Lane = rows[row].attempts > 0 ? .retry : .first
        let now = turn.now
        guard let apps = turn.apps, let pass = gates.update(gate, { $0.pass(lane, at: now) }) else {
            return postpone(row, after: .notMade, OutboxWork.roomPause, &turn)
        }
        move(row, to: .calling(gate: gate, pass), &turn)
        turn.actions.calls.append(CallTask(token: row, grant: grant, apps: apps))
    }

    /// A fulfilment call ended. If it was accepted the row's event is next, otherwise the row is due later.
    ///
    /// A service that refuses one grant would refuse it again seconds later, so such a grant waits longer.
    mutating func callEnded(_ called: Called, _ gates: inout GateTable, _ turn: inout Turn) {
        let row = called.token
        guard rows.contains(row), case .calling(let gate, let pass) = rows[row].state else { return }
        let isRetry = rows[row].attempts > 0
        let (now, unit) = (turn.now, Double.random(in: 0..<1, using: &turn.generator))
        gates.update(gate) {
            $0.ended(pass, called.outcome, isRetry: isRetry, took: called.took, at: now, unit: unit)
            $0.note(called.fault, at: now)
        }
        switch called.result {
        case .accepted:
            finish(row, .called(rows[row].lease), &turn)
            work.schedule(at: now)
        case .notAccepted(let answer):
            let backoff = answer.isRefusal ? OutboxWork.refusalBackoff : OutboxWork.backoff
            let pause = backoff.delay(afterFailures: rows[row].attempts + 1, using: &turn.generator)
            let asked = min(called.retryAfter ?? .zero, OutboxWork.longestAsked)
            postpone(row, after: .answered(answer), max(pause, asked), &turn)
        }
    }

    /// If the broker has a row's event the row is deleted, otherwise it is due later.
    mutating func published(_ row: OutboxToken, _ result: PublishReport.Result, _ turn: inout Turn) {
        guard rows.contains(row) else { return }
        switch result {
        case .acknowledged: finish(row, .published(rows[row].lease), &turn)
        case .failed, .tooLarge:
            let pause = OutboxWork.backoff.delay(afterFailures: rows[row].attempts + 1, using: &turn.generator)
            postpone(row, after: .failed, pause, &turn)
        }
    }

    private mutating func postpone(
        _ row: OutboxToken, after tried: OutboxTry, _ delay: Duration, _ turn: inout Turn
    ) {
        work.schedule(at: turn.now + delay)
        finish(row, .postponed(rows[row].lease, delay: delay.wholeMilliseconds, after: tried), &turn)
    }

    private mutating func finish(_ row: OutboxToken, _ report: OutboxReport, _ turn: inout Turn) {
        reports.append(report)
        end(row, &turn)
    }

    /// The only function in which the state of a row changes.
    private mutating func move(_ row: OutboxToken, to state: OutboxFlightState, _ turn: inout Turn) {
        turn.transitions.take(from: rows[row].state, to: state)
        rows[row].state = state
    }

    private mutating func end(_ row: OutboxToken, _ turn: inout Turn) {
        move(row, to: .ended, &turn)
        rows.remove(row)
    }

    // MARK: Reports

    /// Reports all ended rows in one call.
    mutating func makeReports(_ turn: inout Turn) {
        guard !reports.isEmpty, !turn.ledgerCalls.isUnderWay(.report) else { return }
        turn.call(.report(reports), for: .report)
        reports.removeAll(keepingCapacity: true)
    }

    /// Whether a fulfilment call is under way.
    var isCalling: Bool {
        rows.tokens.contains { row in
            if case .calling = rows[row].state { true } else { false }
        }
    }

    /// Drops all rows, because the worker stops.
    /// - Returns: the leases to give back: all but those of rows whose call is under way. Another worker would call
    ///   beside it.
    mutating func dropRows(_ turn: inout Turn) -> [OutboxLease] {
        rows.tokens.compactMap { row in
            defer { end(row, &turn) }
            if case .calling = rows[row].state { return nil }
            return rows[row].lease
        }
    }
}
