extension Migration {
    /// Submissions, grants, outbox and quarantines. Times are milliseconds since the UNIX epoch, ids of events the 16 bytes
    /// of their UUIDs.
    ///
    /// Every index costs a page per row once the ledger is large, so there is one only where a constraint or a person's
    /// question needs it. A grant's id and its event's follow from its key and are not stored with it.
    ///
    /// Tables that every submission writes to have no CHECK: with one, SQLite prepares to undo each single statement, at more
    /// than the cost of the insertion itself. What the checks would say is said by the types that write the rows.
    static let ledger001 = Migration(
        version: 1,
        sql: """
            CREATE TABLE outbox (
                sequence INTEGER PRIMARY KEY,
                event_id BLOB UNIQUE,
                kind TEXT,
                key BLOB,
                headers BLOB,
                value BLOB,
                -- The grant that a granted event tells of.
                grant_key TEXT,
                -- An entry that asks for one more copy of an event has nothing else; it goes once it was published.
                copy_of BLOB
            ) STRICT;

            CREATE INDEX outbox_copies ON outbox (sequence) WHERE copy_of IS NOT NULL;

            -- One row: the last sequence given out, how far it is published, and which worker publishes.
            CREATE TABLE relay (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                last_sequence INTEGER NOT NULL,
                published_through INTEGER NOT NULL CHECK (published_through <= last_sequence),
                holder TEXT,
                held_until INTEGER CHECK ((held_until IS NULL) = (holder IS NULL))
            ) STRICT;
            INSERT INTO relay (id, last_sequence, published_through) VALUES (1, 0, 0);

            -- Entries that were passed over and wait for another try.
            CREATE TABLE withheld (sequence INTEGER PRIMARY KEY REFERENCES outbox (sequence)) STRICT;

            -- One row for each second in which something was published: up to where, and when last.
            CREATE TABLE publications (
                second INTEGER PRIMARY KEY,
                through INTEGER NOT NULL,
                published_at INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX publications_through ON publications (through);

            CREATE TABLE submissions (
                sequence INTEGER PRIMARY KEY,
                bundle_id TEXT NOT NULL,
                submission_id TEXT NOT NULL,
                user_id TEXT NOT NULL,
                order_id TEXT,
                traceparent TEXT,
                fingerprint TEXT NOT NULL,
                outcome TEXT NOT NULL,
                reason TEXT,
                detail TEXT,
                origin_topic TEXT NOT NULL,
                origin_partition INTEGER NOT NULL,
                origin_offset INTEGER NOT NULL,
                received_at INTEGER NOT NULL,
                settled_at INTEGER NOT NULL,
                attempts INTEGER NOT NULL,
                -- Ids of the events that answer the submission, one after the other.
                event_ids BLOB NOT NULL,
                -- JSON: the tries that decided nothing, if there were any.
                history TEXT,
                -- What a submission is about that was not granted, where one is known.
                transaction_id TEXT,
                UNIQUE (bundle_id, submission_id)
            ) STRICT;

            CREATE INDEX submissions_user ON submissions (user_id);
            CREATE INDEX submissions_order ON submissions (order_id) WHERE order_id IS NOT NULL;
            CREATE INDEX submissions_transaction ON submissions (transaction_id) WHERE transaction_id IS NOT NULL;
            CREATE INDEX submissions_waiting ON submissions (outcome, reason, sequence)
                WHERE outcome IN ('parked', 'held');

            -- Submissions that are tried again when they are due. While a worker has one, it is due at its lease's end.
            CREATE TABLE waiting (
                sequence INTEGER PRIMARY KEY REFERENCES submissions (sequence),
                due_at INTEGER NOT NULL,
                holder TEXT,
                -- Since when Apple's answer has been a "no" that may not be its last word.
                doubt_since INTEGER,
                -- JSON: what is claimed, evidence included.
                claim TEXT NOT NULL
            ) STRICT;
            CREATE INDEX waiting_due ON waiting (due_at);
            CREATE INDEX waiting_holder ON waiting (holder) WHERE holder IS NOT NULL;

            -- What people did, to one submission or to all that waited for a cause.
            CREATE TABLE operator_actions (
                sequence INTEGER PRIMARY KEY,
                done_at INTEGER NOT NULL,
                kind TEXT NOT NULL,
                actor TEXT NOT NULL,
                reason TEXT NOT NULL,
                bundle_id TEXT,
                submission_id TEXT,
                outcome TEXT,
                cause TEXT,
                submissions INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX operator_actions_submission ON operator_actions (bundle_id, submission_id);

            CREATE TABLE grants (
                sequence INTEGER PRIMARY KEY,
                grant_key TEXT NOT NULL UNIQUE,
                environment TEXT NOT NULL,
                transaction_id TEXT NOT NULL,
                original_transaction_id TEXT NOT NULL,
                web_order_line_item_id TEXT,
                product_id TEXT NOT NULL,
                product_type TEXT NOT NULL,
                quantity INTEGER NOT NULL,
                -- JSON: as in the event, [{"item": ..., "quantity": ...}, ...]
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
                granted_at INTEGER NOT NULL
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
                event_id BLOB NOT NULL UNIQUE REFERENCES outbox (event_id),
                origin_topic TEXT NOT NULL,
                origin_partition INTEGER NOT NULL,
                origin_offset INTEGER NOT NULL,
                reason TEXT NOT NULL,
                quarantined_at INTEGER NOT NULL
            ) STRICT;
            """)
}
