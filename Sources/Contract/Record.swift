/// The topics that Grantor reads and writes.
public enum Topic: String, Hashable, Sendable, CaseIterable {
    /// The input: submissions.
    case submitted
    /// Grants: items and the user they were given to.
    case granted
    /// Which submission will not be granted, and why.
    case failed
    /// Which submission waits, why and for what. Not written unless it has a name.
    case pending
    /// Records of the input that name no submission or no user, as they came.
    case quarantined

    public var defaultName: String {
        switch self {
        case .submitted: "receipts.submitted"
        case .granted: "purchases.granted"
        case .failed: "purchases.failed"
        case .pending: "purchases.pending"
        case .quarantined: "receipts.quarantined"
        }
    }

    /// The topics that Grantor writes.
    public static let outputs: [Topic] = [.granted, .failed, .pending, .quarantined]
}

extension [Topic: String] {
    /// The name of a topic; of one that has none, the usual one.
    public func name(of topic: Topic) -> String { self[topic] ?? topic.defaultName }
}

/// A partition and offset of the input topic.
public struct Origin: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let topic: String
    public let partition: Int32
    public let offset: Int64

    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    public static func < (left: Origin, right: Origin) -> Bool {
        (left.topic, left.partition, left.offset) < (right.topic, right.partition, right.offset)
    }

    public var description: String { "\(topic)/\(partition)/\(offset)" }
}

/// A partition of the input topic.
public struct TopicPartition: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let topic: String
    public let partition: Int32

    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// By the number alone: a client has one topic or a few, and a topic's name costs more to hash than to compare.
    public func hash(into hasher: inout Hasher) { hasher.combine(partition) }

    public static func < (left: TopicPartition, right: TopicPartition) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }

    public var description: String { "\(topic)/\(partition)" }
}

extension Origin {
    public var topicPartition: TopicPartition { TopicPartition(topic: topic, partition: partition) }
}

/// A header of a Kafka record. Names may repeat; a value may be absent.
public struct RecordHeader: Hashable, Sendable {
    public let name: String
    public let value: [UInt8]?

    public init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    /// A header with text, as UTF-8.
    public init(_ name: String, _ text: String) { self.init(name: name, value: Array(text.utf8)) }
}

/// A record of the input topic, as it came.
public struct InputRecord: Hashable, Sendable {
    public let origin: Origin
    public let key: [UInt8]?
    /// Nil for a tombstone.
    public let value: [UInt8]?
    public let headers: [RecordHeader]
    /// The record's own time; nil where it has none (message format 0).
    public let timestamp: Timestamp?

    public init(
        origin: Origin, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = [], timestamp: Timestamp?
    ) {
        self.origin = origin
        self.key = key
        self.value = value
        self.headers = headers
        self.timestamp = timestamp
    }

    /// Memory that a header takes here and in librdkafka, beside its bytes. A hundred thousand empty ones fit in a
    /// small record.
    static let headerBytes = 128

    /// Bytes of key, value and headers in memory. The in-flight limit counts them.
    public var byteCount: Int {
        headers.reduce((value?.count ?? 0) + (key?.count ?? 0)) {
            $0 + Self.headerBytes + $1.name.utf8.count + ($1.value?.count ?? 0)
        }
    }
}

/// A message for downstream services, complete to the last byte.
public struct Event: Hashable, Sendable {
    /// Derived from the event's content, so that it never changes.
    public let id: EventID
    public let topic: Topic
    /// The record's key: the user's id, or the key that a quarantined record came with.
    public let key: [UInt8]?
    public let headers: [RecordHeader]
    public let value: [UInt8]?

    public init(id: EventID, topic: Topic, key: [UInt8]?, headers: [RecordHeader], value: [UInt8]?) {
        self.id = id
        self.topic = topic
        self.key = key
        self.headers = headers
        self.value = value
    }
}

/// The rule by which the values of a row become the bytes of its event. A row keeps the number of its format. Formats
/// are added and never changed, so every copy of an event has the same bytes, whichever version makes it.
///
/// Workers of two releases share a ledger during an upgrade. So a release that adds a format still writes the one
/// before it, and the next release writes the new one: docs/versions.md.
public enum EventFormat: Int, Hashable, Sendable {
    case v1 = 1

    /// The format of new rows.
    public static let current = EventFormat.v1
}

/// CloudEvents 1.0 over Kafka in binary mode: attributes in `ce_` headers, data in the value, as JSON.
public enum CloudEvent {
    /// Header that holds an event's id.
    public static let idHeader = "ce_id"
    /// The header with an event's subject: a transaction, or a submission.
    public static let subjectHeader = "ce_subject"
    /// The header with the time of an event's decision.
    public static let timeHeader = "ce_time"
    /// Source of every event; with the id it makes an event unique.
    static let source = "grantor"

    // Made once: every event has them.
    private static let specVersionHeader = RecordHeader("ce_specversion", "1.0")
    private static let sourceHeader = RecordHeader("ce_source", source)
    private static let contentTypeHeader = RecordHeader("content-type", "application/json")

    /// - Parameter type: The header that names the event's type, see ``typeHeader(_:)``.
    static func headers(
        id: EventID, type: RecordHeader, subject: String, time: Timestamp, traceparent: String?
    ) -> [RecordHeader] {
        var headers: [RecordHeader] = []
        headers.reserveCapacity(9)
        headers.append(specVersionHeader)
        headers.append(RecordHeader(idHeader, id.rawValue))
        headers.append(sourceHeader)
        headers.append(type)
        headers.append(RecordHeader(subjectHeader, subject))
        headers.append(RecordHeader(timeHeader, time.rfc3339))
        headers.append(contentTypeHeader)
        if let traceparent {
            headers.append(RecordHeader("traceparent", traceparent))
        }
        return headers
    }

    /// The header that names an event's type.
    static func typeHeader(_ type: String) -> RecordHeader { RecordHeader("ce_type", type) }
}
