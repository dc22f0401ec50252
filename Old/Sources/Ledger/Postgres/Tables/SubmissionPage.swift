import Purchases

/// People's questions about submissions.
enum SubmissionPage {
    static func read(_ filter: SubmissionFilter, before: Int64?, limit: Int) -> PostgresCommand {
        var conditions = PageConditions(before: before, limit: limit)
        // Spelled out, the outcome that is asked for most finds its index.
        if let outcome = filter.outcome, !outcome.isFinal { conditions.add("outcome IN ('parked', 'held')") }
        conditions.add("outcome = $", filter.outcome?.rawValue)
        conditions.add("bundle_id = $", filter.bundleID?.rawValue)
        conditions.add("submission_id = $", filter.submissionID?.rawValue)
        conditions.add(SplitIndex.either("user_id = $"), filter.userID?.rawValue)
        conditions.add(SplitIndex.either("order_id = $"), filter.orderID?.rawValue)
        conditions.add("reason = $", filter.reason)
        conditions.add("received_at <= $::bigint", filter.receivedUntil.map { String($0.milliseconds) })
        conditions.add(
            """
            sequence IN (
                SELECT sequence FROM submissions WHERE transaction_id = $
                UNION SELECT s.sequence FROM grants g
                JOIN submissions s ON s.bundle_id = g.bundle_id AND s.submission_id = g.submission_id
                WHERE g.transaction_id = $
                    OR g.original_transaction_id = $ AND g.original_transaction_id <> g.transaction_id)
            """, filter.transactionID?.rawValue)
        return conditions.command(
            "SELECT \(columns) FROM submissions")
    }

    private static let columns = """
        sequence, submission_id, user_id, bundle_id, order_id, traceparent, outcome, reason, detail, origin_topic,
        origin_partition, origin_offset, received_at, settled_at, attempts, event_ids, history,
        (SELECT due_at FROM waiting WHERE waiting.sequence = submissions.sequence), transaction_id
        """

    /// All rows in ledger order.
    static func read(after sequence: Int64, limit: Int) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: """
                    SELECT \(columns) FROM submissions
                    WHERE sequence > $1::bigint ORDER BY sequence LIMIT $2::bigint
                    """), [.integer(sequence), .integer(Int64(limit))])
    }

    static func row(_ row: PostgresRow) throws(PostgresFailure) -> SubmissionRow {
        let claimant = Claimant(
            submissionID: SubmissionID(try row.text(1)), userID: UserID(try row.text(2)),
            bundleID: BundleID(try row.text(3)), orderID: row.optionalText(4).map { OrderID($0) },
            traceparent: row.optionalText(5))
        return SubmissionRow(
            sequence: try row.integer(0), claimant: claimant, outcome: try row.word(6), reason: row.optionalText(7),
            detail: row.optionalText(8),
            origin: Origin(
                topic: try row.text(9), partition: Int32(truncatingIfNeeded: try row.integer(10)),
                offset: try row.integer(11)),
            receivedAt: try row.time(12), settledAt: try row.time(13), attempts: Int(try row.integer(14)),
            history: try stored { () throws(LedgerError) in try StoredHistory.history(row.optionalText(16)) },
            dueAt: try row.optionalTime(17), transactionID: row.optionalText(18).map { TransactionID($0) },
            eventIDs: EventIDBytes.decode(row.optionalBytes(15) ?? []))
    }
}
