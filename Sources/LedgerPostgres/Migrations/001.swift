/// The schema that ledgers begin with.
///
/// Environments are 0 (production) and 1 (sandbox). Times are milliseconds since 1970. Values that follow from others
/// by a rule are null. Wide columns stand first, so that no row has padding. Texts compare by their bytes.
let migration001 = """
    -- The numbers of leases; none comes twice.
    CREATE SEQUENCE lease_numbers;

    -- Rows of other tables name a partition by its number here. A row without generation and next_offset was refused:
    -- the group had an offset of it, and the ledger had none of its topic.
    CREATE TABLE partitions (
        number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        partition integer NOT NULL,
        topic text COLLATE "C" NOT NULL,
        owner text,
        generation bigint,
        next_offset bigint,
        -- An operator has passed the records before it, and the group's offset is not there yet.
        passed_offset bigint,
        starts integer NOT NULL DEFAULT 0,
        -- The record whose check has begun.
        marked_offset bigint,
        -- The record whose check had begun at the last take-overs, and how many these were.
        suspect_offset bigint,
        suspect_ends integer NOT NULL DEFAULT 0,
        UNIQUE (topic, partition),
        -- A take-over changes a key, so that every write under the former generation waits for it, or is refused.
        UNIQUE (topic, partition, generation)
    ) WITH (fillfactor = 50);

    -- The number is a digest of the rest.
    CREATE TABLE products (
        number bigint PRIMARY KEY,
        app text COLLATE "C" NOT NULL,
        product_id text COLLATE "C" NOT NULL,
        type text NOT NULL,
        items text NOT NULL
    );
    CREATE INDEX products_app ON products (app);

    CREATE TABLE grants (
        sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        product bigint NOT NULL,
        purchased_at bigint NOT NULL,
        origin_offset bigint NOT NULL,
        received_at bigint NOT NULL,
        granted_at bigint NOT NULL,
        expires_at bigint,
        price bigint,
        origin_partition integer NOT NULL,
        quantity integer NOT NULL,
        attempts integer NOT NULL,
        -- 0: a grant.
        kind smallint NOT NULL DEFAULT 0,
        environment smallint NOT NULL,
        format smallint NOT NULL,
        transaction_id text COLLATE "C" NOT NULL CHECK (length(transaction_id) BETWEEN 1 AND 20),
        -- The key's name, without the t: of what goes by a transaction; null if that is this one.
        grant_key text COLLATE "C",
        -- Null: this transaction.
        original_transaction_id text COLLATE "C",
        web_order_line_item_id text COLLATE "C",
        -- Null: purchased.
        ownership text,
        currency text,
        storefront text,
        offer text,
        offer_discount text,
        -- 0 signedTransaction, 1 verifyReceipt, 2 serverAPI, 3 local; the word itself for others.
        verified_by text NOT NULL,
        -- Null only in rows of a later kind, as the user's.
        submission_id text COLLATE "C",
        user_id text COLLATE "C",
        order_id text COLLATE "C",
        traceparent text,
        -- What was left out beside it, for people.
        passed_over text,
        CHECK (kind <> 0 OR (submission_id IS NOT NULL AND user_id IS NOT NULL))
    );
    CREATE UNIQUE INDEX grants_transaction ON grants (transaction_id, environment);
    CREATE UNIQUE INDEX grants_key ON grants (coalesce(grant_key, transaction_id), environment);
    CREATE INDEX grants_origin ON grants (origin_partition, origin_offset);
    -- By their hashes: a third of the size of the ids, which come in no order and are asked for whole.
    CREATE INDEX grants_submission ON grants (hashtextextended(submission_id, 0));
    -- A page of a user's or an order's rows is read from its newest on, so their places are in the index, too.
    CREATE INDEX grants_user ON grants (hashtextextended(user_id, 0), sequence);
    CREATE INDEX grants_order ON grants (hashtextextended(order_id, 0), sequence) WHERE order_id IS NOT NULL;

    CREATE TABLE answers (
        sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        origin_offset bigint NOT NULL,
        answered_at bigint NOT NULL,
        origin_partition integer NOT NULL,
        -- A failure's.
        attempts integer,
        format smallint,
        -- The grant that answers; null for a failure.
        environment smallint,
        app text COLLATE "C" NOT NULL,
        submission_id text COLLATE "C" NOT NULL,
        user_id text COLLATE "C" NOT NULL,
        order_id text COLLATE "C",
        traceparent text,
        -- That grant's, or what the failure is about.
        transaction_id text COLLATE "C",
        -- What was left out beside that grant, for people.
        passed_over text,
        -- The rest is a failure's.
        product_id text COLLATE "C",
        reason text COLLATE "C",
        detail text,
        digest bytea,
        CHECK ((environment IS NULL) = (reason IS NOT NULL))
    );
    CREATE UNIQUE INDEX answers_submission ON answers (submission_id, app);
    CREATE INDEX answers_origin ON answers (origin_partition, origin_offset);
    CREATE INDEX answers_user ON answers (hashtextextended(user_id, 0), sequence);
    -- For people who look for these ids.
    CREATE INDEX answers_order ON answers (hashtextextended(order_id, 0), sequence) WHERE order_id IS NOT NULL;
    CREATE INDEX answers_transaction ON answers (hashtextextended(transaction_id, 0))
        WHERE transaction_id IS NOT NULL;
    -- For lists of failures.
    CREATE INDEX answers_app ON answers (app, sequence) WHERE reason IS NOT NULL;
    CREATE INDEX answers_reason ON answers (reason, sequence) WHERE reason IS NOT NULL;

    CREATE TABLE retries (
        sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        origin_offset bigint NOT NULL,
        received_at bigint NOT NULL,
        due_at bigint NOT NULL,
        -- The number of its latest lease. While a worker has it, it is due when the lease ends.
        lease bigint NOT NULL DEFAULT 0,
        leased_until bigint CHECK (leased_until IS NULL OR leased_until = due_at),
        submitted_at bigint,
        doubt_elapsed bigint,
        doubt_since bigint,
        -- Bytes of claim and evidence.
        bytes bigint NOT NULL,
        origin_partition integer NOT NULL,
        -- Leases since the last result or renewal.
        takings integer NOT NULL DEFAULT 0,
        attempts integer NOT NULL,
        doubt_answers integer,
        -- 1: Apple's signature on it holds.
        signed smallint NOT NULL,
        digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
        app text COLLATE "C" NOT NULL,
        submission_id text COLLATE "C" NOT NULL,
        user_id text COLLATE "C" NOT NULL,
        order_id text COLLATE "C",
        traceparent text,
        cause text COLLATE "C" NOT NULL,
        detail text COLLATE "C" NOT NULL,
        -- Null: held.
        endpoint text COLLATE "C",
        history text,
        transaction_id text COLLATE "C",
        product_id text COLLATE "C",
        account_token text,
        environment text,
        evidence_kind text NOT NULL,
        evidence bytea NOT NULL
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
    CREATE INDEX retries_due ON retries (endpoint, signed, due_at, sequence) WHERE endpoint IS NOT NULL;
    CREATE INDEX retries_suspect ON retries (leased_until) WHERE takings >= 2;
    CREATE INDEX retries_held_due ON retries (due_at, sequence) WHERE endpoint IS NULL;
    CREATE INDEX retries_origin ON retries (origin_partition, origin_offset);
    CREATE INDEX retries_submission ON retries (hashtextextended(submission_id, 0));
    CREATE INDEX retries_user ON retries (hashtextextended(user_id, 0), sequence);
    CREATE INDEX retries_order ON retries (hashtextextended(order_id, 0), sequence) WHERE order_id IS NOT NULL;
    CREATE INDEX retries_transaction ON retries (hashtextextended(transaction_id, 0))
        WHERE transaction_id IS NOT NULL;
    CREATE INDEX retries_app ON retries (app, sequence);
    CREATE INDEX retries_cause ON retries (cause, sequence);
    -- Rows that only a later version can read.
    CREATE INDEX retries_later ON retries (sequence)
        WHERE NOT (evidence_kind IN ('receipt', 'signedTransaction', 'transactionId')
            AND coalesce(environment, 'production') IN ('production', 'sandbox'));

    CREATE TABLE outbox (
        sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        due_at bigint NOT NULL,
        lease bigint NOT NULL DEFAULT 0,
        leased_until bigint CHECK (leased_until IS NULL OR leased_until = due_at),
        -- When its step was first due.
        owed_since bigint NOT NULL,
        -- Of a quarantined record.
        record_time bigint,
        size bigint,
        attempts integer NOT NULL DEFAULT 0,
        key text COLLATE "C" NOT NULL UNIQUE,
        step text COLLATE "C" NOT NULL,
        target text COLLATE "C" NOT NULL,
        reason text,
        digest bytea
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
    CREATE INDEX outbox_due ON outbox (target, due_at, sequence);

    CREATE TABLE operator_actions (
        sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        done_at bigint NOT NULL,
        kind text NOT NULL,
        actor text NOT NULL,
        reason text NOT NULL,
        app text COLLATE "C",
        submission_id text COLLATE "C"
    );
    CREATE INDEX operator_actions_submission ON operator_actions (hashtextextended(submission_id, 0));

    CREATE TABLE workers (
        id bigint PRIMARY KEY,
        started_at bigint NOT NULL,
        seen_at bigint NOT NULL,
        name text NOT NULL,
        version text NOT NULL
    ) WITH (fillfactor = 50);

    -- Whose ledger it is, once the first worker has come.
    CREATE TABLE consumer_group (
        one integer PRIMARY KEY CHECK (one = 1),
        name text NOT NULL,
        -- The id of its Kafka cluster; null where the brokers tell none.
        cluster text,
        -- Their names, separated by commas: of submissions, grants, failures and quarantined records.
        topics text NOT NULL
    );

    -- The latest sample of what waits: one worker takes it, the others read it.
    CREATE TABLE measure (
        one integer PRIMARY KEY CHECK (one = 1),
        taken_at bigint NOT NULL,
        -- In milliseconds.
        took bigint NOT NULL,
        content text NOT NULL
    );
    INSERT INTO measure VALUES (1, 0, 0, '');

    -- Last, so that a schema with it is whole.
    CREATE TABLE ledger (
        one integer PRIMARY KEY CHECK (one = 1),
        version integer NOT NULL,
        id text NOT NULL
    );
    """
