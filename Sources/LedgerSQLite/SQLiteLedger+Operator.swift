public import Contract
public import Ledger

extension SQLiteLedger: LedgerOperator {
    public func group() throws(LedgerError) -> ConsumerGroup? {
        try read { (_) throws(StoreError) in try database.group.owner() }
    }

    public func knows(_ partitions: [TopicPartition]) throws(LedgerError) -> Bool {
        try read { (_) throws(StoreError) in
            for partition in partitions {
                if try database.partitions.refuses(partition) { return false }
            }
            return true
        }
    }

    public func hasGrants(of app: BundleID) throws(LedgerError) -> Bool {
        try read { (_) throws(StoreError) in try database.grants.hasAny(of: app) }
    }

    public func look(at keys: [SubmissionKey], for searches: [Search]) throws(LedgerError) -> LedgerLook {
        try read { (_) throws(StoreError) in
            var records: [SubmissionRecord] = []
            for key in keys { records.append(try record(of: key)) }
            var results = SearchResults(of: searches, in: try lists(searches.flatMap(\.queries)))
            results.add(try database.outbox.rows(Array(results.owable)))
            return LedgerLook(records: records, results: results.all, partitions: try database.partitions.all())
        }
    }

    private func record(of key: SubmissionKey) throws(StoreError) -> SubmissionRecord {
        let query = GrantQuery(bundleID: key.bundleID, submissionID: key.submissionID, limit: .max)
        let grants = try database.grants.page(query)
        let answers = try database.answers.found(of: [key])
        let answer = answers.known.first
        let waiting = try database.retries.outlines(of: key)
        let later = try database.grants.found(of: [key]).later.count + answers.later.count
        return SubmissionRecord(
            grants: grants.reversed(), answer: answer, waiting: waiting,
            owed: try database.outbox.rows(
                OutboxColumns.keys(of: key, grants: grants.map(\.grant), answer: answer, waiting: waiting)),
            later: later + (try database.retries.later(of: key)))
    }

    public func submissions(_ queries: [SubmissionQuery]) throws(LedgerError) -> [[SubmissionRow]] {
        try read { (_) throws(StoreError) in try lists(queries) }
    }

    private func lists(_ queries: [SubmissionQuery]) throws(StoreError) -> [[SubmissionRow]] {
        var lists: [[SubmissionRow]] = []
        for query in queries { lists.append(try list(query)) }
        return lists
    }

    func list(_ query: SubmissionQuery) throws(StoreError) -> [SubmissionRow] {
        guard !query.excludesAll else { return [] }
        switch query.state {
        case .failed, .repeated: return try database.answers.page(query)
        case .retrying, .held: return try database.retries.page(query)
        case .granted:
            guard let grants = query.grants else { return [] }
            return try database.grants.page(grants).map(SubmissionRow.init)
        }
    }

    public func grants(_ query: GrantQuery) throws(LedgerError) -> [GrantRow] {
        try read { (_) throws(StoreError) in try database.grants.page(query) }
    }

    public func outbox(limit: Int) throws(LedgerError) -> [OutboxRow] {
        try read { (_) throws(StoreError) in try database.outbox.page(limit: limit) }
    }

    public func laterOwed() throws(LedgerError) -> Int {
        try read { (_) throws(StoreError) in try database.outbox.later() }
    }

    public func owed(_ keys: [OutboxKey]) throws(LedgerError) -> [OutboxRow] {
        try read { (_) throws(StoreError) in try database.outbox.rows(keys) }
    }

    public func actions(on key: SubmissionKey?) throws(LedgerError) -> [OperatorAction] {
        try read { (_) throws(StoreError) in try database.actions.all(on: key) }
    }

    public func accept(
        ledger id: String, for group: ConsumerGroup, _ committed: [TopicPartition: Int64], _ note: OperatorNote
    ) throws(LedgerError) -> Bool {
        try write { (_) throws(StoreError) in
            guard try database.identity() == id else { return false }
            if let former = try database.group.move(to: group), group.isElsewhere(than: former) {
                try database.partitions.beginAnew(committed)
            }
            try database.partitions.accept(committed)
            try database.actions.add(.accept, note, on: nil)
            return true
        }
    }

    public func partitions() throws(LedgerError) -> [PartitionRow] {
        try read { (_) throws(StoreError) in try database.partitions.all() }
    }

    public func workers() throws(LedgerError) -> [WorkerRow] {
        try read { (now) throws(StoreError) in try database.workers.all(now: now) }
    }

