import Contract
import Ledger
import Scheduling

/// The machine of samples: how often the ledger is sampled, and which waits the log repeats.
///
/// That is every ten seconds, and down to twice a minute while nothing happens. While Apple is away, a fleet may have
/// rows of `retries` for hours and do nothing but sample.
struct Sampler {
    static let interval: Duration = .seconds(10)
    static let longest: Duration = .seconds(30)
    /// A worker that has used its share of `retries` asks for the next sample so soon.
    private static let exhaustedInterval: Duration = .seconds(1)

    private let worker: WorkerSign
    private var last: LedgerMeasure?
    private var lastAt: Instant?
    private var nextAt: Instant?
    private(set) var pause = interval
    /// Whether the ledger may have this worker's sign of life.
    private var isSigned = false
    /// Alerts name held submissions, and `retries` or the outbox without room. They also name rows that only a later
    /// version can work on. A table at its bound is full at one sample and not at the next.
    private var held: [HeldGroup: Reminder] = [:]
    private var retriesFull = Reminder(quiet: Reminder.quiet)
    private var outboxFull = Reminder(quiet: Reminder.quiet)
    private var later = Reminder()
    private var callReminders = CallReminders()

    init(_ worker: WorkerSign) { self.worker = worker }

    /// No sample comes before the group has let the worker in: until then it asks the ledger for nothing.
    var hasSample: Bool { last != nil }

    func rows(waitingFor endpoint: Endpoint) -> Int { last?.waiting.first { $0.endpoint == endpoint }?.rows ?? 0 }

    func calls(owedTo app: BundleID) -> Int { last?.calls.first { $0.bundleID == app }?.rows ?? 0 }

    /// When the ledger is sampled; nil while it cannot be.
    func nextMoment(_ turn: borrowing Turn) -> Instant? { turn.ledgerCalls.isUnderWay(.measure) ? nil : nextAt }

    // MARK: When

    /// The first partitions are here.
    mutating func begin(at now: Instant) {
        if lastAt == nil, nextAt == nil { nextAt = now }
    }

    /// Writes go on after a pause: a sample shows whether the ledger is back.
    mutating func sampleNow(at now: Instant) { nextAt = now }

    /// Rows that this worker adds to `retries` count against the former sample, so the next sample must come soon.
    mutating func sampleSoon() {
        if let lastAt { schedule(at: lastAt + Self.interval) }
    }

    private mutating func schedule(at moment: Instant) { nextAt.bringForward(to: moment) }

    /// - Parameter isExhausted: whether this worker has used its share of `retries`.
    /// - Returns: whether a sample is asked for.
    mutating func take(isExhausted: Bool, _ turn: inout Turn) -> Bool {
        if isExhausted, let lastAt { schedule(at: lastAt + Self.exhaustedInterval) }
        guard let moment = nextMoment(turn), moment <= turn.now else { return false }
        nextAt = nil
        turn.call(.measure(worker), for: .measure)
        isSigned = true
        return true
    }

    /// The last sample was taken: the shares of the other workers grow at once. One under way would sign this worker on
    /// again, so its result comes first.
    mutating func signOff(_ turn: inout Turn) {
        guard isSigned, !turn.ledgerCalls.isUnderWay(.measure) else { return }
        isSigned = false
        turn.call(.signOff(worker), for: .signOff)
    }

    // MARK: A sample

    /// A sample is here.
    /// - Parameter isIdle: whether this worker has nothing in flight.
    mutating func taken(_ measure: LedgerMeasure, isIdle: Bool, _ turn: inout Turn) {
        if lastAt == nil { begun(with: measure, &turn) }
        lastAt = turn.now
        let isQuiet =
            isIdle && last.map { $0.waiting == measure.waiting && $0.outboxRows == measure.outboxRows } ?? false
        pause = isQuiet ? min(pause * 2, Self.longest) : Self.interval
        last = measure
        nextAt = turn.now + pause
    }

    /// Workers start often, and earlier holds are no news each time. They are logged once, in sum.
    private mutating func begun(with measure: LedgerMeasure, _ turn: inout Turn) {
        let rows = measure.retries.reduce(0) { $0 + $1.rows }
        guard rows > 0 else { return }
        for group in measure.held { held[group.group] = Reminder(toldAt: turn.now) }
        let oldest = measure.held.compactMap(\.oldest).min()
        turn.alert(
            .waitingAtStart(
                rows, held: measure.held.reduce(0) { $0 + $1.rows },
                oldest: oldest.map { max(.zero, measure.takenAt.since($0)) }))
    }

    // MARK: Reminders

    /// Repeats alerts about lasting trouble: held submissions, rows of later versions, full tables, and outages.
    mutating func remind(
        of measure: LedgerMeasure, _ retries: RetryBytesLimit, isOutboxFull: Bool, _ gates: inout GateTable,
        _ turn: inout Turn
    ) {
        let now = turn.now
        func tell(_ news: Reminder.News?, _ lasts: Alert, over: (Duration) -> Alert, _ turn: inout Turn) {
            switch news {
            case .lasts: turn.alert(lasts)
            case .over(let time): turn.alert(over(time))
            case nil: break
            }
        }
        tell(
            retriesFull.observe(retries.isFull, at: now), .retriesFull(bytes: retries.total, limit: retries.limit),
            over: { .retriesHaveRoom(after: $0) }, &turn)
        tell(
            outboxFull.observe(isOutboxFull, at: now), .outboxFull, over: { .outboxHasRoom(after: $0) }, &turn)
        tell(
            later.observe(measure.later > 0, at: now), .laterVersion(rows: measure.later),
            over: { .laterVersionOver(after: $0) }, &turn)
        for group in measure.held {
            tell(
                held[group.group, default: Reminder()].observe(true, at: now),
                .held(group.group, rows: group.rows, details: group.details),
                over: { .heldOver(group.group, after: $0) },
                &turn)
        }
        let groups = Set(measure.held.map(\.group))
        let ended = held.filter { !groups.contains($0.key) }
        for (group, reminder) in ended.sorted(by: {
            ($0.key.bundleID, $0.key.cause.rawValue) < ($1.key.bundleID, $1.key.cause.rawValue)
        }) {
            held[group] = nil
            if let since = reminder.since { turn.alert(.heldOver(group, after: now - since)) }
        }
        callReminders.remind(of: measure, &gates, &turn)
        for waiting in measure.waiting {
            guard let endpoint = waiting.endpoint,
                let time = gates.dueReminder(at: gates.index(of: .apple(endpoint)), now)
            else { continue }
            turn.alert(.breakerStillOpen(endpoint, after: time, waiting: waiting.rows))
        }
    }
}
