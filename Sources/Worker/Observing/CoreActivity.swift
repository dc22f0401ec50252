import Scheduling
import Synchronization

/// Signs of the core's life, for health: written by its thread, read by anybody.
final class CoreActivity: Sendable {
    /// The core waits for at most so long between two turns, or it hangs.
    static let longestTurn = Duration.seconds(30)

    private let turnedAt = Atomic<Int64>(Instant.now.nanoseconds)
    private let takesRecords = Atomic<Bool>(false)

    /// Noted at the end of each turn.
    func turned(at now: Instant) { turnedAt.store(now.nanoseconds, ordering: .relaxed) }

    /// Whether the ledger has given partitions to this worker, or there was none to give: it takes part in the work.
    func works() { takesRecords.store(true, ordering: .relaxed) }

    func isAlive(at now: Instant) -> Bool {
        now - Instant(nanoseconds: turnedAt.load(ordering: .relaxed)) < Self.longestTurn
    }

    var isReady: Bool { takesRecords.load(ordering: .relaxed) }
}
