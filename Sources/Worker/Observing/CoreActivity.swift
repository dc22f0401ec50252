import Scheduling
import Synchronization

/// Signs of the core's life, for health: written by its thread, read by anybody.
final class CoreActivity: Sendable {
    /// The core waits for at most so long between two turns, or it hangs.
    static let longestTurn = Duration.seconds(30)

    private let turnedAt = Atomic<Int64>(Instant.now.nanoseconds)
    private let isMember = Atomic<Bool>(false)

    /// Noted at the end of each turn.
    func turned(at now: Instant) { turnedAt.store(now.nanoseconds, ordering: .relaxed) }

    /// Noted when the group has let the worker in, with partitions or without.
    func joined() { isMember.store(true, ordering: .relaxed) }

    func isAlive(at now: Instant) -> Bool {
        now - Instant(nanoseconds: turnedAt.load(ordering: .relaxed)) < Self.longestTurn
    }

    /// Whether the worker takes part in its group: then a rollout may go on to the next.
    var isReady: Bool { isMember.load(ordering: .relaxed) }
}
