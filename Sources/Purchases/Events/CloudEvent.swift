/// CloudEvents 1.0 over Kafka in binary mode: attributes in `ce_` headers, data in the value, as JSON.
public enum CloudEvent {
    /// Header that holds an event's id.
    public static let idHeader = "ce_id"
    /// Header that holds the time of what an event tells.
    public static let timeHeader = "ce_time"
    /// Source of every event; with the id it makes an event unique.
    static let source = "grantor"

    static func headers(
        id: EventID, type: String, subject: String, time: Timestamp, traceparent: String?
    ) -> [EventHeader] {
        var headers = [
            EventHeader("ce_specversion", "1.0"),
            EventHeader(idHeader, id.rawValue),
            EventHeader("ce_source", source),
            EventHeader("ce_type", type),
            EventHeader("ce_subject", subject),
            EventHeader(timeHeader, time.rfc3339),
            EventHeader("content-type", "application/json"),
        ]
        if let traceparent {
            headers.append(EventHeader("traceparent", traceparent))
        }
        return headers
    }
}
