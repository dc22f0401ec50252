import Contract
public import Ledger
import Scheduling

extension PostgresLedger {
    /// One worker samples at a time, and leaves its sample to the others. Signs of life are taken from all.
    public func measure(as worker: WorkerSign) throws(LedgerError) -> LedgerMeasure {
        let workers = try write { (now) throws(PostgresFailure) in try connection.workers.sign(of: worker, now: now) }
        var measure = try write { (now) throws(PostgresFailure) in try sample(now: now) }
        measure.workers = workers
        return measure
    }

    public func signOff(_ worker: WorkerSign) throws(LedgerError) {
        try write { (_) throws(PostgresFailure) in try connection.workers.forget(worker) }
    }

    /// No sample is good for longer: workers' shares of `retries` and their rounds of due rows depend on it.
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
        try connection.run(
            PostgresStatement("UPDATE measure SET (\(SampleColumns.written.list)) = (\(SampleColumns.written.values))")
            {
                SampleColumns.write(taken, took: (Instant.now - start).milliseconds, to: &$0)
            })
        return taken
    }

    /// Rows of a table whose time is put right within one sample.
    private static let mostCapped = 10_000

    private func takeSample(now: Timestamp) throws(PostgresFailure) -> LedgerMeasure {
        let tables = try sampledTables(seed: now.milliseconds)
        let (retries, outbox) = (tables[0], tables[1])
        let results = try connection.run([
            retries.setting,
            PostgresStatement(
                """
                SELECT app, endpoint, count(*), sum(bytes)::bigint, max(due_at), min(received_at)
                FROM \(retries.source) GROUP BY app, endpoint ORDER BY app
                """),
            PostgresStatement("SELECT count(*) FROM retries WHERE NOT \(RetryColumns.isKnown)"),
            PostgresStatement(
                """
                SELECT app, cause, detail, whole, oldest FROM (
                    SELECT app, cause, detail,
                        (sum(count(*)) OVER (PARTITION BY app, cause))::bigint AS whole,
                        min(min(received_at)) OVER (PARTITION BY app, cause) AS oldest,
                        row_number() OVER (PARTITION BY app, cause ORDER BY count(*) DESC, detail) AS place
                    FROM \(retries.source) WHERE endpoint IS NULL GROUP BY app, cause, detail) AS details
                WHERE place <= \(LedgerMeasure.Held.maxDetails) ORDER BY app, cause, place
                """),
            outbox.setting,
            PostgresStatement(outbox.isWhole ? Self.owed : Self.owed(sampled: outbox)),
            PostgresStatement(
                """
                SELECT target, count(*), count(*) FILTER (WHERE \(ServiceAnswer.isRefusalInSQL)),
                    min(owed_since) FILTER (WHERE (\(ServiceAnswer.isRefusalInSQL)) IS NOT TRUE)
                FROM \(outbox.source) WHERE step = 'call' GROUP BY target ORDER BY target
                """),
        ])
        var apps: [LedgerMeasure.App] = []
        var endpoints: [String?: (rows: Int, oldest: Int64?)] = [:]
        var last = Int64.min
        for row in results[1].rows {
            let app: BundleID = row.identifier(0)
            let before = apps.last?.bundleID == app ? apps.removeLast() : nil
            apps.append(
                LedgerMeasure.App(
                    bundleID: app, rows: retries.whole(row.integer(2)) + (before?.rows ?? 0),
                    bytes: Int64(retries.whole(row.integer(3))) + (before?.bytes ?? 0)))
            let endpoint = endpoints[row.optionalText(1)]
            endpoints[row.optionalText(1)] = (
                (endpoint?.rows ?? 0) + retries.whole(row.integer(2)), min(endpoint?.oldest ?? .max, row.integer(5))
            )
            last = max(last, row.integer(4))
        }
        var calls = results[6].rows.map { row in
            (
                target: row.text(0), rows: outbox.whole(row.integer(1)), refused: outbox.whole(row.integer(2)),
                oldest: row.optionalInteger(3)
            )
        }
        // Few rows among many may be on none of the pages. Their presence counts: else nobody asks for them.
        if !retries.isWhole {
            for endpoint in try endpointsThatWait() where endpoints[endpoint] == nil { endpoints[endpoint] = (1, nil) }
        }
        if !outbox.isWhole {
            for target in try targetsThatAreOwed() where !calls.contains(where: { $0.target == target }) {
                calls.append((target, 1, 0, nil))
            }
        }
        let waiting = endpoints.sorted { ($0.key ?? "") < ($1.key ?? "") }
        let later = waiting.reduce(results[2].first?.int(0) ?? 0) { count, entry in
            entry.key.map { Endpoint(text: $0) == nil } ?? false ? count + entry.value.rows : count
        }
        let owed = results[5].first
        last = max(last, owed?.optionalInteger(2) ?? .min)
        if last > now.milliseconds + longestDelayMilliseconds { try cap(now: now) }
        return LedgerMeasure(
            retries: apps,
            waiting: waiting.map {
                LedgerMeasure.Waiting(
                    endpoint: $0.key.flatMap { Endpoint(text: $0) }, rows: $0.value.rows,
                    oldest: $0.value.oldest.map { Timestamp(milliseconds: $0) })
            },
            held: Self.held(results[3], retries),
            calls: calls.compactMap { calls in
                OutboxTarget(text: calls.target).flatMap {
                    LedgerMeasure.Calls(of: $0, rows: calls.rows, refused: calls.refused, oldest: calls.oldest)
                }
            },
            outboxRows: (owed?.int(0) ?? 0) + calls.reduce(0) { $0 + $1.rows },
            outboxAge: max(0, now.milliseconds - (owed?.optionalInteger(1) ?? now.milliseconds)),
            later: later + outbox.whole(owed?.integer(3) ?? 0), takenAt: now)
    }

    private static let isOfLaterVersion = "NOT (\(OutboxColumns.isShown))"

    /// Events, since when the oldest is owed, the latest due time of all rows, and rows of a later version.
    private static let owed = """
        SELECT count(*) FILTER (WHERE step <> 'call'), min(owed_since) FILTER (WHERE step <> 'call'), max(due_at),
            count(*) FILTER (WHERE \(isOfLaterVersion))
        FROM outbox
        """

    /// The same where calls are too many to count. Events are counted all the same.
    private static func owed(sampled outbox: SampledTable) -> String {
        """
        SELECT events.rows, events.since, sample.due, sample.later
        FROM (SELECT count(*) AS rows, min(owed_since) AS since FROM outbox WHERE target = ANY (\(topics))) AS events,
            (SELECT max(due_at) AS due, count(*) FILTER (WHERE \(isOfLaterVersion)) AS later
                FROM \(outbox.source)) AS sample
        """
    }

    /// The targets of events: these rows are few, because a worker stops while many are owed.
    private static let topics =
        "'{\(Topic.outputs.map { OutboxTarget.topic($0).text }.joined(separator: ","))}'::text[]"

    // MARK: Large tables

    /// A table as a sample counts it.
    private struct SampledTable {
        let name: String
        /// Differs for each sample, so that no row is left out for ever.
        let seed: Int64
        /// The part of its pages that are read; nil for all its rows.
        var part: Double?
        /// Whether all its pages are read in their order. Else its rows are found by an index, because most of its
        /// pages may be empty.
        var readsPages = true

        var isWhole: Bool { part == nil }

        /// Stands for its name. All statements of a sample read the same pages, so that they come from the disk once.
        var source: String { part.map { "\(name) TABLESAMPLE SYSTEM (\($0 * 100)) REPEATABLE (\(seed))" } ?? name }

        var setting: PostgresStatement {
            PostgresStatement("SET LOCAL enable_seqscan = \(readsPages ? "on" : "off")")
        }

        /// The number of all rows, by that of those that were read.
        func whole(_ count: Int64) -> Int { Int(part.map { (Double(count) / $0).rounded() } ?? Double(count)) }
    }

    /// `retries` and `outbox`.
    private func sampledTables(seed: Int64) throws(PostgresFailure) -> [SampledTable] {
        var tables = ["retries", "outbox"].map { SampledTable(name: $0, seed: seed) }
        let sizes = try connection.run(
            tables.map {
                PostgresStatement("SELECT pg_relation_size('\($0.name)') / current_setting('block_size')::bigint")
            })
        for place in tables.indices {
            let pages = sizes[place].first?.integer(0) ?? 0
            guard pages > configuration.samplePages else { continue }
            let last = PostgresStatement("SELECT 1 FROM \(tables[place].name) ORDER BY sequence OFFSET $1 LIMIT 1") {
                $0.integer(configuration.sampleRows)
            }
            if try connection.run(last).rowCount > 0 {
                tables[place].part = Double(configuration.samplePages) / Double(pages)
            } else {
                tables[place].readsPages = false
            }
        }
        return tables
    }

    /// The endpoints that rows wait for; nil for held ones.
    private func endpointsThatWait() throws(PostgresFailure) -> [String?] {
        let held = PostgresStatement("SELECT 1 WHERE EXISTS (SELECT 1 FROM retries WHERE endpoint IS NULL)")
        return try values(of: "endpoint", in: "retries") + (connection.run(held).rowCount > 0 ? [nil] : [])
    }

    /// The services that calls are owed to.
    private func targetsThatAreOwed() throws(PostgresFailure) -> [String] {
        let topics = Set(Topic.outputs.map { OutboxTarget.topic($0).text })
        return try values(of: "target", in: "outbox").filter { !topics.contains($0) }
    }

    /// The few values of a column that begins an index. Each costs a look into the index.
    private func values(of column: String, in table: String) throws(PostgresFailure) -> [String] {
        try connection.run(
            PostgresStatement(
                """
                WITH RECURSIVE found AS (
                    SELECT min(\(column)) AS value FROM \(table)
                    UNION ALL SELECT (SELECT min(\(column)) FROM \(table) WHERE \(column) > found.value) FROM found
                    WHERE found.value IS NOT NULL)
                SELECT value FROM found WHERE value IS NOT NULL
                """)
        ).rows.map { $0.text(0) }
    }

    /// Held rows by group, from rows of the groups' details.
    private static func held(_ result: PostgresResult, _ table: SampledTable) -> [LedgerMeasure.Held] {
        var groups: [(app: BundleID, cause: String, rows: Int, details: [String], oldest: Timestamp)] = []
        for row in result.rows {
            let (app, cause): (BundleID, String) = (row.identifier(0), row.text(1))
            if groups.last.map({ $0.app != app || $0.cause != cause }) ?? true {
                groups.append((app, cause, table.whole(row.integer(3)), [], Timestamp(milliseconds: row.integer(4))))
            }
            groups[groups.count - 1].details.append(row.text(2))
        }
        return groups.map {
            LedgerMeasure.Held(
                $0.app, HoldCause(rawValue: $0.cause) ?? .unknownAnswer, rows: $0.rows, $0.details, oldest: $0.oldest)
        }
    }

    /// No row waits for longer than the longest delay, unless a clock was ahead: then it is due by the end of it. The
    /// next sample finds the rest.
    private func cap(now: Timestamp) throws(PostgresFailure) {
        try connection.run(
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
