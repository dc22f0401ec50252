public import Contract
public import Ledger

extension ModelConnection: LedgerOperator {
    public func group() throws(LedgerError) -> ConsumerGroup? { model.tables.group }

    public func knows(_ partitions: [TopicPartition]) throws(LedgerError) -> Bool {
        !partitions.contains(where: model.tables.refuses)
    }

    public func hasGrants(of app: BundleID) throws(LedgerError) -> Bool {
        model.tables.grantRows.contains { $0.grant.bundleID == app }
    }

    public func look(at keys: [SubmissionKey], for searches: [Search]) throws(LedgerError) -> LedgerLook {
        var records: [SubmissionRecord] = []
        for key in keys { records.append(try record(of: key)) }
        var results = SearchResults(of: searches, in: try submissions(searches.flatMap(\.queries)))
        results.add(try owed(Array(results.owable)))
        return LedgerLook(records: records, results: results.all, partitions: try partitions())
    }

    private func record(of key: SubmissionKey) throws(LedgerError) -> SubmissionRecord {
        let tables = model.tables
        let grants = tables.grantRows.filter { $0.grant.claimant.submissionKey == key }
        let answer = tables.answers[key]?.answer
        let keys = OutboxColumns.keys(
            of: key, grants: grants.map(\.grant), answer: answer, waiting: waiting(key))
        return SubmissionRecord(
            grants: grants.reversed(), answer: answer, waiting: waiting(key),
            owed: try owed(keys), later: 0)
    }

    public func owed(_ keys: [OutboxKey]) throws(LedgerError) -> [OutboxRow] {
        keys.compactMap { key in model.tables.outbox[key].map { row(key, $0) } }
    }

    private func waiting(_ key: SubmissionKey) -> [RetryRow] {
        model.tables.retries.rows.filter { $0.submission.claimant.submissionKey == key }
            .sorted { $0.sequence < $1.sequence }
            .map { row in
                RetryRow(
                    key: row.key, submission: row.submission.withoutEvidence,
                    entry: RetryEntry(
                        cause: row.entry.cause, detail: row.entry.detail, delay: 0, history: row.entry.history,
                        doubt: row.entry.doubt, isSigned: row.entry.isSigned, purchases: []),
                    attempts: row.attempts, dueAt: Timestamp(milliseconds: row.dueAt),
                    isLeased: row.leasedUntil != nil)
            }
    }

    private func row(_ key: OutboxKey, _ row: ModelTables.Owed) -> OutboxRow {
        OutboxRow(
            key: key, step: row.step, target: row.target, dueAt: Timestamp(milliseconds: row.dueAt),
            owedSince: Timestamp(milliseconds: row.owedSince), isLeased: row.leasedUntil != nil, attempts: row.attempts,
            answer: row.answer)
    }

    public func submissions(_ queries: [SubmissionQuery]) throws(LedgerError) -> [[SubmissionRow]] {
        queries.map(list)
    }

    private func list(_ query: SubmissionQuery) -> [SubmissionRow] {
        let asked = query.endpoint.map { endpoint in
            Set(
                model.tables.retries.rows.filter {
                    $0.entry.cause.endpoint?.service == endpoint.service
                        && $0.entry.cause.endpoint?.environment == endpoint.environment
                }.map(\.sequence))
        }
        let found = rows(query.state).sorted { $0.sequence > $1.sequence }.filter { row in
            row.sequence < query.before ?? .max && row.sequence >= query.from ?? .min
                && (query.bundleID == nil || row.claimant.bundleID == query.bundleID)
                && (query.userID == nil || row.claimant.userID == query.userID)
                && (query.submissionID == nil || row.claimant.submissionID == query.submissionID)
                && (query.orderID == nil || row.claimant.orderID == query.orderID)
                && (query.transactionID == nil || row.transactionID == query.transactionID || isKey(query, row))
                && (query.cause == nil || row.cause == query.cause)
                && (asked == nil || query.state == .retrying && asked?.contains(row.sequence) == true)
        }
        return Array(found.prefix(query.limit))
    }

    /// Whether a grant's key is that of the transaction that is looked for.
    private func isKey(_ query: SubmissionQuery, _ row: SubmissionRow) -> Bool {
        row.state == .granted
            && model.tables.grantRows.contains {
                $0.sequence == row.sequence && $0.grant.key.indexed == query.transactionID?.rawValue
            }
    }

