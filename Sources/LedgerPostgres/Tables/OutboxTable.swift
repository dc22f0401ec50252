import Contract
import Ledger

/// Statements on `outbox`, within one transaction.
struct OutboxTable {
    let connection: PostgresConnection

    /// Adds rows, or leaves those that are there.
    func insert(_ rows: [NewOutboxRow], now: Timestamp) throws(PostgresFailure) {
        for statement in Self.insertion(rows, now: now) { try connection.run(statement) }
    }

    /// Statements that add rows, or leave those that are there. If a worker is publishing a waiting submission's row,
    /// the row is published anew, because it has another content now. That worker's report finds no row under its
    /// lease.
    ///
    /// Such a row is locked even if it stays as it is. Else a worker could take it before this is committed, and
    /// publish a former state. A row that another session is about to add is waited for, and locked as well.
    static func insertion(_ rows: [NewOutboxRow], now: Timestamp) -> [PostgresStatement] {
        var (waiting, others): ([NewOutboxRow], [NewOutboxRow]) = ([], [])
        var known: Set<OutboxKey> = []
        for row in rows {
            guard case .pending = row.key else {
                others.append(row)
                continue
            }
            // Two records of one claim may owe the same event, and a statement changes a row once.
            if known.insert(row.key).inserted { waiting.append(row) }
        }
        var statements: [PostgresStatement] = []
        if !others.isEmpty {
            let insertion = OutboxColumns.written.insertion(into: "outbox", key: "key")
            statements.append(
                PostgresStatement(insertion, each: others, OutboxColumns.written.elements) {
                    OutboxColumns.write($0, now: now, to: &$1)
                })
        }
        if !waiting.isEmpty {
            statements.append(
                PostgresStatement(telling, each: waiting, OutboxColumns.written.elements) {
                    OutboxColumns.write($0, now: now, to: &$1)
                } rest: {
                    $0.time(now)
                })
        }
        return statements
    }

    /// Adds rows about submissions that wait; the parameter behind them is the present moment.
    private static let telling = {
        let now = "$\(OutboxColumns.written.names.count + 1)::bigint"
        return OutboxColumns.written.insertion(
            into: "outbox", key: "key",
            orElse: """
                UPDATE SET
                    lease = nextval('lease_numbers'), leased_until = NULL,
                    due_at = CASE WHEN outbox.leased_until IS NULL THEN outbox.due_at ELSE \(now) END,
                    owed_since = CASE WHEN outbox.leased_until IS NULL THEN outbox.owed_since ELSE \(now) END
                """)
    }()

    // MARK: Leases

    /// Leases the due rows of one request, in the order in which they are due. Rows that another session is about to
    /// take are left to it.
    ///
    /// A row may refer to one that is a later version's or gone, and cannot be rendered. It counts as tried, because it
    /// would stay in front of all others. An event is no longer owed if its submission does not wait any more, or if
    /// its failure was pruned or erased.
    func take(_ request: OutboxRequest, now: Timestamp) throws(PostgresFailure) -> [OutboxItem] {
        let dueAgain = now.advanced(by: .milliseconds(leaseMilliseconds))
        var items: [OutboxItem] = []
        var putOff = 0
        while items.count < request.limit, putOff < OutboxColumns.mostPutOff {
            let asked = OutboxColumns.portion(left: request.limit - items.count, putOff: putOff)
            let rows = try due(request.target, limit: asked, now: now)
            guard !rows.isEmpty else { break }
            let pending = try connection.retries.waiting(Set(rows.compactMap(\.waiting)))
            let answers = try connection.answers.found(of: Array(Set(rows.compactMap(\.failure))))
            let grants = try grants(rows)
            let answered = Set((answers.known.map(\.claimant) + answers.later.map(\.claimant)).map(\.submissionKey))
            var rendered: [(row: DueOutboxRow, work: OutboxItem.Work)] = []
            var (ended, others): ([Int64], [Int64]) = ([], [])
            // Rows behind the last that is wanted stay as they are.
            for (row, work) in zip(rows, work(rows, grants, pending, answers)) {
                guard items.count + rendered.count < request.limit, putOff < OutboxColumns.mostPutOff else { break }
                if let work {
                    rendered.append((row, work))
                    continue
                }
                putOff += 1
                let isOver = row.isOver(
                    grant: row.grant.flatMap { grants[$0] },
                    isAnswered: row.failure.map(answered.contains) ?? false,
                    isWaiting: row.waiting.map { !(pending[$0]?.isAnswered ?? true) } ?? false)
                if isOver { ended.append(row.sequence) } else { others.append(row.sequence) }
            }
            let numbers = try lease(rendered.map(\.row.sequence), puttingOff: others, deleting: ended, until: dueAgain)
            for (row, work) in rendered {
                if let number = numbers[row.sequence], let item = row.item(work, lease: number) { items.append(item) }
            }
            guard rows.count == asked else { break }
        }
        return items
    }

