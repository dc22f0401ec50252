public import Contract
import Ledger
public import Scheduling

/// Decides which submissions are read, checked, asked about, written, published and tried again, and when.
///
/// It is a state machine without threads, clocks, randomness or I/O of its own. Drivers hand in inputs
/// (``handle(_:at:wall:into:)``), take the actions at the end of each turn (``endTurn(at:wall:into:)``), and carry them
/// out. It consists of machines that do not know each other. It hands each input to its machine, and routes the signals
/// between machines (`Signal`). The states of a submission are listed at `FlightState`, those of a partition at
/// `PartitionState`.
///
/// One thread owns it. Its memory is bounded by ``CoreSettings``.
public struct WorkerCore: ~Copyable {
    var turn: Turn
    var submissions: Submissions
    var partitions: Partitions
    var publisher: Publisher
    var outbox: Outbox
    var dueWork: DueWork
    var sampler: Sampler
    var outage = LedgerOutage()
    var stop: StopSequence
    /// Workers of the ledger that live, as the last sample says.
    private var workers = 1
    /// Since when records are asked for without a pause; nil while none are.
    private var demandedSince: Instant?

    /// A core that has nothing to do yet. It needs ``Input/apps(_:)`` first.
    /// - Parameter seed: of all its randomness: jitter, and the generations of take-overs. A worker draws it from the
    ///   system's randomness, because generations must never come twice; a simulation counts.
    public init(settings: CoreSettings, seed: UInt64) {
        turn = Turn(seed: seed)
        let limit = InFlightLimit(
            count: settings.inFlight, bytes: settings.inFlightBytes, purchases: settings.inFlightPurchases)
        submissions = Submissions(
            limit: limit, callsPerEndpoint: settings.callsPerEndpoint, retryBytes: settings.retryBytes,
            rowsPerBatch: settings.rowsPerBatch, bytesPerBatch: settings.bytesPerBatch,
            doubtLimit: settings.doubtLimit, tellsWaiting: settings.tellsWaiting)
        partitions = Partitions(owner: settings.worker.name, recordsAtOnce: limit.count)
        publisher = Publisher(capacity: limit.count, owedPerCall: settings.owedPerCall)
        outbox = Outbox(
            most: limit.outboxCount, mostOfTarget: settings.outboxRowsPerTarget, full: settings.outboxRows)
        dueWork = DueWork(heldPerCall: settings.heldPerCall, endpointsPerCall: settings.endpointsPerCall)
        sampler = Sampler(settings.worker)
        stop = StopSequence(limit: settings.stopLimit)
    }

    /// The transitions of all its machines.
    public var transitions: TransitionCounts {
        get { turn.transitions }
        set { turn.transitions = newValue }
    }

    /// Takes one input. Its consequences may wait for the end of the turn.
    public mutating func handle(
        _ input: Input, at now: Instant, wall: Timestamp, into actions: inout Actions
    ) {
        turn.now = now
        turn.wall = wall
        swap(&turn.actions, &actions)
        defer { swap(&turn.actions, &actions) }
        switch input {
        case .assigned(let list): if stop.isRunning { assigned(list) }
        case .revoked(let list): partitions.revoked(list, &turn)
        case .wentBack(let assignment):
            if let index = partitions.table.index(of: assignment) { partitions.wentBack(index, &turn) }
        case .unreadable(let assignment, let offset):
            if let index = partitions.table.index(of: assignment) { partitions.damaged(index, from: offset, at: now) }
        case .committed(let offsets): partitions.committed(offsets, &turn)
        case .records(let batch): received(batch)
        case .checked(let results): for checked in results { checkEnded(checked) }
        case .attempted(let results): for attempted in results { submissions.attemptEnded(attempted, &turn) }
        case .called(let results): for called in results { outbox.callEnded(called, &submissions.gates, &turn) }
        case .written(let batch, let result): batchEnded(batch, result)
        case .ledger(let id, let result): ledgerCallEnded(id, result)
        case .published(let reports): for report in reports { publishEnded(report) }
        case .apps(let apps): applied(apps)
        case .stop: beginStop()
        }
        routeSignals()
    }

