/// The schema that ledgers begin with.
///
/// Environments are 0 (production) and 1 (sandbox). Times are milliseconds since 1970. Values that follow from others
/// by a rule are null. Numbers 0 and 1 and nulls take no space in a row.
let migration001 = """
    CREATE TABLE ledger (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        id TEXT NOT NULL,
        -- The number of the last lease that was given; none comes twice.
        last_lease INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    -- Whose ledger it is, once the first worker has come.
    CREATE TABLE consumer_group (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        name TEXT NOT NULL,
        -- The id of its Kafka cluster; null where the brokers tell none.
        cluster TEXT,
        -- Their names, separated by commas: of submissions, grants, failures and quarantined records.
        topics TEXT NOT NULL
    ) STRICT;

    -- Rows of other tables name a partition by its number here. A row without generation and next_offset was refused:
    -- the group had an offset of it, and the ledger had none of its topic.
    CREATE TABLE partitions (
        number INTEGER PRIMARY KEY,
        topic TEXT NOT NULL,
        partition INTEGER NOT NULL,
        owner TEXT,
        generation INTEGER,
        next_offset INTEGER,
        -- An operator has passed the records before it, and the group's offset is not there yet.
        passed_offset INTEGER,
        starts INTEGER NOT NULL DEFAULT 0,
        -- The record whose check has begun.
        marked_offset INTEGER,
        -- The record whose check had begun at the last take-overs, and how many these were.
        suspect_offset INTEGER,
        suspect_ends INTEGER NOT NULL DEFAULT 0,
        UNIQUE (topic, partition)
    ) STRICT;

    -- The number is a digest of the rest.
    CREATE TABLE products (
        number INTEGER PRIMARY KEY,
        app TEXT NOT NULL,
        product_id TEXT NOT NULL,
        type TEXT NOT NULL,
        items TEXT NOT NULL
    ) STRICT;

    CREATE TABLE grants (
        sequence INTEGER PRIMARY KEY,
        -- 0: a grant.
        kind INTEGER NOT NULL DEFAULT 0,
        environment INTEGER NOT NULL,
        transaction_id TEXT NOT NULL CHECK (length(transaction_id) BETWEEN 1 AND 20),
        -- The key's name, without the t: of what goes by a transaction; null if that is this one.
        grant_key TEXT,
        -- Null: this transaction.
        original_transaction_id TEXT,
        web_order_line_item_id TEXT,
        product INTEGER NOT NULL,
        quantity INTEGER NOT NULL,
        purchased_at INTEGER NOT NULL,
        expires_at INTEGER,
        -- Null: purchased.
        ownership TEXT,
        price INTEGER,
        currency TEXT,
        storefront TEXT,
        offer TEXT,
        offer_discount TEXT,
        -- 0 signedTransaction, 1 verifyReceipt, 2 serverAPI, 3 local; the word itself for others.
        verified_by TEXT NOT NULL,
        -- Null only in rows of a later kind, as the user's.
        submission_id TEXT,
        user_id TEXT,
        order_id TEXT,
        traceparent TEXT,
        origin_partition INTEGER NOT NULL,
        origin_offset INTEGER NOT NULL,
        received_at INTEGER NOT NULL,
        granted_at INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        format INTEGER NOT NULL,
        -- What was left out beside it, for people.
        passed_over TEXT,
        CHECK (kind <> 0 OR (submission_id IS NOT NULL AND user_id IS NOT NULL))
    ) STRICT;
    CREATE UNIQUE INDEX grants_transaction ON grants (transaction_id, environment);
    CREATE UNIQUE INDEX grants_key ON grants (coalesce(grant_key, transaction_id), environment);
    CREATE INDEX grants_origin ON grants (origin_partition, origin_offset);
    CREATE INDEX grants_submission ON grants (submission_id);
    CREATE INDEX grants_user ON grants (user_id);
    CREATE INDEX grants_order ON grants (order_id) WHERE order_id IS NOT NULL;

    CREATE TABLE answers (
        sequence INTEGER PRIMARY KEY,
        app TEXT NOT NULL,
        submission_id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        order_id TEXT,
        traceparent TEXT,
        origin_partition INTEGER NOT NULL,
        origin_offset INTEGER NOT NULL,
        answered_at INTEGER NOT NULL,
        -- The grant that answers; null for a failure.
        environment INTEGER,
        -- That grant's, or what the failure is about.
        transaction_id TEXT,
        -- What was left out beside that grant, for people.
        passed_over TEXT,
        -- The rest is a failure's.
        product_id TEXT,
        reason TEXT,
        detail TEXT,
        digest BLOB,
        attempts INTEGER,
        format INTEGER,
        CHECK ((environment IS NULL) = (reason IS NOT NULL))
    ) STRICT;
    CREATE UNIQUE INDEX answers_submission ON answers (submission_id, app);
    CREATE INDEX answers_origin ON answers (origin_partition, origin_offset);
    CREATE INDEX answers_user ON answers (user_id);
    -- For people who look for these ids.
    CREATE INDEX answers_order ON answers (order_id) WHERE order_id IS NOT NULL;
    CREATE INDEX answers_transaction ON answers (transaction_id) WHERE transaction_id IS NOT NULL;

    CREATE TABLE retries (
        sequence INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
        app TEXT NOT NULL,
        submission_id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        order_id TEXT,
        traceparent TEXT,
        origin_partition INTEGER NOT NULL,
        origin_offset INTEGER NOT NULL,
        received_at INTEGER NOT NULL,
        cause TEXT NOT NULL,
        detail TEXT NOT NULL,
        -- Null: held.
        endpoint TEXT,
        due_at INTEGER NOT NULL,
        -- The number of its latest lease. While a worker has it, it is due when the lease ends.
        lease INTEGER NOT NULL DEFAULT 0,
        leased_until INTEGER CHECK (leased_until IS NULL OR leased_until = due_at),
        -- Leases since the last result or renewal.
        takings INTEGER NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL,
        history TEXT,
        doubt_answers INTEGER,
        doubt_elapsed INTEGER,
        doubt_since INTEGER,
        transaction_id TEXT,
        product_id TEXT,
        account_token TEXT,
        environment TEXT,
        submitted_at INTEGER,
        -- Bytes of claim and evidence.
        bytes INTEGER NOT NULL,
        evidence_kind TEXT NOT NULL,
        evidence BLOB NOT NULL,
        -- 1: Apple's signature on it holds.
        signed INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX retries_due ON retries (endpoint, signed, due_at);
    CREATE INDEX retries_suspect ON retries (leased_until) WHERE takings >= 2;
    CREATE INDEX retries_held ON retries (endpoint, app, cause, detail) WHERE endpoint IS NULL;
    CREATE INDEX retries_held_due ON retries (endpoint, due_at) WHERE endpoint IS NULL;
    CREATE INDEX retries_origin ON retries (origin_partition, origin_offset);
    CREATE INDEX retries_submission ON retries (submission_id);
    CREATE INDEX retries_user ON retries (user_id);
    CREATE INDEX retries_order ON retries (order_id) WHERE order_id IS NOT NULL;
    CREATE INDEX retries_transaction ON retries (transaction_id) WHERE transaction_id IS NOT NULL;
    CREATE INDEX retries_app ON retries (app, bytes);
    -- Rows that only a later version can read.
    CREATE INDEX retries_later ON retries (sequence)
        WHERE NOT (evidence_kind IN ('receipt', 'signedTransaction', 'transactionId')
            AND coalesce(environment, 'production') IN ('production', 'sandbox'));

    CREATE TABLE outbox (
        sequence INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        step TEXT NOT NULL,
        target TEXT NOT NULL,
        due_at INTEGER NOT NULL,
        -- When its step was first due.
        owed_since INTEGER NOT NULL,
        lease INTEGER NOT NULL DEFAULT 0,
        leased_until INTEGER CHECK (leased_until IS NULL OR leased_until = due_at),
        attempts INTEGER NOT NULL DEFAULT 0,
        -- Of a quarantined record.
        reason TEXT,
        record_time INTEGER,
        digest BLOB,
        size INTEGER
    ) STRICT;
    CREATE INDEX outbox_due ON outbox (target, due_at);

    CREATE TABLE operator_actions (
        sequence INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        actor TEXT NOT NULL,
        reason TEXT NOT NULL,
        done_at INTEGER NOT NULL,
        app TEXT,
        submission_id TEXT
    ) STRICT;
    CREATE INDEX operator_actions_submission ON operator_actions (submission_id);

    CREATE TABLE workers (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        seen_at INTEGER NOT NULL
    ) STRICT;
    """
