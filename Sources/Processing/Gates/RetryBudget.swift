import Scheduling

/// How many of the calls to a target may be retries.
struct RetryBudgetPolicy: Hashable, Sendable {
    /// Retries that each first try pays for.
    var share = 0.1
    /// Part of the most calls at once that can be retried in a burst, and every second without any first try: where
    /// everything that is held has failed once, nothing would move otherwise.
    var burstShare = 0.25
    /// Least burst.
    var leastBurst = 10.0

    /// The defaults.
    init() {}
}

/// Lets a tenth of the calls be retries, so that trouble is not multiplied by those who try again. Pure.
///
/// A retry that finds it empty waits; it never fails. Over any time: retries ≤ share × first tries + burst + burst a
/// second.
struct RetryBudget: Sendable {
    private let share: Double
    private let burst: Double
    private var tokens: Double
    private var filledAt = Instant(nanoseconds: 0)

    init(policy: RetryBudgetPolicy, mostCalls: Int) {
        share = policy.share
        burst = max(policy.leastBurst, Double(mostCalls) * policy.burstShare)
        tokens = burst
    }

    /// Retries that may be made at once now.
    mutating func available(at now: Instant) -> Int {
        fill(to: now)
        return Int(tokens)
    }

    /// When the next retry may be made, if no first try pays for it sooner.
    var nextMoment: Instant {
        // Rounded up, so that it is there when the moment has come.
        filledAt + .seconds(max(0, 1 - tokens) / burst) + .milliseconds(1)
    }

    /// A first try is made.
    mutating func earn() {
        tokens = min(burst, tokens + share)
    }

    /// Asks for a retry.
    mutating func take(at now: Instant) -> Bool {
        fill(to: now)
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// The first try was not made after all.
    mutating func unearn() {
        tokens = max(0, tokens - share)
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
