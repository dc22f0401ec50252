import Scheduling
import Testing

@Suite("A pace")
struct PaceTests {
    @Test("lets the first portion go at once, and each other one behind it")
    func spreads() {
        var pace = Pace(perSecond: 100, from: Instant(nanoseconds: 0))
        #expect(pace.portion == 10)
        let pauses = [(10, 0), (10, 0), (1, 150_000_000)].map { count, now in
            pace.pause(before: count, now: Instant(nanoseconds: now))
        }
        #expect(pauses == [.zero, .milliseconds(100), .milliseconds(50)])
    }

    @Test("gives nothing back for time in which nothing was done")
    func savesNothing() {
        var pace = Pace(perSecond: 10, from: Instant(nanoseconds: 0))
        let later = Instant(nanoseconds: 60_000_000_000)
        let pauses = (0..<2).map { _ in pace.pause(before: 10, now: later) }
        #expect(pauses == [.zero, .seconds(1)])
    }
}
