import Testing

@testable import Fulfillment

@Suite("Pace of settlement")
struct SettlementPaceTests {
    @Test("The first transaction, and one after few fates, begins at once")
    func few() {
        var pace = SettlementPace()
        #expect(pace.pause(waiting: 0) == nil)
        pace.settled(SettlementPace.many - 1)
        #expect(pace.pause(waiting: 0) == nil)
        #expect(pace.pause(waiting: SettlementPace.many) == nil)
    }

    @Test("One after many waits, unless enough are there already")
    func many() {
        var pace = SettlementPace()
        pace.settled(SettlementPace.many)
        #expect(pace.pause(waiting: 0) == SettlementPace.rest)
        #expect(pace.pause(waiting: SettlementPace.enough - 1) == SettlementPace.rest)
        #expect(pace.pause(waiting: SettlementPace.enough) == nil)
        #expect(pace.pause(waiting: Settler.maxBatch) == nil)
    }

    @Test(
        "What comes evenly rests only where a rest gathers many",
        arguments: [(500, false), (2000, false), (4000, true)])
    func evenly(perSecond: Int, rests: Bool) {
        var pace = SettlementPace()
        // A burst, of whatever cause, and then a transaction of a millisecond after the other.
        pace.settled(Settler.maxBatch)
        var batch = 0.0
        for _ in 0..<10 {
            let pause = pace.pause(waiting: 0) ?? .zero
            batch = Double(perSecond) * ((pause + .milliseconds(1)) / .seconds(1))
            pace.settled(Int(batch))
        }
        #expect((pace.pause(waiting: 0) != nil) == rests)
    }
}
