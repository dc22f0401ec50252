import Testing

@testable import Fulfillment

@Suite("Progress of a partition")
struct PartitionProgressTests {
    @Test("commits nothing before the first record is done")
    func nothingDone() throws {
        var progress = PartitionProgress()
        let first = try unwrapped(progress.admit(10))
        let second = try unwrapped(progress.admit(11))
        #expect(progress.watermark == nil)
        let seen1 = progress.complete(second)
        #expect(!seen1)
        #expect(progress.watermark == nil)
        let seen2 = progress.complete(first)
        #expect(seen2)
        #expect(progress.watermark == 12)
        #expect(progress.unfinished == 0)
    }

    @Test("passes over offsets that no record has, as compaction and transactions leave them")
    func gaps() throws {
        var progress = PartitionProgress()
        let ordinals = [5, 9, 30].compactMap { progress.admit($0) }
        _ = progress.complete(ordinals[0])
        #expect(progress.watermark == 6)
        _ = progress.complete(ordinals[1])
        _ = progress.complete(ordinals[2])
        #expect(progress.watermark == 31)
    }

    @Test("takes neither an offset nor a completion twice")
    func twice() throws {
        var progress = PartitionProgress()
        let ordinal = try unwrapped(progress.admit(1))
        let seen3 = progress.admit(1)
        #expect(seen3 == nil)
        let seen4 = progress.complete(ordinal)
        #expect(seen4)
        let seen5 = progress.complete(ordinal)
        #expect(!seen5)
        let seen6 = progress.admit(1)
        #expect(seen6 == nil)
        let seen7 = progress.complete(99)
        #expect(!seen7)
    }

    @Test("keeps to the naive model over random orders", arguments: 0..<25)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var progress = PartitionProgress()
        var offset: Int64 = 100
        var open: [(ordinal: Int, offset: Int64)] = []
        var all: [Int64] = []
        for _ in 0..<8_000 {
            if open.isEmpty || Int.random(in: 0..<5, using: &generator) < 2 {
                offset += Int64.random(in: 1...3, using: &generator)
                guard let ordinal = progress.admit(offset) else { return #expect(Bool(false), "offset refused") }
                open.append((ordinal, offset))
                all.append(offset)
            } else {
                let index = Int.random(in: 0..<min(open.count, 200), using: &generator)
                let before = progress.watermark
                let moved = progress.complete(open.remove(at: index).ordinal)
                #expect(moved == (progress.watermark != before))
            }
            let oldestOpen = open.map(\.offset).min()
            let done = all.filter { $0 < oldestOpen ?? .max }.last
            #expect(progress.watermark == done.map { $0 + 1 })
            #expect(progress.oldestUnfinished == oldestOpen)
            if all.count > 400 { all.removeAll { $0 < (done ?? 0) } }
        }
    }
}
