import SystemTesting
import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5)))
struct KafkaConsumerTests {
    @Test("A record arrives as it was sent: null key, null and empty values, repeated headers")
    func roundTrip() async throws {
        let bench = try Bench()
        let headers = [
            KafkaHeader(name: "a", value: [1]), KafkaHeader(name: "a", value: []), KafkaHeader(name: "b", value: nil),
        ]
        let records = [
            KafkaProducerRecord(
                topic: Bench.topic, key: nil, value: [1, 0, 2], headers: headers,
                timestampMilliseconds: 1_790_000_000_123),
            KafkaProducerRecord(topic: Bench.topic, key: [7], value: nil),
            KafkaProducerRecord(topic: Bench.topic, key: [], value: []),
        ]
        let producer = try bench.producer()
        let deliveries = await producer.send(records)
        #expect(deliveries == (0..<3).map { .delivered(bench.partition(0), offset: $0) })

        let consumer = try bench.consumer()
        let read = try await consumer.read(3)
        #expect(read.map(\.key) == records.map(\.key))
        #expect(read.map(\.value) == records.map(\.value))
        #expect(read.map(\.headers) == records.map(\.headers))
        #expect(read.map(\.offset) == [0, 1, 2])
        #expect(read[0].timestampMilliseconds == 1_790_000_000_123)
        #expect(read[0].epoch == 1)
        await consumer.close(deadline: .seconds(10))
        await producer.close(deadline: .seconds(5))
    }

    @Test("The assignment is announced before its records")
    func assignmentFirst() async throws {
        let bench = try Bench(partitions: 2)
        try await bench.fill(0..<10)
        let consumer = try bench.consumer()
        #expect(try await consumer.assignment() == [bench.partition(0), bench.partition(1)])
        #expect(try await Set(consumer.read(10).map(\.text)) == Set((0..<10).map(String.init)))
        await consumer.close(deadline: .seconds(10))
    }

    @Test("A batch is no larger than asked for, in records and in bytes, and none is skipped")
    func demandIsABound() async throws {
        let bench = try Bench()
        try await bench.fill(1000..<1100)
        let consumer = try bench.consumer()
        _ = try await consumer.assignment()
        var texts: [String] = []
        while texts.count < 100 {
            // A record is eight bytes here: four of key, four of value.
            guard case .records(let batch) = try await consumer.next(maxRecords: 7, maxBytes: 30) else { continue }
            #expect(batch.count <= 3)
            texts += batch.map(\.text)
        }
        #expect(texts == (1000..<1100).map(String.init))
        guard case .records(let batch)? = try await demandAfterOneMore(bench, consumer) else {
            Issue.record("no record")
            return
        }
        #expect(batch.count == 1, "a record larger than maxBytes comes alone")
        await consumer.close(deadline: .seconds(10))
    }

    private func demandAfterOneMore(_ bench: Bench, _ consumer: KafkaConsumer) async throws -> KafkaConsumerEvent? {
        try await bench.fill(2000..<2002)
        return try await consumer.next(maxRecords: 10, maxBytes: 1)
    }

    @Test("Without demand the prefetch stays bounded, and the rest follows when demand returns")
    func prefetchIsBounded() async throws {
        let bench = try Bench()
        let metrics = RecordingMetrics()
        try await bench.fill(0..<5_000)
        let consumer = try bench.consumer {
            $0.client.statisticsInterval = .milliseconds(100)
            $0.client.metricsFactory = metrics
            $0.prefetchedRecords = 500
        }
        _ = try await consumer.assignment()
        let held = try await metrics.value("kafka_consumer_fetched_records") { $0 > 0 }
        #expect(held < 2000)
        let later = try await metrics.value("kafka_consumer_fetched_records", skipping: 5) { _ in true }
        #expect(later < 2000)
        #expect(try await consumer.read(5000, maxRecords: 1000).count == 5000)
        await consumer.close(deadline: .seconds(10))
    }

