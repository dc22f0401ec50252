import Ledger
import Scheduling

/// When the ledger is asked for due rows of the outbox.
struct OutboxWork {
    /// At so many rows, outcomes wait for the broker instead.
    static let full = 100_000
    /// While rows wait that this worker did not find due.
    static let interval: Duration = .seconds(5)
    static let roomPause: Duration = .milliseconds(250)
    static let mostPerTarget = 256
    /// Until a row whose event or call failed is due again.
    static let backoff = Backoff(base: .seconds(2), cap: .seconds(60), jitter: .equal)

    private(set) var pollAt: Instant?
    /// By the latest sample.
    private(set) var rows = 0
    private(set) var isFull = false

    mutating func poll(at moment: Instant) { pollAt = min(pollAt ?? moment, moment) }

    /// - Returns: whether the outbox has become full.
    mutating func sampled(rows: Int, at now: Instant) -> Bool {
        let wasFull = isFull
        self.rows = rows
        isFull = rows >= Self.full
        if rows > 0 { poll(at: now) }
        return isFull && !wasFull
    }

    mutating func takePoll(at now: Instant) -> Bool {
        guard let moment = pollAt, moment <= now else { return false }
        pollAt = rows > 0 ? now + Self.interval : nil
        return true
    }
}
