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
    private let burst: Double
    private var tokens: Double
    private var filledAt = Instant(nanoseconds: 0)

    init(mostCalls: Int) {
        burst = max(Self.leastBurst, Double(mostCalls) * Self.burstShare)
        tokens = burst
    }

    /// Retries that may be made at once now.
    mutating func available(at now: Instant) -> Int {
        fill(to: now)
        return Int(tokens)
    }

    /// When the next retry may be made, if no first attempt pays for it sooner.
    var nextMoment: Instant {
        // Rounded up, so that the permission is there at the moment.
        filledAt + .seconds(max(0, 1 - tokens) / burst) + .milliseconds(1)
    }

    /// A first attempt is made.
    mutating func earn() {
        tokens = min(burst, tokens + Self.share)
    }

    mutating func take(at now: Instant) -> Bool {
        fill(to: now)
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// The first attempt was not made after all.
    mutating func unearn() {
        tokens = max(0, tokens - Self.share)
    }

    /// The retry was not made after all.
    mutating func giveBack() {
        tokens = min(burst, tokens + 1)
    }

    private mutating func fill(to now: Instant) {
        guard now > filledAt else { return }
        let seconds = (now - filledAt) / .seconds(1)
        tokens = min(burst, tokens + seconds * burst)
        filledAt = now
    }
}
