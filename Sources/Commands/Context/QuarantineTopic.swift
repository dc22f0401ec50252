import CommandParser
import Configuration
import Contract
import Cryptography
import Kafka
import Logging
import Worker

/// Partition and offset on the quarantine topic.
struct QuarantinePlace: Hashable, Sendable, Comparable {
    let partition: Int32
    let offset: Int64

    /// Such as `3/1742`.
    var text: String { "\(partition)/\(offset)" }

    static func < (left: Self, right: Self) -> Bool {
        (left.partition, left.offset) < (right.partition, right.offset)
    }
}

extension ValueForm<QuarantinePlace> {
    static var quarantinePlace: Self {
        ValueForm(
            "a partition and an offset, such as 3/1742",
            read: { text in
                let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2, let partition = ValueForm<Int32>.integer(0...Int32.max).read(parts[0]),
                    let offset = ValueForm<Int64>.integer(0...(Int64.max - 1)).read(parts[1])
                else { return nil }
                return QuarantinePlace(partition: partition, offset: offset)
            }, show: \.text)
    }
}

/// A record of the quarantine topic as people see it, without its value.
struct QuarantinedRecord: Hashable, Sendable {
    let place: QuarantinePlace
    /// The time of the record that was quarantined.
    let at: Timestamp?
    let reason: String
    /// Of the record: its user, as producers are asked to have it. Nil for none.
    let key: String?
    let origin: String
    /// Bytes and SHA-256 of the value that was quarantined.
    let size: Int
    let digest: String
    /// Whether it has no value, because the topic did not take it.
    let isStub: Bool
    /// The headers that the record came with.
    let own: [RecordHeader]

    init(_ record: InputRecord) {
        let label = QuarantineLabel(record.headers)
        place = QuarantinePlace(partition: record.origin.partition, offset: record.origin.offset)
        at = record.timestamp
        key = record.key.map { String(decoding: $0, as: UTF8.self) }
        reason = label?.reason ?? "not told: another program wrote it"
        origin = label.map { "\($0.origin)" } ?? "?/?/?"
        isStub = label?.stub != nil
        size = label?.stub?.size ?? record.value?.count ?? 0
        digest = label?.stub?.digest ?? SHA256.hash(record.value ?? []).hex
        own = label?.own ?? record.headers
    }

    /// The headers that the record came with, as text.
    var headers: [(name: String, value: String?)] {
        own.map { ($0.name, $0.value.map { String(decoding: $0, as: UTF8.self) }) }
    }

    func json(withHeaders: Bool) -> JSONOutput {
        let headers = headers.map { JSONOutput.object(["name": .text($0.name), "value": .text($0.value)]) }
        return .object([
            "place": .text(place.text), "at": .time(at), "reason": .text(reason), "key": .text(key),
            "origin": .text(origin),
            "bytes": .count(size), "sha256": .text(digest), "isStub": .truth(isStub),
            "headers": withHeaders ? .list(headers) : .absent,
        ])
    }
}

/// The quarantine topic as commands read it.
protocol QuarantineTopic: Sendable {
    /// Hands over the latest records of each partition, at most so many of it.
    /// - Returns: How many offsets were left out.
    func latest(_ mostOfPartition: Int, _ take: (InputRecord) -> Void) throws(KafkaError) -> Int64
    /// Nil if there is none, or none any more.
    func record(_ place: QuarantinePlace) throws(KafkaError) -> InputRecord?
}

/// The topic as it stands on Kafka.
struct KafkaQuarantine: QuarantineTopic {
    private let records: TopicRecords

    init(_ settings: KafkaSettings, logger: Logger) {
        records = TopicRecords(of: settings.topics[.quarantined], settings, logger: logger)
    }

    func latest(_ mostOfPartition: Int, _ take: (InputRecord) -> Void) throws(KafkaError) -> Int64 {
        let held = try records.held()
        let stretches = held.mapValues { held in
            max(held.lowerBound, held.upperBound - Int64(mostOfPartition))..<held.upperBound
        }
        try records.read(stretches, take)
        return held.reduce(0) { $0 + (stretches[$1.key]?.lowerBound ?? 0) - $1.value.lowerBound }
    }

    func record(_ place: QuarantinePlace) throws(KafkaError) -> InputRecord? {
        let partition = records.partition(place.partition)
        guard let held = try records.held()[partition], held.contains(place.offset) else { return nil }
        var found: InputRecord?
        try records.read([partition: place.offset..<place.offset + 1]) { found = $0 }
        return found
    }
}

extension Timestamp {
    /// Before every record's time.
    static var distantPast: Timestamp { Timestamp(milliseconds: .min) }
}
