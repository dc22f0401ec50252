import Contract
public import Ledger
import Scheduling

extension PostgresLedger {
    /// One worker samples at a time, and leaves its sample to the others. Signs of life are taken from all.
    public func measure(as worker: WorkerSign) throws(LedgerError) -> LedgerMeasure {
        let workers = try write { (now) throws(PostgresFailure) in
            try WorkerTable(connection: connection).sign(of: worker, now: now)
        }
        var measure = try write { (now) throws(PostgresFailure) in try sample(now: now) }
        measure.workers = workers
        return measure
    }

    public func signOff(_ worker: WorkerSign) throws(LedgerError) {
        try write { (_) throws(PostgresFailure) in try WorkerTable(connection: connection).forget(worker) }
    }

    /// No sample is good for longer: workers' shares of `retries` and their rounds of due rows go by it.
    private static let longestRest: Int64 = 60_000

    private func sample(now: Timestamp) throws(PostgresFailure) -> LedgerMeasure {
        let latest = try connection.run(PostgresStatement("SELECT \(SampleColumns.shown) FROM measure")).first
            .flatMap { SampleColumns.sample($0) }
        let sample = latest?.measure
        let age = now.milliseconds - (sample?.takenAt.milliseconds ?? 0)
        let rest = min(Self.longestRest, configuration.sampleRest * (latest?.took ?? 0))
        let goodFor = max(configuration.sampleMilliseconds, rest)
        if let sample, age >= 0, age < goodFor { return sample }
        let isLocked =
            try connection.run(PostgresStatement("SELECT 1 FROM measure FOR UPDATE SKIP LOCKED")).rowCount > 0
        if let sample, !isLocked { return sample }
        let start = Instant.now
        let taken = try takeSample(now: now)
        guard isLocked else { return taken }
        _ = try connection.run(
            PostgresStatement("UPDATE measure SET (\(SampleColumns.written.list)) = (\(SampleColumns.written.values))")
            {
                SampleColumns.write(taken, took: (Instant.now - start).milliseconds, to: &$0)
            })
        return taken
    }

    /// Rows of a table whose time is put right within one sample.
    private static let mostCapped = 10_000

    private func takeSample(now: Timestamp) throws(PostgresFailure) -> LedgerMeasure {
        let results = try connection.run([
            // It counts all rows, which no index makes quicker.
            PostgresStatement("SET LOCAL enable_seqscan = on"),
            PostgresStatement(
                """
                SELECT app, endpoint, count(*), sum(bytes)::bigint, max(due_at), min(received_at) FROM retries
                GROUP BY app, endpoint ORDER BY app
                """),
            PostgresStatement("SELECT count(*) FROM retries WHERE NOT \(RetryColumns.isKnown)"),
            PostgresStatement(
                """
                SELECT app, cause, detail, whole, oldest FROM (
                    SELECT app, cause, detail,
                        (sum(count(*)) OVER (PARTITION BY app, cause))::bigint AS whole,
                        min(min(received_at)) OVER (PARTITION BY app, cause) AS oldest,
                        row_number() OVER (PARTITION BY app, cause ORDER BY count(*) DESC, detail) AS place
                    FROM retries WHERE endpoint IS NULL GROUP BY app, cause, detail) AS details
                WHERE place <= \(LedgerMeasure.Held.maxDetails) ORDER BY app, cause, place
                """),
            PostgresStatement(
                """
                SELECT count(*),
                    min(owed_since) FILTER (WHERE step <> 'call'),
                    max(due_at),
                    count(*) FILTER (WHERE NOT (\(OutboxColumns.isKnown) AND \(OutboxColumns.isOfKnownTarget)))
                FROM outbox
                """),
            PostgresStatement(
                """
                SELECT target, count(*), count(*) FILTER (WHERE \(ServiceAnswer.isRefusalInSQL)), min(owed_since)
                FROM outbox WHERE step = 'call' GROUP BY target ORDER BY target
                """),
        ])
        var apps: [LedgerMeasure.App] = []
        var endpoints: [String?: (rows: Int, oldest: Int64)] = [:]
        var last = Int64.min
        for row in results[1].rows {
            let app: BundleID = row.identifier(0)
            let before = apps.last?.bundleID == app ? apps.removeLast() : nil
            apps.append(
                LedgerMeasure.App(
                    bundleID: app, rows: row.int(2) + (before?.rows ?? 0), bytes: row.integer(3) + (before?.bytes ?? 0))
            )
            let endpoint = endpoints[row.optionalText(1)] ?? (0, .max)
            endpoints[row.optionalText(1)] = (endpoint.rows + row.int(2), min(endpoint.oldest, row.integer(5)))
            last = max(last, row.integer(4))
        }
        let waiting = endpoints.sorted { ($0.key ?? "") < ($1.key ?? "") }
        let later = waiting.reduce(results[2].first?.int(0) ?? 0) { count, entry in
            entry.key.map { Endpoint(text: $0) == nil } ?? false ? count + entry.value.rows : count
        }
        let outbox = results[4].first
        last = max(last, outbox?.optionalInteger(2) ?? .min)
        if last > now.milliseconds + longestDelayMilliseconds { try cap(now: now) }
        return LedgerMeasure(
            retries: apps,
            waiting: waiting.map {
                LedgerMeasure.Waiting(
                    endpoint: $0.key.flatMap { Endpoint(text: $0) }, rows: $0.value.rows,
                    oldest: Timestamp(milliseconds: $0.value.oldest))
            },
            held: Self.held(results[3]),
            calls: results[5].rows.compactMap { row in
                OutboxTarget(text: row.text(0)).flatMap {
                    LedgerMeasure.Calls(
                        of: $0, rows: row.int(1), refused: row.int(2), oldest: row.optionalInteger(3))
                }
            },
            outboxRows: outbox?.int(0) ?? 0,
            outboxAge: max(0, now.milliseconds - (outbox?.optionalInteger(1) ?? now.milliseconds)),
            later: later + (outbox?.int(3) ?? 0), takenAt: now)
    }

    /// Held rows by group, from rows of the groups' details.
    private static func held(_ result: PostgresResult) -> [LedgerMeasure.Held] {
        var groups: [(app: BundleID, cause: String, rows: Int, details: [String], oldest: Timestamp)] = []
        for row in result.rows {
            let (app, cause): (BundleID, String) = (row.identifier(0), row.text(1))
            if groups.last.map({ $0.app != app || $0.cause != cause }) ?? true {
                groups.append((app, cause, row.int(3), [], Timestamp(milliseconds: row.integer(4))))
            }
            groups[groups.count - 1].details.append(row.text(2))
        }
        return groups.map {
            LedgerMeasure.Held(
                $0.app, HoldCause(rawValue: $0.cause) ?? .unknownAnswer, rows: $0.rows, $0.details, oldest: $0.oldest)
        }
    }

    /// No row waits for longer than the longest delay, unless a clock was ahead: then it is due by the end of it. The
    /// next sample finds what is left.
    private func cap(now: Timestamp) throws(PostgresFailure) {
        _ = try connection.run(
            ["retries", "outbox"].map { table in
                PostgresStatement(
                    """
                    UPDATE \(table) SET
                        due_at = $1::bigint, leased_until = CASE WHEN leased_until IS NOT NULL THEN $1::bigint END
                    WHERE sequence IN (
                        SELECT sequence FROM \(table) WHERE due_at > $1::bigint LIMIT $2::bigint
                        FOR UPDATE SKIP LOCKED)
                    """
                ) {
                    $0.integer(now.milliseconds + longestDelayMilliseconds)
                    $0.integer(Self.mostCapped)
                }
            })
    }
}
