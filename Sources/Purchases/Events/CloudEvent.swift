/// CloudEvents 1.0 over Kafka in binary mode: attributes in `ce_` headers, data in the value, as JSON.
enum CloudEvent {
    /// Source of every event; with the id it makes an event unique.
    static let source = "grantor"

    static func headers(
        id: EventID, type: String, subject: String, time: Timestamp, traceparent: String?
    ) -> [EventHeader] {
        var headers = [
            EventHeader("ce_specversion", "1.0"),
            EventHeader("ce_id", id.rawValue),
            EventHeader("ce_source", source),
            EventHeader("ce_type", type),
            EventHeader("ce_subject", subject),
            EventHeader("ce_time", time.rfc3339),
            EventHeader("content-type", "application/json"),
        ]
        if let traceparent {
            headers.append(EventHeader("traceparent", traceparent))
        }
        return headers
    }
}
