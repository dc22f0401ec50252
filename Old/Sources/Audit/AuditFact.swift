public import Fulfillment
public import Ledger
public import Purchases

/// A record of any of the four topics.
public struct TopicRecord: Hashable, Sendable {
    public let partition: TopicPartition
    public let offset: Int64
    /// Nil where the broker has none.
    public let timestamp: Timestamp?
    public let key: [UInt8]?
    public let value: [UInt8]?
    public let headers: [EventHeader]

    /// A record as the topic holds it.
    public init(
        partition: TopicPartition, offset: Int64, timestamp: Timestamp?, key: [UInt8]?, value: [UInt8]?,
        headers: [EventHeader]
    ) {
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// As intake takes it.
    var submission: SubmissionRecord {
        SubmissionRecord(
            partition: partition, offset: offset, timestamp: timestamp, key: key, value: value, headers: headers)
    }

    /// The id of the event that it claims to be a copy of.
    func eventID(of kind: EventTopic) -> EventID? {
        let name = kind == .quarantined ? QuarantinedEvent.idHeader : CloudEvent.idHeader
        // A quarantined record can have come with a header of this name; ours stands behind it.
        guard let value = headers.last(where: { $0.name == name })?.value else { return nil }
        return EventID(String(decoding: value, as: UTF8.self))
    }

    /// Its place for people.
    var place: String { "\(partition.topic)[\(partition.partition)] offset \(offset)" }
}

/// Something that an audit reads. Facts come kind by kind, in the order of the cases, each kind in the order of its topic or
/// table: later ones are compared with what is kept of earlier ones.
public enum AuditFact: Sendable {
    case record(TopicRecord)
    case grant(GrantRow)
    case delivery(DeliveryRow)
    case quarantine(QuarantineRow)
    case submission(SubmissionRow)
    case event(OutboxEntry)
}

/// The topics of a deployment.
public struct AuditedTopicNames: Hashable, Sendable {
    public let submitted: String
    public let outputs: OutputTopics

    /// Topics by name.
    public init(submitted: String, outputs: OutputTopics) {
        self.submitted = submitted
        self.outputs = outputs
    }

    /// All four.
    public var all: [String] { [submitted, outputs.granted, outputs.failed, outputs.quarantined] }

    /// What an output topic carries; nil for any other.
    func kind(of topic: String) -> EventTopic? {
        EventTopic.allCases.first { outputs[$0] == topic }
    }
}
