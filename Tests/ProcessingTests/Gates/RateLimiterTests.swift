import Scheduling
import Testing

@testable import Processing

@Suite("A rate limit")
struct RateLimiterTests {
    @Test("is never exceeded over any time, but for a second's burst")
    func bound() {
        var limiter = RateLimiter(rate: 50)
        var random = SplitMix64(seed: 3)
        var now = Instant.zero
        var calls = 0
        for _ in 0..<20_000 {
            now += .milliseconds(Int.random(in: 0...20, using: &random))
            if limiter.admits(at: now) {
                limiter.take()
                calls += 1
            }
            guard Double(calls) <= 50 + 50 * (now.elapsed / .seconds(1)) + 0.001 else {
                Issue.record("\(calls) calls in \(now.elapsed)")
                return
            }
        }
        #expect(Double(calls) > 49 * (now.elapsed / .seconds(1)))
    }

    @Test("that changes gives back nothing of what was used, and keeps no more than its own burst")
    func changed() {
        var limiter = RateLimiter(rate: 2)
        for _ in 0..<2 {
            #expect(result { limiter.admits(at: .zero) })
            limiter.take()
        }
        limiter.change(to: 10)
        #expect(!result { limiter.admits(at: .zero) })
        #expect(result { limiter.admits(at: .zero + .milliseconds(100)) })
        _ = limiter.admits(at: .zero + .seconds(60))
        limiter.change(to: 1)
        limiter.take()
        #expect(!result { limiter.admits(at: .zero + .seconds(60)) })
    }

    @Test("has a call at the moment that it says")
    func moment() {
        var limiter = RateLimiter(rate: 0.5)
        #expect(result { limiter.admits(at: .zero) })
        limiter.take()
        #expect(!result { limiter.admits(at: .zero + .seconds(1)) })
        #expect(result { limiter.admits(at: limiter.nextMoment) })
        #expect(limiter.calls(within: .seconds(20)) == 11)
    }
}
