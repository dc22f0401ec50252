import Testing

@testable import grantor_chaos

@Suite("Stops of partitions")
struct PartitionStopsTests {
    private func passage(_ sentAt: Int64, _ toldAt: Int64, partition: Int32 = 0) -> PartitionStops.Passage {
        PartitionStops.Passage(partition: partition, sentAt: sentAt, toldAt: toldAt)
    }

    @Test("A partition stands still from its last event to the next one, if something waits")
    func waiting() {
        let stops = PartitionStops([passage(0, 10), passage(5, 500), passage(6, 510)])
        #expect(stops.longest() == [0: 490])
    }

    @Test("A partition in which nothing waits does not stand still")
    func idle() {
        let stops = PartitionStops([passage(0, 10), passage(5000, 5020)])
        #expect(stops.longest() == [0: 20])
    }

    @Test("Each partition has stops of its own")
    func partitions() {
        let stops = PartitionStops([passage(0, 10), passage(0, 300, partition: 1), passage(20, 40)])
        #expect(stops.longest() == [0: 20, 1: 300])
    }

    @Test("Stops before and after the moments that are asked for do not count")
    func moments() {
        let stops = PartitionStops([passage(0, 900), passage(1000, 1100), passage(2000, 2900)])
        #expect(stops.longest(from: 950, through: 1500) == [0: 100])
        #expect(stops.longest(from: 850, through: 1500) == [0: 900])
    }
}
