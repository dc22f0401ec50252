internal import CLibrdkafka
public import Contract
public import Kafka
public import Logging
internal import Scheduling

/// Reads stretches of partitions once, from end to end. It joins no group and moves no offset, so only the brokers
/// notice it.
public struct KafkaScan: Sendable {
    /// Consecutive records of one partition; at least one.
    public struct Batch: Sendable {
        public let partition: TopicPartition
        public let records: [InputRecord]
    }

    /// Most records, and most bytes of keys, values and headers, handed over at once; a single record may be larger.
    static let (maxRecords, maxBytes) = (2000, 8 << 20)

    /// Longest time without a record, or the end of a partition, before a scan gives up.
    var patience = Duration.seconds(30)
    private let admin: KafkaAdmin
    private let group: String

    /// - Parameter group: the group whose access rights are used. librdkafka wants one; it is not joined.
    public init(configuration: KafkaClientConfiguration, group: String, logger: Logger) {
        admin = KafkaAdmin(configuration: configuration, logger: logger)
        self.group = group
    }

    /// Reads topics from their oldest retained record to their present end; see ``read(_:_:)``.
    public func read(topics: [String], _ take: (Batch) -> Bool) throws(KafkaError) {
        try read(try admin.offsets(of: topics), take)
    }

    /// Hands over every record of these stretches that is still retained, in order within a partition. Blocks.
    ///
    /// Offsets that hold no record (of aborted transactions, or compacted away) are passed over.
    ///
    /// - Parameter take: receives records of one partition at a time; returns whether to go on.
    /// - Throws: `rejected` when a batch of a stretch is damaged, with its partition and offset; `denied`,
    ///   configuration errors. The error is `transient` when no records come for long, though a stretch has not ended:
    ///   a topic may have lost its end.
    public func read(_ stretches: [TopicPartition: Range<Int64>], _ take: (Batch) -> Bool) throws(KafkaError) {
        let stretches = stretches.filter { !$0.value.isEmpty }
        var progress = ScanProgress(stretches)
        guard !progress.isFinished else { return }
        // A consumer that only looks on, whatever the operator set for workers.
        let forced = [
            "group.id": group, "enable.auto.commit": "false", "enable.auto.offset.store": "false",
            "enable.partition.eof": "true", "auto.offset.reset": "earliest", "isolation.level": "read_committed",
            "check.crcs": "true", "queued.max.messages.kbytes": "16384", "fetch.max.bytes": String(8 << 20),
            "statistics.interval.ms": "0",
        ]
        try admin.withClient(RD_KAFKA_CONSUMER, forced: forced) { handle throws(KafkaError) in
            let list = try PartitionList(offsets: stretches.mapValues(\.lowerBound))
            try KafkaError.check(rd_kafka_poll_set_consumer(handle.pointer))
            try KafkaError.check(rd_kafka_assign(handle.pointer, list.pointer))
            while !progress.isFinished {
                for (partition, records) in try poll(handle, &progress) {
                    guard take(Batch(partition: partition, records: records)) else { return }
                }
            }
        }
    }

    /// Blocks until there is something, or a partition has ended.
    private func poll(
        _ handle: ClientHandle, _ progress: inout ScanProgress
    ) throws(KafkaError) -> [(TopicPartition, [InputRecord])] {
        var records: [TopicPartition: [InputRecord]] = [:]
        var (count, bytes) = (0, 0)
        var deadline = Instant.now + patience
        while count < Self.maxRecords, bytes < Self.maxBytes, !progress.isFinished {
            guard let message = rd_kafka_consumer_poll(handle.pointer, count == 0 ? 100 : 0) else {
                if count > 0 { break }
                guard Instant.now < deadline else { throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT) }
                continue
            }
            defer { rd_kafka_message_destroy(message) }
            let partition = TopicPartition(of: message)
            let (offset, isOpen) = (message.pointee.offset, progress.isOpen(partition))
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR where progress.takes(offset, of: partition):
                let record = InputRecord(message, of: partition)
                records[partition, default: []].append(record)
                count += 1
                bytes += record.byteCount
                deadline = .now + patience
                continue
            case RD_KAFKA_RESP_ERR_NO_ERROR: break
            case RD_KAFKA_RESP_ERR__PARTITION_EOF: progress.reached(offset, of: partition)
            case let code:
                let text = rd_kafka_message_errstr(message).map(String.init(cString:))
                if KafkaError.isOfRecords(code, at: offset) {
                    // Behind a stretch nobody reads.
                    progress.reached(offset, of: partition)
                    guard progress.isOpen(partition) else { break }
                    throw .unreadableBatch(of: partition, at: offset, code, text: text)
                }
                let error = KafkaError(code, text: text)
                // librdkafka continues by itself after transient faults; permanent ones are thrown at once.
                guard error.disposition == .retry else { throw error }
            }
            if isOpen, !progress.isOpen(partition) { deadline = .now + patience }
            // Errors, and records outside the stretches, may come for ever.
            guard Instant.now < deadline else {
                if count > 0 { break }
                throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT)
            }
        }
        return records.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// The partitions that a scan is not through with, each with the offsets still to be read. Pure.
