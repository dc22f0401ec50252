import Testing

@testable import Processing

@Suite("The in-flight limit")
final class InFlightLimitTests {
    private var limit = InFlightLimit(count: 800, bytes: 8000, purchases: 100)

    private func deliver(_ records: Int, bytes: Int64 = 1) {
        limit.countDelivered(records: records, bytes: Int64(records) * bytes)
        for _ in 0..<records { limit.take(.record, bytes: bytes) }
    }

    @Test("asks for records up to half of all, less the due rows' part, while it is not known what they need")
    func firstDemand() throws {
        let demand = try #require(result { limit.raiseDemand(undecided: 0) })
        #expect(demand.records == 300)
        #expect(demand.bytes == 7000)
    }

    @Test("never lets undecided records and what is asked for exceed the gates' part")
    func undecided() throws {
        let first = try #require(result { limit.raiseDemand(undecided: 0) })
        deliver(Int(first.records))
        #expect(result { limit.raiseDemand(undecided: 300) } == nil)
        let next = try #require(result { limit.raiseDemand(undecided: 100) })
        #expect(next.records == 300 + 200)
    }

    @Test("asks for no more than the records' allowance, and leaves due rows and outbox rows theirs")
    func allowances() {
        deliver(600)
        #expect(result { limit.raiseDemand(undecided: 0) } == nil)
        #expect(limit.dueRoom == 100)
        #expect(limit.outboxCount == 100)
        for _ in 0..<100 { limit.take(.due, bytes: 1) }
        #expect(limit.dueRoom == 0)
    }

    @Test("is full by bytes as well, and lets one record of any size pass")
    func bytes() {
        deliver(1, bytes: 9000)
        #expect(result { limit.raiseDemand(undecided: 0) } == nil)
        limit.release(.record, bytes: 9000, purchases: 0)
        #expect(result { limit.raiseDemand(undecided: 0) } != nil)
    }

    @Test("is full by purchases as well, and lets one submission with more of them pass")
    func purchases() {
        deliver(1)
        limit.take(purchases: 5000)
        #expect(result { limit.raiseDemand(undecided: 0) } == nil)
        #expect(limit.dueRoom == 1, "it may wait for the room that a due row makes")
        limit.take(.due, bytes: 1)
        #expect(limit.dueRoom == 0)
        limit.release(.record, bytes: 1, purchases: 5000)
        #expect(result { limit.raiseDemand(undecided: 0) } != nil)
    }

    @Test("takes back what was asked for and not delivered")
    func withdrawn() throws {
        _ = limit.raiseDemand(undecided: 0)
        deliver(10)
        #expect(result { limit.withdrawDemand() }?.records == 10)
        #expect(result { limit.withdrawDemand() } == nil)
        #expect(try #require(result { limit.raiseDemand(undecided: 10) }).records == 300)
    }

    @Test("does not send a message for every record that leaves")
    func messages() {
        _ = limit.raiseDemand(undecided: 0)
        deliver(10)
        #expect(result { limit.raiseDemand(undecided: 0) } == nil)
    }

    @Test("is as wide as the calls need that are allowed at once", arguments: [1, 1000, 1024, 1025, 4000, 10_000])
    func calls(_ calls: Int) {
        var settings = CoreSettings()
        settings.allow(calls: calls)
        let limit = InFlightLimit(count: settings.inFlight, bytes: 1, purchases: 1)
        let gates = GateTable(most: limit.gateRecordCount, mostCalls: settings.callsPerEndpoint)
        #expect(gates.mostCalls == calls)
    }

    @Test("calls gates half and mostly full by number or by bytes of their records, whichever is more")
    func crowding() {
        let limit = InFlightLimit(count: 8000, bytes: 8000, purchases: 10)
        #expect(limit.gateRecordCount == 3000)
        #expect(limit.crowding(recordsAtGates: 1499, bytesAtGates: 3499) == .little)
        #expect(limit.crowding(recordsAtGates: 1500, bytesAtGates: 0) == .half)
        #expect(limit.crowding(recordsAtGates: 0, bytesAtGates: 3500) == .half)
        #expect(limit.crowding(recordsAtGates: 2625, bytesAtGates: 3500) == .mostly)
        #expect(limit.crowding(recordsAtGates: 1500, bytesAtGates: 6125) == .mostly)
    }
}
