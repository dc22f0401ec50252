internal import CLibrdkafka
public import Logging
internal import Scheduling

/// Reads stretches of partitions once, from end to end. It joins no group and moves no offset, so nobody notices it but
/// the brokers: meant for audits and repairs.
public struct KafkaScan: Sendable {
    /// Most records, and most bytes of keys, values and headers, handed over at once; a single record may be larger.
    static let (maxRecords, maxBytes) = (2000, 8 << 20)
    /// Longest silence of the brokers before a scan gives up.
    static let patience = Duration.seconds(30)

    private let configuration: KafkaClientConfiguration
    private let group: String
    private let logger: Logger

    /// - Parameter group: the group whose access rights are used. librdkafka wants one; it is not joined.
    public init(configuration: KafkaClientConfiguration, group: String, logger: Logger) {
        self.configuration = configuration
        self.group = group
        self.logger = logger
    }

    /// Reads topics from the oldest record that is retained to the end that they have at this moment; see
    /// ``read(_:_:)``.
    public func read(topics: [String], _ take: (KafkaBatch) -> Bool) throws(KafkaError) {
        let admin = KafkaAdmin(configuration: configuration, logger: logger)
        try read(try admin.offsets(of: topics), take)
    }

    /// Hands over every record of these stretches that is still retained, those of one partition in order. Blocks.
    ///
    /// Offsets that hold no record (of aborted transactions, or compacted away) are passed over.
    /// - Parameter take: receives records of one partition at a time; returns whether to go on.
    /// - Throws: `transient` when brokers are silent for long, `denied`, configuration errors.
    public func read(_ stretches: [KafkaPartition: Range<Int64>], _ take: (KafkaBatch) -> Bool) throws(KafkaError) {
        var progress = ScanProgress(ends: stretches.filter { !$0.value.isEmpty }.mapValues(\.upperBound))
        guard !progress.isFinished else { return }
        let handle = try open(from: stretches.filter { !$0.value.isEmpty }.mapValues(\.lowerBound))
        defer {
            if !handle.destroy(until: .now + .seconds(5)) {
                logger.warning("A Kafka client that scanned was left behind: it is not freed in time")
            }
        }
        while !progress.isFinished {
            for (partition, records) in try poll(handle, &progress) {
                guard take(KafkaBatch(partition: partition, assignmentID: 0, records: records)) else { return }
            }
        }
    }

    private func open(from starts: [KafkaPartition: Int64]) throws(KafkaError) -> ClientHandle {
        var properties = try ClientProperties(configuration, defaults: [:], rules: [])
        properties.onlyLook(knowing: group)
        let handle = try ClientHandle(RD_KAFKA_CONSUMER, properties: properties)
        do throws(KafkaError) {
            let list = try PartitionList(offsets: starts)
            try KafkaError.check(rd_kafka_poll_set_consumer(handle.pointer))
            try KafkaError.check(rd_kafka_assign(handle.pointer, list.pointer))
            return handle
        } catch {
            handle.destroy()
            throw error
        }
    }

    /// Blocks until there is something, or a partition has ended.
    private func poll(
        _ handle: ClientHandle, _ progress: inout ScanProgress
    ) throws(KafkaError) -> [(KafkaPartition, [KafkaRecord])] {
        var records: [KafkaPartition: [KafkaRecord]] = [:]
        var (count, bytes) = (0, 0)
        let deadline = Instant.now + Self.patience
        while count < Self.maxRecords, bytes < Self.maxBytes, !progress.isFinished {
            guard let message = rd_kafka_consumer_poll(handle.pointer, count == 0 ? 100 : 0) else {
                if count > 0 { break }
                guard Instant.now < deadline else { throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT) }
                continue
            }
            defer { rd_kafka_message_destroy(message) }
            let partition = KafkaPartition(of: message)
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                guard progress.takes(message.pointee.offset, of: partition) else { continue }
                let record = KafkaRecord(message)
                records[partition, default: []].append(record)
                count += 1
                bytes += record.byteCount
            case RD_KAFKA_RESP_ERR__PARTITION_EOF: progress.end(partition)
            case let code:
                let error = KafkaError(code, text: rd_kafka_message_errstr(message).map(String.init(cString:)))
                // librdkafka continues by itself after transient faults; permanent ones are thrown at once.
                guard error.disposition == .retry else { throw error }
            }
        }
        return records.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// The partitions that a scan is not through with, and where each ends. Pure.
struct ScanProgress {
    private var ends: [KafkaPartition: Int64]

    init(ends: [KafkaPartition: Int64]) { self.ends = ends }
    var isFinished: Bool { ends.isEmpty }

    /// Whether a record belongs to a stretch; its last one, and any behind it, ends the partition.
    mutating func takes(_ offset: Int64, of partition: KafkaPartition) -> Bool {
        guard let end = ends[partition] else { return false }
        if offset >= end - 1 { ends[partition] = nil }
        return offset < end
    }

    mutating func end(_ partition: KafkaPartition) { ends[partition] = nil }
}
