import Contract
import Ledger
import Scheduling

/// When the ledger is asked for due rows of the outbox: after a sample with some, and when own work makes one due.
struct OutboxWork {
    static let roomPause: Duration = .milliseconds(250)
    /// Until a row whose event or call failed is due again.
    static let backoff = Backoff(base: .seconds(2), cap: .seconds(60), jitter: .equal)
    /// The same for a grant that its service refuses.
    static let refusalBackoff = Backoff(base: .seconds(2), cap: .seconds(900), jitter: .equal)
    /// Longest pause that a service may ask for a grant.
    static let longestAsked: Duration = .seconds(900)

    /// At so many rows, outcomes wait for the broker instead.
    private let full: Int
    private(set) var nextAt: Instant?
    /// Some target has more rows than the latest request took.
    var isUnfinished = false
    /// By the latest sample.
    private(set) var isFull = false
    private var round = FIFO<OutboxTarget>()
    /// Apps whose services are owed calls: by the latest sample, and by this worker's writes.
    private var owed: Set<BundleID> = []
    private var owedLately = Unsampled<BundleID>()

    init(full: Int) { self.full = full }

    mutating func schedule(at moment: Instant) { nextAt.bringForward(to: moment) }

    /// Calls leave room for events: however many calls wait for one service, every event that Kafka does not take is
    /// owed.
    mutating func sampled(_ measure: LedgerMeasure, at now: Instant) {
        let calls = measure.calls.reduce(0) { $0 + $1.rows }
        isFull = measure.outboxRows - calls >= full
        owed = Set(measure.calls.map(\.bundleID))
        owedLately.sampled(takenAt: measure.takenAt)
        if measure.outboxRows > 0 { schedule(at: now) }
    }

    /// A sample is asked for.
    mutating func sampling() { owedLately.sampling() }

    /// - Parameter now: By the ledger's clock, as samples have it.
    mutating func owes(callTo app: BundleID, at now: Timestamp) { owedLately.add(app, at: now) }

    /// The next target to ask for; nil once all were asked for in this round.
    ///
    /// A round takes several polls if few rows fit. Otherwise the first targets would always be served first.
    mutating func nextTarget() -> OutboxTarget? { round.popFirst() }

    /// Targets that this round has not asked for.
    var targets: Int { round.count }

    /// Whether a round has begun and not ended.
    var isAmidRound: Bool { !round.isEmpty }

    /// - Parameter services: The services of the apps file; only some of many are owed calls at a time.
    mutating func beginRound(services: [ServiceLimit]) {
        for topic in Topic.outputs { round.append(.topic(topic)) }
        for service in services where owed.contains(service.bundleID) || owedLately.contains(service.bundleID) {
            round.append(.service(service.bundleID))
        }
    }

    mutating func takeTurn(at now: Instant) -> Bool {
        guard let moment = nextAt, moment <= now else { return false }
        nextAt = nil
        isUnfinished = false
        return true
    }
}
