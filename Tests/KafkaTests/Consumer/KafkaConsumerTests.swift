import Contract
import Kafka
import KafkaTesting
import Metrics
import Scheduling
import Testing

@Suite(.serialized)
struct KafkaConsumerTests {
    private let kafka: TestKafka

    init() throws { kafka = try TestKafka.shared }

    @Test("A record arrives as it was sent: null key, null and empty values, repeated headers")
    func roundTrip() throws {
        let topic = try kafka.makeTopic()
        let sent = [
            KafkaProducerRecord(topic: topic, key: nil, value: nil),
            KafkaProducerRecord(
                topic: topic, key: [], value: [],
                headers: [
                    .init(name: "a", value: [1, 2]), .init(name: "a", value: nil), .init(name: "", value: []),
                ]),
            KafkaProducerRecord(topic: topic, key: [0, 255], value: Array(repeating: 7, count: 100_000)),
        ]
        let before = WallClock.milliseconds
        try TestProducer.fill(kafka, sent)
        let after = WallClock.milliseconds
        let group = try TestGroup(kafka, topic: topic)
        try group.join()
        try group.serve { $0.members[0].count == 3 }

        let records = try #require(group.members[0].records[TopicPartition(topic: topic, partition: 0)])
        #expect(records.map(\.origin.offset) == [0, 1, 2])
        #expect(records.map(\.key) == sent.map(\.key))
        #expect(records.map(\.value) == sent.map(\.value))
        #expect(records.map(\.headers) == sent.map(\.headers))
        #expect(records[0].timestamp.map { (before...after).contains($0.milliseconds) } == true)
    }

    @Test("The cluster is told before the group lets a member in, by the id that it has for everybody")
    func cluster() throws {
        let group = try TestGroup(kafka, topic: try kafka.makeTopic())
        group.isLedgerOpen = false
        try group.join()
        let events = try group.serve { !$0.members[0].granted.isEmpty }
        let admin = KafkaAdmin(configuration: kafka.client, logger: .silent, timeout: TestKafka.patience)
        let id = try #require(try admin.describe().id)
        let told = events.firstIndex { if case .cluster(id) = $0 { true } else { false } }
        let assigned = events.firstIndex { if case .assigned = $0 { true } else { false } }
        #expect(try #require(told) < #require(assigned))
    }

    @Test("It tells that it lives, also where nothing is to be read")
    func alive() throws {
        let group = try TestGroup(kafka, topic: try kafka.makeTopic())
        try group.join()
        try group.serve { event in if case .alive = event { true } else { nil } }
    }

    @Test(
        "Nothing is read before the take-over; then a partition is read from where its owner says, under its number"
    )
    func takeOver() throws {
        let topic = try kafka.makeTopic()
        try TestProducer.fill(kafka, topic, 0..<10)
        let group = try TestGroup(kafka, topic: topic)
        group.isLedgerOpen = false
        try group.join()
        try group.serve { !$0.members[0].granted.isEmpty }
        let partition = TopicPartition(topic: topic, partition: 0)
        // An answer of the broker: by then records would have come.
        group.members[0].consumer.fetchCommitted([partition])
        try group.serve { if case .committedOffsets = $0 { true } else { nil } }
        #expect(group.members[0].count == 0)

        group.members[0].consumer.assign([KafkaStart(partition, from: 6, assignmentID: 42)])
        let batch = try group.serve { event -> KafkaBatch? in
            if case .records(let batches) = event { batches.first } else { nil }
        }
        #expect(batch.assignmentID == 42)
        try group.serve { $0.members[0].count == 4 }
        #expect(group.members[0].values == ["6", "7", "8", "9"])
    }

