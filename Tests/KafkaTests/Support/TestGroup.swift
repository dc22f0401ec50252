import Contract
import KafkaTesting
import Logging
import Metrics
import Scheduling
import Threading

@testable import Kafka

/// Members of one group, whose events a test serves on its own thread as a worker's core would.
final class TestGroup {
    /// One member as its owner knows it.
    struct Member {
        let consumer: KafkaConsumer
        let metrics: PrometheusRegistry
        var granted: Set<TopicPartition> = []
        var wanted: Set<TopicPartition> = []
        var read: Set<TopicPartition> = []
        var records: [TopicPartition: [InputRecord]] = [:]
        var errors: [KafkaError] = []
        var lost = 0
        var hasStopped = false

        var count: Int { records.values.reduce(0) { $0 + $1.count } }
        var values: [String] { records.sorted { $0.key < $1.key }.flatMap(\.value).map(\.text) }
    }

    let kafka: TestKafka
    let topic: String
    let group = TestKafka.uniqueName("group")
    var members: [Member] = []
    /// Whether partitions can be taken over now; while not, they wait.
    var isLedgerOpen = true
    /// The place where a partition that is taken over is read from.
    var start: (TopicPartition) -> Int64? = { _ in nil }
    private let client: KafkaClientConfiguration
    private let events: Mailbox<(Int, KafkaConsumerEvent)>
    private var lastID: UInt64 = 0
    private var backlog: [(Int, KafkaConsumerEvent)] = []

    /// - Parameter client: how members log in to the broker; nil for those who may do everything.
    init(_ kafka: TestKafka, topic: String, client: KafkaClientConfiguration? = nil) throws {
        self.kafka = kafka
        self.client = client ?? kafka.client
        self.topic = topic
        events = try Mailbox(bound: 1_000_000)
    }

    deinit {
        for member in members { member.consumer.stop(within: .seconds(5)) }
        for member in members { member.consumer.join() }
    }

    /// Adds a member, which reads without limit.
    @discardableResult
    func join(
        strategy: String = "range", demand: Int64 = .max, _ properties: [String: String] = [:],
        remedies: [String: String] = [:], logger: Logger = .silent
    ) throws -> Int {
        var client = client
        client.properties["partition.assignment.strategy"] = strategy
        client.properties.merge(properties) { _, new in new }
        let index = members.count
        let metrics = PrometheusRegistry()
        let consumer = try KafkaConsumer(
            configuration: KafkaConsumerConfiguration(
                client: client, groupID: group, topics: [topic], remedies: remedies),
            metrics: metrics, logger: logger
        ) { [events] event in
            events.post((index, event))
        }
        consumer.demand(records: demand, bytes: .max)
        members.append(Member(consumer: consumer, metrics: metrics))
        return index
    }

    /// Begins to read partitions of a member, whatever the ledger says.
    func assign(_ index: Int, _ partitions: some Collection<TopicPartition>) {
        let starts = partitions.sorted().map { partition in
            lastID += 1
            return KafkaStart(partition, from: start(partition), assignmentID: lastID)
        }
        members[index].consumer.assign(starts)
        members[index].read.formUnion(partitions)
        members[index].wanted.subtract(partitions)
    }

    /// Serves events until a condition holds.
    /// - Returns: every event that came meanwhile.
    @discardableResult
    func serve(until isDone: (TestGroup) -> Bool) throws -> [KafkaConsumerEvent] {
        var served: [KafkaConsumerEvent] = []
        let deadline = Instant.now + TestKafka.patience
        while true {
            while !backlog.isEmpty {
                let (index, event) = backlog.removeFirst()
                served.append(event)
                serve(event, of: index)
                if isDone(self) { return served }
            }
            takeOver()
            if isDone(self) { return served }
            guard Instant.now < deadline else { throw TestGroupError.tooLate(state) }
            events.wake.wait(until: deadline)
            events.takeAll(into: &backlog)
        }
    }

    /// Serves events until one is found.
    @discardableResult
    func serve<Found>(until find: (KafkaConsumerEvent) -> Found?) throws -> Found {
        var found: Found?
        let deadline = Instant.now + TestKafka.patience
        while Instant.now < deadline {
            while !backlog.isEmpty {
                let (index, event) = backlog.removeFirst()
                serve(event, of: index)
                found = find(event)
                if let found { return found }
            }
            takeOver()
            events.wake.wait(until: deadline)
            events.takeAll(into: &backlog)
        }
        throw TestGroupError.tooLate(state)
    }

    /// Asks until the group has these offsets.
    func waitUntilCommitted(_ index: Int, _ expected: [TopicPartition: Int64?]) throws {
        let partitions = Array(expected.keys)
        members[index].consumer.fetchCommitted(partitions)
        try serve { [members] event -> Bool? in
            guard case .committedOffsets(let offsets) = event else { return nil }
            if offsets == expected { return true }
            members[index].consumer.fetchCommitted(partitions)
            return nil
        }
    }

    /// Stops a member and waits for its end.
    func stop(_ index: Int, within limit: Duration = TestKafka.patience / 2) throws {
        members[index].consumer.stop(within: limit)
        try serve { $0.members[index].hasStopped }
    }

    private func takeOver() {
        guard isLedgerOpen else { return }
        for index in members.indices where !members[index].wanted.isEmpty { assign(index, members[index].wanted) }
    }

    private func serve(_ event: KafkaConsumerEvent, of index: Int) {
        switch event {
        case .assigned(let partitions):
            members[index].granted.formUnion(partitions)
            members[index].wanted.formUnion(partitions)
        case .revoked(let partitions), .lost(let partitions):
            members[index].granted.subtract(partitions)
            members[index].wanted.subtract(partitions)
            members[index].read.subtract(partitions)
            if case .lost = event { members[index].lost += 1 }
        case .records(let batches):
            for batch in batches { members[index].records[batch.partition, default: []] += batch.records }
        case .offsetsWentBack(let partition, _), .unreadable(let partition, _, _): members[index].read.remove(partition)
        case .failed(let error): members[index].errors.append(error)
        case .stopped: members[index].hasStopped = true
        case .committedOffsets, .alive, .reachable, .cluster: break
        }
    }

    /// For a failure's message.
    private var state: String {
        members.enumerated().map { index, member in
            """
            \(index): granted \(member.granted.count), read \(member.read.count), records \(member.count), \
            errors \(member.errors)
            """
        }.joined(separator: "; ")
    }
}

enum TestGroupError: Error { case tooLate(String) }

extension Logger {
    /// Writes nothing that tests could make happen.
    static var silent: Logger {
        var logger = Logger(label: "kafka-tests")
        logger.logLevel = .critical
        return logger
    }
}

extension KafkaClientConfiguration {
    /// A group's committed offsets, asked for without membership.
    func committedOffsets(
        of group: String, in partitions: some Collection<TopicPartition>
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        try KafkaAdmin(configuration: self, logger: .silent, timeout: TestKafka.patience)
            .committedOffsets(of: group, in: Array(partitions))
    }
}

extension InputRecord {
    var text: String { String(decoding: value ?? [], as: UTF8.self) }
}
