import Testing

@testable import Fulfillment

@Suite("Signs of life")
struct PulseWatchTests {
    @Test("what grows now and then is alive, what stands still for as long as the limit is not, until it grows again")
    func limit() {
        var watch = PulseWatch(limit: 3)
        let seen = [1, 1, 1, 2, 2, 2, 2, 2, 3].map { watch.tick([$0]) }
        #expect(seen == [true, true, true, true, true, true, false, false, true])
    }

    @Test("one of several that stands still is enough")
    func anyOfThem() {
        var watch = PulseWatch(limit: 2)
        let seen = (0..<4).map { watch.tick([UInt64($0), 5]) }
        #expect(seen == [true, true, false, false])
    }

    @Test("a source that shows no signs is taken at its word")
    func none() {
        var watch = PulseWatch(limit: 1)
        let seen = (0..<4).map { _ in watch.tick([]) }
        #expect(seen == [true, true, true, true])
    }
}