    @Test("What waits in partitions that are granted and not read is asked for, as while a ledger is away")
    func waiting() throws {
        let topic = try kafka.makeTopic()
        try TestProducer.fill(kafka, topic, 0..<10)
        let group = try TestGroup(kafka, topic: topic)
        try group.join()
        try group.serve { $0.members[0].count == 10 }
        let partition = TopicPartition(topic: topic, partition: 0)
        group.members[0].consumer.commit([partition: 4])
        try group.waitUntilCommitted(0, [partition: 4])
        group.members[0].consumer.unassign([partition])
        try TestProducer.fill(kafka, topic, 10..<15)
        let line = "grantor_kafka_consumer_lag_records{topic=\"\(topic)\",partition=\"0\"} "
        try group.serve { $0.members[0].metrics.render().contains(line + "11\n") }
        // Nothing was read of it meanwhile.
        #expect(group.members[0].count == 10)
    }

    @Test("Where the group has no offset of the asked partitions, those of the topic's others come with them")
    func committedElsewhere() throws {
        let topic = try kafka.makeTopic(partitions: 3)
        let group = try TestGroup(kafka, topic: topic)
        try group.join()
        try group.serve { $0.members[0].granted.count == 3 }
        let partitions = (0..<3).map { TopicPartition(topic: topic, partition: $0) }
        func committed(_ asked: [TopicPartition]) throws -> [TopicPartition: Int64?]? {
            group.members[0].consumer.fetchCommitted(asked)
            return try group.serve { if case .committedOffsets(let offsets) = $0 { .some(offsets) } else { nil } }
        }
        #expect(try committed([partitions[0]]) == [partitions[0]: nil, partitions[1]: nil, partitions[2]: nil])
        group.members[0].consumer.commit([partitions[2]: 5])
        try group.waitUntilCommitted(0, [partitions[2]: 5])
        #expect(try committed([partitions[0]]) == [partitions[0]: nil, partitions[1]: nil, partitions[2]: 5])
        #expect(try committed([partitions[1], partitions[2]]) == [partitions[1]: nil, partitions[2]: 5])
    }

    // The mock makes each topic that a question names.
    @Test(
        "Nothing is said about a topic that the broker does not know: it may only not know it yet",
        .enabled(if: TestKafka.isApache))
    func committedNowhere() throws {
        let group = try TestGroup(kafka, topic: try kafka.makeTopic())
        try group.join()
        group.members[0].consumer.fetchCommitted([TopicPartition(topic: "never-made", partition: 0)])
        let answer = try group.serve {
            if case .committedOffsets(let offsets) = $0 { Optional.some(offsets) } else { nil }
        }
        #expect(answer == nil)
    }

    @Test("A demand is a total of records: no more come, and the rest follows when it grows")
    func demand() throws {
        let topic = try kafka.makeTopic()
        try TestProducer.fill(kafka, topic, 0..<1000)
        let group = try TestGroup(kafka, topic: topic)
        try group.join(demand: 7)
        try group.serve { $0.members[0].count == 7 }
        let consumer = group.members[0].consumer
        consumer.demand(records: 7, bytes: .max)
        consumer.demand(records: 300, bytes: .max)
        try group.serve { $0.members[0].count == 300 }
        consumer.fetchCommitted([TopicPartition(topic: topic, partition: 0)])
        try group.serve { if case .committedOffsets = $0 { true } else { nil } }
        #expect(group.members[0].count == 300)
        consumer.demand(records: 5000, bytes: .max)
        try group.serve { $0.members[0].count == 1000 }
        #expect(group.members[0].values == (0..<1000).map { "\($0)" })
    }

    @Test("A demand in bytes is exceeded by its last record only")
    func demandInBytes() throws {
        let topic = try kafka.makeTopic()
        let value = Array(repeating: UInt8(0), count: 10_000)
        try TestProducer.fill(kafka, (0..<50).map { _ in KafkaProducerRecord(topic: topic, key: nil, value: value) })
        let group = try TestGroup(kafka, topic: topic)
        try group.join(demand: 0)
        group.members[0].consumer.demand(records: .max, bytes: 25_000)
        try group.serve { $0.members[0].count == 3 }
        group.members[0].consumer.demand(records: .max, bytes: 30_001)
        try group.serve { $0.members[0].count == 4 }
        group.members[0].consumer.demand(records: .max, bytes: .max)
        try group.serve { $0.members[0].count == 50 }
    }

