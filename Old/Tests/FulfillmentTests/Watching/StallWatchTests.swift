import Testing

@testable import Fulfillment

@Suite("Partitions without progress")
struct StallWatchTests {
    private let partition = TopicPartition(topic: "in", partition: 3)

    private func standing(oldest: Int64?, since: Duration = .zero) -> PartitionStanding {
        PartitionStanding(
            partition: partition, unfinished: oldest == nil ? 0 : 1,
            oldest: oldest.map { .init(offset: $0, admittedAt: since) }, lastRead: oldest, readAge: nil)
    }

    /// The seconds at which a partition is named, of those that are looked at.
    private func named(_ seconds: some Sequence<Int>, _ standing: (Int) -> PartitionStanding) -> [Int] {
        var watch = StallWatch(limit: .seconds(100))
        return seconds.filter { second in
            watch.tick([standing(second)], now: .seconds(second)).contains {
                if case .stalled = $0 { true } else { false }
            }
        }
    }

    @Test("a partition is named at the limit, and then each time the age has doubled")
    func doubling() {
        #expect(named(stride(from: 0, through: 1000, by: 5)) { _ in standing(oldest: 7) } == [100, 200, 400, 800])
    }

    @Test("a partition whose records all wait just as long is named no more often")
    func manyOldRecords() {
        let times = named(stride(from: 0, through: 1000, by: 5)) { second in
            standing(oldest: Int64(second), since: .seconds(max(0, second - 120)))
        }
        #expect(times.count <= 9)
    }

    @Test("a partition without open records, or with young ones, is not named")
    func healthy() {
        #expect(named(stride(from: 0, through: 1000, by: 5)) { _ in standing(oldest: nil) } == [])
        #expect(
            named(stride(from: 0, through: 1000, by: 5)) { standing(oldest: Int64($0), since: .seconds($0 - 60)) } == []
        )
    }

    @Test("it is told once when it comes on")
    func moving() {
        var watch = StallWatch(limit: .seconds(100))
        _ = watch.tick([standing(oldest: 7)], now: .seconds(150))
        #expect(watch.stalled == 1)
        // Still too old to be called moving.
        let close = watch.tick([standing(oldest: 8, since: .seconds(100))], now: .seconds(160))
        #expect(close == [])
        let on = watch.tick([standing(oldest: 9, since: .seconds(160))], now: .seconds(170))
        #expect(on == [.moving(partition)])
        #expect(watch.stalled == 0)
        let after = watch.tick([standing(oldest: nil)], now: .seconds(175))
        #expect(after == [])
    }

    @Test("a partition that went is forgotten")
    func bounded() {
        var watch = StallWatch(limit: .seconds(100))
        _ = watch.tick([standing(oldest: 7)], now: .seconds(150))
        let gone = watch.tick([], now: .seconds(155))
        #expect(gone == [])
        #expect(watch.stalled == 0)
    }
}
