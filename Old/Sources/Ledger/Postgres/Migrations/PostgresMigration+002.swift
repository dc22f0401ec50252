extension PostgresMigration {
    /// Deliveries: grants that an app's inventory service is told of before their event is published.
    static let deliveries002 = PostgresMigration(
        version: 2,
        sql: """
            CREATE TABLE deliveries (
                sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                event_id uuid NOT NULL UNIQUE,
                grant_key text COLLATE "C" NOT NULL,
                bundle_id text COLLATE "C" NOT NULL,
                opened_at bigint NOT NULL,
                -- While a worker has it, it is due at its lease's end. NULL once it is done.
                due_at bigint,
                holder text COLLATE "C",
                attempts bigint NOT NULL DEFAULT 0,
                -- JSON: the calls that did not help, if there were any.
                history text COLLATE "C",
                -- Submissions that asked for another copy of the event meanwhile.
                joined bigint NOT NULL DEFAULT 0,
                done_at bigint CHECK ((done_at IS NULL) = (due_at IS NOT NULL)),
                -- The event, until it enters the outbox.
                event_key bytea,
                headers bytea CHECK ((headers IS NULL) = (due_at IS NULL)),
                value bytea
            );
            CREATE INDEX deliveries_due ON deliveries (bundle_id, due_at) WHERE due_at IS NOT NULL;
            """)
}
