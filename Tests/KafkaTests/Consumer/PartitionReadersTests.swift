import Contract
import Testing

@testable import Kafka

@Suite("Reminding librdkafka to fetch")
struct PrefetchRefillTests {
    private let partition = TopicPartition(topic: "t", partition: 0)

    @Test("is due once half of the bytes that it may hold were taken, and then after another half")
    func bytes() {
        var refill = PrefetchRefill(records: 1000, bytes: 100)
        let due = (1...20).map { _ in
            refill.took(bytes: 10, of: partition)
            return refill.due()
        }
        #expect(due.enumerated().filter { $0.element == [partition] }.map(\.offset) == [4, 9, 14, 19])
    }

    @Test("is due once half of the records were taken, however small")
    func records() {
        var refill = PrefetchRefill(records: 6, bytes: 1000)
        let due = (1...7).map { _ in
            refill.took(bytes: 0, of: partition)
            return refill.due()
        }
        #expect(due.enumerated().filter { $0.element == [partition] }.map(\.offset) == [2, 5])
    }

    @Test("is due once for a record that is larger than all that may be held, and never before one is taken")
    func large() {
        var refill = PrefetchRefill(records: 1, bytes: 1)
        let before = refill.due()
        refill.took(bytes: 5_000_000, of: partition)
        let due = [refill.due(), refill.due()]
        #expect(before.isEmpty)
        #expect(due == [[partition], []])
    }

    @Test("is due for each partition by itself: each has a queue, and what is held binds for each")
    func partitions() {
        var refill = PrefetchRefill(records: 6, bytes: 1000)
        let other = TopicPartition(topic: "t", partition: 1)
        refill.took(records: 2, bytes: 0, of: partition)
        refill.took(records: 3, bytes: 0, of: other)
        let first = refill.due()
        refill.took(records: 1, bytes: 0, of: partition)
        let second = refill.due()
        #expect(first == [other])
        #expect(second == [partition])
    }
}

struct DemandTests {
    @Test("Both totals bind, and the last record may exceed the bytes")
    func totals() {
        var demand = RecordDemand()
        #expect(!demand.isOpen)
        demand.set(records: 2, bytes: 100)
        demand.gave(bytes: 99)
        #expect(demand.isOpen)
        demand.gave(bytes: 500)
        #expect(!demand.isOpen)
        demand.set(records: 3, bytes: 599)
        #expect(!demand.isOpen)
        demand.set(records: 3, bytes: 600)
        #expect(demand.isOpen)
    }

    @Test("A lower demand takes back what was not used")
    func lower() {
        var demand = RecordDemand()
        demand.set(records: 10, bytes: .max)
        demand.gave(bytes: 1)
        demand.set(records: 1, bytes: .max)
        #expect(!demand.isOpen)
        demand.set(records: 2, bytes: .max)
        #expect(demand.isOpen)
    }
}
