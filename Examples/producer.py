#!/usr/bin/env python3
"""Submits purchases: writes each claim down, and sends it until Kafka has it.

    DATABASE=postgres://… KAFKA=host:9092 producer.py < claims

Each line of the input is one claim of a client's, as JSON: userId, transactionId, bundleId, the evidence (such as
signedTransaction), and orderId or appAccountToken where there is one. A backend has its HTTP API in the place of the
input. Ends once Kafka has everything; a claim that cannot be stored is told on standard error, and the exit code is 1.

It may be killed at any instruction: what was not marked as acknowledged is sent again under the same id, which is
harmless. Several may run at once.
"""

import json
import os
import sys
import time
import uuid

import psycopg
from confluent_kafka import Producer

TOPIC = "receipts.submitted"
# The topic takes records of 2 MiB with everything around the value; clients send 1 MB at most unless told otherwise.
MAX_RECORD = 2 * 1024 * 1024
MAX_VALUE = MAX_RECORD - 4096
# Their cause is mended on the server, and the same content has the same answer for ever under its id. After
# abandoned_by_operator, which needs a new id, too, a person has decided: nothing is sent again by itself.
NEEDS_NEW_ID = ["unknown_app", "unknown_product", "environment_not_allowed", "family_shared_not_allowed"]
SETTINGS = {
    "acks": "all",
    "enable.idempotence": True,
    "message.max.bytes": MAX_RECORD,
    "linger.ms": 5,
}


def message(submission_id, user, bundle, claim):
    """The value of a record. The same row gives the same value."""
    value = {"submissionId": submission_id, "userId": user, "bundleId": bundle, **claim}
    return json.dumps(value, separators=(",", ":")).encode()


def store(connection, claim):
    """Writes a claim down, before the client may hear that it was taken.

    The client may finish() a signed transaction from then on. The same claim again changes nothing, unless it failed
    for a reason that needs a new id: then it gets one. Other evidence for a purchase that is not granted yet is sent
    under the same id: it may end a wait, and mend a failure. Raises ValueError for evidence that is too large to be
    sent.
    """
    claim = dict(claim)
    user, bundle = claim.pop("userId"), claim.pop("bundleId")
    # A UUID of a time-ordered version, where the language has one, is cheaper to index.
    submission_id = str(uuid.uuid4())
    if len(message(submission_id, user, bundle, claim)) > MAX_VALUE:
        raise ValueError(f"the evidence of {user} is larger than Kafka takes")
    connection.execute(
        """
        INSERT INTO submissions (bundle_id, submission_id, user_id, transaction_id, order_id, claim)
        VALUES (%(bundle)s, %(id)s, %(user)s, %(transaction)s, %(order)s, %(claim)s)
        ON CONFLICT (bundle_id, user_id, transaction_id, order_id) DO UPDATE
        SET claim = excluded.claim, acknowledged_at = NULL, state = 'pending', reason = NULL, waits_for = NULL,
            waits_by = NULL, submission_id = CASE submissions.claim::text WHEN excluded.claim::text
                THEN excluded.submission_id ELSE submissions.submission_id END
        WHERE submissions.state <> 'granted' AND submissions.claim::text <> excluded.claim::text
            OR submissions.state = 'failed' AND submissions.reason = ANY(%(needs_new_id)s)
        """,
        {
            "bundle": bundle, "id": submission_id, "user": user, "transaction": claim["transactionId"],
            "order": claim.get("orderId", ""), "claim": json.dumps(claim), "needs_new_id": NEEDS_NEW_ID,
        },
    )


def send(connection, producer):
    """Sends some of what Kafka does not have yet, and marks what it acknowledged. Returns the numbers of both."""
    with connection.transaction():
        rows = connection.execute(
            """
            SELECT bundle_id, submission_id, user_id, claim FROM submissions WHERE acknowledged_at IS NULL
            ORDER BY bundle_id, submission_id LIMIT 500 FOR UPDATE SKIP LOCKED
            """
        ).fetchall()
        acknowledged = []
        for bundle, submission_id, user, claim in rows:

            def delivered(error, _, row=(bundle, submission_id)):
                # A claim without an acknowledgement keeps its row unmarked, and is sent again.
                if error:
                    print(f"{row[1]}: {error}", file=sys.stderr)
                else:
                    acknowledged.append(row)

            value = message(submission_id, user, bundle, claim)
            producer.produce(TOPIC, key=user, value=value, on_delivery=delivered)
        producer.flush()
        connection.cursor().executemany(
            "UPDATE submissions SET acknowledged_at = now() WHERE bundle_id = %s AND submission_id = %s", acknowledged
        )
    return len(rows), len(acknowledged)


def main():
    refused = 0
    producer = Producer({"bootstrap.servers": os.environ["KAFKA"], **SETTINGS})
    with psycopg.connect(os.environ["DATABASE"], autocommit=True) as connection:
        for line in sys.stdin:
            try:
                store(connection, json.loads(line))
            except ValueError as error:
                refused += 1
                print(error, file=sys.stderr)
        while True:
            sent, acknowledged = send(connection, producer)
            if sent == 0:
                break
            if acknowledged == 0:
                time.sleep(1)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
