import Contract
import Cryptography
import Testing

@Suite("Input record")
struct InputRecordTests {
    @Test("counts what its headers take in memory, so that a small record of a hundred thousand does not pass for none")
    func headers() {
        let origin = Origin(topic: "receipts.submitted", partition: 0, offset: 7)
        func bytes(_ headers: [RecordHeader]) -> Int {
            InputRecord(origin: origin, key: [1], value: [1, 2], headers: headers, timestamp: nil).byteCount
        }
        #expect(bytes([]) == 3)
        #expect(bytes([RecordHeader("name", "text")]) == 3 + 128 + 8)
        #expect(bytes(Array(repeating: RecordHeader(name: "", value: nil), count: 100_000)) > 12_000_000)
    }
}

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

@Suite("The label of a quarantined record")
struct QuarantineLabelTests {
    private static let origin = Origin(topic: "receipts.submitted", partition: 3, offset: 7)

    private func record(_ headers: [RecordHeader], value: [UInt8]? = [1, 2]) -> InputRecord {
        InputRecord(origin: Self.origin, key: nil, value: value, headers: headers, timestamp: Fixture.moment)
    }

    /// The headers of a record that was quarantined elsewhere.
    private func others(isStub: Bool) -> [RecordHeader] {
        let other = InputRecord(
            origin: Origin(topic: "other", partition: 0, offset: 1), key: nil, value: [9], timestamp: Fixture.moment)
        return isStub
            ? QuarantinedEvent.event(of: QuarantineStub(of: other, reason: "another")).headers
            : QuarantinedEvent.event(of: other, reason: "another").headers
    }

    @Test("says why, from where and under which id, apart from what the record came with")
    func read() throws {
        let own = [RecordHeader("a", "1"), RecordHeader(name: "b", value: nil)]
        let event = QuarantinedEvent.event(of: record(own), reason: "not JSON")
        let label = try #require(QuarantineLabel(event.headers))
        #expect(label.reason == "not JSON" && label.origin == Self.origin && label.id == event.id)
        #expect(label.stub == nil && label.own == own)
    }

    @Test("of a stub has digest and size of the value that is not there")
    func stub() throws {
        let event = QuarantinedEvent.event(of: QuarantineStub(of: record([]), reason: "too large"))
        let label = try #require(QuarantineLabel(event.headers))
        #expect(label.stub?.digest == SHA256.hash([1, 2]).hex && label.stub?.size == 2)
        #expect(label.id == event.id && label.own.isEmpty)
    }

    @Test("is the worker's, whatever a producer sent under the same names", arguments: [true, false])
    func copied(isStub: Bool) throws {
        let own = others(isStub: isStub)
        let event = QuarantinedEvent.event(of: record(own), reason: "not JSON")
        let label = try #require(QuarantineLabel(event.headers))
        #expect(label.reason == "not JSON" && label.origin == Self.origin && label.id == event.id)
        #expect(label.stub == nil && label.own == own)
    }

    @Test("takes none of a stub's headers from a producer", arguments: QuarantineHeader.allCases)
    func single(header: QuarantineHeader) throws {
        let own = [RecordHeader(header.rawValue, "0")]
        let event = QuarantinedEvent.event(of: record(own), reason: "not JSON")
        let label = try #require(QuarantineLabel(event.headers))
        #expect(label.origin == Self.origin && label.stub == nil && label.own == own)
    }

    @Test("is on no record that a worker did not write")
    func foreign() {
        #expect(QuarantineLabel([]) == nil)
        #expect(QuarantineLabel([RecordHeader("x-quarantine-id", "1")]) == nil)
        let headers = others(isStub: false)
        for missing in headers.indices {
            var rest = headers
            rest.remove(at: missing)
            #expect(QuarantineLabel(rest) == nil)
        }
    }
}
