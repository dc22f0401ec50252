internal import CLibrdkafka
public import Logging

/// Reads stretches of partitions once, from end to end. It joins no group, moves no offset, and nobody notices it but the
/// brokers: meant for audits and repairs.
public struct KafkaScan: Sendable {
    /// Most records, and most bytes of keys, values and headers, handed over at once; a single record may be larger.
    static let (maxRecords, maxBytes) = (2000, 8 << 20)
    /// How long brokers may be silent before a scan gives up.
    static let patience = Duration.seconds(30)

    private let configuration: KafkaClientConfiguration
    private let group: String
    private let logger: Logger

    /// - Parameter group: which group's access rights are used. librdkafka wants one; it is not joined.
    public init(configuration: KafkaClientConfiguration, group: String, logger: Logger) {
        self.configuration = configuration
        self.group = group
        self.logger = logger
    }

    /// What a client needs that only looks on.
    static func properties(knowing group: String) -> [String: String] {
        [
            "group.id": group, "enable.auto.commit": "false", "enable.auto.offset.store": "false",
            "enable.partition.eof": "true", "auto.offset.reset": "earliest", "isolation.level": "read_committed",
            "check.crcs": "true", "queued.max.messages.kbytes": "16384", "fetch.max.bytes": String(8 << 20),
            "statistics.interval.ms": "0",
        ]
    }

    /// Hands over every record of these stretches that is still retained, those of one partition in order.
    ///
    /// Offsets that hold no record (of aborted transactions, or compacted away) are passed over.
    /// - Throws: `transient` when brokers are silent for long, `denied`, configuration errors, `cancelled` when the task is
    ///   cancelled.
    public func read(
        _ stretches: [KafkaPartition: Range<Int64>], _ take: ([KafkaRecord]) -> Void
    ) async throws(KafkaError) {
        var ends = stretches.filter { !$0.value.isEmpty }.mapValues(\.upperBound)
        guard !ends.isEmpty else { return }
        let starts = stretches.filter { ends[$0.key] != nil }.mapValues(\.lowerBound)
        let handle = try await open(from: starts)
        do throws(KafkaError) {
            while !ends.isEmpty {
                guard !Task.isCancelled else { throw .cancelled }
                let batch = try await DedicatedThread.call("kafka-scan") { [ends] in
                    Result { () throws(KafkaError) in try ScanBatch.poll(handle, ends) }
                }
                take(batch.records)
                for partition in batch.finished { ends[partition] = nil }
            }
        } catch {
            await close(handle)
            throw error
        }
        await close(handle)
    }

    private func open(from starts: [KafkaPartition: Int64]) async throws(KafkaError) -> KafkaHandle {
        try await DedicatedThread.call("kafka-scan") { [configuration, group] in
            Result { () throws(KafkaError) in
                var properties = try ClientProperties(configuration, defaults: [:], guards: [])
                properties.force(Self.properties(knowing: group))
                let handle = try KafkaHandle(RD_KAFKA_CONSUMER, properties: properties, events: 0)
                do throws(KafkaError) {
                    try Self.assign(starts, to: handle)
                } catch {
                    handle.destroy(leavingGroup: false)
                    throw error
                }
                return handle
            }
        }
    }

    private static func assign(_ starts: [KafkaPartition: Int64], to handle: KafkaHandle) throws(KafkaError) {
        guard let list = PartitionList(offsets: starts) else {
            throw .resourcesExhausted("rd_kafka_topic_partition_list_new", errno: 0)
        }
        for code in [rd_kafka_poll_set_consumer(handle.pointer), rd_kafka_assign(handle.pointer, list.pointer)]
        where code != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw KafkaError(code)
        }
    }

    private func close(_ handle: KafkaHandle) async {
        await BoundedWait.run(limit: .seconds(5)) { answer in
            do {
                try DedicatedThread.start("kafka-scan") {
                    handle.destroy(leavingGroup: false)
                    answer()
                }
            } catch {
                logger.warning("A Kafka scan's client could not be closed", metadata: ["error": "\(error)"])
                answer()
            }
        }
    }
}

/// What one look at a scan's client brings.
private struct ScanBatch: Sendable {
    var records: [KafkaRecord] = []
    var finished: [KafkaPartition] = []

    /// Blocks until there is something.
    ///
    /// - Parameter ends: where each partition's stretch ends; others are not looked at.
    static func poll(
        _ handle: KafkaHandle, _ ends: [KafkaPartition: Int64]
    ) throws(KafkaError) -> ScanBatch {
        var batch = ScanBatch()
        var bytes = 0
        let deadline = ContinuousClock.now + KafkaScan.patience
        while batch.records.count < KafkaScan.maxRecords, bytes < KafkaScan.maxBytes {
            let isEmpty = batch.records.isEmpty && batch.finished.isEmpty
            guard let message = rd_kafka_consumer_poll(handle.pointer, isEmpty ? 100 : 0) else {
                guard isEmpty else { return batch }
                guard ContinuousClock.now < deadline else { throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT) }
                continue
            }
            defer { rd_kafka_message_destroy(message) }
            if let record = try batch.take(message, ends) { bytes += record.byteCount }
        }
        return batch
    }

    private mutating func take(
        _ message: UnsafeMutablePointer<rd_kafka_message_t>, _ ends: [KafkaPartition: Int64]
    ) throws(KafkaError) -> KafkaRecord? {
        guard let topic = message.pointee.rkt, let name = rd_kafka_topic_name(topic) else {
            try check(message.pointee.err)
            return nil
        }
        let partition = KafkaPartition(topic: String(cString: name), index: message.pointee.partition)
        // What was written after the stretch's end is not asked for.
        guard let end = ends[partition], !finished.contains(partition) else { return nil }
        switch message.pointee.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            let record = KafkaRecord(message, partition: partition, epoch: 0)
            if record.offset >= end - 1 { finished.append(partition) }
            guard record.offset < end else { return nil }
            records.append(record)
            return record
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
            finished.append(partition)
        case let code:
            try check(code)
        }
        return nil
    }

    private func check(_ code: rd_kafka_resp_err_t) throws(KafkaError) {
        let error = KafkaError(code)
        // librdkafka goes on by itself after faults that pass; those that do not are said at once.
        guard error.disposition == .retry else { throw error }
    }
}
