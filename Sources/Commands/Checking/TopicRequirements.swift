import Contract
import Kafka

/// The properties of topics without which a submission or an event may be lost.
enum TopicRequirements {
    private static let day = 86_400_000
    private static let unclean = "unclean.leader.election.enable"
    private static let timeType = "message.timestamp.type"
    /// The value by which a broker sets the time of each record, whatever its producer says.
    private static let brokersTime = "LogAppendTime"

    /// Properties of a new topic with so many replicas.
    ///
    /// Submissions outlast a long outage of Apple's, and events a consumer's holidays. Records may be as large as
    /// receipts are, and the quarantine topic takes them with the headers that it adds.
    static func configuration(of topic: Topic, replicas: Int) -> [String: String] {
        var properties = [
            "cleanup.policy": "delete", "min.insync.replicas": String(min(2, replicas)), unclean: "false",
        ]
        switch topic {
        case .submitted:
            properties.merge([
                "retention.ms": String(14 * day), "max.message.bytes": String(2 << 20), timeType: brokersTime,
            ]) { $1 }
        case .quarantined:
            properties.merge(["retention.ms": String(30 * day), "max.message.bytes": String(3 << 20)]) { $1 }
        case .granted, .failed, .pending: properties["retention.ms"] = String(30 * day)
        }
        return properties
    }

    /// The faults of a topic as it is.
    struct Finding: Hashable, Sendable {
        var failures: [String] = []
        var warnings: [String] = []
    }

    /// Compares a topic with the requirements.
    /// - Parameters:
    ///   - properties: the ones in force, defaults included.
    ///   - brokers: how many there are; one alone cannot keep a second copy.
    static func finding(
        on topic: Topic, _ partitions: KafkaClusterDescription.Partitions, _ properties: [String: String], brokers: Int
    ) -> Finding {
        var finding = Finding()
        if partitions.leaderless > 0 {
            finding.failures.append("\(partitions.leaderless) partitions without a leader")
        }
        copies(partitions, properties, brokers: brokers, &finding)
        if properties["cleanup.policy"]?.contains("compact") == true {
            finding.failures.append("cleanup.policy is compact, which drops records of the same user")
        }
        let days = topic == .submitted ? 7 : 3
        if let retention = number("retention.ms", properties), retention >= 0, retention < days * day {
            finding.failures.append("retention.ms is less than \(days) days")
        }
        if let bytes = number("retention.bytes", properties), bytes >= 0 {
            finding.warnings.append("retention.bytes drops records by size, however young they are")
        }
        if topic == .submitted, let type = properties[timeType], type != brokersTime {
            finding.warnings.append(
                "\(timeType) is \(type): producers' clocks say which subscriptions were over; set \(brokersTime)")
        }
        return finding
    }

    private static func copies(
        _ partitions: KafkaClusterDescription.Partitions, _ properties: [String: String], brokers: Int,
        _ finding: inout Finding
    ) {
        let minimum = number("min.insync.replicas", properties)
        switch (partitions.replicas, minimum) {
        case (...1, _) where brokers <= 1: finding.warnings.append("one copy, on the only broker")
        case (...1, _): finding.failures.append("one copy, which is lost with its broker")
        case (_, .some(...1)): finding.failures.append("min.insync.replicas is 1: a write may be lost with its broker")
        case (let replicas, let minimum?) where minimum >= replicas:
            finding.warnings.append("min.insync.replicas is \(minimum): no broker may be away")
        default: break
        }
        if partitions.replicas > 1, properties[unclean] == "true" {
            finding.failures.append(
                "\(unclean) is true: a replica that lacks acknowledged records may become the leader; set false")
        }
        if let minimum, partitions.inSyncReplicas < minimum {
            finding.failures.append("only \(partitions.inSyncReplicas) replicas in sync, so that writes are refused")
        }
    }

    /// A topic as it is.
    struct Found: Hashable, Sendable {
        let partitions: KafkaClusterDescription.Partitions
        /// The properties in force, defaults included; empty where they are not known.
        let properties: [String: String]

        init(_ partitions: KafkaClusterDescription.Partitions, _ properties: [String: String]) {
            (self.partitions, self.properties) = (partitions, properties)
        }
    }

    /// Holds a topic of the worker's against the input topic.
    static func compare(_ topic: Topic, _ found: Found, _ input: Found, _ finding: inout Finding) {
        let (copies, inputCopies) = (found.partitions.replicas, input.partitions.replicas)
        if copies < inputCopies {
            finding.warnings.append(
                "\(copies) replicas, below the \(inputCopies) of the input: lost brokers take events of submissions that "
                    + "are kept; add replicas")
        }
        if let kept = number("retention.ms", found.properties), kept >= 0,
            let inputKept = number("retention.ms", input.properties), inputKept < 0 || kept < inputKept
        {
            finding.warnings.append(
                "retention.ms is below the input's: consumers that were away miss events of submissions that Kafka "
                    + "still has; set \(inputKept) or more")
        }
        guard let size = number("max.message.bytes", found.properties) else { return }
        if topic != .quarantined {
            if size < mostOfEvent {
                finding.warnings.append(
                    "max.message.bytes is \(size): events may be larger; set \(mostOfEvent) or more")
            }
        } else if let inputSize = number("max.message.bytes", input.properties), size < inputSize {
            finding.failures.append(
                "max.message.bytes is \(size), below the \(inputSize) of the input: large records would be kept as stubs"
            )
        }
    }

    /// Bytes that every event of the worker's own fits in, and every batch of them; Kafka's default is more.
    private static let mostOfEvent = KafkaProducer.batchBytes

    private static func number(_ name: String, _ properties: [String: String]) -> Int? {
        properties[name].flatMap { Int($0) }
    }
}
