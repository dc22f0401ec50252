import Contract
import Scheduling

/// Limits the calls at once: fewer while they queue at Apple's, more when they do not, and never many more than lately.
/// Pure.
///
/// Two limits hold, and the smaller one counts. One is by latency, a gradient as in Netflix's concurrency-limits. It
/// shrinks in proportion to the excess of latency over the usual one. While the limit is used up, it grows each second
/// by its square root or a tenth, whichever is more. It at most doubles at once. The usual latency follows faster
/// replies at once and slower ones within minutes. If the fewest calls are as slow, it follows within some ten replies,
/// because our calls then do not cause the slowness. The same holds of the share of calls that time out.
///
/// The other one is by use, as TCP's slow start (RFC 5681) and its return after little use (RFC 7661). It begins low
/// and grows by one with each brisk reply. After a minute it comes down to twice the used calls. Each call beyond those
/// of the last minute opens a connection. Thousands of handshakes at once last longer than a connection may take, and
/// then all of them fail.
struct ConcurrencyLimiter: Sendable {
    /// Least limit, as a part of the most calls at once.
    static let leastShare = 0.05
    /// So many calls may be made at once whatever was used lately: their handshakes take a fraction of a second.
    static let start = 64
    /// Replies within it are never taken for overload, however much faster they once were.
    static let comfortable: Duration = .seconds(1)
    /// With each reply within it, or within the tolerated latency, one more call may be made at once.
    static let brisk: Duration = .milliseconds(500)
    /// Replies that take so many times the usual are taken for overload.
    static let tolerance = 2.0
    /// How long is measured between two changes of the limit.
    static let interval: Duration = .seconds(1)
    /// For so long a limit stays that is not used: as long as an idle connection is kept.
    static let memory: Duration = .seconds(60)
    /// Fewest calls that a measurement is made of, or the limit if that is less.
    static let leastCalls = 10
    /// Share of overloaded calls (timed out, 503, 504) from which on the limit comes down, where less is usual.
    static let overloadShare = 0.2
    /// Strongest decrease of the limit in one step, as a factor.
    static let steepest = 0.7
    /// Weights of a measurement of a second in the usual latency and overload. One is for less of it, one for more, and
    /// one for more at the least limit. The first is the most.
    private static let learning = (less: 0.5, more: 0.002, moreAtLeast: 0.1)

    private struct Measurement: Sendable {
        var since: Instant
        var replies = 0
        var overloads = 0
        var failures = 0
        /// Of the replies.
        var took: Duration = .zero
        var tookInAll: Duration = .zero
        var busiest = 0

        var calls: Int { replies + overloads + failures }
    }

    private let least: Double
    private let most: Double
    private let start: Double
    private var byLatency: Double
    private var byUse: Double
    private var usual: Duration?
    /// The usual share of overloaded calls. Fewer calls at once do not help against it.
    private var usualOverload = 0.0
    /// How long calls took in the latest measurement, replied to or not; nil before the first.
    private(set) var latest: Duration?
    private var measured = Measurement(since: Instant(nanoseconds: 0))
    /// Most calls at once since a moment, at most ``memory`` ago.
    private var used = (calls: 0, since: Instant(nanoseconds: 0))

    init(most: Int) {
        self.most = Double(max(1, most))
        least = max(1, (self.most * Self.leastShare).rounded(.up))
        byLatency = self.most
        start = max(least, min(Double(Self.start), self.most))
        byUse = start
    }

    var value: Int { Int(min(byLatency, byUse)) }

    /// - Parameter inFlight: calls under way, this one included.
    mutating func began(inFlight: Int) {
        used.calls = max(used.calls, inFlight)
    }

    /// Lets time pass. Called before every question about the present.
    mutating func advance(to now: Instant, inFlight: Int) {
        guard now - used.since >= Self.memory else { return }
        byUse = max(start, min(byUse, Double(used.calls * 2)))
        used = (inFlight, now)
    }

    /// - Parameter inFlight: calls under way, this one included.
    mutating func ended(_ outcome: CallOutcome, took: Duration, inFlight: Int, at now: Instant) {
        switch outcome {
        case .unknown: return
        case .replied:
            measured.replies += 1
            measured.took += took
            if took <= max(Self.brisk, (usual ?? .zero) * Self.tolerance), isUsed(inFlight) {
                byUse = min(byUse + 1, most)
            }
        case .overloaded: measured.overloads += 1
        // Instant refusals and named moments say nothing about the right number of calls.
        case .failed, .limited: measured.failures += 1
        }
        measured.tookInAll += took
        measured.busiest = max(measured.busiest, inFlight)
        guard now - measured.since >= Self.interval, measured.calls >= min(Self.leastCalls, value) else { return }
        change(after: now - measured.since)
        measured = Measurement(since: now)
    }

    private mutating func change(after elapsed: Duration) {
        let inAll = measured.tookInAll / measured.calls
        latest = inAll
        // Calls that began together end together: where they take long, there is a measurement once in their time.
        let seconds = max(1, min(elapsed, inAll) / Self.interval)
        let overload = Double(measured.overloads) / Double(measured.calls)
        let tolerated = max(Self.overloadShare, usualOverload * Self.tolerance)
        usualOverload += (overload - usualOverload) * learning(isLess: overload < usualOverload, seconds)
        guard overload < tolerated else { return slow(by: Self.steepest) }
        guard measured.replies > 0 else { return }
        let mean = measured.took / measured.replies
        let before = usual ?? mean
        usual = before + (mean - before) * learning(isLess: mean < before, seconds)
        let bound = max(Self.comfortable, before * Self.tolerance)
        if mean > bound {
            slow(by: max(Self.steepest, bound / mean))
        } else if isUsed(measured.busiest) {
            byLatency = grown(byLatency, seconds)
            byUse = grown(byUse, seconds)
        }
    }

    /// Whether at least half of the limit is.
    private func isUsed(_ inFlight: Int) -> Bool { inFlight * 2 >= value }

    private func learning(isLess: Bool, _ seconds: Double) -> Double {
        if isLess { return Self.learning.less }
        let weight = byLatency > least ? Self.learning.more : Self.learning.moreAtLeast
        return min(weight * seconds, Self.learning.less)
    }

    private mutating func slow(by factor: Double) {
        byLatency = max(least, min(byLatency, Double(max(value, measured.busiest))) * factor)
    }

    /// A limit after so many seconds of growth: at most doubled.
    private func grown(_ limit: Double, _ seconds: Double) -> Double {
        min(limit + min(max(limit.squareRoot(), limit / 10) * seconds, limit), most)
    }
}
