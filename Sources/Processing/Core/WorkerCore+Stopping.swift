/// The meaning of each phase of a stop for the machines.
extension WorkerCore {
    mutating func beginStop() {
        guard stop.isRunning else { return }
        stop.begin(at: turn.now)
        stop.keep(submissions.dropUnstarted(&turn))
    }

    mutating func advanceStop() {
        if stop.endCalls(
            isBusy: submissions.isBusy([.checking, .asking, .verifying]) || outbox.isCalling, at: turn.now)
        {
            submissions.dropUndecided(&turn)
        }
        if stop.endPublishing(
            isBusy: !submissions.batcher.isEmpty || submissions.isBusy([.writing, .publishing]), at: turn.now)
        {
            for ending in publisher.giveUp() { publishingEnded(ending) }
            publisher.makeOwed(in: submissions.flights, &turn)
        }
        if case .checkpointing(let until) = stop.phase {
            endCheckpoints()
            if until <= turn.now { stop.end(for: .clean) }
        }
    }

    /// The last calls to the ledger return leases, write checkpoints and sign the worker off, once all owed events are
    /// written. The stop does not wait for a ledger that is away to delete the sign, which ends by itself.
    private mutating func endCheckpoints() {
        guard !publisher.hasOwed, !turn.ledgerCalls.isUnderWay(.owe), !turn.ledgerCalls.isUnderWay(.checkpoint) else {
            return
        }
        let retries = stop.takeLeases() + submissions.dropRows(&turn)
        let rows = outbox.dropRows(&turn)
        if !retries.isEmpty || !rows.isEmpty { turn.call(.giveBack(retries: retries, outbox: rows), for: .giveBack) }
        partitions.checkpoint(&turn)
        if !isLedgerAway { sampler.signOff(&turn) }
        if turn.ledgerCalls.isEmpty { stop.end(for: .clean) }
    }
}
