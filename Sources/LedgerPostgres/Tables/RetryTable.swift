import Contract
import Ledger

/// Statements on `retries`, within one transaction.
struct RetryTable {
    let connection: PostgresConnection

    // MARK: Writing

    /// Statements that add rows, due after their delays, or leave those that are there. Then come those that write down
    /// which leased rows go on waiting and which have ended.
    static func changes(
        _ writes: BatchWrites, partitions: [TopicPartition: Int64], now: Timestamp
    ) -> [PostgresStatement] {
        var statements: [PostgresStatement] = []
        if !writes.retries.isEmpty {
            statements.append(
                PostgresStatement(insertion, each: writes.retries, RetryColumns.written.elements) { new, row in
                    let partition = partitions[new.submission.origin.topicPartition] ?? 0
                    RetryColumns.write(new, partition: partition, now: now, to: &row)
                })
        }
        if !writes.updatedRetries.isEmpty {
            let types = RetryColumns.changed.elements + [.blob, .integer]
            statements.append(
                PostgresStatement(update, each: writes.updatedRetries, types) { update, row in
                    RetryColumns.write(update.entry, attempts: update.attempts, now: now, to: &row)
                    row.lease(update.lease)
                })
        }
        if !writes.endedRetries.isEmpty {
            statements.append(
                PostgresStatement(end, each: writes.endedRetries, [.blob, .integer]) { $1.lease($0) })
        }
        return statements
    }

    private static let insertion = RetryColumns.written.insertion(into: "retries", key: "digest")

    private static let update = """
        UPDATE retries SET
            \(RetryColumns.changed.names.map { "\($0) = given.\($0)" }.joined(separator: ", ")), leased_until = NULL,
            takings = CASE WHEN given.cause = '\(HoldCause.endsWorkers.rawValue)' THEN takings ELSE 0 END
        FROM unnest(\(RetryColumns.changed.parameters), $\(RetryColumns.changed.names.count + 1)::bytea[],
            $\(RetryColumns.changed.names.count + 2)::bigint[]) AS given (\(RetryColumns.changed.list), d, l)
        WHERE digest = d AND lease = l
        """

    private static let end = """
        DELETE FROM retries USING unnest($1::bytea[], $2::bigint[]) AS ended (d, l) WHERE digest = d AND lease = l
        """

    // MARK: Leases

    /// The leases among these that are present. Until the transaction's end nobody can take their rows.
    func owned(_ leases: Set<RetryLease>) throws(PostgresFailure) -> Set<RetryLease> {
        guard !leases.isEmpty else { return [] }
        let statement = PostgresStatement(
            """
            SELECT digest, lease FROM unnest($1::bytea[], $2::bigint[]) AS asked (d, l)
            JOIN retries ON digest = d AND lease = l
            ORDER BY digest FOR UPDATE OF retries
            """, each: leases, [.blob, .integer]
        ) { $1.lease($0) }
        return Set(
            try connection.run(statement).rows.compactMap { row in
                ClaimDigest(bytes: row.blob(0)).map { RetryLease(key: $0, number: row.integer(1)) }
            })
    }

    /// Leases the due rows of one request: signed ones first, in the order in which they are due. Of held rows none
    /// goes first. They are taken before they are due as well, and the signed ones would come again before the others'
    /// turn.
    /// - Parameter bytes: How many more are taken; the row that reaches it is still taken.
    func take(_ request: DueRequest, bytes: inout Int, now: Timestamp) throws(PostgresFailure) -> [DueRetry] {
        guard request.limit > 0, bytes > 0 else { return [] }
        // A row that another worker has is due at its lease's end, and not before the breaker closes.
        let isDue =
            request.beforeDue ? "(leased_until IS NULL OR leased_until <= $2::bigint)" : "due_at <= $2::bigint"
        let most = bytes
        let taken = try lease(Self.taking(isDue, isHeld: request.endpoint == nil), now: now) {
            $0.time(now)
            $0.integer(request.limit)
            $0.integer(most)
            if let endpoint = request.endpoint { $0.text(endpoint.text) }
        }
        bytes -= taken.reduce(0) { $0 + $1.submission.retainedBytes }
        return taken
    }

