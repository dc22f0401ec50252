public import Purchases

extension SQLiteLedger: WaitingRoom {
    public func takeDue(
        _ worker: WorkerID, limit: Int, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> [DueSubmission] {
        // Looked at first without the writer's lock: most looks find nothing.
        guard try await read({ try WaitingTable(database: $0).hasDue(now) }) else { return [] }
        return try await write { database in
            try WaitingTable(database: database).take(
                worker, limit: limit, until: now.advanced(by: lease), now: now)
        }
    }

    public func keepDue(
        _ worker: WorkerID, _ keys: [SubmissionKey], for lease: Duration, now: Timestamp
    ) async throws(LedgerError) {
        try await write { try WaitingTable(database: $0).keep(worker, keys, until: now.advanced(by: lease)) }
    }

    public func backlog() async throws(LedgerError) -> LedgerBacklog {
        try await read { database in
            let (waiting, firstDueAt) = try WaitingTable(database: database).counts()
            return LedgerBacklog(
                waiting: waiting, firstDueAt: firstDueAt, unpublished: try Self.unpublished(database))
        }
    }

    public func giveBackDue(_ worker: WorkerID, now: Timestamp) async throws(LedgerError) {
        try await write { try WaitingTable(database: $0).giveBack(worker, now: now) }
    }
}

extension SQLiteLedger: LedgerOperations {
    public func retry(
        _ key: SubmissionKey, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Recall {
        try await write { database in
            guard let prior = try SubmissionTable(database).prior(key) else { return .notFound }
            guard !prior.outcome.isFinal else { return .settled(prior.outcome) }
            let waiting = WaitingTable(database: database)
            guard try waiting.makeDue(key, now: now) else {
                return try waiting.state(of: key)?.worker.map { .underWay($0) } ?? .notKept
            }
            try OperatorTable(database: database).add(
                .retry, note, key: key, cause: prior.cause, count: 1, now: now)
            return .due
        }
    }

    public func retryAll(
        _ cause: WaitingCause, bundleID: BundleID?, perSecond: Double, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Int {
        try await write { database in
            let count = try WaitingTable(database: database).makeDue(
                cause, bundleID: bundleID, gap: 1000 / perSecond, now: now)
            try OperatorTable(database: database).add(
                .retry, note, key: nil, cause: cause, count: count, now: now)
            return count
        }
    }

    public func abandon(
        _ key: SubmissionKey, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Abandonment {
        try await write { database in
            guard let stored = try SubmissionTable(database).row(of: key) else { return .notFound }
            guard !stored.row.outcome.isFinal else { return .settled(stored.row.outcome) }
            var transaction = try SettlingTransaction(database: database, now: now)
            let conclusions = try transaction.settle([stored.abandoned(note)], claims: [[]])
            _ = try transaction.finish()
            try OperatorTable(database: database).add(.abandon, note, key: key, cause: nil, count: 1, now: now)
            guard case .failed(let event, _) = conclusions.first?.outcome else {
                // It was answered before under a reused id; that answer stands, and nothing waits any more.
                return .settled(conclusions.first?.recorded ?? .granted)
            }
            return .abandoned(event)
        }
    }
}