    private func due(_ target: OutboxTarget, limit: Int, now: Timestamp) throws(PostgresFailure) -> [DueOutboxRow] {
        let statement = PostgresStatement(
            """
            SELECT \(OutboxColumns.shown) FROM outbox
            WHERE target = $1::text AND due_at <= $2::bigint AND \(OutboxColumns.isKnown)
            ORDER BY due_at, sequence LIMIT $3::bigint FOR UPDATE SKIP LOCKED
            """
        ) {
            $0.text(target.text)
            $0.time(now)
            $0.integer(limit)
        }
        return try connection.run(statement).rows.map { DueOutboxRow($0) }
    }

    private func grants(_ rows: [DueOutboxRow]) throws(PostgresFailure) -> [GrantReference: Grant] {
        let references = Set(rows.compactMap(\.grant)).map { HolderQuestion($0) }
        let found = try connection.grants.holders(references).known
        return Dictionary(found.map { ($0.grant.reference, $0.grant) }) { first, _ in first }
    }

    /// The input of each row's step, from the rows that they refer to.
    private func work(
        _ rows: [DueOutboxRow], _ grants: [GrantReference: Grant], _ pending: [RetryKey: WaitingRow],
        _ found: FoundAnswers
    ) -> [OutboxItem.Work?] {
        var answers: [SubmissionKey: Answer] = [:]
        for answer in found.known { answers[answer.claimant.submissionKey] = answer }
        return rows.map { row in
            row.work(
                grant: row.grant.flatMap { grants[$0] }, answer: row.failure.flatMap { answers[$0] },
                pending: row.waiting.flatMap { pending[$0] })
        }
    }

    /// Leases the rows that can be rendered, and puts off or deletes the others, in one round trip.
    /// - Returns: The numbers of the leases by their rows.
    private func lease(
        _ rendered: [Int64], puttingOff others: [Int64], deleting ended: [Int64], until: Timestamp
    ) throws(PostgresFailure) -> [Int64: Int64] {
        let rows = rendered.map { ($0, Int64(1)) } + others.map { ($0, 0) }
        let lease = PostgresStatement(
            """
            UPDATE outbox SET
                due_at = $3::bigint, leased_until = CASE WHEN rendered = 1 THEN $3::bigint END,
                lease = CASE WHEN rendered = 1 THEN nextval('lease_numbers') ELSE lease END,
                attempts = CASE WHEN rendered = 1 THEN attempts ELSE attempts + 1 END
            FROM unnest($1::bigint[], $2::bigint[]) AS given (s, rendered)
            WHERE sequence = s RETURNING sequence, lease
            """, each: rows, [.integer, .integer]
        ) { given, row in
            row.integer(given.0)
            row.integer(given.1)
        } rest: {
            $0.time(until)
        }
        let deletion = PostgresStatement(
            "DELETE FROM outbox WHERE sequence = ANY ($1::bigint[])", each: ended, [.integer]
        ) { $1.integer($0) }
        let results = try connection.run(ended.isEmpty ? [lease] : [lease, deletion])
        return Dictionary(
            results[0].rows.map { ($0.integer(0), $0.integer(1)) }, uniquingKeysWith: { first, _ in first })
    }

