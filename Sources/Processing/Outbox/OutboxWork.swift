import Contract
import Ledger
import Scheduling

/// When the ledger is asked for due rows of the outbox: after a sample that has some, and when own work makes one due.
struct OutboxWork {
    static let roomPause: Duration = .milliseconds(250)
    /// Until a row whose event or call failed is due again.
    static let backoff = Backoff(base: .seconds(2), cap: .seconds(60), jitter: .equal)

    /// At so many rows, outcomes wait for the broker instead.
    private let full: Int
    private(set) var nextAt: Instant?
    /// Some target has more rows than the latest request took.
    var isUnfinished = false
    /// By the latest sample.
    private(set) var isFull = false
    private var round = FIFO<OutboxTarget>()

    init(full: Int) { self.full = full }

    mutating func schedule(at moment: Instant) { nextAt.bringForward(to: moment) }

    mutating func sampled(rows: Int, at now: Instant) {
        isFull = rows >= full
        if rows > 0 { schedule(at: now) }
    }

    /// The next target to ask for; nil once all were asked for in this round.
    ///
    /// A round takes several polls if few rows fit. Otherwise the first targets would always be served first.
    mutating func nextTarget() -> OutboxTarget? { round.popFirst() }

    /// Whether a round has begun and not ended.
    var isAmidRound: Bool { !round.isEmpty }

    mutating func beginRound(services: [BundleID]) {
        for topic in Topic.outputs { round.append(.topic(topic)) }
        for service in services { round.append(.service(service)) }
    }

    mutating func takeTurn(at now: Instant) -> Bool {
        guard let moment = nextAt, moment <= now else { return false }
        nextAt = nil
        isUnfinished = false
        return true
    }
}
