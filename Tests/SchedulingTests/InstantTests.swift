import Scheduling
import Testing

struct InstantTests {
    @Test("The clock does not run backwards")
    func clock() {
        var last = Instant.now
        for _ in 0..<10_000 {
            let next = Instant.now
            #expect(next >= last)
            last = next
        }
    }

    @Test("A duration added and subtracted again gives the same instant")
    func addition() {
        let instant = Instant(nanoseconds: 1_000_000_007)
        for duration in [Duration.zero, .nanoseconds(1), .milliseconds(1500), .seconds(-86_400)] {
            #expect(instant + duration - duration == instant)
            #expect(instant + duration - instant == duration)
        }
        var moved = instant
        moved += .nanoseconds(3)
        #expect(moved.nanoseconds == 1_000_000_010)
        #expect(moved > instant)
    }

    @Test("Arithmetic stops at the ends of the range")
    func ends() {
        let ages = Duration.seconds(Int64.max)
        #expect(Instant.now + ages == .distantFuture)
        #expect(Instant.distantFuture + .nanoseconds(1) == .distantFuture)
        #expect(Instant(nanoseconds: -2) - ages == Instant(nanoseconds: .min))
        #expect(Instant(nanoseconds: .min) + .nanoseconds(-1) == Instant(nanoseconds: .min))
        #expect(Instant(nanoseconds: 2) - .seconds(Int64.min) == .distantFuture)
        #expect(Instant.distantFuture - Instant(nanoseconds: .min) == .nanoseconds(Int64.max))
        #expect(Instant(nanoseconds: .min) - Instant.distantFuture == .nanoseconds(Int64.min))
    }

    @Test(
        "A duration in nanoseconds is rounded down and clamped",
        arguments: [
            (Duration.zero, 0), (.nanoseconds(-1), -1), (.seconds(-3), -3_000_000_000),
            (Duration(secondsComponent: 0, attosecondsComponent: 1), 0),
            (Duration(secondsComponent: 0, attosecondsComponent: -1), -1),
            (.nanoseconds(Int64.max), .max), (.nanoseconds(Int64.min), .min),
            (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
            (.nanoseconds(Int64.max) + .nanoseconds(1), .max), (.nanoseconds(Int64.min) - .nanoseconds(1), .min),
        ] as [(Duration, Int64)])
    func nanoseconds(duration: Duration, nanoseconds: Int64) {
        #expect(duration.clampedNanoseconds == nanoseconds)
    }

    @Test("The earlier one of two moments counts, and none is never")
    func earlier() {
        let instant = Instant(nanoseconds: 2)
        var moment: Instant?
        moment.bringForward(to: nil)
        #expect(moment == nil)
        moment.bringForward(to: instant)
        moment.bringForward(to: nil)
        moment.bringForward(to: .distantFuture)
        #expect(moment == instant)
        moment.bringForward(to: Instant(nanoseconds: 1))
        #expect(moment == Instant(nanoseconds: 1))
    }
}
