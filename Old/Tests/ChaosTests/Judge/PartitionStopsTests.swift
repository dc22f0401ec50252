import Testing

@testable import grantor_chaos

@Suite("Stops of partitions")
struct PartitionStopsTests {
    private static func passage(_ partition: Int32, _ sentAt: Int64, _ settledAt: Int64) -> PartitionStops.Passage {
        PartitionStops.Passage(partition: partition, sentAt: sentAt, settledAt: settledAt)
    }

    @Test("A partition in which nothing waits does not stand still")
    func idleIsNoStop() {
        let stops = PartitionStops.longest([Self.passage(0, 1000, 1010), Self.passage(0, 9000, 9020)])
        #expect(stops == [.init(partition: 0, start: 9000, milliseconds: 20)])
    }

    @Test("A stop begins with the last settlement while something waits")
    func waitingIsAStop() {
        let stops = PartitionStops.longest([
            Self.passage(0, 1000, 1010), Self.passage(0, 1005, 5010), Self.passage(0, 1006, 5020),
        ])
        #expect(stops == [.init(partition: 0, start: 1010, milliseconds: 4000)])
    }

    @Test("What overtakes ends a stop, and what it overtook goes on waiting")
    func overtaking() {
        let stops = PartitionStops.longest([Self.passage(0, 1000, 8000), Self.passage(0, 2000, 2100)])
        #expect(stops == [.init(partition: 0, start: 2100, milliseconds: 5900)])
    }

    @Test("The longest comes first, and only stops within the time that is asked for count")
    func order() {
        let passages = [
            Self.passage(0, 0, 100), Self.passage(1, 0, 300), Self.passage(2, 0, 200), Self.passage(1, 5000, 5010),
        ]
        #expect(PartitionStops.longest(passages).map(\.partition) == [1, 2, 0])
        #expect(PartitionStops.longest(passages, from: 1000) == [.init(partition: 1, start: 5000, milliseconds: 10)])
    }
}
