import Kafka
import Logging
import Testing

@testable import Fulfillment

@Suite("The input topic on Kafka", .timeLimit(.minutes(5)))
struct KafkaSubmissionSourceTests {
    private let cluster: KafkaMockCluster
    private let logger: Logger

    init() throws {
        cluster = try KafkaMockCluster()
        try cluster.createTopic("in", partitions: 2)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        self.logger = logger
    }

    private func source(
        _ change: (inout KafkaConsumerConfiguration) -> Void = { _ in }
    ) throws -> KafkaSubmissionSource {
        var configuration = KafkaConsumerConfiguration(
            client: KafkaClientConfiguration(
                bootstrapServers: cluster.bootstrapServers, properties: ["heartbeat.interval.ms": "500"]),
            groupID: "group", topics: ["in"])
        configuration.sessionTimeout = .seconds(6)
        configuration.fetchWait = .milliseconds(10)
        change(&configuration)
        return KafkaSubmissionSource(try KafkaConsumer(configuration: configuration, logger: logger))
    }

    private func write(_ values: [String]) async throws {
        let producer = try KafkaProducer(
            configuration: KafkaProducerConfiguration(
                client: KafkaClientConfiguration(bootstrapServers: cluster.bootstrapServers)), logger: logger)
        let deliveries = await producer.send(
            values.map { KafkaProducerRecord(topic: "in", key: Array($0.utf8), value: Array($0.utf8)) })
        #expect(deliveries.count == values.count)
        await producer.close(deadline: .seconds(5))
    }

    /// Serves the source until it holds so many partitions.
    private func hold(_ count: Int, _ source: KafkaSubmissionSource, from start: Set<TopicPartition> = []) async throws
        -> Set<TopicPartition>
    {
        var held = start
        while held.count != count {
            switch try await source.next(maxRecords: 0, maxBytes: 0) {
            case .assigned(let partitions, _): held.formUnion(partitions)
            case .revoking(let partitions, _, let complete):
                held.subtract(partitions)
                complete([:])
            case .records, nil: Issue.record("expected a change of the assignment")
            }
        }
        return held
    }

    private func read(_ count: Int, _ source: KafkaSubmissionSource) async throws -> [String] {
        var values: [String] = []
        while values.count < count {
            guard case .records(let batch)? = try await source.next(maxRecords: 100, maxBytes: 1 << 20) else {
                continue
            }
            values += batch.map { String(decoding: $0.value ?? [], as: UTF8.self) }
        }
        return values
    }

    @Test("Paused, it stays a member and is given what another one leaves; resumed, it reads all of it")
    func pause() async throws {
        let first = try source()
        let second = try source()
        async let share = hold(1, second)
        let mine = try await hold(1, first)
        _ = try await share
        try await first.pause()
        await second.close(within: .seconds(5))
        #expect(try await hold(2, first, from: mine).count == 2)

        let values = (0..<20).map(String.init)
        try await write(values)
        let waiting = Task { try await first.next(maxRecords: 100, maxBytes: 1 << 20) }
        try await write(["20"])
        waiting.cancel()
        let nothing = try await waiting.value
        #expect(nothing.map { "\($0)" } == nil)
        try await first.resume()
        #expect(try await Set(read(21, first)) == Set(values + ["20"]))
        await first.close(within: .seconds(5))
    }

    @Test("An offset of another epoch is passed over")
    func epochs() async throws {
        let first = try source { $0.topics = ["in"] }
        try await write((0..<10).map(String.init))
        var marks: [TopicPartition: Watermark] = [:]
        var epoch: UInt64 = 0
        var seen = 0
        while seen < 10 {
            switch try await first.next(maxRecords: 100, maxBytes: 1 << 20) {
            case .assigned(_, let assigned): epoch = assigned
            case .records(let records):
                seen += records.count
                for record in records {
                    marks[record.partition] = Watermark(offset: record.offset + 1, epoch: epoch + 1)
                }
            case .revoking, nil: Issue.record("expected records")
            }
        }
        try await first.store(marks)
        await first.close(within: .seconds(5))
        // Nothing was committed, so all of it comes again.
        let second = try source()
        #expect(try await read(10, second).count == 10)
        await second.close(within: .seconds(5))
    }

    @Test("A name that another worker took ends the source with one line that says so")
    func fencing() async throws {
        let source = try source { $0.groupInstanceID = "worker-1" }
        _ = try await hold(2, source)
        cluster.pushRequestErrors(.heartbeat, [.fencedInstanceID])
        let error = await #expect(throws: SourceError.self) {
            while true {
                if case .revoking(_, _, let complete)? = try await source.next(maxRecords: 1, maxBytes: 1) {
                    complete([:])
                }
            }
        }
        guard case .fatal(let cause)? = error else { return }
        #expect(cause.contains("group instance id"))
        #expect(!cause.contains("\n"))
        await source.close(within: .seconds(5))
    }

    @Test("It shows signs of life of its own thread and of librdkafka's")
    func signsOfLife() async throws {
        let source = try source { $0.client.statisticsInterval = .milliseconds(100) }
        let before = source.signsOfLife
        #expect(before.count == 2)
        func hasGrown() -> Bool { zip(before, source.signsOfLife).allSatisfy { $0 < $1 } }
        while !hasGrown() { try await Task.sleep(for: .milliseconds(10)) }
        await source.close(within: .seconds(5))
    }
}
