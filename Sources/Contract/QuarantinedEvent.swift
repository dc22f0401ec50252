public import Cryptography

/// A quarantined record that the quarantine topic did not take, by its origin and content. The outbox keeps it.
public struct QuarantineStub: Hashable, Sendable {
    public let origin: Origin
    public let reason: String
    /// The record's own time.
    public let timestamp: Timestamp
    /// SHA-256 of the record's value.
    public let digest: SHA256Digest
    /// Bytes of the record's value.
    public let size: Int

    public init(origin: Origin, reason: String, timestamp: Timestamp, digest: SHA256Digest, size: Int) {
        self.origin = origin
        self.reason = reason
        self.timestamp = timestamp
        self.digest = digest
        self.size = size
    }

    public init(of record: InputRecord, reason: String) {
        self.init(
            origin: record.origin, reason: reason, timestamp: record.timestamp ?? Timestamp(milliseconds: 0),
            digest: SHA256.hash(record.value ?? []), size: record.value?.count ?? 0)
    }
}

/// The headers that the worker puts on a record of `receipts.quarantined`, behind those that the record came with.
public enum QuarantineHeader: String, Hashable, Sendable, CaseIterable {
    case reason = "x-quarantine-reason"
    case time = "x-quarantined-at"
    case topic = "x-origin-topic"
    case partition = "x-origin-partition"
    case offset = "x-origin-offset"
    case id = "x-quarantine-id"
    /// Of stubs alone, like the next ones.
    case stub = "x-quarantine-stub"
    case digest = "x-quarantine-sha256"
    case size = "x-quarantine-size"

    /// The headers of every record, in their order.
    static let label: [QuarantineHeader] = [.reason, .time, .topic, .partition, .offset, .id]
    /// The headers that a stub has behind them, in their order.
    static let ofStub: [QuarantineHeader] = [.stub, .digest, .size]
}

/// `receipts.quarantined`: a record of the input topic that could not be read.
///
/// Its time is the record's, and its id is made of the record's origin and content. So a record that is read again
/// gives the same event.
public enum QuarantinedEvent {
    /// Makes the event of a record: key, value and headers as they came, then why and where from.
    public static func event(of record: InputRecord, reason: String) -> Event {
        let stub = QuarantineStub(of: record, reason: reason)
        let id = id(of: stub)
        return Event(
            id: id, topic: .quarantined, key: record.key, headers: record.headers + label(of: stub, id: id),
            value: record.value)
    }

    /// Makes the event for a record that the topic did not take. It has the same id and no key and value, but the
    /// value's SHA-256 and size.
    public static func event(of stub: QuarantineStub) -> Event {
        let id = id(of: stub)
        let headers = QuarantineHeader.ofStub.map { header in
            let text =
                switch header {
                case .digest: stub.digest.hex
                case .size: String(stub.size)
                default: "the record could not be written here; it stands at its origin"
                }
            return RecordHeader(header.rawValue, text)
        }
        return Event(id: id, topic: .quarantined, key: nil, headers: label(of: stub, id: id) + headers, value: nil)
    }

    private static func label(of stub: QuarantineStub, id: EventID) -> [RecordHeader] {
        QuarantineHeader.label.map { header in
            let text =
                switch header {
                case .reason: stub.reason
                case .time: stub.timestamp.rfc3339
                case .topic: stub.origin.topic
                case .partition: String(stub.origin.partition)
                case .offset: String(stub.origin.offset)
                default: id.rawValue
                }
            return RecordHeader(header.rawValue, text)
        }
    }

    private static func id(of stub: QuarantineStub) -> EventID {
        // Byte by byte in decimal, as ever: an id that changes is another event.
        let digest = stub.digest.bytes.map { String($0) }.joined(separator: ".")
        let origin = stub.origin
        let name = "quarantined:\(origin.topic):\(origin.partition):\(origin.offset):\(digest)"
        return EventID(NameBasedUUID.text(namespace: NameBasedUUID.events, name: name))
    }
}

/// The worker's headers on a record of the quarantine topic, without the headers that the record came with.
///
/// A producer may send the same names, such as with a copy of a quarantined record. So the worker's headers are the
/// last ones that have all names of a label, one behind the other. A stub has three more right behind them, and none
/// before. All other headers are the producer's.
public struct QuarantineLabel: Hashable, Sendable {
    /// Of a stub: the value that the topic did not take.
    public struct Content: Hashable, Sendable {
        /// The digits of its SHA-256.
        public let digest: String
        /// Its length in bytes.
        public let size: Int
    }

    public let reason: String
    public let origin: Origin
    public let id: EventID
    /// Nil for a record that has its value.
    public let stub: Content?
    /// The headers that the record came with.
    public let own: [RecordHeader]

    /// Nil for a record that no worker has written.
    public init?(_ headers: [RecordHeader]) {
        let label = QuarantineHeader.label
        func has(_ names: [QuarantineHeader], at start: Int) -> Bool {
            headers.count >= start + names.count
                && zip(headers[start...], names).allSatisfy { $0.name == $1.rawValue && $0.value != nil }
        }
        guard let start = headers.indices.last(where: { has(label, at: $0) }) else { return nil }
        /// A header of the label, or of those of a stub behind it.
        func text(_ header: QuarantineHeader) -> String {
            guard let place = (label + QuarantineHeader.ofStub).firstIndex(of: header) else { return "" }
            return String(decoding: headers[start + place].value ?? [], as: UTF8.self)
        }
        guard let partition = Int32(text(.partition)), let offset = Int64(text(.offset)) else { return nil }
        reason = text(.reason)
        origin = Origin(topic: text(.topic), partition: partition, offset: offset)
        id = EventID(text(.id))
        if start == 0, has(QuarantineHeader.ofStub, at: label.count) {
            stub = Content(digest: text(.digest), size: Int(text(.size)) ?? 0)
            own = []
        } else {
            stub = nil
            own = Array(headers[..<start])
        }
    }
}