struct ScanProgress {
    private var rests: [TopicPartition: Range<Int64>]

    /// - Parameter stretches: none of them empty.
    init(_ stretches: [TopicPartition: Range<Int64>]) { rests = stretches }

    var isFinished: Bool { rests.isEmpty }
    func isOpen(_ partition: TopicPartition) -> Bool { rests[partition] != nil }

    /// Whether a record belongs to a stretch and comes for the first time: librdkafka repeats those before a damaged
    /// batch. The last one, and any behind it, ends the partition.
    mutating func takes(_ offset: Int64, of partition: TopicPartition) -> Bool {
        guard let rest = rests[partition], offset >= rest.lowerBound else { return false }
        rests[partition] = offset >= rest.upperBound - 1 ? nil : offset + 1..<rest.upperBound
        return offset < rest.upperBound
    }

    /// Reading has come to an offset, and all before it was handed over. A lagging broker may say that a partition ends
    /// before the stretch does. The rest is still to come then.
    mutating func reached(_ offset: Int64, of partition: TopicPartition) {
        if let rest = rests[partition], offset >= rest.upperBound { rests[partition] = nil }
    }
}

extension KafkaAdmin {
    /// The offsets that the partitions of topics hold: from the oldest that is retained to the next to be written.
    /// Partitions are asked one after the other, so that each reply is of a moment of its own.
    ///
    /// - Throws: `transient` (`UNKNOWN_TOPIC_OR_PART`) for a topic that is not there, `denied`, configuration errors.
    ///   The error is also `transient` when a partition has no leader or not all answered within `timeout`.
    public func offsets(
        of topics: [String], timeout: Duration = .seconds(30)
    ) throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        let deadline = Instant.now + timeout
        let cluster = try describe()
        // A scan comes no further than to the first transaction that is open.
        return try withClient(forced: ["isolation.level": "read_committed"]) { handle throws(KafkaError) in
            var offsets: [TopicPartition: Range<Int64>] = [:]
            for topic in topics {
                guard case .present(let partitions)? = cluster.topics[topic] else {
                    throw KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, text: "there is no topic \(topic)")
                }
                for index in 0..<Int32(clamping: partitions.count) {
                    var (low, high): (Int64, Int64) = (0, 0)
                    try untilSettled { () throws(KafkaError) in
                        let rest: Int32 = max(deadline - .now, .zero).wholeMilliseconds
                        try KafkaError.check(
                            rd_kafka_query_watermark_offsets(handle.pointer, topic, index, &low, &high, rest))
                    }
                    offsets[TopicPartition(topic: topic, partition: index)] = low..<max(low, high)
                }
            }
            return offsets
        }
    }

    /// Of each partition the first offset whose record has this time or a later time; partitions without such a record
    /// are left out.
    ///
    /// - Throws: `transient` when a partition has no leader or not all answered within `timeout`, `denied`,
    ///   configuration errors.
    public func offsets(
        at time: Timestamp, in partitions: [TopicPartition], timeout: Duration = .seconds(30)
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        guard !partitions.isEmpty else { return [:] }
        return try withClient { handle throws(KafkaError) in
            try untilSettled { () throws(KafkaError) in
                // The call replaces each time by an offset, or by a negative number.
                let list = try PartitionList(
                    offsets: Dictionary(partitions.map { ($0, time.milliseconds) }) { first, _ in first })
                try KafkaError.check(
                    rd_kafka_offsets_for_times(handle.pointer, list.pointer, timeout.wholeMilliseconds))
                if let error = list.refused.min(by: { $0.key < $1.key })?.value { throw error }
                return list.offsets.filter { $0.value >= 0 }
            }
        }
    }
}
