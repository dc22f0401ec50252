/// A message for downstream services, complete to the last byte.
public struct Event: Hashable, Sendable {
    /// Derived from what the event tells, so that it never changes.
    public let id: EventID
    public let topic: Topic
    /// The record's key: the user's id, or the key that a quarantined record came with.
    public let key: [UInt8]?
    public let headers: [RecordHeader]
    public let value: [UInt8]?

    /// An event whose bytes are fixed.
    public init(id: EventID, topic: Topic, key: [UInt8]?, headers: [RecordHeader], value: [UInt8]?) {
        self.id = id
        self.topic = topic
        self.key = key
        self.headers = headers
        self.value = value
    }
}

/// How the values of a row become the bytes of its event. A row keeps the number of its format, and formats are added,
/// never changed: so every copy of an event is the same bytes, whichever version makes it.
///
/// Workers of two versions share a ledger while they are upgraded, so a version that adds a format writes the one
/// before it, and the next version writes the new one.
public enum EventFormat: Int, Hashable, Sendable, CaseIterable {
    case v1 = 1

    /// The format of new rows.
    public static let current = EventFormat.v1
}

/// CloudEvents 1.0 over Kafka in binary mode: attributes in `ce_` headers, data in the value, as JSON.
public enum CloudEvent {
    /// Header that holds an event's id.
    public static let idHeader = "ce_id"
    /// Header that holds the time of what an event tells.
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
        headers.append(RecordHeader("ce_subject", subject))
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