    @Test("A second call of next is told so, the first goes on")
    func concurrentNext() async throws {
        let bench = try Bench()
        // Without a broker there is nothing that could answer either call.
        try bench.setDown(broker: 1)
        let consumer = try bench.consumer()
        let calls = (0..<2).map { _ in Task { try await consumer.next(maxRecords: 1, maxBytes: 1) } }
        let errors = await withTaskGroup(of: KafkaError?.self) { group in
            for call in calls {
                group.addTask {
                    do {
                        _ = try await call.value
                        return nil
                    } catch {
                        return error as? KafkaError
                    }
                }
            }
            let second = await group.next() ?? nil
            for call in calls { call.cancel() }
            return [second, await group.next() ?? nil]
        }
        #expect(errors == [.concurrentNext, .cancelled])
        await consumer.close(deadline: .seconds(10))
    }

    @Test("A cancelled call returns at once and loses nothing")
    func cancellation() async throws {
        let bench = try Bench()
        let consumer = try bench.consumer()
        _ = try await consumer.assignment()
        let waiting = Task { try await consumer.next(maxRecords: 1, maxBytes: 1) }
        waiting.cancel()
        await #expect(throws: KafkaError.cancelled) { try await waiting.value }
        try await bench.fill(0..<3)
        #expect(try await consumer.read(3).map(\.text) == ["0", "1", "2"])
        await consumer.close(deadline: .seconds(10))
    }

    @Test("A demand for no records waits for the assignment alone; the records are there for a later demand")
    func demandForNothing() async throws {
        let bench = try Bench()
        let metrics = RecordingMetrics()
        try await bench.fill(0..<20)
        let consumer = try bench.consumer {
            $0.client.statisticsInterval = .milliseconds(100)
            $0.client.metricsFactory = metrics
        }
        guard case .assigned? = try await consumer.next(maxRecords: 0, maxBytes: 0) else {
            Issue.record("expected the assignment")
            return
        }
        // Each statistics event is a turn of the owner thread in which fetched records and this demand meet.
        let waiting = Task { try await consumer.next(maxRecords: 0, maxBytes: 0) }
        _ = try await metrics.value("kafka_consumer_fetched_records") { $0 > 0 }
        _ = try await metrics.value("kafka_consumer_fetched_records", skipping: 5) { _ in true }
        waiting.cancel()
        await #expect(throws: KafkaError.cancelled) { try await waiting.value }
        #expect(try await consumer.read(20).map(\.text) == (0..<20).map(String.init))

        try await bench.fill(20..<40)
        let other = try bench.consumer()
        guard case .revoking(let revocation)? = try await consumer.next(maxRecords: 0, maxBytes: 0) else {
            Issue.record("expected a revocation")
            return
        }
        #expect(revocation.partitions == [bench.partition(0)])
        revocation.complete()
        await consumer.close(deadline: .seconds(10))
        await other.close(deadline: .seconds(10))
    }

    @Test("Stored offsets are committed at close, and another member goes on from there")
    func resumesFromStoredOffsets() async throws {
        let bench = try Bench()
        try await bench.fill(0..<10)
        let first = try bench.consumer { $0.autoCommitInterval = .seconds(600) }
        _ = try await first.read(10)
        #expect(try await first.storeOffsets([bench.partition(0): 4]) == [])
        await first.close(deadline: .seconds(10))

        let second = try bench.consumer()
        #expect(try await second.read(6).map(\.offset) == [4, 5, 6, 7, 8, 9])
        await second.close(deadline: .seconds(10))
    }

    @Test("commit() answers when the broker has; without anything stored it succeeds")
    func commit() async throws {
        let bench = try Bench()
        try await bench.fill(0..<3)
        let consumer = try bench.consumer { $0.autoCommitInterval = .seconds(600) }
        _ = try await consumer.read(3)
        try await consumer.commit()
        try await consumer.storeOffsets([bench.partition(0): 2])
        try await consumer.commit()
        bench.cluster.pushRequestErrors(.offsetCommit, [.illegalGeneration])
        try await consumer.storeOffsets([bench.partition(0): 3])
        await #expect { try await consumer.commit() } throws: { ($0 as? KafkaError)?.disposition == .retry }
        await consumer.close(deadline: .seconds(10))
    }

