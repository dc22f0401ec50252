import Contract
import Scheduling

/// Limits the calls at once by their latency: fewer while they queue at Apple's, more when they do not. Pure.
///
/// The limit follows a gradient as in Netflix's concurrency-limits. It shrinks in proportion to the excess of latency
/// over the usual one. While it is used up, it grows by its square root or a tenth, whichever is more. The usual
/// latency follows faster answers at once and slower ones within minutes. If the fewest calls are as slow, it follows
/// within seconds, because our calls then do not cause the slowness. The limit grows again.
struct ConcurrencyLimiter: Sendable {
    /// Least limit, as a part of the most calls at once.
    static let leastShare = 0.05
    /// Answers within it are never taken for overload, however much faster they once were.
    static let comfortable: Duration = .seconds(1)
    /// Answers that take so many times the usual are taken for overload.
    static let tolerance = 2.0
    /// How long is measured between two changes of the limit.
    static let interval: Duration = .seconds(1)
    /// Fewest calls that a measurement is made of.
    static let leastCalls = 10
    /// Share of overloaded calls (timed out, 503, 504) from which on the limit comes down.
    static let overloadShare = 0.2
    /// Strongest decrease of the limit in one step, as a factor.
    static let steepest = 0.7
    /// Weight of a measurement in the usual latency: if it is faster, if it is slower, and if it is slower at the least
    /// limit.
    private static let learning = (faster: 0.5, slower: 0.002, slowerAtLeast: 0.1)

    private struct Measurement: Sendable {
        var since: Instant
        var answers = 0
        var overloads = 0
        var failures = 0
        var took: Duration = .zero
        var busiest = 0

        var calls: Int { answers + overloads + failures }
    }

    private let least: Double
    private let most: Double
    private var exact: Double
    private var usual: Duration?
    private var measured = Measurement(since: Instant(nanoseconds: 0))

    /// A limit that begins at its most: a worker that starts has no reason to hold back.
    init(most: Int) {
        self.most = Double(max(1, most))
        least = max(1, (self.most * Self.leastShare).rounded(.up))
        exact = self.most
    }

    var value: Int { Int(exact) }

    /// A call ended.
    /// - Parameter inFlight: calls under way, this one included.
    mutating func ended(_ outcome: CallOutcome, took: Duration, inFlight: Int, at now: Instant) {
        switch outcome {
        case .unknown: return
        case .answered:
            measured.answers += 1
            measured.took += took
        case .overloaded: measured.overloads += 1
        // Instant refusals and named moments say nothing about the right number of calls.
        case .failed, .limited: measured.failures += 1
        }
        measured.busiest = max(measured.busiest, inFlight)
        guard now - measured.since >= Self.interval, measured.calls >= Self.leastCalls else { return }
        change()
        measured = Measurement(since: now)
    }

    private mutating func change() {
        let overloadShare = Double(measured.overloads) / Double(measured.calls)
        guard overloadShare < Self.overloadShare else { return set(exact * Self.steepest) }
        guard measured.answers > 0 else { return }
        let mean = measured.took / measured.answers
        let before = usual ?? mean
        usual = before + (mean - before) * learning(isFaster: mean < before)
        let bound = max(Self.comfortable, before * Self.tolerance)
        if mean > bound {
            set(exact * max(Self.steepest, bound / mean))
        } else if measured.busiest * 2 >= value {
            set(exact + max(exact.squareRoot(), exact / 10))
        }
    }

    private func learning(isFaster: Bool) -> Double {
        if isFaster { return Self.learning.faster }
        return exact > least ? Self.learning.slower : Self.learning.slowerAtLeast
    }

    private mutating func set(_ next: Double) {
        exact = min(max(next, least), most)
    }
}

/// At most so many calls a second, and as many at once as a second has: a token bucket.
struct RateLimiter: Sendable {
    private(set) var rate: Double
    private var tokens: Double
    private var filledAt = Instant(nanoseconds: 0)

    private var burst: Double { max(1, rate) }

    init(rate: Double) {
        self.rate = max(rate, 0.001)
        tokens = max(1, self.rate)
    }

    mutating func change(to rate: Double) {
        self.rate = max(rate, 0.001)
        tokens = min(tokens, burst)
    }

    /// Whether one more call may be made now.
    mutating func admits(at now: Instant) -> Bool {
        fill(to: now)
        return tokens >= 1
    }

