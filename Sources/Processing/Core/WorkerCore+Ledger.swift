import Contract
import Ledger
import Scheduling

/// The calls on the ledger's second connection, the results of both, and whether it is away.
extension WorkerCore {
    mutating func makeLedgerCalls() {
        if stop.isRunning { partitions.takeOver(&turn) }
        submissions.makeLookUps(&turn)
        publisher.makeOwed(in: submissions.flights, &turn)
        outbox.makeReports(&turn)
        partitions.checkpointIfDue(&turn)
        if stop.isRunning, sampler.take(isExhausted: submissions.retryBytes.isExhausted, &turn) {
            dueWork.sampling()
            outbox.sampling()
        }
        if mayTakeDue { dueWork.take(dueRoom, &submissions.gates, &turn) }
        if stop.isRunning { outbox.take(&submissions.gates, &turn) }
        submissions.renewLeases(&turn)
    }

    var mayTakeDue: Bool {
        turn.apps != nil && stop.isRunning && !turn.ledgerCalls.isUnderWay(.takeDue) && !isRowInCheck && !isAnyMarked()
            // A sample under way says more about what to ask for.
            && sampler.hasSample && !turn.ledgerCalls.isUnderWay(.measure)
    }

    private var dueRoom: DueWork.Room {
        let limit = submissions.limit
        return DueWork.Room(rows: limit.dueRoom, bytes: limit.dueBytesRoom, isWorthACall: limit.isDueRoomWorthACall)
    }

    // MARK: Results

    mutating func ledgerCallEnded(_ id: RequestID, _ result: Result<LedgerResult, LedgerError>) {
        switch result {
        case .success(let result):
            guard let purpose = turn.ledgerCalls.ended(id, at: turn.now) else { return }
            noticeLedgerAvailable()
            callEnded(purpose, result)
        case .failure(let error):
            ledgerFailed(error) { core in
                core.turn.ledgerCalls.failed(id, at: core.turn.now, using: &core.turn.generator)
                core.partitions.forgetLostTakeOvers(&core.turn)
            }
        }
    }

    mutating func batchEnded(_ batch: BatchID, _ result: Result<[DecisionResult], LedgerError>) {
        switch result {
        case .success(let results):
            guard let tokens = submissions.batcher.ended(batch) else { return }
            outage.writesAreAway = false
            noticeLedgerAvailable()
            submissions.batchWritten(tokens, results, &turn)
        case .failure(let error):
            ledgerFailed(error) { core in
                core.outage.writesAreAway = true
                core.submissions.batchFailed(batch, &core.turn)
            }
        }
    }

    /// - Parameter repeats: prepares the call to be made again.
    private mutating func ledgerFailed(_ error: LedgerError, _ repeats: (inout WorkerCore) -> Void) {
        switch error {
        case .unavailable(let detail):
            repeats(&self)
            outage.begin(detail, &turn)
        case .disconnected(let detail):
            repeats(&self)
            outage.begin(detail, &turn)
            partitions.loseConnection(&turn)
        case .unusable(let detail): stop.end(for: .unusable(detail: detail))
        }
    }

    private mutating func callEnded(_ purpose: LedgerCalls.Purpose, _ result: LedgerResult) {
        switch (purpose, result) {
        case (.takeOver(let taken), .takenOver(let results)): partitions.takenOver(taken, results, &turn)
        case (.knownOutcomes(let tokens), .knownOutcomes(let outcomes)):
            submissions.outcomesLoaded(tokens, outcomes, &turn)
        case (.checkpoint(let indices), .checkpointed(let stillOwned)):
            partitions.checkpointed(indices, stillOwned, &turn)
        case (.mark(let token), .marked(let stillOwned)): marked(token, stillOwned.first ?? false)
        case (.unmark(let index, let assignment), .marked): unmarked(index, assignment)
        case (.lookUp(let tokens), .lookedUp(let grants)): submissions.lookedUp(tokens, grants, &turn)
        case (.takeDue(let requests, let bytes), .due(let rows)): dueTaken(requests, bytes: bytes, rows)
        case (.renew(let tokens), .renewed(let isOurs)): submissions.renewed(tokens, isOurs, &turn)
        case (.markRow(let token), .renewed(let isOurs)): submissions.markedRow(token, isOurs.first ?? false, &turn)
        case (.owe(let tokens), .owed(let isOwed)): submissions.owed(tokens, isOwed, &turn)
        case (.takeOutbox(let requests), .outbox(let items)):
            outbox.taken(requests, items, mayBegin: stop.isRunning, &submissions.gates, &turn)
        case (.measure, .measured(let measure)): measured(measure)
        case (.report, .done), (.signOff, .done), (.giveBack, .done): break
        default: assertionFailure("\(purpose) has the result of another call")
        }
    }

    private mutating func dueTaken(_ requests: [DueRequest], bytes: Int, _ rows: [DueRetry]) {
        if stop.isRunning {
            for row in rows { submissions.admit(row, &turn) }
        } else {
            stop.keep(rows.map(\.lease))
        }
        dueWork.taken(requests, bytes: bytes, rows, &submissions.gates, at: turn.now)
    }

    private mutating func measured(_ measure: LedgerMeasure) {
        sampler.taken(measure, isIdle: inFlight == 0, &turn)
        share(among: measure.workers)
        if submissions.retryBytes.sampled(measure) {
            let retries = submissions.retryBytes
            turn.alert(.retriesHalfFull(bytes: retries.total, limit: retries.limit))
        }
        outbox.sampled(measure, at: turn.now)
        var gates: [Int] = []
        for waiting in measure.waiting where waiting.rows > 0 {
            if let endpoint = waiting.endpoint { gates.append(submissions.gates.index(of: .apple(endpoint))) }
        }
        dueWork.sampled(
            gates, hasHeld: measure.waiting.contains { $0.rows > 0 && $0.endpoint == nil }, takenAt: measure.takenAt)
        if dueWork.hasRows { dueWork.schedule(at: turn.now) }
        sampler.remind(
            of: measure, submissions.retryBytes, isOutboxFull: outbox.work.isFull, &submissions.gates, &turn)
    }

    // MARK: Outages

    /// When a call without a result counts as away; nil while none is under way.
    private var silenceMoment: Instant? {
        let starts = [submissions.batcher.pendingSince, turn.ledgerCalls.pendingSince].compactMap(\.self)
        return starts.min().map { $0 + LedgerOutage.longestSilence }
    }

    var nextSilence: Instant? { outage.since == nil ? silenceMoment : nil }

    private var isLedgerSilent: Bool { silenceMoment.map { $0 <= turn.now } ?? false }

    mutating func noticeLedgerSilence() { if isLedgerSilent { outage.beginSilence(&turn) } }

    /// A full disk or a read-only file still answers questions, so a result alone ends nothing.
    private mutating func noticeLedgerAvailable() {
        if !turn.ledgerCalls.hasFailed, !isLedgerSilent { outage.end(&turn) }
    }
}