    @Test("Offsets of partitions that are not ours are handed back")
    func foreignOffsets() async throws {
        let bench = try Bench()
        let consumer = try bench.consumer()
        _ = try await consumer.assignment()
        #expect(try await consumer.storeOffsets([bench.partition(9): 1]) == [bench.partition(9)])
        await consumer.close(deadline: .seconds(10))
    }

    @Test("Pausing and resuming keeps every record, once")
    func pauseAndResume() async throws {
        let bench = try Bench(partitions: 2)
        try await bench.fill(0..<400)
        let consumer = try bench.consumer()
        let partitions = try await consumer.assignment()
        var read = try await consumer.read(50, maxRecords: 10)
        try await consumer.pause(partitions)
        try await consumer.resume(partitions)
        try await consumer.resume(partitions)
        read += try await consumer.read(400 - read.count)
        #expect(read.count == 400)
        #expect(Set(read.map(\.text)) == Set((0..<400).map(String.init)))
        await consumer.close(deadline: .seconds(10))
    }

    @Test("A broker that goes away and comes back costs no record")
    func brokerRestart() async throws {
        let bench = try Bench()
        try await bench.fill(0..<100)
        let consumer = try bench.consumer()
        var read = try await consumer.read(10, maxRecords: 10)
        try bench.setDown(broker: 1)
        try bench.cluster.setUp(broker: 1)
        try await bench.fill(100..<200)
        read += try await consumer.read(200 - read.count)
        #expect(read.map(\.text) == (0..<200).map(String.init))
        await consumer.close(deadline: .seconds(10))
    }

    @Test("Closing while all brokers are down comes to an end; next then answers nil")
    func closeWithoutBrokers() async throws {
        let bench = try Bench()
        let consumer = try bench.consumer()
        _ = try await consumer.assignment()
        try bench.setDown(broker: 1)
        await consumer.close(deadline: .seconds(3))
        let afterwards = try await consumer.next(maxRecords: 1, maxBytes: 1)
        #expect(afterwards.map { "\($0)" } == nil)
        await #expect(throws: KafkaError.closed) { try await consumer.commit() }
    }

    @Test(
        "Closing before the first assignment comes to an end; next then answers nil",
        arguments: KafkaConsumerConfiguration.Assignor.allCases)
    func closeBeforeAssignment(assignor: KafkaConsumerConfiguration.Assignor) async throws {
        let bench = try Bench()
        let consumer = try bench.consumer(assignor: assignor)
        await consumer.close(deadline: .seconds(5))
        let afterwards = try await consumer.next(maxRecords: 1, maxBytes: 1)
        #expect(afterwards.map { "\($0)" } == nil)
    }

    @Test("An offset that goes back is committed, and another member goes on from there")
    func lowerOffset() async throws {
        let bench = try Bench()
        try await bench.fill(0..<10)
        let first = try bench.consumer { $0.autoCommitInterval = .milliseconds(50) }
        _ = try await first.read(10)
        try await first.storeOffsets([bench.partition(0): 8])
        try await first.commit()
        try await first.storeOffsets([bench.partition(0): 3])
        try await first.storeOffsets([bench.partition(0): 4])
        await first.close(deadline: .seconds(60))

        let second = try bench.consumer()
        #expect(try await second.read(6).map(\.offset) == [4, 5, 6, 7, 8, 9])
        await second.close(deadline: .seconds(10))
    }

    @Test("An offset read under another epoch is handed back, and is not stored")
    func offsetOfAnotherEpoch() async throws {
        let bench = try Bench()
        try await bench.fill(0..<10)
        let first = try bench.consumer()
        let epoch = try #require(try await first.read(10).first?.epoch)
        let partition = bench.partition(0)
        #expect(try await first.storeOffsets([partition: 4], readUnder: [partition: epoch]) == [])
        #expect(try await first.storeOffsets([partition: 9], readUnder: [partition: epoch + 1]) == [partition])
        await first.close(deadline: .seconds(60))

        let second = try bench.consumer()
        #expect(try await second.read(6).map(\.offset) == [4, 5, 6, 7, 8, 9])
        await second.close(deadline: .seconds(10))
    }

