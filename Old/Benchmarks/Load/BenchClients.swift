import Kafka
import Logging

/// A producer of submissions and a consumer of what becomes of them.
struct BenchClients: Sendable {
    /// Without an event for so long something is broken.
    private static let patience = Duration.seconds(60)

    let producer: KafkaProducer
    private let consumer: KafkaConsumer

    /// - Parameter linger: How long the producer keeps a batch open.
    init(
        bootstrap: String, properties: [String: String] = BenchPrograms.properties,
        linger: Duration = .milliseconds(5)
    ) throws {
        let client = KafkaClientConfiguration(bootstrapServers: bootstrap, properties: properties)
        producer = try Self.producer(client, linger: linger)
        consumer = try KafkaConsumer(
            configuration: KafkaConsumerConfiguration(client: client, groupID: "bench", topics: ["purchases.granted"]),
            logger: Self.logger)
    }

    /// The producer alone.
    static func producer(_ client: KafkaClientConfiguration, linger: Duration) throws -> KafkaProducer {
        try KafkaProducer(configuration: KafkaProducerConfiguration(client: client, linger: linger), logger: logger)
    }

    private static var logger: Logger {
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        return logger
    }

    /// Sends records and waits until the broker has them.
    func send(_ records: [KafkaProducerRecord]) async throws { try await Self.send(records, by: producer) }

    /// Sends records and waits until the broker has them.
    static func send(_ records: [KafkaProducerRecord], by producer: KafkaProducer) async throws {
        for delivery in await producer.send(records) {
            guard case .delivered = delivery else { throw BenchFailure(description: "the broker refuses a record") }
        }
    }

    /// The next events that tell of grants; none when the assignment changed instead.
    func events() async throws -> [KafkaRecord] {
        guard case .records(let records)? = try await Self.next(of: consumer, maxRecords: 1000, maxBytes: 16 << 20)
        else { return [] }
        return records
    }

    /// What a consumer is told next; nil when it ended.
    static func next(
        of consumer: KafkaConsumer, maxRecords: Int, maxBytes: Int
    ) async throws -> KafkaConsumerEvent? {
        try await withThrowingTaskGroup(of: KafkaConsumerEvent?.self) { group in
            group.addTask { try await consumer.next(maxRecords: maxRecords, maxBytes: maxBytes) }
            group.addTask {
                try await Task.sleep(for: patience)
                throw BenchFailure(description: "nothing came from the broker for \(patience)")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Waits until events are read from the first one on.
    func join() async throws {
        while true {
            if case .assigned? = try await consumer.next(maxRecords: 0, maxBytes: 0) { return }
        }
    }

    func close() async {
        await producer.close(deadline: .seconds(2))
        await consumer.close(deadline: .seconds(2))
    }
}
