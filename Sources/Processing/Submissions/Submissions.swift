import Contract
import Ledger
import Scheduling

/// The machine of all submissions in flight: records that were read and rows of `retries` that are due. It has each
/// from its first check until its outcome is published or owed.
///
/// Its output is actions, calls to the ledger and signals of ``Turn``.
struct Submissions: ~Copyable {
    static let renewInterval: Duration = .seconds(20)

    /// How long a reply of Apple's that may not be its last word is asked about again.
    let doubtLimit: Duration
    /// Whether events say which submissions begin to wait.
    let tellsWaiting: Bool
    var flights: Flights
    var limit: InFlightLimit
    var gates: GateTable
    var batcher: WriteBatcher
    var retryBytes: RetryBytesLimit
    var suspectRows = SuspectRows()
    var news = SubmissionNews()
    /// Submissions that wait for a moment.
    private var delays = DelayQueue<SubmissionToken>()
    var lookUps: [SubmissionToken] = []
    /// Records that are not decided yet: they wait for Apple, or may have to.
    private(set) var undecided = 0
    /// Records at gates, and their bytes.
    private var recordsAtGates = 0
    private var bytesAtGates: Int64 = 0
    /// When leases are renewed; nil without any.
    var renewAt: Instant?

    init(
        limit: InFlightLimit, callsPerEndpoint: Int, retryBytes: Int64, rowsPerBatch: Int, bytesPerBatch: Int64,
        doubtLimit: Duration, tellsWaiting: Bool
    ) {
        self.doubtLimit = doubtLimit
        self.tellsWaiting = tellsWaiting
        self.limit = limit
        flights = Slab(vacant: .vacant, capacity: limit.count)
        gates = GateTable(most: limit.gateRecordCount, mostCalls: callsPerEndpoint)
        self.retryBytes = RetryBytesLimit(limit: retryBytes)
        batcher = WriteBatcher(mostRows: rowsPerBatch, mostBytes: bytesPerBatch)
    }

    var count: Int { flights.count }

    var crowding: Crowding { limit.crowding(recordsAtGates: recordsAtGates, bytesAtGates: bytesAtGates) }

    /// When time alone changes something; nil while it does not.
    func nextMoment(after now: Instant) -> Instant? {
        var earliest = gates.nextMoment(crowding: crowding, after: now)
        earliest.bringForward(to: batcher.nextMoment)
        earliest.bringForward(to: delays.nextDue)
        return earliest
    }

    // MARK: States

    /// The only function in which a submission's state changes.
    mutating func move(_ token: SubmissionToken, to state: FlightState, _ turn: inout Turn) {
        let old = flights[token].state
        turn.transitions.take(from: old, to: state)
        flights[token].state = state
        if !flights[token].isRecord {
            suspectRows.inFirstCheck += (state == .checking ? 1 : 0) - (old == .checking ? 1 : 0)
        }
        guard flights[token].isRecord else { return }
        if old.isUndecided != state.isUndecided { undecided += state.isUndecided ? 1 : -1 }
        guard old.isAtGate != state.isAtGate else { return }
        recordsAtGates += state.isAtGate ? 1 : -1
        bytesAtGates += state.isAtGate ? flights[token].bytes : -flights[token].bytes
    }

    /// A submission has its outcome, and its events are published or owed. Its offset may be passed.
    mutating func complete(_ token: SubmissionToken, _ turn: inout Turn) {
        if case .record(let index, let assignment, let number, _) = flights[token].source {
            turn.signal(.completed(index: index, assignment, number: number))
        }
        leave(token, &turn)
    }

    /// A submission leaves without an outcome. The present owner of its partition or row has it.
    mutating func leave(_ token: SubmissionToken, _ turn: inout Turn) {
        move(token, to: .vacant, &turn)
        limit.release(
            flights[token].isRecord ? .record : .due, bytes: flights[token].bytes, purchases: flights[token].purchases)
        flights.remove(token)
    }

    /// The partition or the lease of a submission is gone. It leaves at once, unless something under way is waited for.
    mutating func orphan(_ token: SubmissionToken, _ turn: inout Turn) {
        switch flights[token].state {
        case .asking, .publishing: return flights[token].isOrphan = true
        case .writing where flights[token].isInBatch: return flights[token].isOrphan = true
        case .waiting:
            let isRow = flights.isRow(token)
            gates.update(flights[token].gate) { $0.withdraw(isRow: isRow) }
        case .repeating, .rechecking, .rewriting, .awaitingRoom: undelay(token)
        // The next owner reads the record again and publishes the events that the broker did not take.
        case .vacant, .loading, .marking, .checking, .lookingUp, .verifying, .writing, .owing: break
        }
        leave(token, &turn)
    }

