#!/usr/bin/env python3
"""Gives players what they paid for, each purchase once, however often its event comes.

    DATABASE=postgres://… KAFKA=host:9092 consumer.py [GROUP]

One transaction of the database has the event's id under a unique key and the items. Kafka's offsets are committed after
it. So a copy is found by its id, and an event that was not given comes again. Any error ends the program: nothing is
passed over, and whatever starts it again, such as systemd, goes on where it was. Runs until SIGTERM.

A purchase of Apple's sandbox is answered and gives nothing. GIVE_SANDBOX=yes gives what the app's `sandbox` policy lets
through, such as the purchases of App Review.

PENDING_TOPIC names the topic that tells why submissions wait, where the workers have it as GRANTOR_TOPIC_PENDING.
"""

import json
import os
import signal
import sys

import psycopg
from confluent_kafka import Consumer, KafkaException

GRANTED, FAILED = "purchases.granted", "purchases.failed"
PENDING = os.environ.get("PENDING_TOPIC")
# The types that this program knows. A later version of an event comes beside the known one, on the same topic.
TYPES = {f"com.grantor.purchase.{word}.v1" for word in ("granted", "failed", "pending")}
# Purchases of Apple's sandbox were made without money.
GIVES_SANDBOX = os.environ.get("GIVE_SANDBOX") == "yes"


def apply(connection, record):
    headers = dict(record.headers() or [])
    if headers.get("ce_type", b"").decode() not in TYPES:
        return
    event = json.loads(record.value())
    if record.topic() == PENDING:
        wait(connection, event)
        return
    if record.topic() == FAILED:
        fail(connection, event)
        return
    is_paid = event["environment"] == "production" or GIVES_SANDBOX
    if is_paid:
        give(connection, event)
    # A copy that another submission asked for names it in a header.
    asked = headers.get("grantor-repeat-of", event["submissionId"].encode()).decode()
    confirm(connection, event, asked, is_paid)


def give(connection, event):
    new = connection.execute(
        "INSERT INTO given_events (event_id) VALUES (%s) ON CONFLICT DO NOTHING", (event["eventId"],)
    )
    if new.rowcount == 0:
        return
    for item in event["items"]:
        connection.execute(
            """
            INSERT INTO inventory (user_id, item, quantity) VALUES (%s, %s, %s)
            ON CONFLICT (user_id, item) DO UPDATE SET quantity = inventory.quantity + excluded.quantity
            """,
            (event["userId"], item["item"], item["quantity"]),
        )


def confirm(connection, event, submission_id, is_paid):
    """A purchase pays the order that its event names, and no other. One that was claimed without an order first belongs
    to none: its items are given, and an order that was claimed for it later is not paid. Nor does the sandbox pay one.
    """
    connection.execute(
        """
        UPDATE submissions SET state = CASE WHEN order_id IN ('', %(order)s) THEN 'granted' ELSE 'failed' END,
            reason = CASE WHEN order_id IN ('', %(order)s) THEN NULL ELSE %(reason)s END
        WHERE submission_id = %(id)s AND user_id = %(user)s AND state <> 'granted'
        """,
        {
            "order": event.get("orderId", "") if is_paid else "", "id": submission_id, "user": event["userId"],
            "reason": "granted_to_another_order" if is_paid else "sandbox_pays_nothing",
        },
    )


def fail(connection, event):
    """A granted event of the same submission counts more, whichever comes first. The app is not compared, because a
    failure of a malformed submission may name none."""
    connection.execute(
        """
        UPDATE submissions SET state = 'failed', reason = %s
        WHERE submission_id = %s AND user_id = %s AND state <> 'granted'
        """,
        (event["reason"], event["submissionId"], event["userId"]),
    )


def wait(connection, event):
    """Notes why a submission waits. Old events may come late, and an answer counts more. Of two events of one moment
    `retrying` counts."""
    connection.execute(
        """
        UPDATE submissions SET waits_for = %(cause)s, waits_by = %(at)s
        WHERE submission_id = %(id)s AND user_id = %(user)s AND state = 'pending'
        AND (waits_by IS NULL OR waits_by < %(at)s OR waits_by = %(at)s AND %(state)s = 'retrying')
        """,
        {
            "cause": event["cause"], "state": event["state"], "at": event["pendingAt"], "id": event["submissionId"],
            "user": event["userId"],
        },
    )


def main():
    group = sys.argv[1] if len(sys.argv) > 1 else "inventory"
    consumer = Consumer(
        {
            "bootstrap.servers": os.environ["KAFKA"],
            "group.id": group,
            # A group without offsets reads everything that is there.
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            # How long the partitions of a consumer that was killed wait for another one.
            "session.timeout.ms": os.environ.get("SESSION_TIMEOUT_MS", "45000"),
        }
    )
    consumer.subscribe([topic for topic in (GRANTED, FAILED, PENDING) if topic])
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    with psycopg.connect(os.environ["DATABASE"], autocommit=True) as connection:
        while not ended:
            records = consumer.consume(num_messages=500, timeout=0.5)
            if not records:
                continue
            with connection.transaction():
                for record in records:
                    if record.error():
                        raise KafkaException(record.error())
                    apply(connection, record)
            consumer.commit(asynchronous=False)
    consumer.close()


if __name__ == "__main__":
    main()
