/// CloudEvents 1.0 over Kafka in binary mode: attributes in `ce_` headers, data in the value, as JSON.
public enum CloudEvent {
    /// Header that holds an event's id.
    public static let idHeader = "ce_id"
    /// Header that holds the time of what an event tells.
    public static let timeHeader = "ce_time"
    /// Source of every event; with the id it makes an event unique.
    static let source = "grantor"

    // Made once: every event has them.
    private static let specVersionHeader = EventHeader("ce_specversion", "1.0")
    private static let sourceHeader = EventHeader("ce_source", source)
    private static let contentTypeHeader = EventHeader("content-type", "application/json")

    /// - Parameters:
    ///   - type: the header that names the event's type, see ``typeHeader(_:)``.
    ///   - time: RFC 3339.
    static func headers(
        id: EventID, type: EventHeader, subject: String, time: String, traceparent: String?
    ) -> [EventHeader] {
        var headers = [
            specVersionHeader,
            EventHeader(idHeader, id.rawValue),
            sourceHeader,
            type,
            EventHeader("ce_subject", subject),
            EventHeader(timeHeader, time),
            contentTypeHeader,
        ]
        if let traceparent {
            headers.append(EventHeader("traceparent", traceparent))
        }
        return headers
    }

    /// The header that names an event's type.
    static func typeHeader(_ type: String) -> EventHeader { EventHeader("ce_type", type) }
}
