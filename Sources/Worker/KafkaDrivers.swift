import Contract
import Kafka
import Logging
import Metrics
import Processing
import Scheduling
import Threading

/// The Kafka consumer in the core's words.
struct KafkaConsumerDriver: Sendable {
    /// Remedies for errors that no retry mends.
    static let remedies = [
        "UNKNOWN_TOPIC_OR_PART": "make the topic: grantor topics create",
        "TOPIC_AUTHORIZATION_FAILED": "give the worker's user Read on the input topic (docs/configuration.md#rights)",
        "GROUP_AUTHORIZATION_FAILED": "give the worker's user Read on the group (docs/configuration.md#rights)",
        "INVALID_SESSION_TIMEOUT":
            "set session.timeout.ms in kafka.propertiesFile to milliseconds that the brokers allow; then restart the workers",
        "INCONSISTENT_GROUP_PROTOCOL":
            "give all workers of the group the same partition.assignment.strategy in kafka.propertiesFile; then restart "
            + "them",
    ]

    let consumer: KafkaConsumer

    func fetchCommitted(_ partitions: [TopicPartition]) { consumer.fetchCommitted(partitions) }

    func assign(_ assignments: [Assignment]) {
        consumer.assign(
            assignments.map {
                KafkaStart($0.partition, from: $0.start, expected: $0.expected, assignmentID: $0.id.rawValue)
            })
    }

    func unassign(_ partitions: [TopicPartition]) { consumer.unassign(partitions) }

    func commit(_ offsets: [CommittedOffset]) {
        var all: [TopicPartition: Int64] = [:]
        for offset in offsets { all[offset.partition] = offset.offset }
        consumer.commit(all)
    }

    func demand(_ demand: Demand) { consumer.demand(records: demand.records, bytes: demand.bytes) }

    /// An event of the consumer's, on its thread: for the core or for the process.
    /// - Parameter joined: Takes the id of the group's cluster; nil where its brokers name none.
    static func received(
        _ event: KafkaConsumerEvent, core: Mailbox<CoreMail>, events: Mailbox<ProcessEvent>, metrics: WorkerMetrics,
        activity: CoreActivity, joined: (_ cluster: String?) -> Void
    ) {
        switch event {
        case .cluster(let id): joined(id)
        case .assigned(let partitions):
            activity.joined(true)
            core.post(.input(.assigned(partitions)))
        case .revoked(let partitions): core.post(.input(.revoked(partitions)))
        case .lost(let partitions):
            activity.joined(false)
            core.post(.input(.revoked(partitions)))
        case .reachable(let isReachable): activity.reached(isReachable)
        case .records(let batches):
            metrics.read.increment(by: batches.reduce(0) { $0 + $1.records.count })
            core.post(
                contentsOf: batches.map {
                    .input(
                        .records(RecordBatch(assignment: AssignmentID(rawValue: $0.assignmentID), records: $0.records)))
                })
        case .committedOffsets(let offsets):
            let all = offsets?.sorted { $0.key < $1.key }
                .map { CommittedOffset(partition: $0.key, offset: $0.value) }
            core.post(.input(.committed(all)))
        case .offsetsWentBack(_, let assignment):
            core.post(.input(.wentBack(AssignmentID(rawValue: assignment))))
        case .alive: activity.heard(at: .now)
        case .unreadable(_, let assignment, let offset):
            core.post(.input(.unreadable(AssignmentID(rawValue: assignment), at: offset)))
        case .failed(let error):
            guard error.disposition == .recreate else { return }
            let isFenced = error.failure?.name == "FENCED_INSTANCE_ID"
            let cause = isFenced ? "another worker has the same kafka.groupInstanceId; each needs its own" : "\(error)"
            events.post(.clientFailed("Kafka: \(cause)"))
        // After a stop in order nobody reads it any more.
        case .stopped: events.post(.clientFailed("Kafka: the consumer has ended by itself"))
        }
    }
}

/// The Kafka producer in the core's words, on the core's thread: librdkafka does not block there.
final class EventProducer {
    /// Time that a closing producer has for its records.
    static let closingLimit = Duration.seconds(5)

    /// Remedies for errors that no retry mends. Brokers say this one also of a user who may write into no topic.
    static let remedies = [
        "CLUSTER_AUTHORIZATION_FAILED":
            "give the worker's user Write on the topics of events, and for brokers before 2.8 IdempotentWrite on the "
            + "cluster (docs/configuration.md#rights)"
    ]

    private let producer: KafkaProducer
    private let names: [Topic: String]
    private var drained: [KafkaDeliveryReport] = []
    /// Ends that came without a delivery report.
    private var ended: [PublishReport] = []

    init(producer: KafkaProducer, names: [Topic: String]) {
        self.producer = producer
        self.names = names
    }

    func publish(_ task: PublishTask) {
        let event = task.event
        // Events of a topic without a name are not wanted.
        guard let topic = names[event.topic] else {
            return ended.append(PublishReport(token: task.token, result: .acknowledged))
        }
        let record = KafkaProducerRecord(
            topic: topic, key: event.key, value: event.value,
            headers: event.headers)
        switch producer.produce(record, token: task.token.rawValue) {
        case .accepted: break
        // The broker takes too little, so the event counts as timed out.
        case .full: ended.append(PublishReport(token: task.token, result: .failed))
        case .refused(let refusal):
            ended.append(PublishReport(token: task.token, result: result(refusal), cause: cause(refusal)))
        }
    }

    /// Takes the ends that have come.
    func drainReports(into reports: inout [PublishReport]) {
        drained.removeAll(keepingCapacity: true)
        producer.drainReports(into: &drained)
        append(to: &reports)
    }

    /// When the producer has to be served again even without its descriptor's signal; nil if never.
    var needsTurn: Instant? {
        if !ended.isEmpty { return .now }
        return producer.isReplacing ? .now + .seconds(1) : nil
    }

    /// Gives up the rest, and frees the client. The core has stopped: nobody asks for the result.
    func close() {
        drained.removeAll(keepingCapacity: true)
        producer.close(until: .now + Self.closingLimit, into: &drained)
    }

    private func append(to reports: inout [PublishReport]) {
        for report in drained {
            let token = PublishToken(rawValue: report.token)
            switch report.result {
            case .acknowledged: reports.append(PublishReport(token: token, result: .acknowledged))
            case .failed(let refusal):
                reports.append(PublishReport(token: token, result: result(refusal), cause: cause(refusal)))
            }
        }
        reports.append(contentsOf: ended)
        ended.removeAll(keepingCapacity: true)
    }

    private func result(_ refusal: KafkaRefusal) -> PublishReport.Result {
        refusal == .tooLarge ? .tooLarge : .failed
    }

    private func cause(_ refusal: KafkaRefusal) -> String? {
        switch refusal {
        case .timedOut where producer.isAway, .clientReplaced, .closed: nil
        case .topicUnknown: "\(refusal.words); grantor topics create makes it"
        default: refusal.words
        }
    }
}