    /// Rows that another session is about to take are left to it.
    private static func taking(_ isDue: String, isHeld: Bool) -> String {
        func locked(_ isWanted: String, most: String) -> String {
            """
            SELECT sequence AS s, due_at AS due, bytes AS size FROM retries
            WHERE \(isWanted) AND \(isDue) AND \(RetryColumns.isKnown) AND NOT \(RetryColumns.isSuspectNext)
            ORDER BY due_at, sequence LIMIT \(most) FOR UPDATE SKIP LOCKED
            """
        }
        let first = isHeld ? "endpoint IS NULL" : "endpoint = $5::text AND signed = 1"
        let second = isHeld ? "FALSE" : "endpoint = $5::text AND signed = 0"
        return """
            WITH first AS MATERIALIZED (\(locked(first, most: "$3::bigint"))),
            second AS MATERIALIZED (
                \(locked(second, most: "greatest(0, $3::bigint - (SELECT count(*) FROM first))"))),
            found AS (SELECT 0 AS class, * FROM first UNION ALL SELECT 1, * FROM second),
            sized AS (SELECT *, sum(size) OVER (ORDER BY class, due, s) - size AS before FROM found),
            wanted AS (SELECT *, row_number() OVER (ORDER BY class, due, s) AS place FROM sized
                WHERE before < $4::bigint)
            \(leasing) FROM wanted WHERE sequence = s RETURNING sequence, lease, takings, place
            """
    }

    /// Leases the longest due row that is suspect with its next taking; nil if there is none. A held row has no lease
    /// that could end.
    func takeSuspect(now: Timestamp) throws(PostgresFailure) -> DueRetry? {
        try lease(
            """
            \(Self.leasing) WHERE sequence = (
                SELECT sequence FROM retries
                WHERE \(RetryColumns.isSuspectNext) AND leased_until <= $2::bigint AND \(RetryColumns.isKnown)
                ORDER BY leased_until, sequence LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING sequence, lease, takings, 0::bigint
            """, now: now
        ) {
            $0.time(now)
        }.first
    }

    /// All rows of a submission that this version can read, without their evidence, in the order in which they came.
    /// Until the transaction's end nobody else can take or change them.
    func locked(of key: SubmissionKey) throws(PostgresFailure) -> [RetryRow] {
        let statement = PostgresStatement(
            """
            \(RetryColumns.outline)
            WHERE \(HashedIndex.condition("submission_id", "$1::text")) AND app = $2::text AND \(RetryColumns.isKnown)
            ORDER BY digest FOR UPDATE OF retries
            """
        ) { $0.submission(key) }
        return try connection.run(statement).rows
            .sorted { $0.integer(RetryColumns.sequence.index) < $1.integer(RetryColumns.sequence.index) }
            .compactMap { RetryColumns.row($0) }
    }

    /// Takes rows that are ``locked(of:)``, even from other leases.
    func take(_ rows: [RetryRow], now: Timestamp) throws(PostgresFailure) -> [DueRetry] {
        var taken: [DueRetry] = []
        for row in rows {
            taken += try lease(
                "\(Self.leasing) WHERE digest = $2::bytea RETURNING sequence, lease, takings, sequence", now: now
            ) { $0.blob(row.key.bytes) }
        }
        return taken
    }

    /// Takes rows, even from other leases; the first parameter is when the lease ends.
    private static let leasing = """
        UPDATE retries SET
            lease = nextval('lease_numbers'), takings = takings + 1, leased_until = $1::bigint, due_at = $1::bigint
        """

    /// Runs a statement that takes rows, and reads them.
    /// - Parameters:
    ///   - sql: Has ``leasing``, and returns each row's sequence, lease, takings and index.
    ///   - bind: Gives the parameters behind the first.
    private func lease(
        _ sql: String, now: Timestamp, _ bind: (inout PostgresParameters) -> Void
    ) throws(PostgresFailure) -> [DueRetry] {
        let statement = PostgresStatement(sql) {
            $0.time(now.advanced(by: .milliseconds(leaseMilliseconds)))
            bind(&$0)
        }
        let taken = try connection.run(statement).rows.map { row in
            (sequence: row.integer(0), lease: row.integer(1), takings: row.int(2), place: row.integer(3))
        }.sorted { $0.place < $1.place }
        guard !taken.isEmpty else { return [] }
        let selection = PostgresStatement(
            "\(RetryColumns.selection) WHERE retries.sequence = ANY ($1::bigint[])", each: taken, [.integer]
        ) { $1.integer($0.sequence) }
        var found: [Int64: RetryRow] = [:]
        for row in try connection.run(selection).rows {
            found[row.integer(RetryColumns.sequence.index)] = RetryColumns.row(row)
        }
        return taken.compactMap { taken in
            found[taken.sequence].map { DueRetry($0, lease: taken.lease, takings: taken.takings) }
        }
    }

