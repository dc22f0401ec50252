import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5)))
struct KafkaMockClusterTests {
    @Test("Each broker has an address of its own")
    func bootstrapServers() throws {
        let cluster = try KafkaMockCluster(brokers: 3)
        let addresses = cluster.bootstrapServers.split(separator: ",")
        #expect(addresses.count == 3)
        #expect(Set(addresses).count == 3)
        #expect(addresses.allSatisfy { $0.hasPrefix("127.0.0.1:") })
    }

    @Test("A topic is created once")
    func createTopicTwice() throws {
        let cluster = try KafkaMockCluster()
        try cluster.createTopic("t", partitions: 2)
        #expect(throws: KafkaError.self) { try cluster.createTopic("t", partitions: 2) }
    }

    @Test("Faults for a broker that is not there are an error")
    func unknownBroker() throws {
        let cluster = try KafkaMockCluster()
        #expect(throws: KafkaError.self) { try cluster.setDown(broker: 9) }
        #expect(throws: KafkaError.self) {
            try cluster.pushRequestErrors(.produce, broker: 9, [(.notLeader, .zero)])
        }
    }

    @Test("An error for one broker meets the next request, which is then made again")
    func error() async throws {
        let bench = try Bench()
        let producer = try bench.producer { $0.client.properties["retry.backoff.ms"] = "1" }
        try await producer.warmUp(topics: [Bench.topic], timeout: .seconds(60))
        try bench.cluster.pushRequestErrors(.produce, broker: 1, [(.notLeader, .zero)])
        #expect(await producer.send([Bench.record("a")]).allSatisfy(\.isDelivered))
        await producer.close(deadline: .seconds(5))
    }

    @Test("An error with a delay keeps the request waiting for so long")
    func delayedError() async throws {
        let bench = try Bench()
        // Longer than the message lives, so that its end shows that nothing came before.
        let producer = try bench.producer { $0.messageTimeout = .milliseconds(300) }
        try await producer.warmUp(topics: [Bench.topic], timeout: .seconds(60))
        try bench.cluster.pushRequestErrors(.produce, broker: 1, [(.notLeader, .seconds(3600))])
        #expect(await producer.send([Bench.record("a")]).allSatisfy { !$0.isDelivered })
        await producer.close(deadline: .zero)
    }

    @Test("Leaders and coordinators move under running clients, and every record arrives")
    func moves() async throws {
        let bench = try Bench(brokers: 3, partitions: 1)
        try bench.cluster.setLeader(of: bench.partition(0), broker: 1)
        try await bench.fill(0..<10)
        let consumer = try bench.consumer()
        var read = try await consumer.read(10)
        try bench.cluster.setLeader(of: bench.partition(0), broker: 2)
        try bench.cluster.setCoordinator(ofGroup: "group", broker: 3)
        try await bench.fill(10..<20)
        read += try await consumer.read(10)
        #expect(read.map(\.text) == (0..<20).map(String.init))
        await consumer.close(deadline: .seconds(10))
    }

    @Test("It can be stopped twice")
    func stop() throws {
        let cluster = try KafkaMockCluster()
        cluster.stop()
        cluster.stop()
    }
}