    mutating func take() { tokens -= 1 }

    /// A call was not made after all.
    mutating func giveBack() { tokens = min(burst, tokens + 1) }

    /// When the next call may be made.
    var nextMoment: Instant { filledAt + .seconds(max(0, 1 - tokens) / rate) + .milliseconds(1) }

    /// How long the last of so many calls would wait.
    func wait(for calls: Int) -> Duration { .seconds(max(0, Double(calls) - tokens) / rate) }

    private mutating func fill(to now: Instant) {
        guard now > filledAt else { return }
        tokens = min(burst, tokens + (now - filledAt) / .seconds(1) * rate)
        filledAt = now
    }
}

/// Lets a tenth of the calls be retries, so that retries do not multiply the load of an outage. Pure.
///
/// A retry that finds it empty waits; it never fails. Over any time: retries ≤ share × first attempts + burst + burst a
/// second.
struct RetryBudget: Sendable {
    /// Retries that each first attempt pays for.
    static let share = 0.1
    /// Part of the most calls at once that can be retried in a burst, and every second without any first attempt.
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
        // Rounded up, so that it is there when the moment has come.
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

/// The calls that began and ended in the last seconds, in buckets that expire one by one.
struct CallCounts: Sendable {
    /// Numbers of calls by their results.
    struct Count: Hashable, Sendable {
        var calls = 0
        /// Calls that began, ended or not.
        var begun = 0
        var failures = 0
        /// Answered, and slowly.
        var slow = 0

        /// Share of failed calls among all, unfinished ones included; 0 without calls. Where failures come at once and
        /// answers take a while, the first calls to end are failures, however few they are.
        var failureShare: Double {
            let all = max(calls, begun)
            return all == 0 ? 0 : Double(failures) / Double(all)
        }
        /// Failed calls among those that ended; 0 without calls.
        var endedFailureShare: Double { calls == 0 ? 0 : Double(failures) / Double(calls) }
        /// Slow answers among all answers; 0 without answers.
        var slowShare: Double { calls == failures ? 0 : Double(slow) / Double(calls - failures) }
    }

    /// Number of buckets. The counted time is accurate to a tenth of its length.
    static let bucketCount = 10

    /// Of a bucket, in nanoseconds.
    private let width: Int64
    private var buckets = [Count](repeating: Count(), count: bucketCount)
    /// The newest bucket's number since the clock's start.
    private var newest: Int64 = 0
    /// The sum of the buckets.
    private(set) var total = Count()

    init(length: Duration) {
        width = max(length.clampedNanoseconds / Int64(Self.bucketCount), 1)
    }

    /// Notes a call that began.
    mutating func begin(at now: Instant) {
        advance(to: now)
        buckets[Int(newest % Int64(Self.bucketCount))].begun += 1
        total.begun += 1
    }

    /// A call that began was not made after all. Harmless if its beginning is forgotten.
    mutating func takeBack(begunAt moment: Instant) {
        let number = moment.nanoseconds / width
        let place = Int(number % Int64(Self.bucketCount))
        guard newest - number < Int64(Self.bucketCount), buckets[place].begun > 0 else { return }
        buckets[place].begun -= 1
        total.begun -= 1
    }

    /// Notes a call that ended.
    mutating func add(isFailure: Bool, isSlow: Bool, at now: Instant) {
        advance(to: now)
        let place = Int(newest % Int64(Self.bucketCount))
        buckets[place].calls += 1
        total.calls += 1
        if isFailure {
            buckets[place].failures += 1
            total.failures += 1
        } else if isSlow {
            buckets[place].slow += 1
            total.slow += 1
        }
    }

    /// Forgets what is older than the window.
    mutating func advance(to now: Instant) {
        guard now.nanoseconds >= (newest + 1) * width else { return }
        let current = now.nanoseconds / width
        for number in (newest + 1)...min(current, newest + Int64(Self.bucketCount)) {
            let place = Int(number % Int64(Self.bucketCount))
            total.calls -= buckets[place].calls
            total.begun -= buckets[place].begun
            total.failures -= buckets[place].failures
            total.slow -= buckets[place].slow
            buckets[place] = Count()
        }
        newest = current
    }

    mutating func clear() {
        buckets = [Count](repeating: Count(), count: Self.bucketCount)
        total = Count()
    }
}
