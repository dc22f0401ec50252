import Contract
import Scheduling

/// Limits the calls at once by their latency: fewer while they queue at Apple's, more when they do not. Pure.
///
/// The limit follows a gradient as in Netflix's concurrency-limits. It shrinks in proportion to the excess of latency
/// over the usual one. While it is used up, it grows by its square root or a tenth, whichever is more. The usual
/// latency follows faster replies at once and slower ones within minutes. If the fewest calls are as slow, it follows
/// within seconds, because our calls then do not cause the slowness. The limit grows again.
struct ConcurrencyLimiter: Sendable {
    /// Least limit, as a part of the most calls at once.
    static let leastShare = 0.05
    /// Replies within it are never taken for overload, however much faster they once were.
    static let comfortable: Duration = .seconds(1)
    /// Replies that take so many times the usual are taken for overload.
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
        var replies = 0
        var overloads = 0
        var failures = 0
        var took: Duration = .zero
        var busiest = 0

        var calls: Int { replies + overloads + failures }
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
        case .replied:
            measured.replies += 1
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
        guard measured.replies > 0 else { return }
        let mean = measured.took / measured.replies
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
