import Contract
public import Ledger
import Scheduling
import Synchronization

extension PostgresLedger {
    public func write(_ batch: [Decision]) throws(LedgerError) -> [DecisionResult] {
        var results: [DecisionResult] = []
        while results.count < batch.count {
            let most = configuration.mark.mostWritten.withLock { $0 }
            results += try writePart(Array(batch[results.count...].prefix(most)))
            configuration.mark.mostWritten.withLock { if $0 < .max { $0 += 1 } }
        }
        return results
    }

    private func writePart(_ batch: [Decision]) throws(LedgerError) -> [DecisionResult] {
        do throws(PostgresFailure) {
            return try connection.call { () throws(PostgresFailure) in try writeAll(batch) }
        } catch {
            // The same batch would take as long at its next try.
            if error.isOfTime { configuration.mark.mostWritten.withLock { $0 = max(1, batch.count / 2) } }
            guard error.isForData else { throw failed(error) }
            // Which decision it is, the database does not say: halves are tried until one is alone.
            guard batch.count > 1 else { return [.refused(detail: error.text)] }
        }
        let middle = batch.count / 2
        return try writePart(Array(batch[..<middle])) + writePart(Array(batch[middle...]))
    }

    /// Writes what may go the fast path in one statement, and the rest in a transaction of its own. So does a grant
    /// whose product this session has not seen committed: only an admitted decision makes an app the ledger's.
    private func writeAll(_ batch: [Decision]) throws(PostgresFailure) -> [DecisionResult] {
        var planner = BatchPlanner(batch)
        var fast = planner.fast
        let products = GrantTable.products(of: fast)
        var unknown: [NewGrant] = []
        if !products.values.allSatisfy(knownProducts.contains) {
            let isUnknown = { [knownProducts] (new: NewGrant) in
                !knownProducts.contains(products[StoredProduct(of: new.grant)] ?? 0)
            }
            unknown = fast.filter(isUnknown)
            fast.removeAll(where: isUnknown)
        }
        var isWritten = Array(repeating: false, count: batch.count)
        if !fast.isEmpty {
            let flags = try tried { () throws(PostgresFailure) in try insertFast(fast, products, of: batch) }
            planner.inserted(fast: fast, flags)
            for (new, isNew) in zip(fast, flags) where isNew { isWritten[new.decision] = true }
        }
        var results = planner.results()
        let rest = batch.indices.filter { !isWritten[$0] }
        guard !rest.isEmpty else { return results }
        let written = try writeWhole(rest.map { batch[$0] })
        for (place, result) in zip(rest, written) { results[place] = result }
        for new in unknown {
            guard case .written(.granted, _, _) = results[new.decision] else { continue }
            if knownProducts.count >= Self.mostKnownProducts { knownProducts = [] }
            if let number = products[StoredProduct(of: new.grant)] { knownProducts.insert(number) }
        }
        return results
    }

    /// One round trip.
    private func insertFast(
        _ grants: [NewGrant], _ products: [StoredProduct: Int64], of batch: [Decision]
    ) throws(PostgresFailure) -> [Bool] {
        let insertion = GrantTable.fastInsertion(grants, products) { new in
            guard case .record(let ownership) = batch[new.decision].source else { return nil }
            return ownership
        }
        let askedAt = WallClock.milliseconds
        let results = try connection.run([Self.look, insertion])
        _ = try present(results[0], askedAt: askedAt)
        return GrantTable.flags(grants, results[1])
    }

    /// Numbers of products that a session remembers.
    private static let mostKnownProducts = 10_000

    /// Writes decisions in one transaction in full form, or nothing of it. A submission that could be decided in part
    /// alone is left out, and the others are written again. No grant is deleted here, not even an uncommitted one.
    private func writeWhole(_ batch: [Decision]) throws(PostgresFailure) -> [DecisionResult] {
        var results = Array(repeating: DecisionResult.undecided, count: batch.count)
        var rest = Array(batch.indices)
        while !rest.isEmpty {
            let (planner, withdrawn) = try tried { () throws(PostgresFailure) in
                try decide(rest.map { batch[$0] })
            }
            let found = planner.results()
            if withdrawn.isEmpty {
                for (place, result) in zip(rest, found) { results[place] = result }
                return results
            }
            for place in withdrawn { results[rest[place]] = found[place] }
            rest = rest.indices.filter { !withdrawn.contains($0) }.map { rest[$0] }
        }
        return results
    }

    /// - Returns: The planner, and the decisions for which nothing was written, not of the others either.
    private func decide(
        _ batch: [Decision]
    ) throws(PostgresFailure) -> (planner: BatchPlanner, withdrawn: Set<Int>) {
        try transaction("BEGIN", keeps: { $0.1.isEmpty }) { (now) throws(PostgresFailure) in
            var planner = BatchPlanner(batch)
            let partitions = try admit(batch, to: &planner)
            guard !planner.isComplete else { return (planner, []) }
            let answers = try connection.answers.found(of: planner.submissions)
            planner.inserted(try connection.grants.insert(planner.readAnswers(answers), partitions: partitions))
            // The holder of a refused key may not be visible to the refused statement, but it is to the next one.
            let questions = planner.questions
            let held = try connection.grants.holders(questions.holders)
            try connection.grants.explain(planner.refusedForNothing(held), partitions: partitions)
            let own = try connection.grants.found(of: questions.submissions)
            let waiting = try connection.retries.waiting(questions.waiting)
            let told = planner.conclude(
                held: held, own: own, ours: try connection.grants.ours(questions.apps), waiting: waiting)
            let writes = try conclude(&planner, told, partitions: partitions, now: now)
            return (planner, Set(writes.withdrawn.map(\.decision)))
        }
    }

    /// Tells the planner which decisions count. Their partitions and rows stay theirs until the transaction's end.
    /// - Returns: The numbers of the partitions that the batch's rows name.
    private func admit(
        _ batch: [Decision], to planner: inout BatchPlanner
    ) throws(PostgresFailure) -> [TopicPartition: Int64] {
        var ownerships: Set<PartitionOwnership> = []
        var leases: Set<RetryLease> = []
        for decision in batch {
            switch decision.source {
            case .record(let ownership): ownerships.insert(ownership)
            case .row(let lease): leases.insert(lease)
            }
        }
        let owned = try connection.partitions.owned(ownerships)
        let leased = try connection.retries.owned(leases)
        var numbers: [TopicPartition: Int64] = [:]
        for (ownership, number) in owned { numbers[ownership.partition] = number }
        planner.admit(
            batch.map { decision in
                switch decision.source {
                case .record(let ownership): owned[ownership] != nil
                case .row(let lease): leased.contains(lease)
                }
            })
        // A leased row's partition may be another worker's.
        let origins = batch.filter { if case .row = $0.source { true } else { false } }.map(\.origin.topicPartition)
        numbers.merge(try connection.partitions.numbers(Set(origins))) { first, _ in first }
        return numbers
    }

    /// Carries out all further writes once the planner has concluded.
    @discardableResult
    func conclude(
        _ planner: inout BatchPlanner, _ answers: [NewAnswer], partitions: [TopicPartition: Int64], now: Timestamp
    ) throws(PostgresFailure) -> BatchWrites {
        let writes = planner.answered(
            try connection.answers.insert(answers, partitions: partitions))
        var statements = RetryTable.changes(writes, partitions: partitions, now: now)
        statements += OutboxTable.insertion(writes.outbox, now: now)
        if !statements.isEmpty { try connection.run(statements) }
        return writes
    }
}
