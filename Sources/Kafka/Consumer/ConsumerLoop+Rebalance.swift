internal import CLibrdkafka
internal import Logging
internal import Metrics

extension ConsumerLoop {
    /// Answers the group at once; what follows from it is the owner's, in its own time.
    func rebalance(_ code: rd_kafka_resp_err_t, _ partitions: [KafkaPartition]) {
        switch code {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: grant(partitions)
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS: revoke(partitions)
        default:
            // Documented answer to anything else: synchronise by giving up everything.
            report(KafkaError(code))
            isJoining = true
            let all = assignment.granted
            carryOut(assignment.revoke(all.sorted(), isIncremental: false))
            if !all.isEmpty { sink(.lost(all.sorted())) }
        }
    }

    private func grant(_ partitions: [KafkaPartition]) {
        // Asked now only: the call waits for librdkafka's main thread, for ever once the group was left, and the
        // protocol cannot change between two grants.
        isIncremental =
            rd_kafka_rebalance_protocol(handle.pointer).map { String(cString: $0) == "COOPERATIVE" } ?? false
        hadAssignment = true
        isJoining = false
        carryOut(assignment.grant(partitions, isIncremental: isIncremental))
        metrics.grants.increment()
        logger.info("Kafka partitions granted", metadata: ["partitions": "\(partitions.count)"])
        sink(.assigned(partitions.sorted()))
    }

    private func revoke(_ partitions: [KafkaPartition]) {
        // Asked first: giving partitions back resets the answer.
        let isLost = rd_kafka_assignment_lost(handle.pointer) != 0
        isJoining = true
        carryOut(assignment.revoke(partitions, isIncremental: isIncremental))
        (isLost ? metrics.losses : metrics.revocations).increment()
        logger.info(
            "Kafka partitions revoked", metadata: ["partitions": "\(partitions.count)", "lost": "\(isLost)"])
        if !partitions.isEmpty { sink(isLost ? .lost(partitions.sorted()) : .revoked(partitions.sorted())) }
    }

    /// Makes one call, and drops what was fetched for partitions that it takes away or begins anew.
    func carryOut(_ call: PartitionAssignment.Call) {
        do throws(KafkaError) {
            switch call {
            case .replace(let offsets):
                try readers.add(offsets.keys)
                let list = try PartitionList(offsets: offsets)
                try KafkaError.check(rd_kafka_assign(handle.pointer, list.pointer))
                drop { _ in true }
            case .unassign:
                try KafkaError.check(rd_kafka_assign(handle.pointer, nil))
                drop { _ in true }
            case .add(let offsets):
                try readers.add(offsets.keys)
                let list = try PartitionList(offsets: offsets)
                if let error = KafkaError.taking(rd_kafka_incremental_assign(handle.pointer, list.pointer)) {
                    throw error
                }
            case .remove(let partitions):
                let list = try PartitionList(partitions)
                if let error = KafkaError.taking(rd_kafka_incremental_unassign(handle.pointer, list.pointer)) {
                    throw error
                }
                drop { partitions.contains($0) }
            }
        } catch {
            report(error)
        }
        readers.keep(only: assignment.readings.keys)
        metrics.granted.set(assignment.granted.count)
        metrics.read.set(assignment.readings.count)
    }

    private func drop(where isGone: (KafkaPartition) -> Bool) {
        guard let buffered, isGone(buffered) else { return }
        metrics.dropped.increment(by: buffer.removeAll())
    }
}