    private func rows(_ state: SubmissionState) -> [SubmissionRow] {
        switch state {
        case .granted: model.tables.grantRows.map(SubmissionRow.init)
        case .failed, .repeated:
            model.tables.answers.values.compactMap { sequence, answer in
                switch answer {
                case .failed(let failure) where state == .failed:
                    SubmissionRow(
                        sequence: sequence, state: .failed, claimant: failure.claimant, origin: failure.origin,
                        decidedAt: failure.failedAt, cause: failure.reason, detail: failure.detail,
                        transactionID: failure.transactionID,
                        productID: failure.productID, attempts: failure.attempts,
                        owable: [.failed(failure.claimant.submissionKey)])
                case .repeated(let repeated) where state == .repeated:
                    SubmissionRow(
                        sequence: sequence, state: .repeated, claimant: repeated.claimant, origin: repeated.origin,
                        decidedAt: repeated.answeredAt, transactionID: repeated.grant.transactionID,
                        environment: repeated.grant.environment, productID: nil, attempts: 0,
                        passedOver: repeated.passedOver,
                        owable: OutboxKey.telling(of: repeated.grant, to: repeated.claimant.submissionID))
                case .failed, .repeated: nil
                }
            }
        case .retrying, .held:
            model.tables.retries.rows.compactMap { row in
                guard (row.entry.cause.endpoint == nil) == (state == .held) else { return nil }
                return SubmissionRow(
                    sequence: row.sequence, state: state, claimant: row.submission.claimant,
                    origin: row.submission.origin, receivedAt: row.submission.receivedAt, cause: row.entry.cause.word,
                    detail: row.entry.detail,
                    transactionID: row.submission.claim.transactionID,
                    environment: row.submission.claim.environment, productID: row.submission.claim.productID,
                    attempts: row.attempts, dueAt: Timestamp(milliseconds: row.dueAt),
                    isLeased: row.leasedUntil != nil, isSigned: row.entry.isSigned, owable: [.pending(row.key)])
            }
        }
    }

    public func grants(_ query: GrantQuery) throws(LedgerError) -> [GrantRow] {
        let found = model.tables.grantRows.filter { row in
            let grant = row.grant
            return row.sequence < query.before ?? .max && row.sequence >= query.from ?? .min
                && (query.bundleID == nil || grant.bundleID == query.bundleID)
                && (query.userID == nil || grant.userID == query.userID)
                && (query.orderID == nil || grant.orderID == query.orderID)
                && (query.submissionID == nil || grant.submissionID == query.submissionID)
                && (query.transactionID == nil || grant.transactionID == query.transactionID
                    || grant.key.indexed == query.transactionID?.rawValue)
        }
        return Array(found.prefix(query.limit))
    }

    public func outbox(limit: Int) throws(LedgerError) -> [OutboxRow] {
        model.tables.outbox.sorted { ($0.value.dueAt, $0.value.sequence) < ($1.value.dueAt, $1.value.sequence) }
            .prefix(limit).map { row($0.key, $0.value) }
    }

    public func laterOwed() throws(LedgerError) -> Int { 0 }

    public func actions(on key: SubmissionKey?) throws(LedgerError) -> [OperatorAction] {
        model.tables.actions.filter { $0.submission == key }
    }

    public func accept(
        ledger id: String, for group: ConsumerGroup, _ committed: [TopicPartition: Int64], _ note: OperatorNote
    ) throws(LedgerError) -> Bool {
        guard model.tables.id == id else { return false }
        if let former = model.tables.group, group.isElsewhere(than: former) {
            for partition in model.tables.partitions.keys {
                model.tables.partitions[partition] = ModelTables.Partition(next: committed[partition] ?? 0)
            }
        }
        model.tables.group = group
        let refused = committed.keys.filter(model.tables.refuses)
        let topics = Set(committed.keys.map(\.topic))
        for (partition, row) in model.tables.partitions where row.isRefused && topics.contains(partition.topic) {
            model.tables.partitions[partition]?.next = 0
        }
        for partition in refused {
            model.tables.partitions[partition] = ModelTables.Partition(next: committed[partition])
        }
        model.tables.actions.append(OperatorAction(kind: .accept, note: note, submission: nil))
        return true
    }

