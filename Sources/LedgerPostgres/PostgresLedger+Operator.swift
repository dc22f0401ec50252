public import Contract
public import Ledger

extension PostgresLedger: LedgerOperator {
    public func group() throws(LedgerError) -> ConsumerGroup? {
        try read { (_) throws(PostgresFailure) in try connection.group.owner() }
    }

    public func knows(_ partitions: [TopicPartition]) throws(LedgerError) -> Bool {
        try read { (_) throws(PostgresFailure) in try connection.partitions.refused(Set(partitions)).isEmpty }
    }

    public func hasGrants(of app: BundleID) throws(LedgerError) -> Bool {
        try read { (_) throws(PostgresFailure) in try connection.grants.hasAny(of: app) }
    }

    public func look(at keys: [SubmissionKey], for searches: [Search]) throws(LedgerError) -> LedgerLook {
        try read { (_) throws(PostgresFailure) in
            let partitions = connection.partitions.all
            let question = keys.isEmpty ? nil : records(of: keys)
            // All in one round trip, and what is owed in another.
            let (found, lists) = try lists(
                searches.flatMap(\.queries), with: [partitions.statement] + (question?.statements ?? []))
            var records = question?.read(Array(found.dropFirst())) ?? []
            var results = SearchResults(of: searches, in: lists)
            let owable = zip(keys, records).map { key, record in
                OutboxColumns.keys(
                    of: key, grants: record.grants.reversed().map(\.grant), answer: record.answer,
                    waiting: record.waiting)
            }
            let owed = try connection.outbox.rows(Array(results.owable.union(owable.joined())))
            let owedByKey = Dictionary(owed.map { ($0.key, $0) }) { first, _ in first }
            for (place, keys) in owable.enumerated() { records[place].owed = keys.compactMap { owedByKey[$0] } }
            results.add(owed)
            return LedgerLook(records: records, results: results.all, partitions: partitions.read(found[0]))
        }
    }

    /// Asks for the records of some submissions, without what is owed for them.
    private func records(
        of keys: [SubmissionKey]
    ) -> (statements: [PostgresStatement], read: ([PostgresResult]) -> [SubmissionRecord]) {
        // Each once, however often it is asked for.
        let asked = Array(Set(keys))
        let grants = connection.grants.all(of: asked)
        let answers = connection.answers.all(of: asked)
        let waiting = connection.retries.all(of: asked)
        let statements = [grants.statement, answers.statement, waiting.statement]
        return (
            statements,
            { results in
                let (foundGrants, foundWaiting) = (grants.read(results[0]), waiting.read(results[2]))
                let found = answers.read(results[1])
                let foundAnswers = Dictionary(found.known.map { ($0.claimant.submissionKey, $0) }) { first, _ in first }
                return keys.map { key in
                    let (grants, waiting) = (foundGrants[key], foundWaiting[key])
                    return SubmissionRecord(
                        grants: grants?.known.reversed() ?? [], answer: foundAnswers[key],
                        waiting: waiting?.known ?? [], owed: [],
                        later: (grants?.later ?? 0) + (waiting?.later ?? 0)
                            + found.later.count { $0.claimant.submissionKey == key })
                }
            }
        )
    }

    public func submissions(_ queries: [SubmissionQuery]) throws(LedgerError) -> [[SubmissionRow]] {
        try read { (_) throws(PostgresFailure) in try lists(queries, with: []).lists }
    }

    /// A list for each query, and the results of other statements, which go with the first round trip.
    private func lists(
        _ queries: [SubmissionQuery], with others: [PostgresStatement]
    ) throws(PostgresFailure) -> (results: [PostgresResult], lists: [[SubmissionRow]]) {
        let pages = queries.map { page($0) }
        let (results, rows) = try connection.rows(pages.compactMap { $0 }, with: others)
        var rest = rows.makeIterator()
        return (results, pages.map { $0 == nil ? [] : rest.next() ?? [] })
    }

    /// Nil for a list that has no rows.
    func page(_ query: SubmissionQuery) -> ListPage<SubmissionRow>? {
        guard !query.excludesAll else { return nil }
        return switch query.state {
        case .failed, .repeated: connection.answers.page(query)
        case .retrying, .held: connection.retries.page(query)
        case .granted: query.grants.map { connection.grants.page($0).map(SubmissionRow.init) }
        }
    }

    public func grants(_ query: GrantQuery) throws(LedgerError) -> [GrantRow] {
        try read { (_) throws(PostgresFailure) in try connection.rows(connection.grants.page(query)) }
    }

    public func outbox(limit: Int) throws(LedgerError) -> [OutboxRow] {
        try read { (_) throws(PostgresFailure) in try connection.outbox.page(limit: limit) }
    }

    public func laterOwed() throws(LedgerError) -> Int {
        try read { (_) throws(PostgresFailure) in try connection.outbox.later() }
    }

    public func owed(_ keys: [OutboxKey]) throws(LedgerError) -> [OutboxRow] {
        try read { (_) throws(PostgresFailure) in try connection.outbox.rows(keys) }
    }

