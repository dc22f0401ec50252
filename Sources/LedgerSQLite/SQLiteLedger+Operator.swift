public import Contract
public import Ledger

extension SQLiteLedger: LedgerOperator {
    public func knows(_ partitions: [TopicPartition]) throws(LedgerError) -> Bool {
        try read { (_) throws(StoreError) in
            if try OperatorTable(database: database).isAccepted() { return true }
            for partition in partitions {
                guard try OwnershipTable(database: database).known(partition) != nil else { return false }
            }
            return true
        }
    }

    public func submission(_ key: SubmissionKey) throws(LedgerError) -> SubmissionRecord {
        try read { (_) throws(StoreError) in
            let query = GrantQuery(bundleID: key.bundleID, submissionID: key.submissionID, limit: .max)
            let grants = try GrantTable(database: database).page(query)
            let answer = try AnswerTable(database: database).answers([key])[key]
            return SubmissionRecord(
                grants: grants.reversed(), answer: answer, waiting: try RetryTable(database: database).rows(of: key),
                owed: try OutboxTable(database: database).rows(of: key, grants: grants.map(\.grant), answer: answer))
        }
    }

    public func submissions(_ query: SubmissionQuery) throws(LedgerError) -> [SubmissionRow] {
        try read { (_) throws(StoreError) in
            switch query.state {
            case .failed: try AnswerTable(database: database).page(query)
            case .retrying, .held: try RetryTable(database: database).page(query)
            case .granted:
                try GrantTable(database: database).page(
                    GrantQuery(bundleID: query.bundleID, userID: query.userID, before: query.before, limit: query.limit)
                ).map(SubmissionRow.init)
            }
        }
    }

    public func grants(_ query: GrantQuery) throws(LedgerError) -> [GrantRow] {
        try read { (_) throws(StoreError) in try GrantTable(database: database).page(query) }
    }

    public func outbox(limit: Int) throws(LedgerError) -> [OutboxRow] {
        try read { (_) throws(StoreError) in try OutboxTable(database: database).page(limit: limit) }
    }

    public func actions(on key: SubmissionKey?) throws(LedgerError) -> [OperatorAction] {
        try read { (_) throws(StoreError) in try OperatorTable(database: database).actions(on: key) }
    }

    public func accept(ledger id: String, _ note: OperatorNote) throws(LedgerError) -> Bool {
        try write { (_) throws(StoreError) in
            let table = OperatorTable(database: database)
            guard try table.identity() == id else { return false }
            try table.accept(at: note.at)
            try table.add(.accept, note, on: nil)
            return true
        }
    }

    public func retryNow(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> Int {
        try write { (now) throws(StoreError) in
            let count = try RetryTable(database: database).makeDue(key, now: now)
            if count > 0 { try OperatorTable(database: database).add(.retry, note, on: key) }
            return count
        }
    }

    public func abandon(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> [Outcome] {
        try write { (now) throws(StoreError) in
            var outcomes: [Outcome] = []
            let retries = RetryTable(database: database)
            for row in try retries.rows(of: key) {
                // Taken even from another lease; a result under the former lease is dropped.
                let due = try retries.lease(row, now: now)
                var planner = BatchPlanner([.abandoning(due, note)])
                _ = planner.readAnswers(try AnswerTable(database: database).answers([key]))
                let own = try GrantTable(database: database).grants(of: key)
                let held = try GrantTable(database: database).holders(planner.questions.holders)
                let partition = due.submission.origin.topicPartition
                let number = try OwnershipTable(database: database).number(partition)
                try carryOut(planner.conclude(held: held, own: own), partitions: [partition: number], now: now)
                if case .written(let outcome, _)? = planner.results().first { outcomes.append(outcome) }
            }
            if !outcomes.isEmpty { try OperatorTable(database: database).add(.abandon, note, on: key) }
            return outcomes
        }
    }
}
