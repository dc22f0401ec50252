import Scheduling

/// Lets a tenth of the calls be retries, so that retries do not multiply the load of an outage. Pure.
///
/// A retry that finds it empty waits; it never fails. Over any time: retries ≤ share × first attempts + burst + burst a
/// second.
struct RetryBudget: Sendable {
    /// Retries that each first attempt pays for.
    static let share = 0.1
    /// The part of the most calls at once that may be retries in a burst, and in every second without a first attempt.
    /// Otherwise nothing would advance where every submission has failed once.
    static let burstShare = 0.25
    static let leastBurst = 10.0
    private var bucket: TokenBucket

    init(mostCalls: Int) {
        let burst = max(Self.leastBurst, Double(mostCalls) * Self.burstShare)
        bucket = TokenBucket(burst: burst, perSecond: burst)
    }

    /// Retries that may be made at once now.
    mutating func available(at now: Instant) -> Int { Int(bucket.available(at: now)) }

    /// When the next retry may be made, if no first attempt pays for it sooner.
    var nextMoment: Instant { bucket.nextMoment }

    mutating func take(at now: Instant) -> Bool { bucket.take(at: now) }

    /// A first attempt is made.
    mutating func earn() { bucket.add(Self.share) }

    /// The first attempt was not made after all.
    mutating func unearn() { bucket.add(-Self.share) }

    /// The retry was not made after all.
    mutating func giveBack() { bucket.add(1) }
}
