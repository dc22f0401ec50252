public import Contract
import Ledger
public import Scheduling

/// Decides which submissions are read, checked, asked about, written, told and tried again, and when.
///
/// It is a state machine without threads, clocks, randomness or I/O of its own. Drivers hand in inputs
/// (``handle(_:at:wall:into:)``), take the actions at the end of each turn (``endTurn(at:wall:into:)``), and carry them
/// out. The states of a submission are listed at `FlightState`, those of a partition at `PartitionState`.
///
/// One thread owns it. Its memory is bounded by ``CoreSettings``.
public struct WorkerCore: ~Copyable {
    let settings: CoreSettings
    /// Of all its machines.
    public var transitions = TransitionCounts(isCounting: false)
    var generator: SplitMix64
    /// The instant and the wall-clock time of the present input.
    var now = Instant(nanoseconds: 0)
    var wall = Timestamp(milliseconds: 0)

    var rules: Rules?
    var limit: InFlightLimit
    var partitions = OwnedPartitions()
    var flights: Flights
    var events: Slab<EventFlight, EventInFlight>
    var outboxRows: Slab<OutboxFlight, OutboxRowInFlight>
    var gates: GateTable
    var batcher: WriteBatcher
    var ledgerCalls = LedgerCalls()
    var retryBytes: RetryBytesLimit
    var dueWork = DueWork()
    var outboxWork: OutboxWork
    /// Submissions that repeat their attempt, or wait for room in `retries`.
    var delays = DelayQueue<SubmissionToken>()
    /// Events that are produced again, because neither the broker nor the outbox takes them.
    var republishing = DelayQueue<PublishToken>()

    /// Records that are not decided yet: they wait for Apple, or may have to.
    var undecided = 0
    /// Records at gates, and their bytes.
    var recordsAtGates = 0
    var bytesAtGates: Int64 = 0
    var suspectRows = SuspectRows()
    var lookUps: [SubmissionToken] = []
    var owed: [(token: SubmissionToken, entry: OutboxEntry)] = []
    var reports: [OutboxReport] = []
    /// The offsets that the ledger noted for the partitions of this worker. A smaller offset shows that the ledger was set
    /// back. Of a partition that another worker had meanwhile it shows nothing: that one may have read from the group's
    /// offset, which follows the ledger's, and noted from there.
    var lastNoted: [TopicPartition: Int64] = [:]

    var fetchAt: Instant?
    var noteAt: Instant?
    var renewAt: Instant?
    var measureAt: Instant?
    var lastMeasure: Instant?
    /// Workers of the ledger that live, as the last sample says.
    var workers = 1
    var samples = Samples()
    /// When people were told of submissions that are held still, and that `retries` or the outbox have no room.
    var heldToldAt: [HeldGroup: Instant] = [:]
    var retriesFullToldAt: Instant?
    var outboxFullToldAt: Instant?
    /// Since when records are asked for without a pause; nil while none are.
    var demandedSince: Instant?
    /// When they were told of rows that only a later version can work on.
    var laterToldAt: Instant?
    /// Why each topic takes no events, as people were told; empty once it takes one.
    var refusals: [Topic: Set<String>] = [:]
    /// A batch had no result, and is still to be written.
    var writesAreAway = false
    /// Since when the ledger is away: since a first call or batch failed, or had no answer for long. All of them have a
    /// result before it ends.
    var ledgerAwaySince: Instant?
    var stopping = StopPhase.running
    /// Leases of due rows for which nothing was begun when the worker was told to stop.
    var unstartedLeases: [RetryLease] = []
    var stopReason: StopReason?

    /// A core that has nothing to do yet. It needs ``Input/rules(_:)`` first.
    /// - Parameter seed: of all its randomness: jitter, and the generations of take-overs. A worker draws it from the
    ///   system's randomness, because generations must never come twice; a simulation counts.
    public init(settings: CoreSettings, seed: UInt64) {
        self.settings = settings
        generator = SplitMix64(seed: seed)
        limit = InFlightLimit(
            count: settings.inFlight, bytes: settings.inFlightBytes, purchases: settings.inFlightPurchases)
        flights = Slab(vacant: .vacant, capacity: limit.count)
        events = Slab(vacant: .vacant, capacity: limit.count)
        outboxRows = Slab(vacant: .vacant, capacity: limit.outboxCount)
        gates = GateTable(most: limit.gateRecordCount, mostCalls: settings.callsPerEndpoint)
        retryBytes = RetryBytesLimit(limit: settings.retryBytes)
        batcher = WriteBatcher(mostRows: settings.rowsPerBatch)
        outboxWork = OutboxWork(full: settings.outboxRows)
    }

