extension PostgresMigration {
    /// A transaction is granted once, whatever its key: a paid period has another with a line item than without, and a product
    /// whose type was corrected another than before.
    static let transactionsOnce004 = PostgresMigration(
        version: 4,
        sql: """
            -- Settling stops here already, as in step 3. Reads go on beside it until the index is exchanged.
            LOCK TABLE grants IN EXCLUSIVE MODE;
            CREATE UNIQUE INDEX grants_transaction_once ON grants (transaction_id, environment);
            DROP INDEX grants_transaction;
            ALTER INDEX grants_transaction_once RENAME TO grants_transaction;
            """)
}
