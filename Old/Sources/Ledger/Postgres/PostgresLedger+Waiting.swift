public import Purchases

extension PostgresLedger: WaitingRoom {
    public func takeDue(
        _ worker: WorkerID, limit: Int, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> [DueSubmission] {
        try await pool.run { connection throws(PostgresFailure) in
            try connection.run(WaitingRows.take(worker, limit: limit, for: lease, clock.moment(now)))
                .rows(WaitingRows.due)
        }
    }

    public func keepDue(
        _ worker: WorkerID, _ keys: [SubmissionKey], for lease: Duration, now: Timestamp
    ) async throws(LedgerError) {
        try await pool.run { connection throws(PostgresFailure) in
            _ = try connection.run(WaitingRows.keep(worker, keys, for: lease, clock.moment(now)))
        }
    }

    public func giveBackDue(_ worker: WorkerID, now: Timestamp) async throws(LedgerError) {
        try await pool.run { connection throws(PostgresFailure) in
            _ = try connection.run(WaitingRows.giveBack(worker, clock.moment(now)))
        }
    }

    public func backlog() async throws(LedgerError) -> LedgerBacklog {
        try await pool.run { connection throws(PostgresFailure) in
            let (waiting, firstDueAt) = try WaitingRows.counts(try connection.run(WaitingRows.counting))
            return LedgerBacklog(
                waiting: waiting, firstDueAt: firstDueAt,
                unpublished: try Self.count(try connection.run(Self.countingUnpublished)))
        }
    }
}

extension PostgresLedger: LedgerOperations {
    public func retry(
        _ key: SubmissionKey, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Recall {
        try await pool.run { connection throws(PostgresFailure) in
            let results = try connection.run([PostgresCommand(.begin), SubmissionRows.lock([key])])
            guard results.count == 2 else { throw .lost("unexpected answer") }
            let prior = try SubmissionRows.found(results[1]).first?.1
            guard let prior, !prior.outcome.isFinal else {
                connection.rollBack()
                return prior.map { .settled($0.outcome) } ?? .notFound
            }
            guard try connection.run(WaitingRows.makeDue(key, clock.moment(now))).affected > 0 else {
                let state = try connection.run(WaitingRows.state(of: key)).rows(WaitingRows.state).first
                connection.rollBack()
                return state?.worker.map { .underWay($0) } ?? .notKept
            }
            _ = try connection.commit([
                OperatorRows.add(.retry, note, key: key, cause: prior.cause, count: 1, now: now)
            ])
            return .due
        }
    }

    public func retryAll(
        _ cause: WaitingCause, bundleID: BundleID?, perSecond: Double, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Int {
        try await pool.run { connection throws(PostgresFailure) in
            let results = try connection.run([
                PostgresCommand(.begin),
                WaitingRows.makeDue(cause, bundleID: bundleID, gap: 1000 / perSecond, clock.moment(now)),
            ])
            guard results.count == 2 else { throw .lost("unexpected answer") }
            let count = results[1].affected
            _ = try connection.commit([
                OperatorRows.add(.retry, note, key: nil, cause: cause, count: count, now: now)
            ])
            return count
        }
    }

    public func abandon(
        _ key: SubmissionKey, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Abandonment {
        let filter = SubmissionFilter(bundleID: key.bundleID, submissionID: key.submissionID)
        while let row = try await submissions(filter, before: nil, limit: 1).first {
            guard !row.outcome.isFinal else { return .settled(row.outcome) }
            let abandoned = try await pool.run { connection throws(PostgresFailure) -> Abandonment? in
                let fingerprint = try connection.run(SubmissionRows.fingerprint(of: key))
                    .rows { found throws(PostgresFailure) in try found.text(0) }.first
                let settling = PostgresSettling(
                    [StoredSubmission(row: row, fingerprint: fingerprint ?? "").abandoned(note)], quarantines: [],
                    now: now, clock: clock,
                    operation: OperatorRows.add(.abandon, note, key: key, cause: nil, count: 1, now: now))
                guard let result = try settling.runIfWaiting(on: connection) else { return nil }
                guard case .failed(let event, .abandonedByOperator) = result.conclusions.first?.outcome else {
                    // It was answered before under a reused id; that answer stands, and nothing waits any more.
                    return .settled(result.conclusions.first?.recorded ?? .granted)
                }
                return .abandoned(event)
            }
            // Without one somebody settled it meanwhile, and what that came to is in its row now.
            if let abandoned { return abandoned }
        }
        return .notFound
    }
}
