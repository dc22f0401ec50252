import Scheduling
import Synchronization

/// Signs of life of the core, the checkers and the Kafka consumer, for health. Their threads write them, and any thread
/// reads them.
final class CoreActivity: Sendable {
    /// The core turns every five seconds at least, and the consumer gives a sign as often; a chunk of checks takes well
    /// under a second. Silent for so long, one hangs.
    static let longestSilence = Duration.seconds(30)

    private let turnedAt = Atomic<Int64>(Instant.now.nanoseconds)
    private let busySince: [Sign]
    private let heardAt = Atomic<Int64>(Instant.now.nanoseconds)
    private let isLedgerAway = Atomic<Bool>(false)
    private let isMember = Atomic<Bool>(false)
    private let isKafkaAway = Atomic<Bool>(false)

    private final class Sign: Sendable {
        static let idle = Int64.max
        let moment = Atomic<Int64>(idle)
    }

    init(checkers: Int) { busySince = (0..<checkers).map { _ in Sign() } }

    /// The checkers' numbers.
    var checkers: Range<Int> { busySince.indices }

    /// Set at the end of each turn.
    func turned(at now: Instant, isLedgerAway: Bool) {
        turnedAt.store(now.nanoseconds, ordering: .relaxed)
        self.isLedgerAway.store(isLedgerAway, ordering: .relaxed)
    }

    /// Set as a checker begins a chunk of checks; nil once it has none.
    func checks(_ checker: Int, since moment: Instant?) {
        busySince[checker].moment.store(moment?.nanoseconds ?? Sign.idle, ordering: .relaxed)
    }

    /// Set at each sign of the Kafka consumer's life.
    func heard(at now: Instant) { heardAt.store(now.nanoseconds, ordering: .relaxed) }

    /// Set when the group has let the worker in, with partitions or without, and when its session has run out.
    func joined(_ isMember: Bool) { self.isMember.store(isMember, ordering: .relaxed) }

    func reached(_ isReachable: Bool) { isKafkaAway.store(!isReachable, ordering: .relaxed) }

    /// The part that hangs, because it has been silent for so long; nil if none does.
    func silent(at now: Instant, for time: Duration = longestSilence) -> String? {
        func isSilent(_ sign: borrowing Atomic<Int64>) -> Bool {
            now - Instant(nanoseconds: sign.load(ordering: .relaxed)) >= time
        }
        if isSilent(turnedAt) { return "The core" }
        if busySince.contains(where: { isSilent($0.moment) }) { return "A check" }
        return isSilent(heardAt) ? "The Kafka consumer" : nil
    }

    /// Why the worker is not ready; nil if it is, so that a rollout may go on to the next.
    func hindrance(at now: Instant) -> String? {
        if let part = silent(at: now) { return "\(part) shows no sign of life." }
        if isLedgerAway.load(ordering: .relaxed) { return "The ledger does not answer." }
        if isKafkaAway.load(ordering: .relaxed) { return "Kafka is unreachable." }
        return isMember.load(ordering: .relaxed) ? nil : "The group has not let the worker in."
    }
}

/// Ends a worker of which a part hangs. Not every supervisor asks `/livez`: Docker restarts only what has ended. Pure.
///
/// After a freeze of the whole process each part seems silent at first. So silence counts only where the thread that
/// looks has had its own turns meanwhile.
struct SilenceWatch {
    /// Silent for so long, a part ends the worker. A supervisor that asks `/livez` three times in ten seconds each is
    /// faster.
    static let longestSilence = Duration.seconds(60)
    /// The time between two looks.
    static let pause = Duration.seconds(5)
    /// Looks must have come in time for so long.
    static let leastAwake = Duration.seconds(30)

    private var lookedAt: Instant
    private var awakeSince: Instant

    init(from now: Instant) { (lookedAt, awakeSince) = (now, now) }

    var nextLook: Instant { lookedAt + Self.pause }

    /// Looks, if that is due.
    /// - Returns: the part for which the worker has to end.
    mutating func look(at now: Instant, _ activity: CoreActivity) -> String? {
        guard now >= nextLook else { return nil }
        if now - lookedAt >= Self.pause * 2 { awakeSince = now }
        lookedAt = now
        guard now - awakeSince >= Self.leastAwake else { return nil }
        return activity.silent(at: now, for: Self.longestSilence)
    }
}
