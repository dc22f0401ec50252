internal import CLibrdkafka
internal import Contract
internal import Logging
internal import Metrics

extension ConsumerLoop {
    /// Records in one turn, after which commands and the group have their turn again.
    private static let recordsPerTurn = 4096

    /// Hands over records as far as the demand allows, a batch of each partition in turn.
    /// - Returns: whether there may be more to hand over at once.
    func serveRecords() -> Bool {
        var batches: [KafkaBatch] = []
        var (taken, emptyReaders) = (0, 0)
        while demand.isOpen, taken < Self.recordsPerTurn, emptyReaders < readers.count || !buffer.isEmpty {
            if buffer.isEmpty {
                guard let reader = readers.nextReader() else { break }
                buffer.fill(from: reader.queue)
                buffered = reader.partition
                emptyReaders = buffer.isEmpty ? emptyReaders + 1 : 0
            }
            taken += buffer.count
            if let buffered { handOver(buffered, into: &batches) }
        }
        send(&batches)
        remindBrokers(of: refill.due())
        return taken >= Self.recordsPerTurn
    }

    /// Hands over the buffer's messages, which are of this partition, as far as the demand allows.
    private func handOver(_ partition: TopicPartition, into batches: inout [KafkaBatch]) {
        guard var reading = assignment.readings[partition] else {
            return metrics.dropped.increment(by: buffer.removeAll())
        }
        var records: [InputRecord] = []
        func collect() {
            guard !records.isEmpty else { return }
            assignment.advance(partition, to: reading.next)
            batches.append(KafkaBatch(partition: partition, assignmentID: reading.assignmentID, records: records))
            records = []
        }
        var taken = (records: 0, bytes: 0)
        defer { refill.took(records: taken.records, bytes: taken.bytes, of: partition) }
        while demand.isOpen, let message = buffer.takeOldest() {
            defer { rd_kafka_message_destroy(message) }
            taken = (taken.records + 1, taken.bytes + message.pointee.len)
            guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
                let text = rd_kafka_message_errstr(message).map(String.init(cString:))
                if Self.isOutOfRange(message.pointee.err) {
                    collect()
                    send(&batches)
                    return outOfRange(
                        partition, at: message.pointee.offset, KafkaFailure(message.pointee.err, text: text))
                }
                report(KafkaError(message.pointee.err, text: text))
                guard KafkaError.isOfRecords(message.pointee.err, at: message.pointee.offset) else { continue }
                collect()
                send(&batches)
                return unreadable(partition, reading, at: message.pointee.offset)
            }
            switch PartitionAssignment.arrival(of: message.pointee.offset, in: reading) {
            case .inOrder: break
            case .afterGone(let offsets):
                collect()
                recordsGone(partition, offsets)
            case .wentBack(let expected):
                collect()
                send(&batches)
                return wentBack(partition, reading, expected: expected, found: message.pointee.offset)
            }
            let record = InputRecord(message, of: partition)
            demand.gave(bytes: record.byteCount)
            records.append(record)
            reading.next = record.origin.offset + 1
            reading.isReset = false
        }
        collect()
    }

    private func send(_ batches: inout [KafkaBatch]) {
        if !batches.isEmpty { sink(.records(batches)) }
        batches = []
    }

    /// The broker has no record at an offset: it was deleted, or was never there.
    private func outOfRange(_ partition: TopicPartition, at offset: Int64, _ failure: KafkaFailure) {
        metrics.count(failure)
        // Another error is librdkafka's own mistake, without effect.
        if let reading = assignment.readings[partition], PartitionAssignment.isNextGone(offset, in: reading) {
            logger.warning(
                "The broker does not have the next record; reading goes on at the oldest one",
                metadata: ["partition": "\(partition)", "offset": .number(Int(offset)), "reason": "\(failure.text)"])
        }
        for call in assignment.restart(partition, after: offset, isIncremental: isIncremental) { carryOut(call) }
    }

    /// Whether librdkafka has stopped reading a partition, because its broker does not have the offset or has another
    /// record there.
    static func isOutOfRange(_ code: rd_kafka_resp_err_t) -> Bool {
        // librdkafka before 2.1 has no name for the second, and does not say it.
        let logTruncation = rd_kafka_resp_err_t(-139)
        return [RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, logTruncation].contains(code)
    }

    private func recordsGone(_ partition: TopicPartition, _ offsets: Range<Int64>) {
        metrics.recordsGone.increment(by: offsets.count)
        logger.error(
            "Records were deleted from the topic before they were read; reading goes on after them",
            metadata: [
                "partition": "\(partition)", "from": .number(Int(offsets.lowerBound)),
                "to": .number(Int(offsets.upperBound)),
            ])
    }

    private func wentBack(
        _ partition: TopicPartition, _ reading: PartitionAssignment.Reading, expected: Int64, found: Int64
    ) {
        for call in assignment.stop([partition], isIncremental: isIncremental) { carryOut(call) }
        metrics.wentBack.increment()
        logger.error(
            "A partition's offsets went back: its topic was made anew or lost its end",
            metadata: ["partition": "\(partition)", "expected": .number(Int(expected)), "found": .number(Int(found))])
        sink(.offsetsWentBack(partition, assignmentID: reading.assignmentID))
    }

    private func unreadable(_ partition: TopicPartition, _ reading: PartitionAssignment.Reading, at named: Int64) {
        switch PartitionAssignment.arrival(ofDamaged: named, in: reading) {
        case .wentBack(let expected): return wentBack(partition, reading, expected: expected, found: named)
        case .afterGone(let offsets): recordsGone(partition, offsets)
        case .inOrder: break
        }
        let offset = PartitionAssignment.firstDamaged(named, in: reading)
        for call in assignment.stop([partition], isIncremental: isIncremental) { carryOut(call) }
        logger.error(
            "Records come damaged from their broker; the partition is read again from the first that is not complete",
            metadata: ["partition": "\(partition)", "offset": .number(Int(offset))])
        sink(.unreadable(partition, assignmentID: reading.assignmentID, at: offset))
    }

    /// Makes librdkafka check for room now. Its interface has no call for that. A request for the leaders of some
    /// partitions wakes the brokers' threads, and each then checks how much it may fetch. Nobody waits for the replies.
    private func remindBrokers(of partitions: [TopicPartition]) {
        guard !KafkaConsumerConfiguration.hasQueueBackoff else { return }
        // One by one: a partition without a leader would keep the others from being asked.
        for partition in partitions where assignment.readings[partition] != nil {
            guard let list = try? PartitionList(offsets: [partition: Int64(RD_KAFKA_OFFSET_END)]) else { return }
            _ = rd_kafka_offsets_for_times(handle.pointer, list.pointer, 0)
        }
    }
}
