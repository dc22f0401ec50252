import Logging
import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5)))
struct KafkaProducerTests {
    @Test("Every record of a batch has its answer, in order; an empty batch an empty one")
    func answersInOrder() async throws {
        let bench = try Bench()
        let producer = try bench.producer()
        try await producer.warmUp(topics: [Bench.topic], timeout: .seconds(60))
        let deliveries = await producer.send((0..<1000).map { Bench.record("\($0)") })
        #expect(deliveries == (0..<1000).map { .delivered(bench.partition(0), offset: $0) })
        #expect(await producer.send([]) == [])
        await producer.close(deadline: .seconds(5))
    }

    @Test("A full buffer makes senders wait, not fail")
    func fullBuffer() async throws {
        let bench = try Bench()
        let producer = try bench.producer { $0.client.properties["queue.buffering.max.messages"] = "10" }
        async let left = producer.send((0..<500).map { Bench.record("\($0)") })
        async let right = producer.send((0..<500).map { Bench.record("\($0)") })
        #expect(await (left + right).count(where: \.isDelivered) == 1000)
        await producer.close(deadline: .seconds(5))
    }

    @Test("Errors that pass are tried again and duplicate nothing")
    func transientErrors() async throws {
        let bench = try Bench()
        let producer = try bench.producer { $0.client.properties["retry.backoff.ms"] = "10" }
        try await producer.warmUp(topics: [Bench.topic], timeout: .seconds(60))
        bench.cluster.pushRequestErrors(.produce, [.notLeader, .notEnoughReplicas, .requestTimedOut])
        let deliveries = await producer.send((0..<20).map { Bench.record("\($0)") })
        #expect(deliveries == (0..<20).map { .delivered(bench.partition(0), offset: $0) })
        await producer.close(deadline: .seconds(5))
    }

    @Test("A broker that comes back in time costs no record")
    func brokerRestart() async throws {
        let bench = try Bench()
        let producer = try bench.producer()
        try await producer.warmUp(topics: [Bench.topic], timeout: .seconds(60))
        try bench.setDown(broker: 1)
        async let deliveries = producer.send((0..<20).map { Bench.record("\($0)") })
        try bench.cluster.setUp(broker: 1)
        #expect(await deliveries.allSatisfy(\.isDelivered))
        await producer.close(deadline: .seconds(5))
    }

    @Test("A record that cannot be delivered in time fails as such, and may be sent again")
    func timeout() async throws {
        let bench = try Bench()
        let producer = try bench.producer { $0.messageTimeout = .milliseconds(300) }
        try await producer.warmUp(topics: [Bench.topic], timeout: .seconds(60))
        try bench.setDown(broker: 1)
        let deliveries = await producer.send([Bench.record("a")])
        // Whether it was on its way when the broker went is chance, so either persistence is right.
        guard case .failed(let error, _) = deliveries[0] else {
            Issue.record("unexpected \(deliveries)")
            return
        }
        #expect(error.disposition == .retry)
        #expect(error.failure?.name == "_MSG_TIMED_OUT")
        await producer.close(deadline: .seconds(5))
    }

    @Test("A record that is too large is rejected; its neighbours are delivered")
    func tooLarge() async throws {
        let bench = try Bench()
        let producer = try bench.producer { $0.client.properties["message.max.bytes"] = "1000" }
        let deliveries = await producer.send([
            Bench.record("a"), Bench.record(String(repeating: "x", count: 2000)), Bench.record("b"),
        ])
        #expect(deliveries.map(\.isDelivered) == [true, false, true])
        guard case .failed(let error, .notPersisted) = deliveries[1] else {
            Issue.record("unexpected \(deliveries)")
            return
        }
        #expect(error.disposition == .reject)
        await producer.close(deadline: .seconds(5))
    }

    @Test("Close fails what cannot be delivered and comes to an end")
    func closeWithoutBrokers() async throws {
        let bench = try Bench()
        let producer = try bench.producer()
        try await producer.warmUp(topics: [Bench.topic], timeout: .seconds(60))
        try bench.setDown(broker: 1)
        let answer = producer.submitting([Bench.record("a")])
        await producer.close(deadline: .seconds(2))
        #expect(await answer.first().map(\.isDelivered) == [false])
        #expect(await producer.send([Bench.record("b")]) == [.failed(.closed, .notPersisted)])
    }

    @Test("Close waits for what was sent")
    func closeFlushes() async throws {
        let bench = try Bench()
        let producer = try bench.producer { $0.linger = .milliseconds(500) }
        let answer = producer.submitting((0..<10).map { Bench.record("\($0)") })
        await producer.close(deadline: .seconds(60))
        #expect(await answer.first().filter(\.isDelivered).count == 10)
    }

