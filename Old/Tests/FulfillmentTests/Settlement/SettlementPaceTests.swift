import Testing

@testable import Fulfillment

@Suite("Pace of settlement")
struct SettlementPaceTests {
    /// A pace to which a transaction of a millisecond's fates has come each millisecond, until a given one.
    private static func pace(perMillisecond count: Int, from start: Int = 1, until end: Int) -> SettlementPace {
        var pace = SettlementPace()
        for millisecond in start...end { pace.begins(with: count, at: .milliseconds(millisecond)) }
        return pace
    }

    @Test("The first transactions begin at once, however many fates come, for as long as they are counted")
    func first() {
        let pace = Self.pace(perMillisecond: 10, until: 99)
        #expect(pace.pause(waiting: 0, held: 1000, at: .milliseconds(99)) == nil)
    }

    @Test("While few come each begins at once")
    func few() {
        let pace = Self.pace(perMillisecond: 2, until: 1000)
        #expect(pace.pause(waiting: 0, held: 1000, at: .milliseconds(1000)) == nil)
    }

    @Test("While many come the next begins with the next beat, unless enough are there or it has come already")
    func many() {
        let pace = Self.pace(perMillisecond: 3, until: 1000)
        #expect(pace.pause(waiting: 0, held: 1000, at: .milliseconds(1005)) == .milliseconds(11))
        #expect(pace.pause(waiting: 63, held: 1000, at: .milliseconds(1005)) == .milliseconds(11))
        #expect(pace.pause(waiting: 64, held: 1000, at: .milliseconds(1005)) == nil)
        #expect(pace.pause(waiting: 0, held: 1000, at: .milliseconds(1016)) == nil)
        #expect(pace.pause(waiting: 0, held: 1000, at: .milliseconds(1017)) == nil)
    }

    @Test("Where the window holds little the next begins at once: a rest would keep it from making room")
    func smallWindow() {
        let pace = Self.pace(perMillisecond: 3, until: 1000)
        #expect(pace.pause(waiting: 0, held: 127, at: .milliseconds(1005)) == nil)
        #expect(pace.pause(waiting: 0, held: 128, at: .milliseconds(1005)) == .milliseconds(11))
    }

    @Test("A burst after a lull is no rate: what follows begins at once")
    func lull() {
        var pace = Self.pace(perMillisecond: 10, until: 1000)
        pace.begins(with: 500, at: .seconds(2))
        #expect(pace.pause(waiting: 0, held: 1000, at: .seconds(2)) == nil)
    }

    @Test(
        "What comes evenly rests only where many come, and never at a slow ledger",
        arguments: [
            (500, 1, false), (2000, 1, false), (4000, 1, true), (2000, 5, false), (4000, 5, true), (10_000, 6, true),
            (4000, 30, false),
        ])
    func evenly(perSecond: Int, transactionMilliseconds: Int, rests: Bool) {
        let took = Duration.milliseconds(transactionMilliseconds)
        var pace = SettlementPace()
        var now = Duration.zero
        var pause = Duration.zero
        for _ in 0..<200 {
            pace.begins(with: Int(Double(perSecond) * ((pause + took) / .seconds(1))), at: now)
            now += took
            pause = pace.pause(waiting: 0, held: 1000, at: now) ?? .zero
            now += pause
        }
        #expect((pause > .zero) == rests)
    }
}