    /// Ends a turn: starts due batches, calls and requests, and sets the instant of the next turn.
    public mutating func endTurn(at now: Instant, wall: Timestamp, into actions: inout Actions) {
        turn.now = now
        turn.wall = wall
        swap(&turn.actions, &actions)
        defer { swap(&turn.actions, &actions) }
        if stop.reason == nil { advance() }
        if stop.reason != nil { submissions.news.tell(&turn, all: true) }
        turn.actions.stop = stop.reason
    }

    private mutating func advance() {
        noticeLedgerSilence()
        outage.remind(&turn)
        turn.ledgerCalls.advance(to: turn.now, into: &turn.actions)
        partitions.advance(demandedSince: demandedSince, &turn)
        routeSignals()
        continueMarked()
        submissions.advanceDelays(&turn)
        for token in publisher.republish(in: submissions.flights, &turn) { publishingEnded(.left(token)) }
        submissions.advanceGates(mayAsk: stop.mayCall, &turn)
        routeSignals()
        makeLedgerCalls()
        submissions.startBatch(&turn)
        submissions.news.tell(&turn)
        // If nothing is left to write, a sample shows whether the ledger is back.
        if submissions.batcher.isEmpty, outage.writesAreAway {
            outage.writesAreAway = false
            sampler.sampleNow(at: turn.now)
        }
        advanceStop()
        routeSignals()
        setDemand()
        submissions.gates.retireIdle()
        turn.actions.wakeAt = nextMoment
    }

    /// Submissions, rows and events that are in flight: nothing is under way if it is zero.
    public var inFlight: Int { submissions.count + outbox.count + publisher.count }

    public var isLedgerAway: Bool { outage.since != nil }

    /// How long ago an event's outcome was written; nil for an event that the outbox owes.
    public func age(of event: PublishToken, at now: Instant) -> Duration? { publisher.age(of: event, at: now) }

    // MARK: Signals

    /// Hands every signal to the machine that it is for.
    mutating func routeSignals() { while let signal = turn.nextSignal() { route(signal) } }

    private mutating func route(_ signal: Signal) {
        switch signal {
        case .publish(let event, let owner, let entry): publisher.publish(event, owner, entry, &turn)
        case .completed(let index, let assignment, let number):
            partitions.complete(index, assignment, number: number, at: turn.now)
        case .ownershipLost(let index, let assignment):
            if partitions.table.isCurrent(assignment, at: index) { partitions.loseToAnother(index, &turn) }
        case .assignmentEnded(let assignment): submissions.orphanAll(of: assignment, &turn)
        case .checkAgain(let index, let assignment, let suspect):
            if partitions.table.isCurrent(assignment, at: index) { partitions.table[index].poison.checkAgain(suspect) }
        case .rowWaits(let gate, let triedAt, let due):
            if let gate {
                dueWork.addRows(at: gate, turn.wall)
            } else if dueWork.addHeld(triedAt: triedAt, at: turn.wall) {
                dueWork.schedule(at: turn.now)
            }
            dueWork.schedule(at: due)
        case .rowsDue: dueWork.schedule(at: turn.now)
        case .retriesGrew: sampler.sampleSoon()
        case .endpointReplies(let endpoint, let gate, let after):
            turn.alert(.breakerClosed(endpoint, after: after, waited: sampler.rows(waitingFor: endpoint)))
            dueWork.addRows(at: gate, turn.wall)
            dueWork.schedule(at: turn.now)
        case .serviceReplies(let app, let after):
            turn.alert(.calls(.serviceAnswers(app, after: after, waited: sampler.calls(owedTo: app))))
            outbox.schedule(at: turn.now)
        case .outboxDue(let moment): outbox.schedule(at: moment)
        case .callOwed(let app): outbox.owes(callTo: app, at: turn.wall)
        case .mustStop(let reason): stop.end(for: reason)
        }
    }

