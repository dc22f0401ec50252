public import Cryptography

/// A quarantined record that the quarantine topic did not take, by its place and content: what the outbox keeps of it.
public struct QuarantineStub: Hashable, Sendable {
    public let origin: Origin
    public let reason: String
    /// The record's own time.
    public let timestamp: Timestamp
    /// SHA-256 of the record's value.
    public let digest: SHA256Digest
    /// Bytes of the record's value.
    public let size: Int

    /// A stub as read from the ledger.
    public init(origin: Origin, reason: String, timestamp: Timestamp, digest: SHA256Digest, size: Int) {
        self.origin = origin
        self.reason = reason
        self.timestamp = timestamp
        self.digest = digest
        self.size = size
    }

    /// The stub of a record.
    public init(of record: InputRecord, reason: String) {
        self.init(
            origin: record.origin, reason: reason, timestamp: record.timestamp ?? Timestamp(milliseconds: 0),
            digest: SHA256.hash(record.value ?? []), size: record.value?.count ?? 0)
    }
}

/// `receipts.quarantined`: a record of the input topic that could not be read.
///
/// Its time is the record's and its id is made of the record's place and content, so that a record that is read again
/// is the same event.
public enum QuarantinedEvent {
    /// Header that holds the event's id.
    public static let idHeader = "x-quarantine-id"
    /// Header that holds the record's time.
    public static let timeHeader = "x-quarantined-at"
    /// Headers of a stub alone: SHA-256 and bytes of the value that the topic did not take.
    public static let digestHeader = "x-quarantine-sha256"
    public static let sizeHeader = "x-quarantine-size"

    /// Makes the event of a record: key, value and headers as they came, then why and where from.
    public static func event(of record: InputRecord, reason: String) -> Event {
        let stub = QuarantineStub(of: record, reason: reason)
        let id = id(of: stub)
        return Event(
            id: id, topic: .quarantined, key: record.key, headers: record.headers + headers(of: stub, id: id),
            value: record.value)
    }

    /// Makes the event that stands for a record which the topic did not take: the same id, without key and value.
    public static func event(of stub: QuarantineStub) -> Event {
        let id = id(of: stub)
        let headers =
            headers(of: stub, id: id) + [
                RecordHeader(digestHeader, stub.digest.hex), RecordHeader(sizeHeader, String(stub.size)),
            ]
        return Event(id: id, topic: .quarantined, key: nil, headers: headers, value: nil)
    }

    /// The headers that a quarantined record came with: all but those that ``event(of:reason:)`` puts behind them.
    public static func headersAsTheyCame(_ headers: [RecordHeader]) -> [RecordHeader] {
        Array(headers.dropLast(addedHeaders))
    }

    private static let addedHeaders = 6

    private static func headers(of stub: QuarantineStub, id: EventID) -> [RecordHeader] {
        [
            RecordHeader("x-quarantine-reason", stub.reason),
            RecordHeader(timeHeader, stub.timestamp.rfc3339),
            RecordHeader("x-origin-topic", stub.origin.topic),
            RecordHeader("x-origin-partition", String(stub.origin.partition)),
            RecordHeader("x-origin-offset", String(stub.origin.offset)),
            RecordHeader(idHeader, id.rawValue),
        ]
    }

    private static func id(of stub: QuarantineStub) -> EventID {
        // Byte by byte in decimal, as ever: an id that changes is another event.
        let digest = stub.digest.bytes.map { String($0) }.joined(separator: ".")
        let origin = stub.origin
        let name = "quarantined:\(origin.topic):\(origin.partition):\(origin.offset):\(digest)"
        return EventID(NameBasedUUID.text(namespace: NameBasedUUID.events, name: name))
    }
}
