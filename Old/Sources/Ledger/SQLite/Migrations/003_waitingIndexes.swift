extension Migration {
    /// What waits has indexes of its own, so that those of what is settled are as small, and as quickly written to, with a
    /// million submissions that wait as without.
    static let waitingIndexes003 = Migration(
        version: 3,
        sql: """
            DROP INDEX submissions_user;
            CREATE INDEX submissions_user ON submissions (user_id) WHERE outcome NOT IN ('parked', 'held');
            CREATE INDEX submissions_waiting_user ON submissions (user_id) WHERE outcome IN ('parked', 'held');

            DROP INDEX submissions_order;
            CREATE INDEX submissions_order ON submissions (order_id)
                WHERE order_id IS NOT NULL AND outcome NOT IN ('parked', 'held');
            CREATE INDEX submissions_waiting_order ON submissions (order_id)
                WHERE order_id IS NOT NULL AND outcome IN ('parked', 'held');
            """)
}
