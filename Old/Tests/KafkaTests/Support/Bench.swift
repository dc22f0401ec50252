import Kafka
import Logging
import Metrics
import SystemTesting

/// A mock cluster with one topic, and clients on it with times that suit tests.
struct Bench {
    static let topic = "receipts"

    let cluster: KafkaMockCluster
    let logger: Logger

    init(brokers: Int = 1, partitions: Int = 1) throws {
        cluster = try KafkaMockCluster(brokers: brokers)
        try cluster.createTopic(Self.topic, partitions: partitions)
        var logger = Logger(label: "kafka-tests")
        logger.logLevel = .critical
        self.logger = logger
    }

    var client: KafkaClientConfiguration {
        KafkaClientConfiguration(bootstrapServers: cluster.bootstrapServers, statisticsInterval: .zero)
    }

    func partition(_ index: Int32) -> KafkaPartition { KafkaPartition(topic: Self.topic, index: index) }

    /// Closes a broker's connections and has it accept none. The mock listens at the same port anew, and ends the process if
    /// that fails.
    func setDown(broker: Int32) throws(KafkaError) {
        try Spawn.whileNothingStarts { () throws(KafkaError) in try cluster.setDown(broker: broker) }
    }

    func consumerConfiguration(
        group: String = "group", assignor: KafkaConsumerConfiguration.Assignor = .range
    ) -> KafkaConsumerConfiguration {
        var configuration = KafkaConsumerConfiguration(
            client: client, groupID: group, topics: [Self.topic], assignor: assignor)
        // The mock waits a session less a second at each rebalance after the first.
        configuration.sessionTimeout = .seconds(6)
        configuration.fetchWait = .milliseconds(10)
        configuration.client.properties["heartbeat.interval.ms"] = "500"
        return configuration
    }

    func consumer(
        group: String = "group", assignor: KafkaConsumerConfiguration.Assignor = .range,
        _ change: (inout KafkaConsumerConfiguration) -> Void = { _ in }
    ) throws -> KafkaConsumer {
        var configuration = consumerConfiguration(group: group, assignor: assignor)
        change(&configuration)
        return try KafkaConsumer(configuration: configuration, logger: logger)
    }

    func producer(_ change: (inout KafkaProducerConfiguration) -> Void = { _ in }) throws -> KafkaProducer {
        var configuration = KafkaProducerConfiguration(client: client)
        change(&configuration)
        return try KafkaProducer(configuration: configuration, logger: logger)
    }

    /// Sends records with these values, in batches of a hundred, and makes sure that they arrived.
    func fill(_ values: Range<Int>) async throws {
        let producer = try producer { $0.client.properties["batch.num.messages"] = "100" }
        let deliveries = await producer.send(values.map { Self.record("\($0)") })
        await producer.close(deadline: .seconds(5))
        guard deliveries.allSatisfy(\.isDelivered) else { throw BenchError.notDelivered }
    }

    static func record(_ value: String) -> KafkaProducerRecord {
        KafkaProducerRecord(topic: topic, key: Array(value.utf8), value: Array(value.utf8))
    }
}

enum BenchError: Error { case notDelivered, closed, unexpected }

extension KafkaDelivery {
    var isDelivered: Bool { if case .delivered = self { true } else { false } }
}

extension KafkaRecord {
    var text: String { String(decoding: value ?? [], as: UTF8.self) }
}

extension KafkaConsumer {
    /// The next event as the assignment it must be.
    func assignment() async throws -> [KafkaPartition] {
        guard case .assigned(let partitions, _) = try await next(maxRecords: 1, maxBytes: 1) else {
            throw BenchError.unexpected
        }
        return partitions
    }

    /// Reads records until there are `count`, letting go of what is revoked.
    func read(_ count: Int, maxRecords: Int = 100) async throws -> [KafkaRecord] {
        var records: [KafkaRecord] = []
        while records.count < count {
            switch try await next(maxRecords: maxRecords, maxBytes: 1 << 20) {
            case .records(let batch): records += batch
            case .assigned: break
            case .revoking(let revocation): revocation.complete()
            case nil: throw BenchError.closed
            }
        }
        return records
    }

    /// Serves assignments and revocations until this member holds `count` partitions.
    func hold(_ count: Int) async throws -> Set<KafkaPartition> {
        var held: Set<KafkaPartition> = []
        while held.count != count { held = try await change(of: held) }
        return held
    }

    /// Waits for one assignment or revocation, letting go of what is revoked.
    /// - Returns: what this member holds afterwards.
    func change(
        of held: Set<KafkaPartition>, storing offsets: [KafkaPartition: Int64] = [:]
    ) async throws -> Set<KafkaPartition> {
        switch try await next(maxRecords: 0, maxBytes: 0) {
        case .assigned(let partitions, _): return held.union(partitions)
        case .revoking(let revocation):
            revocation.complete(storing: offsets.filter { revocation.partitions.contains($0.key) })
            return held.subtracting(revocation.partitions)
        case .records: throw BenchError.unexpected
        case nil: throw BenchError.closed
        }
    }
}