    public func actions(on key: SubmissionKey?) throws(LedgerError) -> [OperatorAction] {
        try read { (_) throws(PostgresFailure) in try connection.actions.all(on: key) }
    }

    public func accept(
        ledger id: String, for group: ConsumerGroup, _ committed: [TopicPartition: Int64], _ note: OperatorNote
    ) throws(LedgerError) -> Bool {
        try write { (_) throws(PostgresFailure) in
            guard place.id == id else { return false }
            if let former = try connection.group.move(to: group), group.isElsewhere(than: former) {
                try connection.partitions.beginAnew(committed)
            }
            try connection.partitions.accept(committed)
            try connection.actions.add(.accept, note, on: nil)
            return true
        }
    }

    public func partitions() throws(LedgerError) -> [PartitionRow] {
        try read { (_) throws(PostgresFailure) in try connection.ask(connection.partitions.all) }
    }

    public func workers() throws(LedgerError) -> [WorkerRow] {
        try read { (now) throws(PostgresFailure) in try connection.workers.all(now: now) }
    }

    public func note(_ kind: OperatorAction.Kind, _ note: OperatorNote) throws(LedgerError) {
        try write { (_) throws(PostgresFailure) in try connection.actions.add(kind, note, on: nil) }
    }

    public func pass(_ passed: PassedOffsets, _ note: OperatorNote) throws(LedgerError) -> PassResult {
        try write { (now) throws(PostgresFailure) in
            let result = try connection.partitions.pass(passed)
            guard result == .passed else { return result }
            try connection.outbox.insert(passed.stubs(note).map { NewOutboxRow($0) }, now: now)
            try connection.actions.add(.pass, passed.named(note), on: nil)
            return result
        }
    }

    public func retryNow(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> Int? {
        try write { (now) throws(PostgresFailure) in
            let changed = try connection.retries.makeDue(key, now: now)
            if let changed, changed > 0 { try connection.actions.add(.retry, note, on: key) }
            return changed
        }
    }

    public func abandon(
        _ key: SubmissionKey, _ note: OperatorNote, where mayEnd: (RetryRow) -> Bool
    ) throws(LedgerError) -> [Outcome]? {
        try write(keeps: { !($0?.contains(where: \.isHeld) ?? false) }) { (now) throws(PostgresFailure) in
            let rows = try connection.retries.locked(of: key)
            guard rows.allSatisfy(mayEnd) else { return nil }
            var outcomes: [Outcome] = []
            // Taken even from other leases; results under these are dropped.
            for due in try connection.retries.take(rows, now: now) {
                var planner = BatchPlanner([.abandoning(due, note, now: now)])
                _ = planner.readAnswers(try connection.answers.found(of: planner.submissions))
                let own = try connection.grants.found(of: [key])
                let held = try connection.grants.holders(planner.questions.holders)
                let partitions = try connection.partitions.numbers([due.submission.origin.topicPartition])
                let told = planner.conclude(held: held, own: own)
                try conclude(&planner, told, partitions: partitions, now: now)
                guard let outcome = planner.results().first?.ofAbandoned else {
                    // Another session has answered meanwhile. This transaction is rolled back, and that answer is read.
                    throw .again("another session answers the submission")
                }
                guard !outcome.isHeld else { return [outcome] }
                outcomes.append(outcome)
            }
            if !outcomes.isEmpty { try connection.actions.add(.abandon, note, on: key) }
            return outcomes
        }
    }

    public func audited(_ table: AuditedTable, after: Int64, limit: Int) throws(LedgerError) -> [AuditedRow] {
        try read { (_) throws(PostgresFailure) in
            let selection =
                switch table {
                case .grants: GrantColumns.auditedSelection
                case .answers: AnswerColumns.selection
                case .retries: RetryColumns.auditedSelection
                case .outbox: "SELECT \(OutboxColumns.shown) FROM outbox"
                }
            let place = "\(table.rawValue).sequence"
            let rows = try connection.run(
                PostgresStatement(
                    "\(selection) WHERE \(place) > $1::bigint ORDER BY \(place) LIMIT $2::bigint"
                ) {
                    $0.integer(after)
                    $0.integer(limit)
                }
            ).rows
            switch table {
            case .grants: return rows.map { GrantColumns.audited($0) }
            case .retries: return rows.map { RetryColumns.audited($0) }
            case .outbox: return rows.map { OutboxColumns.audited($0) }
            case .answers:
                let answers = rows.map { AnswerColumns.audited($0) }
                let questions = answers.flatMap(\.found.answering)
                return AuditedRow.answers(answers, holders: try connection.grants.holders(questions))
            }
        }
    }

    public func repair(_ untold: [UntoldEvent], _ note: OperatorNote) throws(LedgerError) -> Int {
        try write { (now) throws(PostgresFailure) in
            var added = 0
            for statement in OutboxTable.insertion(untold.map(\.outboxRow), now: now) {
                added += try connection.run(statement).affected
            }
            if added > 0 { try connection.actions.add(.repair, note.counting(added), on: nil) }
            return added
        }
    }
}
