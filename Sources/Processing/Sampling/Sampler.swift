import Contract
import Ledger
import Scheduling

/// The machine of samples: how often the ledger is sampled, and whom people are told of again and again.
///
/// That is every ten seconds, and down to twice a minute while nothing happens: while Apple is away, a fleet may have
/// rows of `retries` for hours and do nothing but sample.
struct Sampler {
    static let interval: Duration = .seconds(10)
    static let longest: Duration = .seconds(30)
    /// A worker that has used its share of `retries` asks for the next sample so soon.
    private static let exhaustedInterval: Duration = .seconds(1)
    private static let reminderPause: Duration = .seconds(600)

    private let worker: WorkerSign
    private var last: LedgerMeasure?
    private var lastAt: Instant?
    private var nextAt: Instant?
    private(set) var pause = interval
    /// Whether the ledger may have this worker's sign of life.
    private var isSigned = false
    /// When people were told of submissions that are held still, and that `retries` or the outbox have no room.
    private var heldToldAt: [HeldGroup: Instant] = [:]
    private var retriesFullToldAt: Instant?
    private var outboxFullToldAt: Instant?
    /// When they were told of rows that only a later version can work on.
    private var laterToldAt: Instant?

    init(_ worker: WorkerSign) { self.worker = worker }

    /// There is none before the group has let the worker in: until then it asks the ledger for nothing.
    var hasSample: Bool { last != nil }

    func rows(waitingFor endpoint: Endpoint) -> Int { last?.waiting.first { $0.endpoint == endpoint }?.rows ?? 0 }

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
        if lastAt == nil, case let rows = measure.retries.reduce(0, { $0 + $1.rows }), rows > 0 {
            turn.alert(.waitingAtStart(rows))
        }
        lastAt = turn.now
        let isQuiet =
            isIdle && last.map { $0.waiting == measure.waiting && $0.outboxRows == measure.outboxRows } ?? false
        pause = isQuiet ? min(pause * 2, Self.longest) : Self.interval
        last = measure
        nextAt = turn.now + pause
    }

    // MARK: Reminders

    /// Tells once in a while of what lasts: held submissions, rows of later versions, full tables, and outages.
    mutating func remind(
        of measure: LedgerMeasure, _ retries: RetryBytesLimit, isOutboxFull: Bool, _ gates: inout GateTable,
        _ turn: inout Turn
    ) {
        let now = turn.now
        if retries.isFull, Self.isDue(retriesFullToldAt, at: now) {
            retriesFullToldAt = now
            turn.alert(.retriesFull(bytes: retries.total, limit: retries.limit))
        }
        if !isOutboxFull { outboxFullToldAt = nil }
        if isOutboxFull, Self.isDue(outboxFullToldAt, at: now) {
            outboxFullToldAt = now
            turn.alert(.outboxFull)
        }
        let groups = Set(measure.held.map(\.group))
        heldToldAt = heldToldAt.filter { groups.contains($0.key) }
        for held in measure.held where Self.isDue(heldToldAt[held.group], at: now) {
            heldToldAt[held.group] = now
            turn.alert(.held(held.group, rows: held.rows, details: held.details))
        }
        if measure.later == 0 { laterToldAt = nil }
        if measure.later > 0, Self.isDue(laterToldAt, at: now) {
            laterToldAt = now
            turn.alert(.laterVersion(rows: measure.later))
        }
        for waiting in measure.waiting {
            guard let endpoint = waiting.endpoint, case let gate = gates.index(of: .apple(endpoint)),
                let since = gates[gate].troubledSinceTold, Self.isDue(gates[gate].troubleToldAt, at: now)
            else { continue }
            gates.update(gate) { $0.troubleToldAt = now }
            turn.alert(.breakerStillOpen(endpoint, after: now - since, waiting: waiting.rows))
        }
    }

    private static func isDue(_ toldAt: Instant?, at now: Instant) -> Bool {
        toldAt.map { now - $0 >= reminderPause } ?? true
    }
}
