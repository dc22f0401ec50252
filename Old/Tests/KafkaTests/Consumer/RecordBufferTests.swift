import Testing

@testable import Kafka

struct RecordBufferTests {
    private func record(_ offset: Int64, bytes: Int = 10, partition: Int32 = 0) -> KafkaRecord {
        KafkaRecord(
            partition: KafkaPartition(topic: "t", index: partition), offset: offset, timestampMilliseconds: nil,
            key: nil,
            value: Array(repeating: 0, count: bytes), headers: [], epoch: 1)
    }

    @Test("A batch keeps both limits and the order")
    func limits() {
        var buffer = RecordBuffer()
        for offset in 0..<5 { buffer.append(record(Int64(offset))) }
        #expect(buffer.take(maxRecords: 2, maxBytes: 100).map(\.offset) == [0, 1])
        #expect(buffer.take(maxRecords: 9, maxBytes: 25).map(\.offset) == [2, 3])
        #expect(buffer.take(maxRecords: 9, maxBytes: 25).map(\.offset) == [4])
        #expect(buffer.isEmpty)
    }

    @Test("A record larger than the limit comes alone")
    func oversized() {
        var buffer = RecordBuffer()
        buffer.append(record(0, bytes: 1000))
        buffer.append(record(1))
        #expect(buffer.take(maxRecords: 9, maxBytes: 100).map(\.offset) == [0])
    }

    @Test("It wants records until a limit is reached")
    func wantsMore() {
        var buffer = RecordBuffer()
        #expect(buffer.wantsMore(maxRecords: 1, maxBytes: 0))
        buffer.append(record(0))
        #expect(!buffer.wantsMore(maxRecords: 1, maxBytes: 100))
        #expect(!buffer.wantsMore(maxRecords: 2, maxBytes: 10))
        #expect(buffer.wantsMore(maxRecords: 2, maxBytes: 11))
    }

    @Test("What reached nobody comes first again")
    func putBack() {
        var buffer = RecordBuffer()
        for offset in 0..<3 { buffer.append(record(Int64(offset))) }
        buffer.putBack(buffer.take(maxRecords: 2, maxBytes: 100))
        #expect(buffer.take(maxRecords: 9, maxBytes: 100).map(\.offset) == [0, 1, 2])
    }

    @Test("Records of revoked partitions are dropped and counted")
    func drop() {
        var buffer = RecordBuffer()
        buffer.append(record(0, partition: 0))
        buffer.append(record(1, partition: 1))
        #expect(buffer.drop([KafkaPartition(topic: "t", index: 0)]) == 1)
        #expect(buffer.take(maxRecords: 9, maxBytes: 100).map(\.offset) == [1])
    }
}
