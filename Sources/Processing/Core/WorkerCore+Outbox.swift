import Contract
import Ledger
import Scheduling

/// Rows of the outbox: leased when due, called or published, reported.
extension WorkerCore {
    var mayTakeOutbox: Bool {
        // A row whose call has ended is due once the ledger has the report.
        stopping == .running && reports.isEmpty && !ledgerCalls.isUnderWay(.takeOutbox)
    }

    mutating func takeOutbox(into actions: inout Actions) {
        guard mayTakeOutbox else { return }
        if outboxWork.isUnfinished, limit.outboxRoom * 2 >= limit.outboxCount { outboxWork.schedule(at: now) }
        guard outboxWork.takeTurn(at: now) else { return }
        var room = limit.outboxRoom
        guard room > 0 else { return outboxWork.schedule(at: now + OutboxWork.roomPause) }
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
        if outboxWork.isAmidRound { outboxWork.schedule(at: now + OutboxWork.roomPause) }
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
        outboxWork.schedule(at: now + OutboxWork.roomPause)
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
            outboxWork.schedule(at: now)
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
        outboxWork.schedule(at: now + delay)
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
