import Testing

@testable import Ledger

@Suite struct BackoffTests {
    @Test func growsToItsCapAndStaysThere() {
        var backoff = Backoff(base: .milliseconds(100), cap: .seconds(5))
        let longest = (0..<100).map { _ in backoff.next(1) }
        #expect(longest.prefix(4) == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(longest.allSatisfy { $0 <= .seconds(5) })
        #expect(longest.last == .seconds(5))
        #expect(backoff.failures == 100)
    }

    @Test func chanceSpreadsWorkersOut() {
        var (low, high) = (Backoff.reconnecting, Backoff.reconnecting)
        #expect(low.next(0) == .milliseconds(50))
        #expect(high.next(0.999) > .milliseconds(99))
    }
}