    /// Orphans every submission of one assignment.
    mutating func orphanAll(of assignment: AssignmentID, _ turn: inout Turn) {
        for token in flights.tokens {
            if case .record(_, assignment, _, _) = flights[token].source { orphan(token, &turn) }
        }
    }

    // MARK: Delays

    /// - Parameter state: the work that it waits to do.
    mutating func delay(
        _ token: SubmissionToken, _ state: FlightState, until moment: Instant, _ turn: inout Turn
    ) {
        move(token, to: state, &turn)
        if flights[token].gate >= 0 { gates.update(flights[token].gate) { $0.delayed += 1 } }
        delays.insert(token, due: moment)
    }

    /// Takes a submission out of the delay queue's count; its token there is skipped.
    private mutating func undelay(_ token: SubmissionToken) {
        guard flights[token].gate >= 0 else { return }
        gates.update(flights[token].gate) { $0.delayed -= 1 }
    }

    mutating func advanceDelays(_ turn: inout Turn) {
        var calledBack: [Int: Int] = [:]
        while let token = delays.popDue(at: turn.now) {
            guard flights.contains(token), flights[token].state.isPause else { continue }
            undelay(token)
            switch flights[token].state {
            case .repeating: enterGate(token, &turn)
            case .rechecking:
                guard let submission = flights[token].submission else { orphan(token, &turn); continue }
                check(token, .submission(submission), &turn)
            case .rewriting: writeAgain(token, &turn)
            case .awaitingRoom: roomAwaited(token, &calledBack, &turn)
            case .vacant, .loading, .marking, .checking, .lookingUp, .waiting, .asking, .verifying, .writing,
                .publishing, .owing:
                break
            }
        }
    }

    // MARK: Leases

    /// Renews all leases together, so that a history of many pages can finish.
    mutating func renewLeases(_ turn: inout Turn) {
        guard !turn.ledgerCalls.isUnderWay(.renew), let moment = renewAt, moment <= turn.now else { return }
        let leased = flights.tokens.filter { flights[$0].lease != nil }
        renewAt = leased.isEmpty ? nil : turn.now + Self.renewInterval
        // A check that does not end may be one that ends workers: its lease ends by itself, and counts.
        let tokens = leased.filter { !flights[$0].state.isAtChecker }
        guard !tokens.isEmpty else { return }
        turn.call(.renew(tokens.compactMap { renewal(of: $0) }), for: .renew(tokens))
    }

    func renewal(of token: SubmissionToken) -> LeaseRenewal? {
        flights[token].renewal(isMarked: suspectRows.marked == token)
    }

    /// A row with another worker's lease is dropped here.
    mutating func renewed(_ tokens: [SubmissionToken], _ isOurs: [Bool], _ turn: inout Turn) {
        for (token, isOurs) in zip(tokens, isOurs) where !isOurs && flights.contains(token) { orphan(token, &turn) }
    }

    // MARK: The stop

    /// Drops all submissions of which a stop loses no work.
    /// - Returns: the leases among them.
    mutating func dropUnstarted(_ turn: inout Turn) -> [RetryLease] {
        let unstarted = flights.tokens.filter { flights[$0].state.isUnstarted }
        let leases = unstarted.compactMap { flights[$0].lease }
        for token in unstarted { orphan(token, &turn) }
        return leases
    }

    /// Drops all records without a decision. Calls under way are no longer awaited.
    mutating func dropUndecided(_ turn: inout Turn) {
        for token in flights.tokens where flights[token].isRecord && flights[token].state.isUndecided {
            if flights[token].state == .asking { leave(token, &turn) } else { orphan(token, &turn) }
        }
    }

    /// - Returns: their leases. A check that does not end may be one that ends workers: its lease ends by itself, and
    ///   counts.
    mutating func dropRows(_ turn: inout Turn) -> [RetryLease] {
        let rows = flights.tokens.filter { !flights[$0].isRecord }
        let leases = rows.compactMap { flights[$0].state.isAtChecker ? nil : flights[$0].lease }
        for token in rows { leave(token, &turn) }
        return leases
    }

    /// Whether a submission is in one of these states.
    func isBusy(_ states: Set<FlightState>) -> Bool { flights.tokens.contains { states.contains(flights[$0].state) } }
}
