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

    /// The part that hangs; nil if none does.
    func silent(at now: Instant) -> String? {
        func isSilent(_ sign: borrowing Atomic<Int64>) -> Bool {
            now - Instant(nanoseconds: sign.load(ordering: .relaxed)) >= Self.longestSilence
        }
        if isSilent(turnedAt) { return "The core" }
        if busySince.contains(where: { isSilent($0.moment) }) { return "A check" }
        return isSilent(heardAt) ? "The Kafka consumer" : nil
    }

    /// Why the worker is not ready; nil if it is, so that a rollout may go on to the next.
    var hindrance: String? {
        if isLedgerAway.load(ordering: .relaxed) { return "The ledger does not answer." }
        if isKafkaAway.load(ordering: .relaxed) { return "Kafka is unreachable." }
        return isMember.load(ordering: .relaxed) ? nil : "The group has not let the worker in."
    }
}
