internal import CLibrdkafka
import Logging

extension ConsumerLoop {
    func rebalance(_ code: rd_kafka_resp_err_t, _ partitions: [KafkaPartition]) {
        switch code {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: assign(partitions)
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS: revoke(partitions)
        default:
            // Documented answer to anything else: synchronise by giving up everything.
            observer.count(error: KafkaFailure(code))
            isMember = false
            rd_kafka_assign(handle.pointer, nil)
        }
    }

    private func assign(_ partitions: [KafkaPartition]) {
        hadAssignment = true
        isMember = true
        // Topic handles of an earlier assignment may be gone, and their addresses taken by others.
        forgetTopicNames()
        // Before the assignment: fetching begins with it and keeps to a queue that the application has set.
        for partition in partitions { KafkaQueue.forward(partition, of: handle, to: records) }
        guard let list = PartitionList(partitions) else { return }
        let error =
            isIncremental
            ? KafkaError.taking(rd_kafka_incremental_assign(handle.pointer, list.pointer))
            : Self.error(rd_kafka_assign(handle.pointer, list.pointer))
        report(error)
        assignment.assigned(partitions)
        if case .failure(let error) = apply(pauses.assigned(partitions)) { report(error) }
        observer.count("assigned_partitions", by: partitions.count)
        logger.debug("Kafka partitions assigned", metadata: ["partitions": "\(partitions.count)"])
    }

    private func revoke(_ partitions: [KafkaPartition]) {
        // Asked first: giving partitions back resets the answer.
        let lost = rd_kafka_assignment_lost(handle.pointer) != 0
        revokedAt = .now
        let dropped = buffer.drop(partitions)
        if dropped > 0 { observer.count("dropped_records", by: dropped) }
        observer.count("revoked_partitions", by: partitions.count)
        logger.info(
            "Kafka partitions revoked", metadata: ["partitions": "\(partitions.count)", "lost": "\(lost)"])
        perform(assignment.revoked(partitions, lost: lost, now: .now))
    }

    /// Carries out what the state machine decided.
    func perform(_ action: ConsumerAssignment.Action) {
        switch action {
        case .none: break
        case .commit(let offsets, let token): commit(offsets, token: token)
        case .unassign(let partitions): unassign(partitions)
        }
    }

    private func commit(_ offsets: [KafkaPartition: Int64], token: UInt) {
        guard let list = PartitionList(offsets: offsets) else { return perform(assignment.committed(token: token)) }
        let code = rd_kafka_commit_queue(
            handle.pointer, list.pointer, control.pointer, nil, UnsafeMutableRawPointer(bitPattern: token * 2 + 1))
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        report(KafkaError(code))
        perform(assignment.committed(token: token))
    }

    private func unassign(_ partitions: [KafkaPartition]) {
        // Whoever gave something back joins anew.
        isMember = false
        defer { noteGivenBack(partitions) }
        guard isIncremental, let list = PartitionList(partitions) else {
            return report(Self.error(rd_kafka_assign(handle.pointer, nil)))
        }
        report(KafkaError.taking(rd_kafka_incremental_unassign(handle.pointer, list.pointer)))
    }

    private func noteGivenBack(_ partitions: [KafkaPartition]) {
        guard let start = revokedAt.take() else { return }
        let duration = ContinuousClock.now - start
        observer.revocation(took: duration)
        logger.info(
            "Kafka partitions given back",
            metadata: [
                "partitions": "\(partitions.count)", "milliseconds": "\(Int64(duration / .milliseconds(1)))",
            ])
    }

    /// The answer to a commit: of a revocation (odd token), of a caller (even), or librdkafka's own (0).
    func committed(_ code: rd_kafka_resp_err_t, token: UInt) {
        let succeeded = code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR__NO_OFFSET
        if !succeeded { observer.count(error: KafkaFailure(code)) }
        if token % 2 == 1 {
            perform(assignment.committed(token: token / 2))
        } else if let reply = commits.removeValue(forKey: token) {
            reply(succeeded ? .success(()) : .failure(KafkaError(code)))
        }
    }

    private var isIncremental: Bool {
        rd_kafka_rebalance_protocol(handle.pointer).map { String(cString: $0) == "COOPERATIVE" } ?? false
    }

    private func report(_ error: KafkaError?) {
        guard let failure = error?.failure else { return }
        observer.count(error: failure)
    }

    private static func error(_ code: rd_kafka_resp_err_t) -> KafkaError? {
        code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(code)
    }
}