    @Test("A partition that is assigned again is read from there, under the new number")
    func assignedAgain() throws {
        let topic = try kafka.makeTopic(partitions: 2)
        try TestProducer.fill(kafka, topic, 0..<100)
        let group = try TestGroup(kafka, topic: topic)
        try group.join()
        try group.serve { $0.members[0].count == 100 }
        let partition = TopicPartition(topic: topic, partition: 1)
        let before = group.members[0].records
        group.members[0].consumer.assign([KafkaStart(partition, from: 2, assignmentID: 1000)])
        try group.serve { $0.members[0].count == 100 + (before[partition]?.count ?? 0) - 2 }
        #expect(group.members[0].records[partition]?.dropFirst(before[partition]?.count ?? 0).first?.origin.offset == 2)
        // The other one goes on behind the handed over records.
        #expect(
            group.members[0].records[TopicPartition(topic: topic, partition: 0)]
                == before[TopicPartition(topic: topic, partition: 0)])
    }

    @Test("A partition that is unassigned is read no more and stays this member's")
    func unassigned() throws {
        let topic = try kafka.makeTopic(partitions: 2)
        let group = try TestGroup(kafka, topic: topic)
        try group.join()
        try group.serve { $0.members[0].read.count == 2 }
        let (first, second) = (TopicPartition(topic: topic, partition: 0), TopicPartition(topic: topic, partition: 1))
        group.members[0].consumer.unassign([first])
        try TestProducer.fill(kafka, topic, 0..<100)
        try group.serve { !($0.members[0].records[second] ?? []).isEmpty }
        group.members[0].consumer.commit([first: 0, second: 1])
        try group.waitUntilCommitted(0, [first: 0, second: 1])
        #expect(group.members[0].records[first] == nil)
        group.members[0].consumer.assign([KafkaStart(first, from: nil, assignmentID: 9)])
        try group.serve { $0.members[0].count == 100 }
    }

    @Test("Committed offsets are told, and none where the group has none")
    func committedOffsets() throws {
        let topic = try kafka.makeTopic(partitions: 2)
        let (first, second) = (TopicPartition(topic: topic, partition: 0), TopicPartition(topic: topic, partition: 1))
        let group = try TestGroup(kafka, topic: topic)
        try group.join()
        try group.serve { $0.members[0].granted.count == 2 }
        group.members[0].consumer.commit([first: 17])
        try group.waitUntilCommitted(0, [first: 17, second: nil])
        // Also backwards: the owner decides.
        group.members[0].consumer.commit([first: 3])
        try group.stop(0)
        #expect(try kafka.client.committedOffsets(of: group.group, in: [first, second]) == [first: 3])
    }

    @Test("An offset of a partition that is not this member's is not committed")
    func foreignOffset() throws {
        let topic = try kafka.makeTopic()
        let group = try TestGroup(kafka, topic: topic)
        try group.join()
        try group.serve { $0.members[0].granted.count == 1 }
        let other = try kafka.makeTopic()
        let (own, foreign) = (TopicPartition(topic: topic, partition: 0), TopicPartition(topic: other, partition: 0))
        group.members[0].consumer.commit([own: 1, foreign: 1])
        try group.waitUntilCommitted(0, [own: 1, foreign: nil])
    }

    // The mock knows no static members.
    @Test("A static member whose name another one takes ends for good, and says why", .enabled(if: TestKafka.isApache))
    func fencing() throws {
        let topic = try kafka.makeTopic()
        let group = try TestGroup(kafka, topic: topic)
        try group.join(["group.instance.id": "one"])
        try group.serve { $0.members[0].granted.count == 1 }
        try group.join(["group.instance.id": "one"])
        try group.serve { $0.members[0].errors.contains { $0.failure?.name == "FENCED_INSTANCE_ID" } }
        try group.stop(0)
    }
}
