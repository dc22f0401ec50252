import Testing

@testable import Kafka

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
