import Scheduling
import Testing

@testable import Processing

@Suite("The offset tracker")
final class OffsetTrackerTests {
    private var tracker = OffsetTracker()

    private func register(_ offsets: Int64...) throws -> [UInt64] {
        try offsets.map { offset in try #require(result { tracker.register(offset) }) }
    }

    @Test("stands at the first record until that is complete")
    func first() throws {
        #expect(tracker.watermark == nil)
        let numbers = try register(7, 8)
        #expect(tracker.watermark == 7)
        #expect(!result { tracker.complete(numbers[1]) })
        #expect(tracker.watermark == 7)
        #expect(result { tracker.complete(numbers[0]) })
        #expect(tracker.watermark == 9)
    }

    @Test("stands where reading begins if no record can be read there, and at the first record otherwise")
    func beginning() throws {
        #expect(result { tracker.begin(at: 7) })
        #expect(tracker.watermark == 7)
        #expect(tracker.incomplete == 0)
        _ = try register(9)
        #expect(!result { tracker.begin(at: 12) })
        #expect(tracker.watermark == 9)
    }

    @Test("steps over offsets that are no records, and stops behind the last record")
    func gaps() throws {
        let numbers = try register(3, 10, 20)
        tracker.complete(numbers[0])
        #expect(tracker.watermark == 10)
        tracker.complete(numbers[1])
        tracker.complete(numbers[2])
        #expect(tracker.watermark == 21)
    }

    @Test("knows an offset that does not rise: the topic is another one")
    func goingBack() throws {
        _ = try register(5)
        #expect(result { tracker.register(5) } == nil)
        #expect(result { tracker.register(4) } == nil)
        #expect(result { tracker.register(6) } != nil)
    }

    @Test("takes a record's completion once")
    func twice() throws {
        let numbers = try register(0, 1)
        tracker.complete(numbers[1])
        tracker.complete(numbers[1])
        #expect(tracker.incomplete == 1)
        tracker.complete(numbers[0])
        #expect(!result { tracker.complete(numbers[0]) })
        #expect(tracker.incomplete == 0)
        #expect(tracker.span == 0)
    }

    @Test("never passes an incomplete record, whatever order records complete in", arguments: 0..<50)
    func model(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var open: [(offset: Int64, number: UInt64)] = []
        var offset = Int64.random(in: 0...1000, using: &random)
        var last = offset - 1
        for _ in 0..<2000 {
            if Bool.random(using: &random) || open.isEmpty {
                let number = try #require(result { tracker.register(offset) })
                open.append((offset, number))
                last = offset
                offset += Int64.random(in: 1...3, using: &random)
            } else {
                let index = Int.random(in: 0..<min(open.count, 40), using: &random)
                tracker.complete(open.remove(at: index).number)
            }
            try #require(tracker.watermark == open.first?.offset ?? last + 1)
            try #require(tracker.incomplete == open.count)
        }
    }
}