    private static let isLeased = "key = $1::text AND step = $2::text AND lease = $3::bigint"

    /// Statements that write reports down, in the order of their keys. Neighbours that are published share one: after
    /// an outage nearly all are.
    static func reports(_ reports: [OutboxReport], now: Timestamp) -> [PostgresStatement] {
        var statements: [PostgresStatement] = []
        var published: [OutboxLease] = []
        func endPublished() {
            guard !published.isEmpty else { return }
            statements.append(PostgresStatement(end, each: published, [.text, .text, .integer]) { $1.lease($0) })
            published = []
        }
        for report in reports.sorted(by: { $0.lease.key.text < $1.lease.key.text }) {
            switch report {
            case .published(let lease): published.append(lease)
            case .called(let lease):
                endPublished()
                statements.append(called(lease, now: now))
            case .postponed(let lease, let delay, let tried):
                endPublished()
                statements.append(postponed(lease, tried, until: now.advanced(by: .milliseconds(delay))))
            }
        }
        endPublished()
        return statements
    }

    private static let end = """
        DELETE FROM outbox USING unnest($1::text[], $2::text[], $3::bigint[]) AS ended (k, s, l)
        WHERE key = k AND step = s AND lease = l
        """

    private static func called(_ lease: OutboxLease, now: Timestamp) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE outbox SET
                step = 'publish', target = $4::text, due_at = $5::bigint, owed_since = $5::bigint, leased_until = NULL,
                attempts = 0, reason = NULL
            WHERE \(isLeased)
            """
        ) {
            $0.lease(lease)
            $0.text(lease.key.target.text)
            $0.time(now)
        }
    }

    private static func postponed(
        _ lease: OutboxLease, _ tried: OutboxTry, until moment: Timestamp
    ) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE outbox SET
                due_at = $4::bigint, leased_until = NULL, attempts = attempts + $5::bigint::integer,
                reason = coalesce($6::text, reason)
            WHERE \(isLeased)
            """
        ) {
            $0.lease(lease)
            $0.time(moment)
            $0.integer(tried.attempts)
            $0.text(tried.reason)
        }
    }

    static func giveBack(_ lease: OutboxLease, now: Timestamp) -> PostgresStatement {
        PostgresStatement(
            "UPDATE outbox SET leased_until = NULL, due_at = $4::bigint WHERE \(isLeased) AND leased_until IS NOT NULL"
        ) {
            $0.lease(lease)
            $0.time(now)
        }
    }

    // MARK: Reading

    func page(limit: Int) throws(PostgresFailure) -> [OutboxRow] {
        try rows(
            PostgresStatement(
                """
                SELECT \(OutboxColumns.shown) FROM outbox WHERE \(OutboxColumns.isShown)
                ORDER BY due_at, sequence LIMIT $1::bigint
                """
            ) {
                $0.integer(limit)
            })
    }

    /// Rows that only a later version can read.
    func later() throws(PostgresFailure) -> Int {
        let sql = "SELECT count(*) FROM outbox WHERE NOT (\(OutboxColumns.isShown))"
        return try connection.run(PostgresStatement(sql)).first?.int(0) ?? 0
    }

    /// In the order of the keys.
    func rows(_ keys: [OutboxKey]) throws(PostgresFailure) -> [OutboxRow] {
        guard !keys.isEmpty else { return [] }
        let statement = PostgresStatement(
            """
            SELECT \(OutboxColumns.shown) FROM unnest($1::text[]) WITH ORDINALITY AS asked (k, place)
            JOIN outbox ON key = k ORDER BY place
            """, each: keys, [.text]
        ) { $1.text($0.text) }
        return try rows(statement)
    }

    private func rows(_ statement: PostgresStatement) throws(PostgresFailure) -> [OutboxRow] {
        try connection.run(statement).rows.compactMap { OutboxColumns.row($0) }
    }
}
