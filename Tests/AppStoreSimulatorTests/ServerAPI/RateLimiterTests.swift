import Contract
import Testing

@testable import AppStoreSimulator

struct RateLimiterTests {
    private let second = RateLimit(calls: 20, window: .seconds(1))

    @Test("Calls beyond a limit wait for the next window")
    func window() {
        var limiter = RateLimiter([second])
        let within = (0..<20).map { _ in limiter.admit("a", .transaction, in: .production, now: now) }
        #expect(within.allSatisfy { $0 == nil })
        let next = now.advanced(by: .seconds(1))
        #expect(limiter.admit("a", .transaction, in: .production, now: now.advanced(by: .milliseconds(999))) == next)
        #expect(limiter.admit("a", .transaction, in: .production, now: next) == nil)
    }

    @Test("Apps, endpoints and environments are counted apart")
    func apart() {
        var limiter = RateLimiter([RateLimit(calls: 1, window: .seconds(1))])
        #expect(limiter.admit("a", .transaction, in: .production, now: now) == nil)
        #expect(limiter.admit("b", .transaction, in: .production, now: now) == nil)
        #expect(limiter.admit("a", .history, in: .production, now: now) == nil)
        #expect(limiter.admit("a", .transaction, in: .sandbox, now: now) == nil)
        #expect(limiter.admit("a", .transaction, in: .production, now: now) != nil)
    }

    @Test("The sandbox takes a tenth")
    func sandbox() {
        var limiter = RateLimiter([second])
        let admitted = (0..<20).count { _ in limiter.admit("a", .transaction, in: .sandbox, now: now) == nil }
        #expect(admitted == 2)
    }

    @Test("Every limit holds")
    func limits() {
        var limiter = RateLimiter([second, RateLimit(calls: 21, window: .seconds(3600))])
        let admitted = (0..<3).map { round in
            (0..<20).count { _ in
                limiter.admit("a", .history, in: .production, now: now.advanced(by: .seconds(round))) == nil
            }
        }
        #expect(admitted == [20, 1, 0])
    }

    @Test("Without a limit everything passes")
    func noLimits() {
        var limiter = RateLimiter([])
        #expect((0..<1000).allSatisfy { _ in limiter.admit("a", .history, in: .sandbox, now: now) == nil })
    }

    @Test("Counters have a limit, and come free with their windows")
    func counters() {
        var limiter = RateLimiter([second])
        for number in 0..<RateLimiter.counterLimit {
            #expect(limiter.admit(BundleID("\(number)"), .history, in: .production, now: now) == nil)
        }
        #expect(limiter.admit("more", .history, in: .production, now: now) != nil)
        #expect(limiter.admit("0", .history, in: .production, now: now) == nil)
        let next = now.advanced(by: .seconds(1))
        #expect(limiter.admit("more", .history, in: .production, now: next) == nil)
    }
}
