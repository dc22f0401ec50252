import Crypto

/// A record of the input topic that could not be read, on its way to the quarantine topic exactly as it came.
public struct QuarantinedEvent: Sendable {
    /// Header that holds the event's id.
    public static let idHeader = "x-quarantine-id"
    /// Header that holds the time of the event.
    public static let timeHeader = "x-quarantined-at"

    /// Makes the event: key, value and headers as they came, plus why and where from.
    ///
    /// The id is made of the record's place and content, so a replay does not quarantine it twice.
    public static func event(
        from origin: Origin, key: [UInt8]?, value: [UInt8]?, headers: [EventHeader], reason: String, at: Timestamp
    ) -> Event {
        var added = [
            EventHeader("x-quarantine-reason", reason),
            EventHeader(timeHeader, at.rfc3339),
            EventHeader("x-origin-topic", origin.topic),
            EventHeader("x-origin-partition", String(origin.partition)),
            EventHeader("x-origin-offset", String(origin.offset)),
        ]
        let digest = SHA256.hash(data: value ?? []).map { String($0) }.joined(separator: ".")
        let name = "quarantined:\(origin.topic):\(origin.partition):\(origin.offset):\(digest)"
        let id = EventID(NameBasedUUID.text(namespace: NameBasedUUID.events, name: name))
        added.append(EventHeader(idHeader, id.rawValue))
        return Event(id: id, kind: .quarantined, key: key, headers: headers + added, value: value)
    }

    /// The headers that a quarantined record came with: all but those that ``event(from:key:value:headers:reason:at:)``
    /// puts behind them.
    public static func headersAsTheyCame(_ event: Event) -> [EventHeader] {
        Array(event.headers.dropLast(addedHeaders))
    }

    private static let addedHeaders = 6
}
