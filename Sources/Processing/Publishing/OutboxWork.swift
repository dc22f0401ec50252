import Contract
import Ledger
import Scheduling

/// When the ledger is asked for due rows of the outbox: after a sample that has some, and when own work makes one due.
struct OutboxWork {
    /// At so many rows, outcomes wait for the broker instead.
    static let full = 100_000
    static let roomPause: Duration = .milliseconds(250)
    static let mostPerTarget = 256
    /// Until a row whose event or call failed is due again.
    static let backoff = Backoff(base: .seconds(2), cap: .seconds(60), jitter: .equal)

    private(set) var pollAt: Instant?
    /// Some target has more rows than the latest request took.
    var isUnfinished = false
    /// By the latest sample.
    private(set) var rows = 0
    private(set) var isFull = false
    private var round = FIFO<OutboxTarget>()

    mutating func poll(at moment: Instant) { pollAt = min(pollAt ?? moment, moment) }

    /// - Returns: whether the outbox has become full.
    mutating func sampled(rows: Int, at now: Instant) -> Bool {
        let wasFull = isFull
        self.rows = rows
        isFull = rows >= Self.full
        if rows > 0 { poll(at: now) }
        return isFull && !wasFull
    }

    /// The next target to ask for; nil once all were asked for in this round.
    ///
    /// A round takes several polls where there is room for few rows: else the first targets would have all of it for ever.
    mutating func nextTarget() -> OutboxTarget? { round.popFirst() }

    /// Whether a round has begun and not ended.
    var isAmidRound: Bool { !round.isEmpty }

    mutating func beginRound(services: [BundleID]) {
        for topic in Topic.outputs { round.append(.topic(topic)) }
        for service in services { round.append(.service(service)) }
    }

    mutating func takePoll(at now: Instant) -> Bool {
        guard let moment = pollAt, moment <= now else { return false }
        pollAt = nil
        isUnfinished = false
        return true
    }
}