    /// Takes one input. Its consequences may wait for the end of the turn.
    public mutating func handle(
        _ input: Input, at now: Instant, wall: Timestamp, into actions: inout Actions
    ) {
        self.now = now
        self.wall = wall
        switch input {
        case .assigned(let partitions): assigned(partitions, into: &actions)
        case .revoked(let partitions): revoked(partitions)
        case .wentBack(let assignment):
            if let place = partitions.place(of: assignment) { wentBack(place, into: &actions) }
        case .unreadable(let assignment):
            if let place = partitions.place(of: assignment) { damaged(place) }
        case .committed(let offsets): committed(offsets)
        case .records(let batch): received(batch, into: &actions)
        case .checked(let results): for checked in results { checkEnded(checked, into: &actions) }
        case .answered(let results): for answered in results { attemptEnded(answered, into: &actions) }
        case .called(let results): for called in results { callEnded(called) }
        case .written(let batch, let result): batchEnded(batch, result, into: &actions)
        case .ledger(let id, let result): ledgerCallEnded(id, result, into: &actions)
        case .published(let reports): for report in reports { publishEnded(report, into: &actions) }
        case .rules(let rules): applied(rules)
        case .stop: beginStop()
        }
    }

    /// Ends a turn: starts due batches, calls and requests, and sets the instant of the next turn.
    public mutating func endTurn(at now: Instant, wall: Timestamp, into actions: inout Actions) {
        self.now = now
        self.wall = wall
        guard stopReason == nil else {
            actions.stop = stopReason
            return
        }
        noticeLedgerSilence(into: &actions)
        ledgerCalls.advance(to: now, into: &actions)
        advancePartitions(into: &actions)
        continueMarked(into: &actions)
        advanceDelays(into: &actions)
        advanceGates(into: &actions)
        makeLedgerCalls(into: &actions)
        startBatch(into: &actions)
        // If nothing is left to write, a sample shows whether the ledger is back.
        if batcher.isEmpty, writesAreAway {
            writesAreAway = false
            measureAt = now
        }
        advanceStop(into: &actions)
        setDemand(into: &actions)
        gates.retireIdle()
        actions.wakeAt = nextMoment
        actions.stop = stopReason
    }

    /// Submissions, rows and events that are in flight: nothing is under way if it is zero.
    public var inFlight: Int { flights.count + outboxRows.count + events.count }

    public var isLedgerAway: Bool { ledgerAwaySince != nil }

    private mutating func applied(_ next: Rules) {
        rules = next
        gates.apply(next, workers: workers)
        dueWork.takesHeldEarlySince = wall
        dueWork.schedule(at: now)
    }

    /// The calls that Apple allows to an app's key are for all workers together.
    mutating func share(among workers: Int) {
        guard workers != self.workers else { return }
        self.workers = workers
        if let rules { gates.apply(rules, workers: workers) }
    }

    /// Nothing is read while the ledger is away, while no rules are known, or at a bound that reading would pass.
    private mutating func setDemand(into actions: inout Actions) {
        let mayRead =
            rules != nil && stopping == .running && !isLedgerAway && !retryBytes.isFull
            && !retryBytes.isExhausted && !isSpanFull
        actions.demand = mayRead ? limit.raiseDemand(undecided: undecided) : limit.withdrawDemand()
        demandedSince = limit.isDemanding ? demandedSince ?? now : nil
    }

    /// One incomplete record keeps all later records in its tracker.
    var isSpanFull: Bool {
        partitions.indices.contains { partitions[$0].tracker.span > 32 * limit.count }
    }

    private var nextMoment: Instant? {
        var earliest = gates.nextMoment(areCrowded: areGatesCrowded, after: now)
        func consider(_ moment: Instant?) {
            guard let moment else { return }
            earliest = min(earliest ?? moment, moment)
        }
        consider(batcher.nextMoment)
        consider(delays.nextDue)
        consider(republishing.nextDue)
        consider(ledgerCalls.retryAt)
        if !isLedgerAway { consider(silenceMoment) }
        consider(fetchAt)
        if mayNote { consider(noteAt) }
        if mayRenew { consider(renewAt) }
        if mayMeasure { consider(measureAt) }
        if mayTakeDue { consider(dueWork.nextAt) }
        if mayTakeOutbox { consider(outboxWork.nextAt) }
        consider(nextPartitionMoment)
        consider(stopMoment)
        return earliest
    }
}