    @Test("Paused before it has anything, a consumer is given its partitions and reads nothing until it is resumed")
    func pausedFromTheStart() async throws {
        let bench = try Bench(partitions: 2)
        let metrics = RecordingMetrics()
        try await bench.fill(0..<40)
        let consumer = try bench.consumer {
            $0.client.statisticsInterval = .milliseconds(100)
            $0.client.metricsFactory = metrics
        }
        try await consumer.pause()
        #expect(try await consumer.assignment().count == 2)
        let waiting = Task { try await consumer.next(maxRecords: 10, maxBytes: 1 << 20) }
        // Each statistics event is a turn of the owner thread in which records and this demand would meet.
        _ = try await metrics.value("kafka_consumer_fetched_records", skipping: 10) { _ in true }
        waiting.cancel()
        await #expect(throws: KafkaError.cancelled) { try await waiting.value }
        try await consumer.resume()
        #expect(try await Set(consumer.read(40).map(\.text)) == Set((0..<40).map(String.init)))
        await consumer.close(deadline: .seconds(10))
    }

    @Test("Records that were deleted before they were read are counted and named, and reading goes on after them")
    func recordsGone() async throws {
        let metrics = RecordingMetrics()
        let log = RecordingLog()
        let bench = try Bench()
        try await bench.fill(0..<1)
        let first = try bench.consumer()
        _ = try await first.read(1)
        try await first.storeOffsets([bench.partition(0): 1])
        try await first.commit()
        await first.close(deadline: .seconds(10))
        // More than the 5 MiB that the broker keeps of a partition, each record a batch of its own.
        let producer = try bench.producer { $0.compression = .none }
        let large = KafkaProducerRecord(topic: Bench.topic, key: nil, value: Array(repeating: 0, count: 700_000))
        for _ in 1...12 { #expect(await producer.send([large]).allSatisfy(\.isDelivered)) }
        await producer.close(deadline: .seconds(5))

        var configuration = bench.consumerConfiguration()
        configuration.client.metricsFactory = metrics
        let second = try KafkaConsumer(configuration: configuration, logger: log.logger)
        let offset = try #require(try await second.read(1, maxRecords: 1).first?.offset)
        #expect(offset > 1 && offset < 12)
        // What librdkafka says of it takes another way than the records.
        let line = try await eventually("the log tells of it", within: .seconds(60)) {
            log.lines.first { $0.contains("Records were deleted") }
        }
        #expect(metrics.last("kafka_consumer_records_gone_total") == 1)
        #expect(line.contains("(at offset 1, broker 1)") && line.contains("BEGINNING offset \(offset)"))
        await second.close(deadline: .seconds(10))
    }

    @Test("A static member whose name another one takes ends for good, and says why")
    func fencing() async throws {
        let bench = try Bench()
        let consumer = try bench.consumer { $0.groupInstanceID = "worker-1" }
        _ = try await consumer.assignment()
        bench.cluster.pushRequestErrors(.heartbeat, [.fencedInstanceID])
        let error = await #expect(throws: KafkaError.self) {
            while true {
                if case .revoking(let revocation)? = try await consumer.next(maxRecords: 1, maxBytes: 1) {
                    revocation.complete()
                }
            }
        }
        #expect(error?.isFenced == true)
        #expect(error?.disposition == .recreate)
        await consumer.close(deadline: .seconds(10))
    }

    @Test("Signs of life keep coming while nobody asks for anything and no broker answers")
    func signsOfLife() async throws {
        let bench = try Bench()
        try bench.setDown(broker: 1)
        let consumer = try bench.consumer { $0.client.statisticsInterval = .milliseconds(100) }
        let before = consumer.signsOfLife
        func hasGrown() -> Bool {
            let now = consumer.signsOfLife
            return now.turns > before.turns + 2 && now.reports ?? 0 > (before.reports ?? 0) + 2
        }
        while !hasGrown() { try await Task.sleep(for: .milliseconds(10)) }
        await consumer.close(deadline: .seconds(3))
    }

    @Test("Without statistics there are no reports to wait for")
    func signsWithoutStatistics() async throws {
        let consumer = try Bench().consumer()
        #expect(consumer.signsOfLife.reports == nil)
        await consumer.close(deadline: .seconds(5))
    }
}
