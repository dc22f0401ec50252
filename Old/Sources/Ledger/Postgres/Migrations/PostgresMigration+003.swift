extension PostgresMigration {
    /// What waits has indexes of its own, so that those of what is settled are as small, and as quickly written to, with a
    /// million submissions that wait as without.
    static let waitingIndexes003 = PostgresMigration(
        version: 3,
        sql: """
            -- Settling stops here already: a transaction that was let in to lock rows, and then could not write, would
            -- stand in the way of the last steps. Reads go on beside it until then.
            LOCK TABLE submissions IN EXCLUSIVE MODE;
            CREATE INDEX submissions_waiting_user ON submissions (user_id) WHERE outcome IN ('parked', 'held');
            CREATE INDEX submissions_waiting_order ON submissions (order_id)
                WHERE order_id IS NOT NULL AND outcome IN ('parked', 'held');
            CREATE INDEX submissions_settled_user ON submissions (user_id) WHERE outcome NOT IN ('parked', 'held');
            CREATE INDEX submissions_settled_order ON submissions (order_id)
                WHERE order_id IS NOT NULL AND outcome NOT IN ('parked', 'held');

            DROP INDEX submissions_user, submissions_order;
            ALTER INDEX submissions_settled_user RENAME TO submissions_user;
            ALTER INDEX submissions_settled_order RENAME TO submissions_order;
            """)
}
