import Contract
import KafkaTesting
import Testing

@testable import Kafka
@testable import KafkaScanning

@Suite(.serialized)
struct KafkaScanTests {
    private let kafka: TestKafka

    init() throws { kafka = try TestKafka.shared }

    private func read(_ stretches: [TopicPartition: Range<Int64>]) throws -> [InputRecord] {
        var records: [InputRecord] = []
        try KafkaScan(configuration: kafka.client, group: "group", logger: .silent).read(stretches) { batch in
            records += batch.records
            return true
        }
        return records
    }

    @Test("Topics are read from end to end, each partition in order, and no group is joined")
    func everything() throws {
        let topic = try kafka.makeTopic(partitions: 4)
        try TestProducer.fill(kafka, topic, 0..<5000)
        let group = TestKafka.uniqueName("scan")
        var records: [TopicPartition: [InputRecord]] = [:]
        try KafkaScan(configuration: kafka.client, group: group, logger: .silent).read(topics: [topic]) { batch in
            records[batch.partition, default: []] += batch.records
            return true
        }
        #expect(Set(records.values.joined().map(\.text)) == Set((0..<5000).map { "\($0)" }))
        for (_, records) in records { #expect(records.map(\.origin.offset) == Array(0..<Int64(records.count))) }
        #expect(try kafka.client.committedOffsets(of: group, in: records.keys) == [:])
    }

    @Test("A stretch is read, and nothing that lies beside it")
    func stretch() throws {
        let topic = try kafka.makeTopic()
        let partition = TopicPartition(topic: topic, partition: 0)
        try TestProducer.fill(kafka, topic, 0..<300)
        #expect(try read([partition: 10..<13]).map(\.origin.offset) == [10, 11, 12])
        #expect(try read([partition: 7..<7]).isEmpty)
        #expect(try read([:]).isEmpty)
    }

    @Test("A partition that ends before its stretch does is waited for, and no scan waits for ever")
    func endsTooEarly() throws {
        let topic = try kafka.makeTopic()
        let partition = TopicPartition(topic: topic, partition: 0)
        try TestProducer.fill(kafka, topic, 0..<300)
        var scan = KafkaScan(configuration: kafka.client, group: "group", logger: .silent)
        scan.patience = .milliseconds(500)
        var count = 0
        let error = #expect(throws: KafkaError.self) {
            try scan.read([partition: 290..<900]) { batch in
                count += batch.records.count
                return true
            }
        }
        #expect(error?.failure?.name == "_TIMED_OUT")
        #expect(count == 10)
    }

