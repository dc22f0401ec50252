import Contract
import Ledger
import Scheduling

/// The phase of a stop.
enum StopPhase: Hashable, Sendable {
    case running
    /// Nothing begins; calls that are under way may end until then.
    case finishingCalls(until: Instant)
    /// Decisions are written and told until then. Events that are not told by then are owed in the outbox.
    case publishing(until: Instant)
    /// Until then these are written: owed events, the offsets of partitions, and the ends of leases.
    case noting(until: Instant)
    case stopped

    var isCalling: Bool {
        if case .finishingCalls = self { true } else { false }
    }
}

/// The clean stop. Everything that it does not finish is read again by the next owner, so each phase has an end.
extension WorkerCore {
    private static let callShare = 0.6
    private static let flushLimit: Duration = .seconds(5)

    mutating func beginStop() {
        guard stopping == .running else { return }
        stopping = .finishingCalls(until: now + settings.stopLimit * Self.callShare)
        for token in flights.tokens where isUnstarted(token) {
            if case .retry(let lease) = flights[token].source, !flights[token].isOrphan {
                unstartedLeases.append(lease)
            }
            orphan(token)
        }
    }

    /// Ends at once, because a person must look.
    mutating func stop(for reason: StopReason) {
        stopping = .stopped
        stopReason = reason
    }

    /// Whether a stop loses no work for a submission.
    private func isUnstarted(_ token: SubmissionToken) -> Bool {
        switch flights[token].state {
        case .loading, .marking, .lookingUp, .waiting, .repeating, .rechecking, .rewriting, .awaitingRoom: true
        case .vacant, .checking, .asking, .reading, .writing, .publishing, .owing: false
        }
    }

    var stopMoment: Instant? {
        switch stopping {
        case .running, .stopped: nil
        case .finishingCalls(let until), .publishing(let until), .noting(let until): until
        }
    }

    mutating func advanceStop(into actions: inout Actions) {
        if case .finishingCalls(let until) = stopping, until <= now || !isBusy([.checking, .asking, .reading]) {
            stopping = .publishing(until: min(until, now) + Self.flushLimit)
            for token in flights.tokens where flights[token].isRecord && flights[token].state.isUndecided {
                // Calls under way are no longer awaited.
                if flights[token].state == .asking { leave(token) } else { orphan(token) }
            }
        }
        if case .publishing(let until) = stopping, until <= now || isPublished {
            stopping = .noting(until: now + settings.stopLimit * (1 - Self.callShare) / 2)
            oweUnpublished()
            makeOwed(into: &actions)
        }
        if case .noting(let until) = stopping { endNotes(by: until, into: &actions) }
    }

    private func isBusy(_ states: Set<FlightState>) -> Bool {
        flights.tokens.contains { states.contains(flights[$0].state) }
    }

    private var isPublished: Bool { batcher.isEmpty && !isBusy([.writing, .publishing]) }

    /// Events that the broker has not acknowledged by now are owed.
    private mutating func oweUnpublished() {
        for token in events.tokens {
            guard case .submission(let submission) = events[token].owner, let entry = events[token].entry,
                flights.contains(submission)
            else { continue }
            events.remove(token)
            // The next owner reads it again, as in ``untaken(_:of:)``.
            guard !flights[submission].isOrphan else {
                leave(submission)
                continue
            }
            move(submission, to: .owing)
            owed.append((submission, entry))
        }
    }

    /// The last calls to the ledger return leases and note partitions, once all owed events are written.
    private mutating func endNotes(by until: Instant, into actions: inout Actions) {
        if owed.isEmpty, !ledgerCalls.isUnderWay(.owe), !ledgerCalls.isUnderWay(.note) {
            let hadLeases = giveBack(into: &actions)
            note(into: &actions)
            if !hadLeases, ledgerCalls.isEmpty { stop(for: .clean) }
        }
        if until <= now { stop(for: .clean) }
    }

    private mutating func giveBack(into actions: inout Actions) -> Bool {
        var retries = unstartedLeases
        unstartedLeases = []
        for token in flights.tokens {
            guard case .retry(let lease) = flights[token].source else { continue }
            // A check that does not end may be one that ends workers: its lease ends by itself, and counts.
            if !flights[token].isOrphan, !flights[token].state.isAtChecker { retries.append(lease) }
            leave(token)
        }
        var rows: [OutboxLease] = []
        for token in outboxRows.tokens {
            rows.append(outboxRows[token].lease)
            endRow(token)
        }
        guard !retries.isEmpty || !rows.isEmpty else { return false }
        ledgerCalls.make(.giveBack(retries: retries, outbox: rows), for: .giveBack, at: now, into: &actions)
        return true
    }
}
