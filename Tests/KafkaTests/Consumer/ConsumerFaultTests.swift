import Contract
import Kafka
import KafkaTesting
import Logging
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

    @Test("A question for committed offsets that nobody answers is counted and told, and answered with nothing")
    func committedOffsetsUnknown() throws {
        let kafka = try TestKafka()
        defer { kafka.stop() }
        let topic = try kafka.makeTopic()
        let group = try TestGroup(kafka, topic: topic)
        let lines = TestLines()
        try group.join(logger: Logger(label: "test", handler: lines))
        try group.serve { $0.members[0].granted.count == 1 }
        try kafka.kill()
        for _ in 0..<2 {
            group.members[0].consumer.fetchCommitted([TopicPartition(topic: topic, partition: 0)])
            try group.serve { if case .committedOffsets(nil) = $0 { true } else { nil } }
        }
        let told = lines.taken.filter { $0.contains("does not say the group's committed offsets") }
        #expect(told.count == 1 && told.first?.hasPrefix("error ") == true, "\(lines.taken)")
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
        #expect(group.members[0].metrics.render().contains("grantor_kafka_consumer_records_gone_total 50"))
    }

    @Test(
        "An error that no retry mends counts as a refusal, from the first on", .enabled(if: TestKafka.isApache))
    func refused() throws {
        let group = try TestGroup(TestKafka.shared, topic: TestKafka.uniqueName("missing"))
        let missing = "UNKNOWN_TOPIC_OR_PART"
        try group.join()
        try group.serve { $0.members[0].errors.contains { $0.failure?.name == missing } }
        #expect(group.members[0].metrics.render().contains("grantor_kafka_consumer_refusals_total 0"))
        try group.join(remedies: [missing: "make it"])
        try group.serve { $0.members[1].errors.contains { $0.failure?.name == missing } }
        #expect(group.members[1].metrics.render().contains("grantor_kafka_consumer_refusals_total 1"))
    }

    @Test(
        "A damaged batch is told each time that its partition is read, and the other partition goes on",
        .enabled(if: TestKafka.isApache))
    func damaged() throws {
        let kafka = try TestKafka.cluster(brokers: 1)
        defer { kafka.stop() }
        let topic = try kafka.makeTopic(partitions: 2)
        let (first, second) = (TopicPartition(topic: topic, partition: 0), TopicPartition(topic: topic, partition: 1))
        // Batches of their own.
        for batch in 0..<3 { try TestProducer.fill(kafka, topic, (100 * batch)..<(100 * batch + 100)) }
        kafka.stop(broker: 0)
        try kafka.damageLastRecord(of: topic, partition: 0, broker: 0)
        try kafka.start(broker: 0)
        let group = try TestGroup(kafka, topic: topic)
        let lines = TestLines()
        try group.join(logger: Logger(label: "test", handler: lines))
        for _ in 0..<30 {
            try group.serve { event in
                if case .offsetsWentBack = event {
                    Issue.record("a damaged batch makes no topic anew: \(lines.taken.suffix(20))")
                }
                return if case .unreadable(first, _, _) = event { true } else { nil }
            }
            group.start = { [unowned group] in Int64(group.members[0].records[$0]?.count ?? 0) }
            group.assign(0, [first])
        }
        let read = group.members[0].records[first]?.map(\.origin.offset) ?? []
        #expect(!read.isEmpty && read == Array(0..<Int64(read.count)))
        try TestProducer.fill(kafka, topic, 300..<400)
        let isOfSecond = try group.serve { group in
            group.members[0].records[second]?.contains { Int($0.text).map { $0 >= 300 } ?? false } ?? false
        }
        #expect(!isOfSecond.isEmpty)
    }

    @Test(
        "A damaged batch that comes first is told with its offset, wherever reading was to begin",
        .enabled(if: TestKafka.isApache))
    func damagedFirst() throws {
        let kafka = try TestKafka.cluster(brokers: 1)
        defer { kafka.stop() }
        let topic = try kafka.makeTopic()
        let partition = TopicPartition(topic: topic, partition: 0)
        // The last record is a batch of its own.
        for records in [0..<100, 100..<101] { try TestProducer.fill(kafka, topic, records) }
        try kafka.deleteRecords(of: topic, partition: 0, before: 100)
        kafka.stop(broker: 0)
        try kafka.damageLastRecord(of: topic, partition: 0, broker: 0)
        try kafka.start(broker: 0)
        let group = try TestGroup(kafka, topic: topic)
        group.isLedgerOpen = false
        try group.join()
        try group.serve { $0.members[0].granted.count == 1 }
        // The oldest; where it stands; before the log; behind its end, as of another topic.
        for (start, told) in [(nil, 100), (100, 100), (10, 100), (900, nil)] as [(Int64?, Int64?)] {
            group.start = { _ in start }
            group.assign(0, [partition])
            let found = try group.serve { event -> Int64?? in
                switch event {
                case .unreadable(partition, _, let offset): .some(.some(offset))
                case .offsetsWentBack(partition, _): .some(nil)
                default: nil
                }
            }
            #expect(found == told, "from \(start.map { "\($0)" } ?? "the oldest")")
        }
        #expect(group.members[0].records[partition] == nil)
    }

    @Test("Partitions that are begun and ended many times without a pause are read in the end")
    func manyChanges() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic(partitions: 2)
        let (first, second) = (TopicPartition(topic: topic, partition: 0), TopicPartition(topic: topic, partition: 1))
        try TestProducer.fill(kafka, topic, 0..<100)
        let group = try TestGroup(kafka, topic: topic)
        group.isLedgerOpen = false
        try group.join()
        try group.serve { $0.members[0].granted.count == 2 }
        // Without a wait between them, some twenty such changes ended the process.
        for _ in 0..<500 {
            group.assign(0, [first, second])
            group.members[0].consumer.unassign([second])
        }
        group.assign(0, [first, second])
        try group.serve { Set($0.members[0].values).count == 100 }
    }

    @Test(
        "Nothing waits behind the last record: no end of a transaction, none of its records that was aborted",
        .enabled(if: TestKafka.isApache), arguments: [true, false])
    func nothingWaits(isCommitted: Bool) throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic()
        try TestProducer.fill(kafka, topic, 0..<10)
        let group = try TestGroup(kafka, topic: topic)
        try group.join()
        try group.serve { $0.members[0].count == 10 }
        try kafka.writeTransaction(to: topic, records: 5, isCommitted: isCommitted)
        if isCommitted { try group.serve { $0.members[0].count == 15 } }
        // Statistics that are older than the transaction say the same.
        for _ in 0..<2 { try group.serve { if case .alive = $0 { true } else { nil } } }
        let lag = group.members[0].metrics.render().split(separator: "\n")
            .first { $0.hasPrefix("grantor_kafka_consumer_lag_records{") }
        #expect(lag?.hasSuffix(" 0") == true, "\(lag ?? "none")")
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
        #expect(group.members[0].metrics.render().contains("grantor_kafka_consumer_offsets_went_back_total 1\n"))
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

    @Test(
        "A topic that is not there is told by its error, and read when it is created",
        .enabled(if: TestKafka.isApache))
    func topicCreatedLater() throws {
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
