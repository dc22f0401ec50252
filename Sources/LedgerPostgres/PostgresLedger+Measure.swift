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
        let (retries, outbox) = try sampledTables(seed: now.milliseconds)
        let (waits, later, held) = (retries.waits, retries.later, retries.held)
        let (events, calls) = (outbox.events, outbox.calls)
        let results = try connection.run([
            retries.setting, waits.statement, later.statement, held.statement, outbox.setting, events.statement,
            calls.statement,
        ])
        var (waiting, groups) = (waits.read(results[1]), held.read(results[3]))
        let owed = events.read(results[5])
        var owedCalls = calls.read(results[6])
        // Few rows among many may be on none of the pages. Their presence counts: else nobody asks for them.
        if !retries.isWhole {
            for endpoint in try endpointsThatWait() where waiting.endpoints[endpoint] == nil {
                waiting.endpoints[endpoint] = (1, nil)
            }
            // A group that came and went with the pages would be told as new each time.
            let first = try connection.ask(retries.firstHeld)
            let isAll = first.reduce(0) { $0 + $1.rows } < SampledTable.mostHeld
            groups = isAll ? first : groups + first.filter { one in !groups.contains { $0.group == one.group } }
        }
        if !outbox.isWhole {
            for target in try targetsThatAreOwed() where !owedCalls.contains(where: { $0.target == target }) {
                owedCalls.append((target, 1, 0, nil))
            }
        }
        if max(waiting.last, owed.last) > now.milliseconds + longestDelayMilliseconds { try cap(now: now) }
        return LedgerMeasure(
            retries: waiting.apps, waiting: waiting.byEndpoint, held: groups,
            calls: owedCalls.compactMap { calls in
                OutboxTarget(text: calls.target).flatMap {
                    LedgerMeasure.Calls(of: $0, rows: calls.rows, refused: calls.refused, oldest: calls.oldest)
                }
            },
            outboxRows: owed.rows + owedCalls.reduce(0) { $0 + $1.rows },
            outboxAge: max(0, now.milliseconds - (owed.since ?? now.milliseconds)),
            later: later.read(results[2]) + waiting.later + owed.later, takenAt: now)
    }

    // MARK: Large tables

    private func sampledTables(
        seed: Int64
    ) throws(PostgresFailure) -> (retries: SampledTable, outbox: SampledTable) {
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
        return (tables[0], tables[1])
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