    static func renew(_ renewal: LeaseRenewal, now: Timestamp) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE retries SET leased_until = $3::bigint, due_at = $3::bigint, takings = $4::bigint
            WHERE digest = $1::bytea AND lease = $2::bigint AND leased_until IS NOT NULL
            """
        ) {
            $0.lease(renewal.lease)
            $0.time(now.advanced(by: .milliseconds(leaseMilliseconds)))
            $0.integer(renewal.takings)
        }
    }

    static func giveBack(_ lease: RetryLease, now: Timestamp) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE retries SET leased_until = NULL, due_at = $3::bigint, takings = 0
            WHERE digest = $1::bytea AND lease = $2::bigint AND leased_until IS NOT NULL
            """
        ) {
            $0.lease(lease)
            $0.time(now)
        }
    }

    // MARK: Reading

    /// Rows whatever the evidence is.
    func waiting(from ranges: [OriginRange]) throws(PostgresFailure) -> [WaitingRow] {
        let results = try connection.run(ranges.map { $0.statement("\(RetryColumns.outline) WHERE") })
        return try judged(results.flatMap { result in result.rows.compactMap { RetryColumns.waiting($0) } })
    }

    func waiting(_ keys: Set<RetryKey>) throws(PostgresFailure) -> [RetryKey: WaitingRow] {
        guard !keys.isEmpty else { return [:] }
        let statement = PostgresStatement(
            "\(RetryColumns.outline) WHERE digest = ANY($1::bytea[])", each: keys, [.blob]
        ) { $1.blob($0.bytes) }
        let rows = try judged(connection.run(statement).rows.compactMap { RetryColumns.waiting($0) })
        return Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
    }

    private func judged(_ rows: [WaitingRow]) throws(PostgresFailure) -> [WaitingRow] {
        guard !rows.isEmpty else { return [] }
        let keys = rows.map(\.pending.claimant.submissionKey)
        return WaitingRow.judged(
            rows, grants: try connection.grants.found(of: keys),
            answers: try connection.answers.found(of: keys))
    }

    /// The rows of some submissions without their evidence, the oldest first.
    func all(of keys: [SubmissionKey]) -> PostgresQuestion<[SubmissionKey: KnownRows<RetryRow>]> {
        let statement = PostgresStatement(
            """
            SELECT \(RetryColumns.outlined) FROM unnest($1::text[], $2::text[]) AS asked (a, b)
            JOIN retries ON \(HashedIndex.condition("submission_id", "a")) AND app = b \(RetryColumns.joins)
            ORDER BY retries.sequence
            """, each: keys, [.text, .text]
        ) { $1.submission($0) }
        return PostgresQuestion(statement) { result in
            KnownRows.bySubmission(result, RetryColumns.self) { RetryColumns.row($0) }
        }
    }

    /// Makes rows that no worker has due at once.
    /// - Returns: How many they are; nil if the submission has no rows at all.
    func makeDue(_ key: SubmissionKey, now: Timestamp) throws(PostgresFailure) -> Int? {
        let changed = try connection.run(
            PostgresStatement(
                """
                UPDATE retries SET due_at = $3::bigint, takings = 0
                WHERE \(HashedIndex.condition("submission_id", "$1::text")) AND app = $2::text
                    AND leased_until IS NULL
                """
            ) {
                $0.submission(key)
                $0.time(now)
            }
        ).affected
        guard changed == 0 else { return changed }
        return try connection.ask(all(of: [key]))[key]?.known.isEmpty ?? true ? nil : 0
    }

    /// Rows that are retrying, or held.
    func page(_ query: SubmissionQuery) -> ListPage<SubmissionRow> {
        // Both states share a statement where an id is looked for. Indexes of whole states are of no use to it.
        let namesAnID = query.namesAnID
        return ListPage(
            RetryColumns.outline, of: "retries",
            where: namesAnID ? "TRUE" : query.state == .held ? "endpoint IS NULL" : "endpoint IS NOT NULL",
            before: query.before, limit: query.limit,
            [
                (
                    "CASE WHEN endpoint IS NULL THEN 'held' ELSE 'retrying' END = ?",
                    namesAnID ? query.state.rawValue : nil
                ),
                ("app = ?", query.bundleID?.rawValue), (HashedIndex.condition("user_id", "?"), query.userID?.rawValue),
                (HashedIndex.condition("submission_id", "?"), query.submissionID?.rawValue),
                (HashedIndex.condition("order_id", "?"), query.orderID?.rawValue),
                (HashedIndex.condition("transaction_id", "?"), query.transactionID?.rawValue),
                ("cause = ?", query.cause), ("starts_with(endpoint, ?)", query.endpoint?.text),
                ("retries.sequence >= ?::bigint", query.from.map { String($0) }),
            ], plan: query.plan, sequence: RetryColumns.sequence.index
        ) { row in RetryColumns.page(row, query.state) }
    }
}
