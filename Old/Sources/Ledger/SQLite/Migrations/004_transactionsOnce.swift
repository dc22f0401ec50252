extension Migration {
    /// A transaction is granted once, whatever its key: a paid period has another with a line item than without, and a product
    /// whose type was corrected another than before.
    static let transactionsOnce004 = Migration(
        version: 4,
        sql: """
            DROP INDEX grants_transaction;
            CREATE UNIQUE INDEX grants_transaction ON grants (transaction_id, environment);
            """)
}
