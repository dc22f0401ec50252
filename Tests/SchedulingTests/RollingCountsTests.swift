import Scheduling
import Testing

struct RollingCountsTests {
    /// The counts are those of a list of everything that happened, cut to whole buckets.
    @Test(arguments: 0..<10 as Range<UInt64>)
    func `the counts agree with a list of what happened`(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var counts = RollingCounts(length: .seconds(10))
        var happened: [(second: Int64, isFailure: Bool)] = []
        var now = Instant(nanoseconds: -20_000_000_000)
        for _ in 0..<5000 {
            now += .milliseconds(Int64.random(in: 0...400, using: &generator))
            if Int.random(in: 0..<200, using: &generator) == 0 {
                now += .seconds(Int64.random(in: 1...40, using: &generator))
            }
            let second = Int64((Double(now.nanoseconds) / 1e9).rounded(.down))
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                counts.addSuccess(at: now)
                happened.append((second, false))
            case 1:
                counts.addFailure(at: now)
                happened.append((second, true))
            default:
                counts.advance(to: now)
            }
            happened.removeAll { $0.second <= second - 10 }
            let failures = happened.count { $0.isFailure }
            #expect(counts.failures == failures)
            #expect(counts.successes == happened.count - failures)
        }
    }

    @Test func `the share of failures is theirs among all, and none of nothing`() {
        var counts = RollingCounts(length: .seconds(1))
        #expect(counts.failureShare == 0)
        for _ in 0..<3 { counts.addSuccess(at: Instant(nanoseconds: 0)) }
        counts.addFailure(at: Instant(nanoseconds: 0))
        #expect(counts.failureShare == 0.25)
        counts.clear()
        #expect(counts.failureShare == 0)
        #expect(counts.successes == 0)
    }

    @Test func `a moment before the last one counts as the last one`() {
        var counts = RollingCounts(length: .seconds(1))
        counts.addFailure(at: Instant(nanoseconds: 5_000_000_000))
        counts.addFailure(at: Instant(nanoseconds: 1))
        #expect(counts.failures == 2)
        counts.advance(to: Instant(nanoseconds: 6_000_000_000))
        #expect(counts.failures == 0)
        counts.advance(to: .distantFuture)
        counts.addSuccess(at: .distantFuture)
        #expect(counts.successes == 1)
    }
}