    // MARK: Inputs of more than one machine

    private mutating func assigned(_ list: [TopicPartition]) {
        partitions.assigned(list, &turn)
        sampler.begin(at: turn.now)
    }

    private mutating func received(_ batch: RecordBatch) {
        var bytes: Int64 = 0
        for record in batch.records { bytes += Int64(record.byteCount) }
        submissions.limit.countDelivered(records: batch.records.count, bytes: bytes)
        guard stop.isRunning, let source = partitions.register(batch, &turn) else { return }
        let suspects = submissions.read(batch.records, of: source, &turn)
        guard source.isOneByOne else { return }
        for token in suspects { partitions.table[source.index].poison.enqueue(token) }
        checkNextSuspect(at: source.index)
    }

    private mutating func checkEnded(_ checked: Checked) {
        guard submissions.flights.contains(checked.token) else { return }
        let source = submissions.flights[checked.token].source
        submissions.checkEnded(checked, &turn)
        guard case .record(let index, let assignment, _, _) = source else { return }
        routeSignals()
        guard partitions.table.isCurrent(assignment, at: index), partitions.table[index].poison.marked != nil
        else { return }
        checkNextSuspect(at: index)
    }

    private mutating func publishEnded(_ report: PublishReport) {
        let isOutboxFull = outbox.work.isFull && stop.isRunning
        if let ending = publisher.ended(report, isOutboxFull: isOutboxFull, &turn) { publishingEnded(ending) }
    }

    mutating func publishingEnded(_ ending: Publisher.Ending) {
        switch ending {
        case .acknowledged(let token): submissions.published(token, &turn)
        case .untaken(let token, let entry): if submissions.owe(token, &turn) { publisher.owe(token, entry) }
        case .left(let token): if submissions.flights.contains(token) { submissions.leave(token, &turn) }
        case .ofRow(let row, let result): outbox.published(row, result, &turn)
        }
    }

    private mutating func applied(_ next: AppsSnapshot) {
        turn.apps = next
        submissions.gates.apply(next, workers: workers)
        dueWork.rulesChanged(at: turn.wall)
        dueWork.schedule(at: turn.now)
    }

    /// The calls that Apple allows to an app's key are for all workers together.
    mutating func share(among workers: Int) {
        guard workers != self.workers else { return }
        self.workers = workers
        if let apps = turn.apps { submissions.gates.apply(apps, workers: workers) }
    }

    // MARK: The next turn

    /// Nothing is read while the ledger is away, before the apps file is known, or at a bound that reading would pass.
    private mutating func setDemand() {
        let retries = submissions.retryBytes
        let mayRead =
            turn.apps != nil && stop.isRunning && !isLedgerAway && !retries.keepsRecordsAway && !partitions.isSpanFull
        turn.actions.demand =
            mayRead
            ? submissions.limit.raiseDemand(undecided: submissions.undecided) : submissions.limit.withdrawDemand()
        // Retries may be full for hours, in which workers come and go without reading. Their starts say nothing.
        demandedSince = submissions.limit.isDemanding || retries.keepsRecordsAway ? demandedSince ?? turn.now : nil
    }

    private var nextMoment: Instant? {
        var earliest = submissions.nextMoment(after: turn.now)
        earliest.bringForward(to: partitions.nextMoment(turn))
        earliest.bringForward(to: publisher.nextMoment)
        earliest.bringForward(to: submissions.news.nextMoment)
        earliest.bringForward(to: turn.ledgerCalls.retryAt)
        earliest.bringForward(to: nextSilence)
        if !turn.ledgerCalls.isUnderWay(.renew) { earliest.bringForward(to: submissions.renewAt) }
        if stop.isRunning {
            earliest.bringForward(to: sampler.nextMoment(turn))
            earliest.bringForward(to: outbox.nextMoment(turn))
        }
        if mayTakeDue { earliest.bringForward(to: dueWork.nextAt) }
        earliest.bringForward(to: stop.nextMoment)
        return earliest
    }
}
