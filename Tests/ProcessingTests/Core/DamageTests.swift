import Contract
import Ledger
import Testing

@testable import Processing

@Suite("Partitions with a damaged batch")
struct DamageTests {
    private let bench = CoreBench()

    private func checkpoints() -> [OffsetCheckpoint]? {
        bench.takeRequest { if case .checkpoint(let checkpoints) = $0 { checkpoints } else { nil } }?.content
    }

    @Test("are read again after a while, from the first record that is not complete")
    func damaged() throws {
        let first = try bench.own(next: 5, committed: 5)
        bench.read(5, 6, in: first)
        bench.send(.unreadable(first.id, at: 7))
        bench.wait(.seconds(59))
        #expect(bench.takeUnassigned().isEmpty && bench.fetches.isEmpty)
        bench.wait(.seconds(1))
        #expect(bench.takeUnassigned() == [Fixture.partition])
        #expect(try bench.takeOver(next: 5, committed: 5).start == 5)
    }

    @Test("complete what was read before it, which the checkpoint says")
    func behind() throws {
        let first = try bench.own(next: 5, committed: 5)
        let check = try #require(bench.read(5, in: first).first)
        bench.send(.unreadable(first.id, at: 8))
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.written(.granted(created: 1), publish: [Fixture.rendered("t1")]))
        bench.published(try #require(bench.takePublishes().first))
        #expect(try bench.checkpointed().map(\.next) == [6])
        bench.wait(.seconds(5))
        #expect(bench.takeUnassigned() == [Fixture.partition])
    }

    @Test(
        "stand at it in the ledger where it comes first, or no operator could pass it",
        arguments: [nil, 3, 500] as [Int64?])
    func first(checkpoint: Int64?) throws {
        // Behind the batch a consumer would tell offsets that went back, unless the group has none.
        let first = try bench.own(next: checkpoint, committed: checkpoint == 500 ? nil : checkpoint)
        bench.send(.unreadable(first.id, at: 173))
        #expect(try bench.checkpointed().map(\.next) == [173], "at once")
        #expect(bench.takeCommits() == [CommittedOffset(partition: Fixture.partition, offset: 173)])
        bench.wait(.seconds(5))
        let second = try bench.takeOver(next: 173, committed: 173)
        #expect(second.start == 173)
        bench.send(.unreadable(second.id, at: 173))
        bench.wait(.seconds(4))
        #expect(checkpoints() == nil, "it stands there already")
        #expect(bench.takeAlerts().isEmpty)
    }

    @Test("stand at it also where their offsets went back before it")
    func wentBack() throws {
        let former = try bench.own(next: 500, committed: 500)
        bench.send(.wentBack(former.id))
        let first = try bench.takeOver(next: 500, committed: 500)
        #expect(first.start == nil)
        #expect(try bench.checkpointed().map(\.next) == [0])
        bench.send(.unreadable(first.id, at: 7))
        #expect(try bench.checkpointed().map(\.next) == [7])
    }
}
