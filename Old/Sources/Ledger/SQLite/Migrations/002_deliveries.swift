extension Migration {
    /// Deliveries: grants that an app's inventory service is told of before their event is published.
    static let deliveries002 = Migration(
        version: 2,
        sql: """
            CREATE TABLE deliveries (
                sequence INTEGER PRIMARY KEY,
                event_id BLOB NOT NULL UNIQUE,
                grant_key TEXT NOT NULL,
                bundle_id TEXT NOT NULL,
                opened_at INTEGER NOT NULL,
                -- While a worker has it, it is due at its lease's end. NULL once it is done.
                due_at INTEGER,
                holder TEXT,
                attempts INTEGER NOT NULL DEFAULT 0,
                -- JSON: the calls that did not help, if there were any.
                history TEXT,
                -- Submissions that asked for another copy of the event meanwhile.
                joined INTEGER NOT NULL DEFAULT 0,
                done_at INTEGER,
                -- The event, until it enters the outbox.
                event_key BLOB,
                headers BLOB,
                value BLOB
            ) STRICT;
            CREATE INDEX deliveries_due ON deliveries (bundle_id, due_at) WHERE due_at IS NOT NULL;
            """)
}
