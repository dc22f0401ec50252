import Purchases

/// Writes a batch: decides it on the guess that the database knows nothing of it, and where that is wrong, on what the
/// database knows.
struct PostgresSettling: Sendable {
    let settlements: [Settlement]
    /// Per settlement, its purchases' claims.
    let claims: [[GrantClaim]]
    let quarantines: [Quarantine]
    let now: Timestamp
    /// What due times are counted from.
    let clock: LeaseClock
    /// Written with the batch if its first settlement fails: who did that.
    let operation: PostgresCommand?
    /// The decision for a database that holds nothing of the batch. Made before a connection is taken.
    private let hoped: BatchDecision

    /// What a batch came to.
    struct Result: Sendable {
        let conclusions: [Conclusion]
        let added: [OutboxEntry]?
        let opened: [Delivery]
    }

    init(
        _ settlements: [Settlement], quarantines: [Quarantine], now: Timestamp, clock: LeaseClock,
        operation: PostgresCommand? = nil
    ) {
        self.clock = clock
        self.operation = operation
        self.settlements = settlements
        self.quarantines = quarantines
        self.now = now
        claims = settlements.map { settlement -> [GrantClaim] in
            guard case .grant(let purchases, let verifiedBy) = settlement.decision else { return [] }
            return GrantClaim.claims(of: purchases, by: verifiedBy, claimant: settlement.claimant, at: now)
        }
        hoped = BatchDecision(settlements, claims: claims, quarantines: quarantines, now: now, known: .nothing)
    }

    /// - Throws: `.overtaken` if other workers changed what the batch was decided on.
    func run(on connection: PostgresConnection) throws(PostgresFailure) -> Result {
        if !hoped.hasRepeats {
            do throws(PostgresFailure) {
                return try write(hoped, on: connection, after: [PostgresCommand(.begin)])
            } catch {
                guard error == .overtaken else { throw error }
                connection.rollBack()
            }
        }
        let known = try read(on: connection)
        let decision = BatchDecision(settlements, claims: claims, quarantines: quarantines, now: now, known: known)
        return try write(decision, joining: known.hasOpenDeliveries, on: connection, after: [])
    }

    /// Settles submissions that wait, and does nothing if one of them has its outcome by now.
    ///
    /// - Returns: nil if nothing was done.
    func runIfWaiting(on connection: PostgresConnection) throws(PostgresFailure) -> Result? {
        let known = try read(on: connection)
        guard known.submissions.values.allSatisfy({ !$0.outcome.isFinal }) else {
            connection.rollBack()
            return nil
        }
        let decision = BatchDecision(settlements, claims: claims, quarantines: quarantines, now: now, known: known)
        return try write(decision, joining: known.hasOpenDeliveries, on: connection, after: [])
    }

    /// Reads what the database knows of the batch, in the transaction that will write.
    private func read(on connection: PostgresConnection) throws(PostgresFailure) -> KnownRows {
        let results = try connection.run([
            PostgresCommand(.begin),
            SubmissionRows.lock(settlements.map(\.key)),
            GrantRows.holders(of: claims.flatMap { $0 }),
            try OutboxRows.quarantined(quarantines),
            // Asked last: what the others saw as granted is open then, or its event is in the outbox.
            DeliveryRows.areThere,
        ])
        guard results.count == 5 else { throw .lost("unexpected answer") }
        var known = KnownRows()
        for (key, prior) in try SubmissionRows.found(results[1]) { known.submissions[key] = prior }
        known.grants = try GrantRows.found(results[2])
        known.quarantines = Set(try OutboxRows.found(results[3]))
        known.hasOpenDeliveries =
            try results[4].rows { row throws(PostgresFailure) in row.boolean(0) }.first ?? false
        return known
    }

    /// Writes a decision if the database still holds what it was made from, which the number of rows written tells.
    ///
    /// - Parameter joining: whether copies may be asked for of events whose deliveries are open.
    private func write(
        _ decision: BatchDecision, joining: Bool = false, on connection: PostgresConnection,
        after first: [PostgresCommand]
    ) throws(PostgresFailure) -> Result {
        let writes = try writes(of: decision)
        let copies = joining ? decision.copies : [:]
        var commands = first + writes.map(\.command)
        if !copies.isEmpty { commands.append(try DeliveryRows.join(copies)) }
        var entries = decision.entries
        if !commands.isEmpty {
            let results = try connection.run(commands).dropFirst(first.count)
            for (result, write) in zip(results, writes) {
                if let rows = write.rows, result.affected != rows { throw .overtaken }
            }
            if !copies.isEmpty, let result = results.last {
                let joined = try DeliveryRows.joined(result)
                entries.removeAll { if case .copy(let id) = $0 { joined.contains(id) } else { false } }
            }
        }
        let opened = decision.deliveries.compactMap(\.opened)
        guard !entries.isEmpty else {
            _ = try connection.commit()
            return Result(conclusions: decision.conclusions, added: [], opened: opened)
        }
        let appended = try connection.commit([try OutboxRows.append(entries)])
        guard let result = appended.first else { throw .lost("unexpected answer") }
        return Result(
            conclusions: decision.conclusions, added: try OutboxRows.added(entries, result), opened: opened)
    }

    /// Grants before submissions, everywhere: whoever waits for another's row then never has one that the other waits for.
    private func writes(of decision: BatchDecision) throws(PostgresFailure) -> [(command: PostgresCommand, rows: Int?)]
    {
        var writes: [(command: PostgresCommand, rows: Int?)] = []
        if !decision.grants.isEmpty {
            writes.append((GrantRows.insert(decision.grants, now: now), decision.grants.count))
        }
        if !decision.newRows.isEmpty {
            writes.append((try SubmissionRows.insert(decision.newRows, now: now), decision.newRows.count))
        }
        if !decision.changedRows.isEmpty {
            writes.append((try SubmissionRows.replace(decision.changedRows, now: now), decision.changedRows.count))
        }
        let decided = decision.changedRows.filter { $0.content.waiting == nil }
        if !decided.isEmpty { writes.append((WaitingRows.remove(decided.map(\.settlement.key)), nil)) }
        let waiting = (decision.newRows + decision.changedRows).filter { $0.content.waiting != nil }
        if !waiting.isEmpty { writes.append((try WaitingRows.put(waiting, clock.moment(now)), waiting.count)) }
        if let operation { writes.append((operation, 1)) }
        if !decision.extendedRows.isEmpty {
            writes.append((try SubmissionRows.extend(decision.extendedRows), decision.extendedRows.count))
        }
        if !decision.quarantines.isEmpty {
            writes.append((try OutboxRows.insert(decision.quarantines, now: now), decision.quarantines.count))
        }
        if !decision.deliveries.isEmpty {
            writes.append(
                (
                    try DeliveryRows.open(decision.deliveries, now: now, clock.moment(now)), decision.deliveries.count
                ))
        }
        return writes
    }
}