    public func note(_ kind: OperatorAction.Kind, _ note: OperatorNote) throws(LedgerError) {
        try write { (_) throws(StoreError) in try database.actions.add(kind, note, on: nil) }
    }

    public func pass(_ passed: PassedOffsets, _ note: OperatorNote) throws(LedgerError) -> PassResult {
        try write { (now) throws(StoreError) in
            let result = try database.partitions.pass(passed)
            guard result == .passed else { return result }
            for stub in passed.stubs(note) { try database.outbox.insert(NewOutboxRow(stub), now: now) }
            try database.actions.add(.pass, passed.named(note), on: nil)
            return result
        }
    }

    public func retryNow(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> Int? {
        try write { (now) throws(StoreError) in
            let changed = try database.retries.makeDue(key, now: now)
            if let changed, changed > 0 { try database.actions.add(.retry, note, on: key) }
            return changed
        }
    }

    public func abandon(
        _ key: SubmissionKey, _ note: OperatorNote, where mayEnd: (RetryRow) -> Bool
    ) throws(LedgerError) -> [Outcome]? {
        try write(keeps: { !($0?.contains(where: \.isHeld) ?? false) }) { (now) throws(StoreError) in
            let rows = try database.retries.rows(of: key)
            guard rows.allSatisfy(mayEnd) else { return nil }
            var outcomes: [Outcome] = []
            for row in rows {
                // Taken even from another lease; a result under the former lease is dropped.
                let due = try database.retries.lease(row, now: now)
                var planner = BatchPlanner([.abandoning(due, note, now: now)])
                _ = planner.readAnswers(try database.answers.found(of: planner.submissions))
                let own = try database.grants.found(of: [key])
                let held = try database.grants.holders(planner.questions.holders)
                let partition = due.submission.origin.topicPartition
                let number = try database.partitions.number(partition)
                let told = planner.conclude(held: held, own: own)
                try conclude(&planner, told, partitions: [partition: number], now: now)
                // No other connection writes meanwhile.
                guard let outcome = planner.results().first?.ofAbandoned else {
                    throw .contradiction("the file does not take a submission's answer, and has none")
                }
                guard !outcome.isHeld else { return [outcome] }
                outcomes.append(outcome)
            }
            if !outcomes.isEmpty { try database.actions.add(.abandon, note, on: key) }
            return outcomes
        }
    }

    public func audited(_ table: AuditedTable, after: Int64, limit: Int) throws(LedgerError) -> [AuditedRow] {
        try read { (_) throws(StoreError) in
            switch table {
            case .grants:
                try database.audited(GrantColumns.auditedSelection, table, after, limit) { GrantColumns.audited($0) }
            case .retries:
                try database.audited(RetryColumns.auditedSelection, table, after, limit) { RetryColumns.audited($0) }
            case .outbox:
                try database.audited("SELECT \(OutboxColumns.shown) FROM outbox", table, after, limit) {
                    OutboxColumns.audited($0)
                }
            case .answers:
                try answers(after: after, limit: limit)
            }
        }
    }

    private func answers(after: Int64, limit: Int) throws(StoreError) -> [AuditedRow] {
        let rows = try database.audited(AnswerColumns.selection, .answers, after, limit) { AnswerColumns.audited($0) }
        let questions = rows.flatMap(\.found.answering)
        return AuditedRow.answers(rows, holders: try database.grants.holders(questions))
    }

    public func repair(_ untold: [UntoldEvent], _ note: OperatorNote) throws(LedgerError) -> Int {
        try write { (now) throws(StoreError) in
            let rows = try database.statement("SELECT count(*) FROM outbox")
            let before = try rows.count()
            for event in untold { try database.outbox.insert(event.outboxRow, now: now) }
            let added = try rows.count() - before
            if added > 0 { try database.actions.add(.repair, note.counting(added), on: nil) }
            return added
        }
    }
}

extension Database {
    fileprivate func audited<Row>(
        _ selection: String, _ table: AuditedTable, _ after: Int64, _ limit: Int, read: (Columns) -> Row
    ) throws(StoreError) -> [Row] {
        let place = "\(table.rawValue).sequence"
        return try statement("\(selection) WHERE \(place) > ? ORDER BY \(place) LIMIT ?").rows {
            $0.integer(after)
            $0.integer(limit)
        } read: { (row) throws(StoreError) in
            read(row)
        }
    }
}
