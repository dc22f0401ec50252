import Contract
import Kafka
import KafkaTesting
import Metrics
import Testing

@Suite(.serialized)
struct ConsumerFaultTests {
    @Test("A broker that is killed and comes back costs no record and repeats none")
    func brokerKilled() throws {
        let kafka = try TestKafka()
        defer { kafka.stop() }
        let topic = try kafka.makeTopic(partitions: 2)
        let group = try TestGroup(kafka, topic: topic)
        try group.join()
        try TestProducer.fill(kafka, topic, 0..<500)
        try group.serve { $0.members[0].count == 500 }
        try kafka.kill()
        try group.serve { !$0.members[0].errors.isEmpty }
        try kafka.restart()
        group.start = { [unowned group] in Int64(group.members[0].records[$0]?.count ?? 0) }
        try TestProducer.fill(kafka, topic, 500..<1000)
        try group.serve { $0.members[0].count == 1000 }
        #expect(Set(group.members[0].values).count == 1000)
        let partition = TopicPartition(topic: topic, partition: 0)
        group.members[0].consumer.commit([partition: 1])
        try group.waitUntilCommitted(0, [partition: 1])
    }

    @Test("A stop while no broker answers comes to an end in time")
    func stopWithoutBroker() throws {
        let kafka = try TestKafka()
        defer { kafka.stop() }
        let topic = try kafka.makeTopic()
        let group = try TestGroup(kafka, topic: topic)
        try group.join()
        try group.serve { $0.members[0].granted.count == 1 }
        try kafka.kill()
        group.members[0].consumer.commit([TopicPartition(topic: topic, partition: 0): 1])
        group.members[0].consumer.fetchCommitted([TopicPartition(topic: topic, partition: 0)])
        group.members[0].consumer.stop(within: .seconds(3))
        let answers = try group.serve(until: { $0.members[0].hasStopped }).filter {
            if case .committedOffsets(nil) = $0 { true } else { false }
        }
        #expect(answers.count == 1)
    }

    @Test(
        "Records that are gone before they are read are told, and reading goes on after them",
        .enabled(if: TestKafka.isApache))
    func recordsGone() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic()
        try TestProducer.fill(kafka, topic, 0..<100)
        try kafka.deleteRecords(of: topic, partition: 0, before: 60)
        let group = try TestGroup(kafka, topic: topic)
        group.start = { _ in 10 }
        try group.join()
        try group.serve { $0.members[0].count == 40 }
        #expect(group.members[0].values.first == "60")
        #expect(group.members[0].metrics.render().contains("kafka_consumer_records_gone_total 50"))
    }

    @Test(
        "A start behind the topic's end is told as offsets that went back; nothing is read until it is assigned again"
    )
    func wentBack() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic(partitions: 2)
        let (first, second) = (TopicPartition(topic: topic, partition: 0), TopicPartition(topic: topic, partition: 1))
        try TestProducer.fill(kafka, topic, 0..<100)
        let group = try TestGroup(kafka, topic: topic)
        group.start = { $0 == first ? 1000 : nil }
        try group.join()
        try group.serve { if case .offsetsWentBack(first, _) = $0 { true } else { nil } }
        #expect(group.members[0].records[first] == nil)
        group.start = { _ in 0 }
        group.assign(0, [first])
        try group.serve { $0.members[0].count == 100 }
        // The other partition was read throughout, each record once.
        #expect(
            group.members[0].records[second]?.map(\.origin.offset)
                == (0..<Int64(group.members[0].records[second]?.count ?? 0)).map { $0 })
    }

    @Test(
        "A topic that is made anew while it is read is told as offsets that went back", .enabled(if: TestKafka.isApache)
    )
    func topicMadeAnew() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic()
        try TestProducer.fill(kafka, topic, 0..<100)
        let group = try TestGroup(kafka, topic: topic)
        try group.join(["topic.metadata.refresh.interval.ms": "1000"])
        try group.serve { $0.members[0].count == 100 }
        try kafka.deleteTopic(topic)
        try kafka.createTopic(topic)
        try TestProducer.fill(kafka, topic, 0..<5)
        // Either the group gives the partition out anew, or reading goes back.
        try group.serve { event in
            switch event {
            case .offsetsWentBack, .assigned: true
            default: nil
            }
        }
        try group.serve { group in
            if group.members[0].read.isEmpty { group.assign(0, group.members[0].granted) }
            return group.members[0].count == 105
        }
    }

    @Test("A topic that is not there is told by its error, and read when it is created")
    func topicCreatedLater() throws {
        guard TestKafka.isApache else { return }
        let kafka = try TestKafka.shared
        let topic = TestKafka.uniqueName("later")
        let group = try TestGroup(kafka, topic: topic)
        try group.join(["topic.metadata.refresh.interval.ms": "1000"])
        let error = try group.serve { event -> KafkaError? in
            if case .failed(let error) = event, error.failure?.name == "UNKNOWN_TOPIC_OR_PART" { error } else { nil }
        }
        #expect(error.disposition == .retry)
        try kafka.createTopic(topic)
        try TestProducer.fill(kafka, topic, 0..<3)
        try group.serve { $0.members[0].count == 3 }
    }
}