    public func partitions() throws(LedgerError) -> [PartitionRow] {
        model.tables.partitions.filter { !$0.value.isRefused }.sorted { $0.key < $1.key }
            .map { PartitionRow(partition: $0, next: $1.next, owner: $1.owner, starts: $1.starts) }
    }

    public func workers() throws(LedgerError) -> [WorkerRow] { model.tables.workerRows(now: now) }

    public func note(_ kind: OperatorAction.Kind, _ note: OperatorNote) throws(LedgerError) {
        model.tables.actions.append(OperatorAction(kind: kind, note: note, submission: nil))
    }

    public func pass(_ passed: PassedOffsets, _ note: OperatorNote) throws(LedgerError) -> PassResult {
        let next = model.tables.partitions[passed.partition]?.next
        guard next == passed.offsets.lowerBound else { return .standsAt(next) }
        model.tables.partitions[passed.partition] = ModelTables.Partition(next: passed.next, passed: passed.next)
        for stub in passed.stubs(note) {
            model.tables.owe(NewOutboxRow(stub), now: now)
        }
        model.tables.actions.append(OperatorAction(kind: .pass, note: passed.named(note), submission: nil))
        return .passed
    }

    public func retryNow(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> Int? {
        let rows = waiting(key)
        let free = rows.filter { !$0.isLeased }
        for row in free {
            model.tables.change(row.key) {
                $0.dueAt = now
                $0.takings = 0
            }
        }
        if !free.isEmpty { model.tables.actions.append(OperatorAction(kind: .retry, note: note, submission: key)) }
        return rows.isEmpty ? nil : free.count
    }

    public func abandon(
        _ key: SubmissionKey, _ note: OperatorNote, where mayEnd: (RetryRow) -> Bool
    ) throws(LedgerError) -> [Outcome]? {
        let rows = waiting(key)
        guard rows.allSatisfy(mayEnd) else { return nil }
        var outcomes: [Outcome] = []
        for row in rows {
            guard let stored = model.tables.retries[row.key] else { continue }
            let due = lease(row.key, stored)
            var planner = BatchPlanner([.abandoning(due, note, now: model.now)])
            _ = planner.readAnswers(FoundAnswers(known: model.tables.answers[key].map { [$0.answer] } ?? []))
            let held = model.tables.holders(planner.questions.holders)
            let told = planner.conclude(
                held: FoundGrants(known: held), own: FoundGrants(known: model.tables.grants(of: key)))
            conclude(&planner, told)
            guard let outcome = planner.results().first?.ofAbandoned else {
                throw .unusable(detail: "the model does not take a submission's answer, and has none")
            }
            outcomes.append(outcome)
        }
        if !outcomes.isEmpty {
            model.tables.actions.append(OperatorAction(kind: .abandon, note: note, submission: key))
        }
        return outcomes
    }

    public func audited(_ table: AuditedTable, after: Int64, limit: Int) throws(LedgerError) -> [AuditedRow] {
        let tables = model.tables
        let rows: [AuditedRow] =
            switch table {
            case .grants: tables.grantRows.map { AuditedRow(sequence: $0.sequence, content: .grant($0.grant)) }
            case .answers:
                AuditedRow.answers(
                    tables.answers.values.map { ($0.sequence, FoundAnswers(known: [$0.answer])) },
                    holders: FoundGrants(
                        known: tables.holders(
                            FoundAnswers(known: tables.answers.values.map(\.answer)).answering)))
            case .retries:
                tables.retries.rows.map {
                    AuditedRow(sequence: $0.sequence, content: .waiting($0.submission.claimant.submissionKey))
                }
            case .outbox: tables.outbox.map { AuditedRow(sequence: $1.sequence, content: .owed(row($0, $1))) }
            }
        return Array(rows.filter { $0.sequence > after }.sorted { $0.sequence < $1.sequence }.prefix(limit))
    }

    public func repair(_ untold: [UntoldEvent], _ note: OperatorNote) throws(LedgerError) -> Int {
        let before = model.tables.outbox.count
        for event in untold { model.tables.owe(event.outboxRow, now: now) }
        let added = model.tables.outbox.count - before
        if added > 0 {
            model.tables.actions.append(OperatorAction(kind: .repair, note: note.counting(added), submission: nil))
        }
        return added
    }
}
