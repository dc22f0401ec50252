import Testing

@testable import Contract

@Suite("Records that are no JSON")
struct ForeignFormTests {
    private func reason(_ value: [UInt8]) -> String? {
        let record = InputRecord(
            origin: Origin(topic: "in", partition: 0, offset: 1), key: nil, value: value, timestamp: nil)
        guard case .unreadable(let reason) = SubmissionReading(record, now: Timestamp(milliseconds: 0)) else {
            return nil
        }
        return reason.words
    }

    private let json = Array(#"{"submissionId":"s","userId":"u","bundleId":"b","receipt":"AAAA"}"#.utf8)

    @Test("The reason of quarantine says whose bytes stand before or around the JSON")
    func forms() {
        #expect(reason([0, 0, 0, 0, 7] + json) == "five bytes of a schema registry stand before the JSON")
        #expect(
            reason([0, 0, 0, 0, 7, 2, 6])
                == "it begins with a zero byte, as serializers of schema registries write, and holds no JSON")
        #expect(reason([0x1F, 0x8B, 8, 0] + json) == "compressed with gzip")
        #expect(reason([0x28, 0xB5, 0x2F, 0xFD] + json) == "compressed with zstd")
        #expect(reason(Array("Obj\u{1}".utf8) + json) == "an Avro file")
        #expect(reason([0xFF, 0xFE] + json.flatMap { [$0, 0] }) == "UTF-16, not UTF-8")
        #expect(reason(json.flatMap { [0, $0] }) == "UTF-16, not UTF-8")
        #expect(reason(Array(#""{\"submissionId\":\"s\"}""#.utf8)) == "JSON in a JSON string: it was encoded twice")
    }

    @Test("What no beginning tells keeps the reason of the reader")
    func others() {
        #expect(reason([]) == "not a JSON object")
        #expect(reason([0xC0]) == "not UTF-8")
        #expect(reason([0]) == "not a JSON object")
    }

    @Test("A byte order mark is no fault: the record is read")
    func byteOrderMark() {
        #expect(reason([0xEF, 0xBB, 0xBF] + json) == nil)
    }
}