    @Test(
        "A stretch ends behind its last record, where a transaction's end or an aborted record stands",
        .enabled(if: TestKafka.isApache), arguments: [true, false])
    func endsWithoutARecord(isCommitted: Bool) throws {
        let topic = try kafka.makeTopic()
        let partition = TopicPartition(topic: topic, partition: 0)
        try TestProducer.fill(kafka, topic, 0..<10)
        try kafka.writeTransaction(to: topic, records: 5, isCommitted: isCommitted)
        // The coordinator writes a transaction's end once it has answered (KIP-98), so it may stand there a little later.
        let admin = KafkaAdmin(configuration: kafka.client, logger: .silent)
        var held = try admin.offsets(of: [topic])
        for _ in 0..<1_000 where held != [partition: 0..<16] { held = try admin.offsets(of: [topic]) }
        #expect(held == [partition: 0..<16])
        #expect(try read(held).count == (isCommitted ? 15 : 10))
        if !isCommitted { #expect(try read([partition: 0..<12]).count == 10) }
    }

    @Test(
        "A damaged batch ends a scan that comes to it, with its place; what stands before it can be read",
        .enabled(if: TestKafka.isApache))
    func damaged() throws {
        let kafka = try TestKafka.cluster(brokers: 1)
        defer { kafka.stop() }
        let topic = try kafka.makeTopic()
        let partition = TopicPartition(topic: topic, partition: 0)
        // Batches of their own.
        for batch in 0..<2 { try TestProducer.fill(kafka, topic, (100 * batch)..<(100 * batch + 100)) }
        kafka.stop(broker: 0)
        try kafka.damageLastRecord(of: topic, partition: 0, broker: 0)
        try kafka.start(broker: 0)
        let scan = KafkaScan(configuration: kafka.client, group: "group", logger: .silent)
        let error = #expect(throws: KafkaError.self) { try scan.read(topics: [topic]) { _ in true } }
        #expect(error?.disposition == .reject)
        #expect(error.map { "\($0)" }?.hasPrefix("_BAD_MSG: a batch of \(partition) at offset 1") == true, "\(error)")
        var offsets: [Int64] = []
        try scan.read([partition: 0..<100]) { batch in
            offsets += batch.records.map(\.origin.offset)
            return true
        }
        #expect(offsets == Array(0..<100))
    }

    @Test("A moment leads to the first offset of that time or later", .enabled(if: TestKafka.isApache))
    func times() throws {
        let topic = try kafka.makeTopic()
        let partition = TopicPartition(topic: topic, partition: 0)
        try TestProducer.fill(kafka, topic, 0..<200)
        let records = try read([partition: 0..<200])
        let admin = KafkaAdmin(configuration: kafka.client, logger: .silent)
        for record in [records[0], records[100], records[199]] {
            let time = try #require(record.timestamp)
            let first = records.first { ($0.timestamp ?? time) >= time }
            #expect(try admin.offsets(at: time, in: [partition]) == [partition: first?.origin.offset ?? -1])
        }
        let last = try #require(records[199].timestamp)
        #expect(try admin.offsets(at: last.advanced(by: .seconds(1)), in: [partition]) == [:])
    }

    @Test("A reader that has enough ends the scan")
    func enough() throws {
        let topic = try kafka.makeTopic(partitions: 2)
        try TestProducer.fill(kafka, topic, 0..<100)
        var calls = 0
        try KafkaScan(configuration: kafka.client, group: "group", logger: .silent).read(topics: [topic]) { _ in
            calls += 1
            return false
        }
        #expect(calls == 1)
    }

    @Test("An operator's file for workers does not change what a scan is")
    func properties() throws {
        let topic = try kafka.makeTopic()
        try TestProducer.fill(kafka, topic, 0..<5)
        var client = kafka.client
        client.properties = [
            "enable.partition.eof": "false", "auto.offset.reset": "error", "enable.auto.commit": "true",
        ]
        var count = 0
        try KafkaScan(configuration: client, group: "group", logger: .silent).read(topics: [topic]) { batch in
            count += batch.records.count
            return true
        }
        #expect(count == 5)
    }

    @Test("A partition ends with the last record of its stretch, with one behind it, and at its end")
    func progress() {
        let (a, b, c) = (
            TopicPartition(topic: "t", partition: 0), TopicPartition(topic: "t", partition: 1),
            TopicPartition(topic: "t", partition: 2)
        )
        var progress = ScanProgress([a: 0..<3, b: 0..<3, c: 0..<3])
        #expect([1, 2, 3].map { progress.takes($0, of: a) } == [true, true, false])
        // Offset 2 holds no record.
        #expect([1, 5, 6].map { progress.takes($0, of: b) } == [true, false, false])
        #expect(!progress.isFinished)
        progress.reached(3, of: c)
        #expect(progress.isFinished)
    }

    @Test("A record that comes again is no record, and one that comes from before the stretch is none of it")
    func repeated() {
        let partition = TopicPartition(topic: "t", partition: 0)
        var progress = ScanProgress([partition: 5..<9])
        let offsets: [Int64] = [4, 5, 6, 5, 6, 7]
        let taken = offsets.map { progress.takes($0, of: partition) }
        #expect(taken == [false, true, true, false, false, true])
        #expect(progress.isOpen(partition))
    }

    @Test(
        "A partition whose end lies before that of its stretch has not ended, and one that has lost its last records has"
    )
    func earlyEnd() {
        let partition = TopicPartition(topic: "t", partition: 0)
        var progress = ScanProgress([partition: 0..<3])
        for offset: Int64 in [0, 2] { progress.reached(offset, of: partition) }
        #expect(progress.isOpen(partition))
        progress.reached(5, of: partition)
        #expect(!progress.isOpen(partition))
        progress.reached(9, of: partition)
        #expect(progress.isFinished)
    }
}
