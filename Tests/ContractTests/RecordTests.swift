import Contract
import Cryptography
import Testing

@Suite("Quarantined event")
struct QuarantinedEventTests {
    private func record(
        offset: Int64 = 7, value: [UInt8]? = [0xff, 0x00], timestamp: Timestamp? = Fixture.moment
    ) -> InputRecord {
        InputRecord(
            origin: Origin(topic: "receipts.submitted", partition: 3, offset: offset), key: [0xfe], value: value,
            headers: [RecordHeader("a", "1"), RecordHeader(name: "a", value: nil)], timestamp: timestamp)
    }

    private func event(offset: Int64 = 7, value: [UInt8]? = [0xff, 0x00]) -> Event {
        QuarantinedEvent.event(of: record(offset: offset, value: value), reason: "not JSON")
    }

    @Test("carries key, value and headers as they came, then why and where from, at the record's own time")
    func content() {
        let event = event()
        #expect(event.topic == .quarantined)
        #expect(event.key == [0xfe])
        #expect(event.value == [0xff, 0x00])
        #expect(Array(event.headers.prefix(2)) == record().headers)
        #expect(
            Array(event.headers.dropFirst(2)) == [
                RecordHeader("x-quarantine-reason", "not JSON"),
                RecordHeader("x-quarantined-at", "2026-11-21T04:59:13.250Z"),
                RecordHeader("x-origin-topic", "receipts.submitted"), RecordHeader("x-origin-partition", "3"),
                RecordHeader("x-origin-offset", "7"), RecordHeader("x-quarantine-id", event.id.rawValue),
            ])
    }

    @Test("has one id per place and content, the one that the first build gave")
    func id() {
        #expect(event().id == "f6c489f1-47a7-5ca2-acb2-0a939df01904")
        #expect(event().id != event(offset: 8).id)
        #expect(event().id != event(value: [0xff, 0x01]).id)
        #expect(event(value: nil).value == nil)
    }

    @Test("has a time even where the record has none, the same at every reading")
    func noTime() {
        let event = QuarantinedEvent.event(of: record(timestamp: nil), reason: "not JSON")
        #expect(event.headers.contains(RecordHeader("x-quarantined-at", "1970-01-01T00:00:00.000Z")))
    }

    @Test("has a stub for a record that the topic does not take: the same id, and digest and size instead of content")
    func stub() throws {
        let event = QuarantinedEvent.event(of: QuarantineStub(of: record(), reason: "not JSON"))
        let headers = try Fixture.headers(of: event)
        #expect(event.id == self.event().id)
        #expect(event.key == nil && event.value == nil)
        #expect(headers["x-quarantine-id"] == event.id.rawValue)
        #expect(headers["x-quarantine-sha256"] == SHA256.hash([0xff, 0x00]).hex)
        #expect(headers["x-quarantine-size"] == "2")
        #expect(headers["x-quarantine-stub"] == "the record could not be written here; it stands at its origin")
        #expect(headers["x-origin-offset"] == "7" && headers["x-quarantine-reason"] == "not JSON")
        #expect(headers["a"] == nil)
    }
}