    @Test("Who is cancelled waits no longer for a partition without a leader; what was sent may arrive, for nobody")
    func cancelled() async throws {
        let bench = try Bench()
        let away = KafkaPartition(topic: "away", index: 0)
        try bench.cluster.createTopic(away.topic, partitions: 1)
        try bench.cluster.setLeader(of: away, broker: nil)
        let producer = try bench.producer {
            $0.client.properties["topic.metadata.refresh.fast.interval.ms"] = "50"
            $0.messageTimeout = .seconds(3600)
        }
        let record = KafkaProducerRecord(topic: away.topic, key: nil, value: [1])
        let sending = Task { await producer.send([record, Bench.record("a")]) }
        // Once the second one has arrived both were sent.
        let consumer = try bench.consumer { $0.client.properties["auto.offset.reset"] = "earliest" }
        #expect(try await consumer.read(1).map(\.text) == ["a"])
        sending.cancel()
        #expect(await sending.value.first == .failed(.cancelled, .possiblyPersisted))
        try bench.cluster.setLeader(of: away, broker: 1)
        #expect(await producer.send([record]) == [.delivered(away, offset: 1)], "behind the one that was given up")
        await consumer.close(deadline: .seconds(5))
        await producer.close(deadline: .seconds(5))
    }

    @Test("A task that is cancelled before it sends waits for nothing, and nor does close")
    func cancelledBefore() async throws {
        let bench = try Bench()
        try bench.cluster.setLeader(of: bench.partition(0), broker: nil)
        let producer = try bench.producer()
        try await producer.warmUp(topics: [Bench.topic], timeout: .seconds(60))
        let sending = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await producer.send([Bench.record("a"), Bench.record("b")])
        }
        #expect(await sending.value == Array(repeating: .failed(.cancelled, .possiblyPersisted), count: 2))
        // Beyond the suite's limit, which a close that waits would run into.
        await producer.close(deadline: .seconds(600))
    }

    @Test(
        "The time limit may be set under either of its names", arguments: ["message.timeout.ms", "delivery.timeout.ms"])
    func timeLimit(name: String) throws {
        let client = KafkaClientConfiguration(bootstrapServers: "127.0.0.1:1", properties: [name: "5000"])
        let values = try KafkaProducerConfiguration(client: client).properties().values
        #expect(values.filter { $0.key.hasSuffix(".timeout.ms") } == [name: "5000"])
    }

    @Test("After a fatal error what was on its way has failed, and a new client takes over")
    func fatalError() async throws {
        let bench = try Bench()
        let producer = try bench.producer()
        try await producer.warmUp(topics: [Bench.topic], timeout: .seconds(60))
        #expect(await producer.send([Bench.record("first")]).allSatisfy(\.isDelivered))
        try bench.cluster.setRoundTrip(.seconds(600), broker: 1)
        let answer = producer.submitting([Bench.record("a")])
        await producer.failFatally()
        let lost = await answer.first()
        guard case .failed(let error, _)? = lost.first else {
            Issue.record("unexpected \(lost)")
            return
        }
        // librdkafka's own report (purged) and the producer's (fatal) race; neither blames the record.
        #expect([.retry, .recreate].contains(error.disposition))
        try bench.cluster.setRoundTrip(.zero, broker: 1)
        // Cuts the connections whose answers are already being delayed.
        try bench.setDown(broker: 1)
        try bench.cluster.setUp(broker: 1)
        #expect(await producer.send([Bench.record("b")]).allSatisfy(\.isDelivered))
        await producer.close(deadline: .seconds(10))
    }

    @Test("When clients die too often, records fail at once instead of waiting")
    func fatalTooOften() async throws {
        let bench = try Bench()
        let producer = try bench.producer { $0.recreationsPerMinute = 0 }
        await producer.failFatally()
        let deliveries = await producer.send([Bench.record("a")])
        guard case .failed(let error, _) = deliveries[0] else {
            Issue.record("unexpected \(deliveries)")
            return
        }
        #expect(error.disposition == .recreate)
        await producer.close(deadline: .seconds(5))
    }

    @Test("Warming up fails with a passing error while no broker answers")
    func warmUpWithoutBrokers() async throws {
        let bench = try Bench()
        try bench.setDown(broker: 1)
        let producer = try bench.producer()
        await #expect {
            try await producer.warmUp(topics: [Bench.topic], timeout: .milliseconds(200))
        } throws: { ($0 as? KafkaError)?.disposition == .retry }
        await producer.close(deadline: .seconds(5))
    }

    @Test(
        "What the guarantees rest on is refused by name",
        arguments: [
            ("enable.idempotence", "false"), ("acks", "1"), ("request.required.acks", "0"), ("transactional.id", "x"),
            ("delivery.report.only.error", "true"),
        ])
    func refusals(key: String, value: String) {
        let client = KafkaClientConfiguration(bootstrapServers: "127.0.0.1:1", properties: [key: value])
        #expect {
            try KafkaProducer(configuration: KafkaProducerConfiguration(client: client), logger: Logger(label: "test"))
        } throws: { error in
            if case KafkaError.refusedProperty(key, _) = error { true } else { false }
        }
    }
}

extension KafkaProducer {
    /// Sends without waiting, so that what the test does next comes after it.
    fileprivate func submitting(_ records: [KafkaProducerRecord]) -> AsyncStream<[KafkaDelivery]> {
        AsyncStream { continuation in
            send(records) {
                continuation.yield($0)
                continuation.finish()
            }
        }
    }
}

extension AsyncStream {
    fileprivate func first() async -> [KafkaDelivery] where Element == [KafkaDelivery] {
        var iterator = makeAsyncIterator()
        return await iterator.next() ?? []
    }
}
