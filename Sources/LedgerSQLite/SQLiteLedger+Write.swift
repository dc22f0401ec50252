import Contract
public import Ledger

extension SQLiteLedger {
    public func write(_ batch: [Decision]) throws(LedgerError) -> [DecisionResult] {
        guard !batch.isEmpty else { return [] }
        let refused: StoreError
        do throws(StoreError) {
            return try writeAll(batch)
        } catch {
            guard error.isForData else { throw error.error(at: database.path) }
            refused = error
        }
        // Which decision it is, the database does not say: halves are tried until one is alone.
        guard batch.count > 1 else { return [.refused(detail: refused.reason)] }
        let middle = batch.count / 2
        return try write(Array(batch[..<middle])) + write(Array(batch[middle...]))
    }

    /// Writes a batch in one transaction, or nothing of it.
    private func writeAll(_ batch: [Decision]) throws(StoreError) -> [DecisionResult] {
        var planner = BatchPlanner(batch)
        try database.write { () throws(StoreError) in
            let now = clock()
            let partitions = try admit(batch, to: &planner)
            let fast = planner.fast
            planner.inserted(fast: fast, try database.grants.insert(fast, isFast: true, partitions: partitions))
            guard !planner.isComplete else { return }
            let answers = try database.answers.found(of: planner.submissions)
            let tried = planner.readAnswers(answers)
            planner.inserted(try database.grants.insert(tried, isFast: false, partitions: partitions))
            let questions = planner.questions
            let held = try database.grants.holders(questions.holders)
            let own = try database.grants.found(of: questions.submissions)
            let waiting = try database.retries.waiting(questions.waiting)
            let told = planner.conclude(
                held: held, own: own, ours: try database.grants.ours(questions.apps), waiting: waiting)
            try conclude(&planner, told, partitions: partitions, now: now)
        }
        // Rendered after the commit: nobody waits for the lock meanwhile.
        return planner.results()
    }

    /// Tells the planner which decisions count.
    /// - Returns: The numbers of the partitions that the batch's rows name.
    private func admit(
        _ batch: [Decision], to planner: inout BatchPlanner
    ) throws(StoreError) -> [TopicPartition: Int64] {
        var generations: [PartitionOwnership: Bool] = [:]
        var numbers: [TopicPartition: Int64] = [:]
        var owned: [Bool] = []
        for decision in batch {
            switch decision.source {
            case .record(let ownership):
                if let known = generations[ownership] {
                    owned.append(known)
                } else {
                    let isOwned = try database.partitions.isOwned(ownership)
                    generations[ownership] = isOwned
                    owned.append(isOwned)
                }
            case .row(let lease): owned.append(try database.retries.isOwned(lease))
            }
            let partition = decision.origin.topicPartition
            if owned.last == true, numbers[partition] == nil {
                numbers[partition] = try database.partitions.number(partition)
            }
        }
        planner.admit(owned)
        return numbers
    }

    /// Carries out all further writes once the planner has concluded.
    func conclude(
        _ planner: inout BatchPlanner, _ answers: [NewAnswer], partitions: [TopicPartition: Int64], now: Timestamp
    ) throws(StoreError) {
        var flags: [Bool] = []
        for new in answers {
            let partition = partitions[new.answer.origin.topicPartition] ?? 0
            flags.append(try database.answers.insert(new, partition: partition))
        }
        let writes = planner.answered(flags)
        try database.grants.withdraw(writes.withdrawn)
        for retry in writes.retries {
            try database.retries.insert(
                retry, partition: partitions[retry.submission.origin.topicPartition] ?? 0, now: now)
        }
        for update in writes.updatedRetries { try database.retries.update(update, now: now) }
        for lease in writes.endedRetries { try database.retries.end(lease) }
        for row in writes.outbox { try database.outbox.insert(row, now: now) }
    }
}
