-- A backend's own tables, for PostgreSQL: what it submits, and what its players have.

-- A claim that a client brought, written down before anything is sent. It stays open without a limit of time.
CREATE TABLE submissions (
    submission_id text PRIMARY KEY,
    user_id text NOT NULL,
    bundle_id text NOT NULL,
    transaction_id text NOT NULL,
    -- The order that the purchase pays; empty for none.
    order_id text NOT NULL DEFAULT '',
    -- Evidence and hints, as they go into the message. It is json, not jsonb, so that the same text is sent each time.
    claim json NOT NULL,
    -- Kafka has it. Null: it is to be sent, again if need be.
    acknowledged_at timestamptz,
    state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'granted', 'failed')),
    -- Of a failure, for the words that the player reads.
    reason text,
    -- Why it waits, by its newest pending event.
    waits_for text,
    waits_by timestamptz,
    -- A client that brings a purchase again, as after each start, gets the same submission. A claim for another order
    -- has an answer of its own.
    UNIQUE (bundle_id, user_id, transaction_id, order_id)
);
CREATE INDEX submissions_to_send ON submissions (submission_id) WHERE acknowledged_at IS NULL;

-- The granted events that were given. Rows stay for ever: a copy may come after years.
CREATE TABLE given_events (
    event_id uuid PRIMARY KEY,
    given_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE inventory (
    user_id text NOT NULL,
    item text NOT NULL,
    quantity bigint NOT NULL,
    PRIMARY KEY (user_id, item)
);
