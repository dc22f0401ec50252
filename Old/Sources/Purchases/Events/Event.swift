/// A header of a Kafka record. Names may repeat; a value may be absent.
public struct EventHeader: Hashable, Sendable {
    public let name: String
    public let value: [UInt8]?

    /// A header with raw bytes.
    public init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    /// A header with text, as UTF-8.
    public init(_ name: String, _ text: String) {
        self.init(name: name, value: Array(text.utf8))
    }
}

/// Which output topic an event belongs to.
public enum EventTopic: String, Sendable, CaseIterable {
    case granted
    case failed
    case quarantined
}

/// A message for downstream services, complete to the last byte: it is written once and never made again.
public struct Event: Hashable, Sendable {
    public let id: EventID
    public let kind: EventTopic
    /// The record's key: the user's id, or what a quarantined record came with.
    public let key: [UInt8]?
    public let headers: [EventHeader]
    public let value: [UInt8]?

    /// An event whose bytes are fixed.
    public init(id: EventID, kind: EventTopic, key: [UInt8]?, headers: [EventHeader], value: [UInt8]?) {
        self.id = id
        self.kind = kind
        self.key = key
        self.headers = headers
        self.value = value
    }
}
