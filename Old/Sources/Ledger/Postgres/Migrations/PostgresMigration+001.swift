extension PostgresMigration {
    /// Submissions, grants, outbox and quarantines. Times are milliseconds since the UNIX epoch.
    ///
    /// Every index costs a page per row once the ledger is large, so there is one only where a constraint or a person's
    /// question needs it. A grant's id and its event's follow from its key and are not stored with it. Ids compare by their
    /// bytes, as `"C"` does: it is also what makes comparing them cheap.
    static let ledger001 = PostgresMigration(
        version: 1,
        sql: """
            -- One row: which ledger this is, and its version.
            CREATE TABLE ledger_schema (
                id smallint PRIMARY KEY CHECK (id = 1),
                ledger_id uuid NOT NULL,
                version integer NOT NULL
            );
            INSERT INTO ledger_schema VALUES (1, gen_random_uuid(), 0);

            -- One row: the last sequence given out. Whoever appends to the outbox holds its lock until the commit, so
            -- that sequences rise in the order of commits.
            CREATE TABLE outbox_head (
                id smallint PRIMARY KEY CHECK (id = 1),
                last_sequence bigint NOT NULL
            ) WITH (fillfactor = 10);
            INSERT INTO outbox_head VALUES (1, 0);

            CREATE TABLE outbox (
                sequence bigint PRIMARY KEY,
                event_id uuid UNIQUE,
                kind text COLLATE "C" CHECK (kind IN ('granted', 'failed', 'quarantined')),
                key bytea,
                headers bytea,
                value bytea,
                -- The grant that a granted event tells of.
                grant_key text COLLATE "C",
                -- An entry that asks for one more copy of an event has nothing else; it goes once it was published.
                copy_of uuid REFERENCES outbox (event_id),
                CHECK ((event_id IS NULL) = (copy_of IS NOT NULL)),
                CHECK ((event_id IS NULL) = (headers IS NULL))
            );
            CREATE INDEX outbox_copies ON outbox (sequence) WHERE copy_of IS NOT NULL;

            -- One row: how far the outbox is published, and which worker publishes.
            CREATE TABLE outbox_relay (
                id smallint PRIMARY KEY CHECK (id = 1),
                published_through bigint NOT NULL,
                holder text COLLATE "C",
                held_until timestamptz CHECK ((held_until IS NULL) = (holder IS NULL))
            ) WITH (fillfactor = 10);
            INSERT INTO outbox_relay VALUES (1, 0);

            -- Entries that were passed over and wait for another try.
            CREATE TABLE withheld (sequence bigint PRIMARY KEY REFERENCES outbox (sequence));

            -- One row for each second in which something was published: up to where, and when last.
            CREATE TABLE publications (
                second bigint PRIMARY KEY,
                through bigint NOT NULL,
                published_at bigint NOT NULL
            );
            CREATE INDEX publications_through ON publications (through);

            CREATE TABLE submissions (
                sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                bundle_id text COLLATE "C" NOT NULL,
                submission_id text COLLATE "C" NOT NULL,
                user_id text COLLATE "C" NOT NULL,
                order_id text COLLATE "C",
                traceparent text COLLATE "C",
                fingerprint text COLLATE "C" NOT NULL,
                outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('granted', 'failed', 'parked', 'held')),
                reason text COLLATE "C" CHECK ((reason IS NULL) >= (outcome = 'granted')),
                detail text COLLATE "C",
                origin_topic text COLLATE "C" NOT NULL,
                origin_partition bigint NOT NULL,
                origin_offset bigint NOT NULL,
                received_at bigint NOT NULL,
                settled_at bigint NOT NULL,
                attempts bigint NOT NULL,
                -- Ids of the events that answer the submission, 16 bytes each, one after the other.
                event_ids bytea NOT NULL
                    CHECK (length(event_ids) % 16 = 0 AND (length(event_ids) > 0 OR outcome IN ('parked', 'held'))),
                -- JSON: the tries that decided nothing, if there were any.
                history text COLLATE "C",
                -- What a submission is about that was not granted, where one is known.
                transaction_id text COLLATE "C",
                -- The id first: it tells rows apart where nearly all have the same app.
                UNIQUE (submission_id, bundle_id)
            );
            CREATE INDEX submissions_user ON submissions (user_id);
            CREATE INDEX submissions_order ON submissions (order_id) WHERE order_id IS NOT NULL;
            CREATE INDEX submissions_transaction ON submissions (transaction_id) WHERE transaction_id IS NOT NULL;
            CREATE INDEX submissions_waiting ON submissions (outcome, reason, sequence)
                WHERE outcome IN ('parked', 'held');

            -- Submissions that are tried again when they are due. While a worker has one, it is due at its lease's end.
            CREATE TABLE waiting (
                sequence bigint PRIMARY KEY REFERENCES submissions (sequence),
                due_at bigint NOT NULL,
                holder text COLLATE "C",
                -- Since when Apple's answer has been a "no" that may not be its last word.
                doubt_since bigint,
                -- JSON: what is claimed, evidence included.
                claim text COLLATE "C" NOT NULL
            );
            CREATE INDEX waiting_due ON waiting (due_at);
            CREATE INDEX waiting_holder ON waiting (holder) WHERE holder IS NOT NULL;

            -- What people did, to one submission or to all that waited for a cause.
            CREATE TABLE operator_actions (
                sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                done_at bigint NOT NULL,
                kind text COLLATE "C" NOT NULL,
                actor text NOT NULL,
                reason text NOT NULL,
                bundle_id text COLLATE "C",
                submission_id text COLLATE "C",
                outcome text COLLATE "C",
                cause text COLLATE "C",
                submissions bigint NOT NULL
            );
            CREATE INDEX operator_actions_submission ON operator_actions (bundle_id, submission_id);

            CREATE TABLE grants (
                sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                grant_key text COLLATE "C" NOT NULL UNIQUE,
                environment text COLLATE "C" NOT NULL,
                transaction_id text COLLATE "C" NOT NULL,
                original_transaction_id text COLLATE "C" NOT NULL,
                web_order_line_item_id text COLLATE "C",
                product_id text COLLATE "C" NOT NULL,
                product_type text COLLATE "C" NOT NULL,
                quantity bigint NOT NULL,
                -- JSON: as in the event, [{"item": ..., "quantity": ...}, ...]
                items text COLLATE "C" NOT NULL,
                purchased_at bigint NOT NULL,
                expires_at bigint,
                revoked_at bigint,
                is_upgraded boolean NOT NULL,
                ownership text COLLATE "C" NOT NULL,
                app_account_token text COLLATE "C",
                submission_id text COLLATE "C" NOT NULL,
                user_id text COLLATE "C" NOT NULL,
                bundle_id text COLLATE "C" NOT NULL,
                order_id text COLLATE "C",
                traceparent text COLLATE "C",
                verified_by text COLLATE "C" NOT NULL,
                granted_at bigint NOT NULL
            );
            CREATE INDEX grants_user ON grants (user_id);
            CREATE INDEX grants_transaction ON grants (transaction_id);
            CREATE INDEX grants_original_transaction ON grants (original_transaction_id)
                WHERE original_transaction_id <> transaction_id;

            CREATE FUNCTION refuse_change_of_grants() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'grants are never deleted or rewritten';
            END
            $$;
            CREATE TRIGGER grants_stay_as_they_are BEFORE DELETE OR UPDATE OR TRUNCATE ON grants
                FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_grants();

            CREATE TABLE quarantines (
                sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                event_id uuid NOT NULL UNIQUE,
                origin_topic text COLLATE "C" NOT NULL,
                origin_partition bigint NOT NULL,
                origin_offset bigint NOT NULL,
                reason text COLLATE "C" NOT NULL,
                quarantined_at bigint NOT NULL
            );
            """)
}
