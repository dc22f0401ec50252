#!/usr/bin/env python3
"""Submits purchases: writes each claim down, and sends it until Kafka has it.

    DATABASE=postgres://… KAFKA=host:9092 producer.py < claims

Each line of the input is JSON: userId and appAccountToken, which the backend has of the session's account, and the
claim as the client brought it: bundleId, transactionId, signedTransaction or receipt, and productId or orderId where
there is one. Of a claim nothing else is read: what binds a purchase to an account never comes from a client. A backend
has its HTTP API in the place of the input. Ends once Kafka has everything; a claim that cannot be stored is told on
standard error, and the exit code is 1.

It may be killed at any instruction: what was not marked as acknowledged is sent again under the same id, which is
harmless. Several may run at once.
"""

import json
import os
import re
import sys
import time
import uuid

import psycopg
from confluent_kafka import Producer

TOPIC = "receipts.submitted"
# The topic takes records of 2 MiB with everything around the value; clients send 1 MB at most unless told otherwise.
MAX_RECORD = 2 * 1024 * 1024
MAX_VALUE = 2_090_000
# Members of a claim that are ids, with their form. A backend compares orderId with the account's own orders, too.
IDS = {
    "bundleId": r"[^\x00-\x1f\x7f-\x9f]{1,255}",
    "transactionId": r"[1-9][0-9]{0,19}",
    "productId": r"[^\x00-\x1f\x7f-\x9f]{1,255}",
    "orderId": r"[^\x00-\x1f\x7f-\x9f]{1,128}",
}
USER = r"[^\x00-\x1f\x7f-\x9f]{1,128}"
# Grantor reads these as no value, in any case of letters.
WORDS_FOR_NOTHING = {"", "null", "(null)", "nil", "none", "undefined"}
# Evidence of fewer characters is none. Grantor would read an empty one as absent, and look up the bare transactionId,
# which anybody may know.
MIN_EVIDENCE = 100
# Their cause is mended on the server, and the same content has the same answer for ever under its id.
NEEDS_NEW_ID = ["unknown_app", "unknown_product", "environment_not_allowed", "family_shared_not_allowed"]
SETTINGS = {
    "acks": "all",
    "enable.idempotence": True,
    "message.max.bytes": MAX_RECORD,
    "linger.ms": 5,
}


def is_text(value):
    """Whether it is a text that stands for a value. Raises ValueError for half of a surrogate pair."""
    return isinstance(value, str) and bool(value.encode()) and value.lower() not in WORDS_FOR_NOTHING


def members(token, claim):
    """The members of a client's claim that go into the record, with the account's token. Raises ValueError for a claim that
    Grantor could not answer, or that proves nothing."""
    if not isinstance(claim, dict):
        raise ValueError("the claim is no object")
    found = {}
    for name, form in IDS.items():
        value = claim.get(name)
        if is_text(value) and re.fullmatch(form, value):
            found[name] = value
        elif name in ("bundleId", "transactionId") or not (value is None or value == ""):
            raise ValueError(f"{name} is missing, or has a form that is not allowed")
    evidence = {
        name: claim[name] for name in ("signedTransaction", "receipt")
        if is_text(claim.get(name)) and len(claim[name].strip()) >= MIN_EVIDENCE
    }
    if not evidence:
        raise ValueError("there is neither a signedTransaction nor a receipt")
    return found | evidence | ({"appAccountToken": token} if token else {})


def message(submission_id, user, claim):
    """The value of a record. The same row gives the same value."""
    value = {"submissionId": submission_id, "userId": user, **claim}
    return json.dumps(value, separators=(",", ":")).encode()


def store(connection, user, token, claim):
    """Writes a client's claim down, before the client may hear that it was taken.

    `user` is the session's account, and `token` the account token that the backend made for it, or None. Neither comes
    from the claim or its evidence, because a thief has the evidence, too.

    The client may finish() a signed transaction from then on. The same claim again changes nothing, unless it failed
    for a reason that needs a new id. Other evidence may end a wait, under the same id. After a failure it gets a new
    one, because a second failure under one id tells the first one's reason. After abandoned_by_operator a person has
    decided about the purchase: nothing is sent again by itself, for no order. Raises ValueError for a claim that must
    not or cannot be sent.
    """
    if not is_text(user) or not re.fullmatch(USER, user):
        raise ValueError("userId has a form that is not allowed")
    claim = members(token, claim)
    # A UUID of a time-ordered version, where the language has one, is cheaper to index.
    submission_id = str(uuid.uuid4())
    if len(message(submission_id, user, claim)) > MAX_VALUE:
        raise ValueError(f"the evidence of {user} is larger than Kafka takes")
    connection.execute(
        """
        INSERT INTO submissions AS old (submission_id, user_id, bundle_id, transaction_id, order_id, claim)
        SELECT %(id)s, %(user)s, %(bundle)s, %(transaction)s, %(order)s, %(claim)s
        WHERE NOT EXISTS (
            SELECT FROM submissions WHERE bundle_id = %(bundle)s AND user_id = %(user)s
            AND transaction_id = %(transaction)s AND reason = 'abandoned_by_operator')
        ON CONFLICT (bundle_id, user_id, transaction_id, order_id) DO UPDATE
        SET claim = excluded.claim, acknowledged_at = NULL, state = 'pending', reason = NULL, waits_for = NULL,
            waits_by = NULL,
            submission_id = CASE old.state WHEN 'failed' THEN excluded.submission_id ELSE old.submission_id END
        WHERE old.reason IS DISTINCT FROM 'abandoned_by_operator' AND (
            old.state <> 'granted' AND old.claim::text <> excluded.claim::text
            OR old.state = 'failed' AND old.reason = ANY(%(needs_new_id)s))
        """,
        {
            "id": submission_id, "user": user, "bundle": claim["bundleId"], "transaction": claim["transactionId"],
            "order": claim.get("orderId", ""), "claim": json.dumps(claim), "needs_new_id": NEEDS_NEW_ID,
        },
    )


def send(connection, producer):
    """Sends some of what Kafka does not have yet, and marks what it acknowledged. Returns the numbers of both.

    No row is locked while Kafka is waited for: clients bring claims, and answers come. A claim that became another one
    meanwhile is not marked."""
    rows = connection.execute(
        """
        SELECT submission_id, user_id, claim::text FROM submissions WHERE acknowledged_at IS NULL
        ORDER BY submission_id LIMIT 500
        """
    ).fetchall()
    acknowledged = []
    for submission_id, user, claim in rows:

        def delivered(error, _, row=(submission_id, claim)):
            # A claim without an acknowledgement keeps its row unmarked, and is sent again.
            if error:
                print(f"{row[0]}: {error}", file=sys.stderr)
            else:
                acknowledged.append(row)

        producer.produce(TOPIC, key=user, value=message(submission_id, user, json.loads(claim)), on_delivery=delivered)
    producer.flush()
    # Each by itself, because two rows in one transaction may be locked in another order by a consumer.
    for row in acknowledged:
        connection.execute(
            "UPDATE submissions SET acknowledged_at = now() WHERE submission_id = %s AND claim::text = %s", row
        )
    return len(rows), len(acknowledged)


def main():
    refused = 0
    producer = Producer({"bootstrap.servers": os.environ["KAFKA"], **SETTINGS})
    with psycopg.connect(os.environ["DATABASE"], autocommit=True) as connection:
        for line in sys.stdin:
            session = json.loads(line)
            try:
                store(connection, session["userId"], session.get("appAccountToken"), session["claim"])
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
