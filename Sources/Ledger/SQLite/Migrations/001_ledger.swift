extension Migration {
    /// Submissions, grants, outbox and quarantines. Times are milliseconds since the UNIX epoch.
    static let ledger001 = Migration(
        version: 1,
        sql: """
            CREATE TABLE outbox (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                event_id TEXT NOT NULL UNIQUE,
                kind TEXT NOT NULL CHECK (kind IN ('granted', 'failed', 'quarantined')),
                key BLOB,
                headers BLOB NOT NULL,
                value BLOB,
                copies_requested INTEGER NOT NULL DEFAULT 1,
                copies_published INTEGER NOT NULL DEFAULT 0 CHECK (copies_published <= copies_requested),
                published_at INTEGER
            ) STRICT;

            CREATE INDEX outbox_unpublished ON outbox (sequence) WHERE copies_published < copies_requested;

            CREATE TABLE submissions (
                sequence INTEGER PRIMARY KEY,
                bundle_id TEXT NOT NULL,
                submission_id TEXT NOT NULL,
                user_id TEXT NOT NULL,
                order_id TEXT,
                traceparent TEXT,
                fingerprint TEXT NOT NULL,
                outcome TEXT NOT NULL CHECK (outcome IN ('granted', 'failed', 'held')),
                reason TEXT CHECK ((reason IS NULL) >= (outcome = 'granted')),
                detail TEXT,
                origin_topic TEXT NOT NULL,
                origin_partition INTEGER NOT NULL,
                origin_offset INTEGER NOT NULL,
                received_at INTEGER NOT NULL,
                settled_at INTEGER NOT NULL,
                attempts INTEGER NOT NULL,
                -- Ids of the events that answer the submission, separated by spaces.
                event_ids TEXT NOT NULL CHECK (event_ids <> '' OR outcome = 'held'),
                evidence BLOB CHECK (evidence IS NULL OR outcome = 'held'),
                UNIQUE (bundle_id, submission_id)
            ) STRICT;

            CREATE INDEX submissions_user ON submissions (user_id);
            CREATE INDEX submissions_order ON submissions (order_id) WHERE order_id IS NOT NULL;
            CREATE INDEX submissions_held ON submissions (sequence) WHERE outcome = 'held';

            CREATE TABLE grants (
                sequence INTEGER PRIMARY KEY,
                grant_id TEXT NOT NULL UNIQUE,
                grant_key TEXT NOT NULL UNIQUE,
                environment TEXT NOT NULL,
                transaction_id TEXT NOT NULL,
                original_transaction_id TEXT NOT NULL,
                web_order_line_item_id TEXT,
                product_id TEXT NOT NULL,
                product_type TEXT NOT NULL,
                quantity INTEGER NOT NULL,
                -- JSON: [[item, quantity], ...]
                items TEXT NOT NULL,
                purchased_at INTEGER NOT NULL,
                expires_at INTEGER,
                revoked_at INTEGER,
                is_upgraded INTEGER NOT NULL,
                ownership TEXT NOT NULL,
                app_account_token TEXT,
                submission_id TEXT NOT NULL,
                user_id TEXT NOT NULL,
                bundle_id TEXT NOT NULL,
                order_id TEXT,
                traceparent TEXT,
                verified_by TEXT NOT NULL,
                granted_at INTEGER NOT NULL,
                event_id TEXT NOT NULL
            ) STRICT;

            CREATE INDEX grants_user ON grants (user_id);
            CREATE INDEX grants_transaction ON grants (transaction_id);
            CREATE INDEX grants_original_transaction ON grants (original_transaction_id)
                WHERE original_transaction_id <> transaction_id;

            CREATE TRIGGER grants_stay BEFORE DELETE ON grants
            BEGIN SELECT RAISE(ABORT, 'grants are never deleted'); END;
            CREATE TRIGGER grants_stay_as_they_are BEFORE UPDATE ON grants
            BEGIN SELECT RAISE(ABORT, 'grants are never rewritten'); END;

            CREATE TABLE quarantines (
                sequence INTEGER PRIMARY KEY,
                event_id TEXT NOT NULL UNIQUE REFERENCES outbox (event_id),
                origin_topic TEXT NOT NULL,
                origin_partition INTEGER NOT NULL,
                origin_offset INTEGER NOT NULL,
                reason TEXT NOT NULL,
                quarantined_at INTEGER NOT NULL
            ) STRICT;
            """)
}
