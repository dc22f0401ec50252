import Testing

@testable import Fulfillment

@Suite("Progress of a partition")
struct PartitionProgressTests {
    @Test("commits nothing before the first record is done")
    func nothingDone() {
        var progress = PartitionProgress()
        let wentBack = [10, 11].map { progress.admit($0).wentBack }
        #expect(wentBack == [false, false])
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

    @Test("takes no completion twice, and none of what it does not have")
    func twice() {
        var progress = PartitionProgress()
        _ = progress.admit(1)
        let completed = [1, 1, 99].map { progress.complete($0) }
        #expect(completed == [true, false, false])
    }

    @Test("goes back with a topic that was made anew, and on from there")
    func madeAnew() {
        var progress = PartitionProgress()
        for offset: Int64 in 1000..<1003 { _ = progress.admit(offset) }
        _ = progress.complete(1000)
        let first = progress.admit(0)
        #expect(first == .init(pass: 1, wentBack: true))
        #expect(progress.watermark == 0, "a restart must not pass over what nobody has seen")
        let second = progress.admit(1)
        #expect(second == .init(pass: 1, wentBack: false))
        // Late results of the topic that was there before.
        let late = [1001, 1002].map { progress.complete($0, pass: 0) }
        #expect(late == [false, false])
        _ = progress.complete(1, pass: 1)
        _ = progress.complete(0, pass: 1)
        #expect(progress.watermark == 2)
        #expect(progress.unfinished == 0)
    }

    @Test("keeps to what is under way below the offset it went back to")
    func readAgain() {
        var progress = PartitionProgress()
        for offset: Int64 in 5..<10 { _ = progress.admit(offset) }
        for offset: Int64 in [5, 7, 8] { _ = progress.complete(offset) }
        let again = progress.admit(8)
        #expect(again.wentBack)
        #expect(progress.watermark == 6)
        _ = progress.complete(8, pass: 1)
        #expect(progress.watermark == 6)
        _ = progress.complete(6, pass: 0)
        #expect(progress.watermark == 9)
    }

    @Test("tells an earlier result from a later one under the same offset")
    func sameOffset() {
        var progress = PartitionProgress()
        _ = progress.admit(4)
        let again = progress.admit(4)
        #expect(again == .init(pass: 1, wentBack: true))
        let early = progress.complete(4, pass: 0)
        #expect(!early)
        let late = progress.complete(4, pass: 1)
        #expect(late)
        #expect(progress.watermark == 5)
    }

    @Test("knows since when its oldest record waits")
    func age() {
        var progress = PartitionProgress()
        _ = progress.admit(1, at: .seconds(10))
        _ = progress.admit(2, at: .seconds(20))
        #expect(progress.oldestAdmittedAt == .seconds(10))
        _ = progress.complete(1)
        #expect(progress.oldestAdmittedAt == .seconds(20))
        _ = progress.complete(2)
        #expect(progress.oldestAdmittedAt == nil)
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
                let admission = progress.admit(offset)
                #expect(!admission.wentBack)
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
