import Foundation
import Kafka
import Purchases

/// What came on the output topics, by event. Pure; it keeps the first copy of each event and whether others differed.
struct TopicIndex: Sendable {
    /// One event and its copies.
    struct Entry: Sendable {
        let topic: String
        let key: [UInt8]?
        let value: [UInt8]?
        let headers: [KafkaHeader]
        /// Of the first copy, in milliseconds since 1970; nil if it has none.
        var timestamp: Int64?
        var copies = 1
        /// Whether a copy had another key, value, header or topic.
        var hasDifferentCopies = false
    }

    private(set) var entries: [EventID: Entry] = [:]
    /// Records without an event's id.
    private(set) var nameless = 0
    /// Distinct records.
    private(set) var records = 0
    /// Offsets that were passed over: records that a reader did not get.
    private(set) var skipped = 0
    /// Records that are read again after a session was lost are no copies.
    private var next: [KafkaPartition: Int64] = [:]

    /// Records that are repeats of others.
    var repeats: Int { records - nameless - entries.count }

    mutating func add(_ batch: [KafkaRecord]) {
        for record in batch where record.offset >= next[record.partition, default: 0] {
            skipped += Int(record.offset - next[record.partition, default: 0])
            next[record.partition] = record.offset + 1
            add(record)
        }
    }

    private mutating func add(_ record: KafkaRecord) {
        records += 1
        guard let id = Self.id(record) else {
            nameless += 1
            return
        }
        let topic = record.partition.topic
        guard var entry = entries[id] else {
            entries[id] = Entry(
                topic: topic, key: record.key, value: record.value, headers: record.headers,
                timestamp: record.timestampMilliseconds)
            return
        }
        entry.copies += 1
        if let timestamp = record.timestampMilliseconds {
            entry.timestamp = min(entry.timestamp ?? timestamp, timestamp)
        }
        if (entry.topic, entry.key, entry.value, entry.headers) != (topic, record.key, record.value, record.headers) {
            entry.hasDifferentCopies = true
        }
        entries[id] = entry
    }

    /// An event's id stands in a header: CloudEvents' own, or that of a quarantined record, which is added last.
    private static func id(_ record: KafkaRecord) -> EventID? {
        let name = record.partition.topic == Topic.quarantined ? "x-quarantine-id" : "ce_id"
        guard let value = record.headers.last(where: { $0.name == name })?.value else { return nil }
        return EventID(String(decoding: value, as: UTF8.self))
    }
}
