import Scheduling

/// How many calls at once a target of Apple's is given, within the worker's own bound.
struct ConcurrencyPolicy: Hashable, Sendable {
    /// Part of the most calls at once that is never gone below.
    var leastShare = 0.05
    /// Answers within it are never taken for overload, however much faster they once were.
    var comfortable: Duration = .seconds(1)
    /// Answers that take so many times the usual are taken for overload.
    var tolerance = 2.0
    /// How long is measured between two changes of the limit.
    var interval: Duration = .seconds(1)
    /// Fewest calls that a measurement is made of.
    var leastCalls = 10
    /// Share of overloaded calls (timed out, 503, 504) from which on the limit comes down.
    var overloadShare = 0.2
    /// The most that the limit comes down at once, as a factor.
    var steepest = 0.7

    /// The defaults.
    init() {}
}

/// Follows latency: fewer calls at once while they queue up at Apple's, more when they do not. Pure.
///
/// A gradient as in Netflix's concurrency-limits: the limit shrinks in proportion to how much longer answers take than
/// usual, and grows by its square root or a tenth, whichever is more, while it is made use of. What is usual follows
/// faster answers at once and slower ones within minutes; within seconds where the fewest calls are answered as slowly,
/// because then our calls are not what makes the service slow, and it gets them back.
struct ConcurrencyLimiter: Sendable {
    /// How much of a measurement the usual latency takes on: when it is faster, when it is slower, and when it is slower
    /// though no fewer calls are to be had.
    private static let learning = (faster: 0.5, slower: 0.002, slowerAtLeast: 0.1)

    private struct Measurement: Sendable {
        var since: Instant
        var answers = 0
        var overloads = 0
        var failures = 0
        var took: Duration = .zero
        /// Most calls under way.
        var busiest = 0

        var calls: Int { answers + overloads + failures }
    }

    private let policy: ConcurrencyPolicy
    private let least: Double
    private let most: Double
    private var exact: Double
    private var usual: Duration?
    private var measured = Measurement(since: Instant(nanoseconds: 0))

    /// A limit that begins at its most: a worker that starts has no reason to hold back.
    init(policy: ConcurrencyPolicy, most: Int) {
        self.policy = policy
        self.most = Double(max(1, most))
        least = max(1, (self.most * policy.leastShare).rounded(.up))
        exact = self.most
    }

    /// Calls at once.
    var value: Int { Int(exact) }

    /// A call ended.
    ///
    /// - Parameter inFlight: calls under way, this one included.
    mutating func ended(_ outcome: CallOutcome, took: Duration, inFlight: Int, at now: Instant) {
        switch outcome {
        case .unknown: return
        case .answered:
            measured.answers += 1
            measured.took += took
        case .overloaded: measured.overloads += 1
        // Refused at once, or paced by a moment that was named: nothing about how many calls are too many.
        case .failed, .limited: measured.failures += 1
        }
        measured.busiest = max(measured.busiest, inFlight)
        guard now - measured.since >= policy.interval, measured.calls >= policy.leastCalls else { return }
        change()
        measured = Measurement(since: now)
    }

    private mutating func change() {
        let overloadShare = Double(measured.overloads) / Double(measured.calls)
        guard overloadShare < policy.overloadShare else { return set(exact * policy.steepest) }
        guard measured.answers > 0 else { return }
        let mean = measured.took / measured.answers
        let before = usual ?? mean
        usual = before + (mean - before) * learning(isFaster: mean < before)
        let bound = max(policy.comfortable, before * policy.tolerance)
        if mean > bound {
            set(exact * max(policy.steepest, bound / mean))
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
