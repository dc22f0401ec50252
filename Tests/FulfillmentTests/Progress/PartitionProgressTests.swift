import Testing

@testable import Fulfillment

@Suite("Progress of a partition")
struct PartitionProgressTests {
    @Test("commits nothing before the first record is done")
    func nothingDone() {
        var progress = PartitionProgress()
        let admitted = [10, 11].map { progress.admit($0) }
        #expect(admitted == [true, true])
        #expect(progress.watermark == nil)
        let second = progress.complete(11)
        #expect(!second)
        #expect(progress.watermark == nil)
        let first = progress.complete(10)
        #expect(first)
        #expect(progress.watermark == 12)
        #expect(progress.unfinished == 0)
    }

    @Test("passes over offsets that no record has, as compaction and transactions leave them")
    func gaps() {
        var progress = PartitionProgress()
        for offset: Int64 in [5, 9, 30] { _ = progress.admit(offset) }
        _ = progress.complete(5)
        #expect(progress.watermark == 9)
        _ = progress.complete(9)
        _ = progress.complete(30)
        #expect(progress.watermark == 31)
    }

    @Test("takes neither an offset nor a completion twice")
    func twice() {
        var progress = PartitionProgress()
        let admitted = [1, 1].map { progress.admit($0) }
        #expect(admitted == [true, false])
        let completed = [1, 1, 99].map { progress.complete($0) }
        #expect(completed == [true, false, false])
        let again = progress.admit(1)
        #expect(!again)
    }

    @Test("keeps only what is unfinished, however much is done behind it")
    func bounded() {
        var progress = PartitionProgress()
        for offset: Int64 in 0..<100_000 {
            _ = progress.admit(offset)
            if offset > 0 { _ = progress.complete(offset) }
            if offset % 10_000 == 0 { #expect(progress.unfinished == 1) }
        }
        #expect(progress.watermark == nil)
        _ = progress.complete(0)
        #expect(progress.watermark == 100_000)
    }

    @Test("keeps to the naive model over random orders", arguments: 0..<25)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var progress = PartitionProgress()
        var offset: Int64 = 100
        var open: [Int64] = []
        var expected: Int64?
        for _ in 0..<8_000 {
            if open.isEmpty || Int.random(in: 0..<5, using: &generator) < 2 {
                offset += Int64.random(in: 1...3, using: &generator)
                let isAdmitted = progress.admit(offset)
                #expect(isAdmitted)
                open.append(offset)
            } else {
                let done = open.remove(at: Int.random(in: 0..<min(open.count, 200), using: &generator))
                let isOldest = open.allSatisfy { $0 > done }
                if isOldest { expected = open.min() ?? offset + 1 }
                let moved = progress.complete(done)
                #expect(moved == isOldest)
            }
            #expect(progress.watermark == expected)
            #expect(progress.oldestUnfinished == open.min())
            #expect(progress.unfinished == open.count)
        }
    }
}
