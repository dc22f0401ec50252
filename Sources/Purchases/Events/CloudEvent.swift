import Foundation

/// CloudEvents 1.0 over Kafka in binary mode: attributes in `ce_` headers, data in the value.
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

    /// Members in alphabetical order, so that the same event is the same bytes on every machine.
    static func body(_ data: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only a non-finite number can fail to encode, and no event has a floating-point member.
        guard let encoded = try? encoder.encode(data) else { return [] }
        return Array(encoded)
    }
}
