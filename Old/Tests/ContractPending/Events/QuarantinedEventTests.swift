import Contract
import Testing

@Suite("Quarantined event")
struct QuarantinedEventTests {
    private func event(offset: Int64 = 7, value: [UInt8]? = [0xff, 0x00]) -> Event {
        QuarantinedEvent.event(
            from: Origin(topic: "receipts.submitted", partition: 3, offset: offset), key: [0xfe], value: value,
            headers: [EventHeader("a", "1"), EventHeader(name: "a", value: nil)], reason: "not JSON",
            at: EventFixture.moment)
    }

    @Test("carries key, value and headers as they came, then why and where from")
    func content() {
        let event = event()
        #expect(event.kind == .quarantined)
        #expect(event.key == [0xfe])
        #expect(event.value == [0xff, 0x00])
        #expect(Array(event.headers.prefix(2)) == [EventHeader("a", "1"), EventHeader(name: "a", value: nil)])
        #expect(
            Array(event.headers.dropFirst(2)) == [
                EventHeader("x-quarantine-reason", "not JSON"),
                EventHeader("x-quarantined-at", "2026-11-21T04:59:13.250Z"),
                EventHeader("x-origin-topic", "receipts.submitted"), EventHeader("x-origin-partition", "3"),
                EventHeader("x-origin-offset", "7"), EventHeader("x-quarantine-id", event.id.rawValue),
            ])
    }

    @Test("has one id per place and content")
    func id() {
        #expect(event().id == event().id)
        #expect(event().id != event(offset: 8).id)
        #expect(event().id != event(value: [0xff, 0x01]).id)
        #expect(event(value: nil).value == nil)
    }
}
