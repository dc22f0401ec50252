import Ledger
import Scheduling

/// The phase of a stop.
enum StopPhase: Hashable, Sendable {
    case running
    /// Nothing begins; calls that are under way may end until then.
    case finishingCalls(until: Instant)
    /// Decisions are written, and their events published, until then. Events that are not published by then are owed in
    /// the outbox; quarantined records are left to the next owner.
    case publishing(until: Instant)
    /// Until then these are written: owed events, the offsets of partitions, and the ends of leases.
    case checkpointing(until: Instant)
    case stopped
}

/// The clean stop. The next owner reads all unfinished records again, so each phase may have an end. All phases
/// together take no longer than the limit.
struct StopSequence {
    private static let callShare = 0.6
    /// Of decisions and events, and again of the last calls to the ledger.
    private static let endShare = (1 - callShare) / 2
    private static let flushLimit: Duration = .seconds(5)

    /// How long all of it may take.
    private let limit: Duration
    private(set) var phase = StopPhase.running
    private(set) var reason: StopReason?
    /// Leases of due rows without begun work when the stop was ordered.
    private var leases: [RetryLease] = []

    init(limit: Duration) { self.limit = limit }

    var isRunning: Bool { phase == .running }

    /// Whether calls may start: those that continue what was begun before the stop.
    var mayCall: Bool {
        switch phase {
        case .running, .finishingCalls: true
        case .publishing, .checkpointing, .stopped: false
        }
    }

    /// When the present phase ends; nil while nothing stops.
    var nextMoment: Instant? {
        switch phase {
        case .running, .stopped: nil
        case .finishingCalls(let until), .publishing(let until), .checkpointing(let until): until
        }
    }

    mutating func begin(at now: Instant) { phase = .finishingCalls(until: now + limit * Self.callShare) }

    mutating func end(for reason: StopReason) {
        phase = .stopped
        self.reason = reason
    }

    /// - Returns: whether calls are not awaited any longer, from now on.
    mutating func endCalls(isBusy: @autoclosure () -> Bool, at now: Instant) -> Bool {
        guard case .finishingCalls(let until) = phase, until <= now || !isBusy() else { return false }
        phase = .publishing(until: min(until, now) + min(Self.flushLimit, limit * Self.endShare))
        return true
    }

    /// - Returns: whether the broker is not awaited any longer, from now on.
    mutating func endPublishing(isBusy: @autoclosure () -> Bool, at now: Instant) -> Bool {
        guard case .publishing(let until) = phase, until <= now || !isBusy() else { return false }
        phase = .checkpointing(until: now + limit * Self.endShare)
        return true
    }

    /// Keeps leases that are given back at the end.
    mutating func keep(_ more: [RetryLease]) { leases += more }

    mutating func takeLeases() -> [RetryLease] {
        defer { leases = [] }
        return leases
    }
}
