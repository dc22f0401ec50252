import Testing

@testable import Fulfillment

@Suite("Progress over partitions")
struct ProgressTests {
    private let one = TopicPartition(topic: "in", partition: 1)
    private let two = TopicPartition(topic: "in", partition: 2)

    @Test("gives each partition its own offsets, once")
    func offsets() throws {
        var progress = Progress()
        progress.assigned(one, epoch: 1)
        progress.assigned(two, epoch: 2)
        let first = try unwrapped(progress.admit(7, of: one)?.ticket)
        _ = progress.admit(3, of: two)
        progress.complete(first)
        let seen1 = progress.takeMoved()
        #expect(seen1 == [one: Watermark(offset: 8, epoch: 1)])
        let seen2 = progress.takeMoved()
        #expect(seen2 == [:])
        #expect(progress.unfinished == 1)
    }

    @Test("admits nothing of a partition that is not ours")
    func foreign() {
        var progress = Progress()
        let seen3 = progress.admit(1, of: one)
        #expect(seen3 == nil)
        progress.assigned(one, epoch: 3)
        let seen4 = progress.admit(1, of: one)
        #expect(seen4 != nil)
        let seen5 = progress.admit(1, of: two)
        #expect(seen5 == nil)
    }

    @Test("commits up to the watermark when a partition goes")
    func revoked() throws {
        var progress = Progress()
        progress.assigned(one, epoch: 4)
        progress.complete(try unwrapped(progress.admit(1, of: one)?.ticket))
        _ = progress.admit(2, of: one)
        let seen6 = progress.revoked(one)
        #expect(seen6 == 2)
        let seen7 = progress.takeMoved()
        #expect(seen7 == [:])
        let seen8 = progress.revoked(two)
        #expect(seen8 == nil)
    }

    @Test("lets a late result of an earlier assignment move nothing")
    func epochs() throws {
        var progress = Progress()
        progress.assigned(one, epoch: 5)
        let late = try unwrapped(progress.admit(5, of: one)?.ticket)
        _ = progress.revoked(one)
        progress.complete(late)
        progress.assigned(one, epoch: 6)
        let again = try unwrapped(progress.admit(5, of: one)?.ticket)
        progress.complete(late)
        let seen9 = progress.takeMoved()
        #expect(seen9 == [:])
        progress.complete(again)
        let seen10 = progress.takeMoved()
        #expect(seen10 == [one: Watermark(offset: 6, epoch: 6)])
    }
}
