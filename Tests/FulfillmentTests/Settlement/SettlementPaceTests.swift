import Testing

@testable import Fulfillment

@Suite("Pace of settlement")
struct SettlementPaceTests {
    @Test("The first transaction, and one after few fates, begins at once")
    func few() {
        var pace = SettlementPace()
        #expect(pace.pause(waiting: 0) == nil)
        pace.settled(15, took: .milliseconds(1))
        #expect(pace.pause(waiting: 0) == nil)
        #expect(pace.pause(waiting: 16) == nil)
    }

    @Test("One after many begins with the next beat, unless enough are there already")
    func many() {
        var pace = SettlementPace()
        pace.settled(16, took: .milliseconds(2))
        #expect(pace.pause(waiting: 0) == .milliseconds(4))
        #expect(pace.pause(waiting: 63) == .milliseconds(4))
        #expect(pace.pause(waiting: 64) == nil)
    }

    @Test(
        "What comes evenly rests only where a rest gathers many, and never at a slow ledger",
        arguments: [
            (500, 1, false), (2000, 1, false), (4000, 1, true), (2000, 5, false), (4000, 5, true), (10_000, 6, false),
            (4000, 20, false),
        ])
    func evenly(perSecond: Int, transactionMilliseconds: Int, rests: Bool) {
        let took = Duration.milliseconds(transactionMilliseconds)
        var pace = SettlementPace()
        // A burst, of whatever cause, and then one transaction after the other.
        pace.settled(500, took: took)
        for _ in 0..<10 {
            let pause = pace.pause(waiting: 0) ?? .zero
            pace.settled(Int(Double(perSecond) * ((pause + took) / .seconds(1))), took: took)
        }
        #expect((pace.pause(waiting: 0) != nil) == rests)
    }
}
