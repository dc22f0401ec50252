"""The faults of scripts/faults-test.py between a worker and its brokers."""

import time

from confluent_kafka import Consumer

from checkout import free_port, wait_for

from faults_judge import Blind, Line, Sees, ends
from faults_lane import Lane
from faults_stage import certificate

UNREACHABLE, REFUSES = "Kafka is unreachable", "Kafka refuses what the worker asks for"
NOT_TAKEN = "Kafka does not take events for a topic"


class KafkaLane(Lane):
    """Its worker comes by the listener with TLS and passwords, and has the rights that docs/configuration.md gives."""

    def __init__(self, stage, name, kafka, apple):
        super().__init__(stage, name, kafka, apple)
        self.right |= {
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": kafka.secure,
            "GRANTOR_KAFKA_PROPERTIES_FILE": self.properties(kafka.client()),
        }
        kafka.give("GROUP", name, "READ")
        kafka.give("TOPIC", self.topic("submitted"), "READ")
        for kind in ("granted", "failed", "pending", "quarantined"):
            kafka.give("TOPIC", self.topic(kind), "WRITE")

    def start_with(self, bootstrap=None, **properties):
        """Starts a worker with other properties of Kafka's; `_` stands for `.`."""
        self.start(
            GRANTOR_KAFKA_BOOTSTRAP_SERVERS=bootstrap or self.kafka.secure,
            GRANTOR_KAFKA_PROPERTIES_FILE=self.properties(self.kafka.client(**properties)),
        )

    def without(self, *right):
        """Takes a right, and starts a worker once the broker knows."""
        self.kafka.take(*right)
        self.start()

    def give_back(self, *right):
        """Gives a right to a worker that runs, which must find it by itself."""
        self.kafka.give(*right)
        self.wait_until_ready()

    def stranger(self, **properties):
        """A member of the worker's group that is none of ours, once it has the partitions."""
        own = {"bootstrap.servers": self.kafka.address, "group.id": self.name, "session.timeout.ms": 6000}
        member = Consumer(own | {key.replace("_", "."): value for key, value in properties.items()})
        member.subscribe([self.topic("submitted")])
        wait_for("another member of the group", lambda: member.poll(0.2) or member.assignment())
        return member


def play(lane):
    connections(lane)
    rights(lane)
    topics(lane)
    group(lane)
    brokers(lane)


def connections(lane):
    def faulty(name, remedy, **changes):
        lane.fault(
            name, lambda: lane.start_with(**changes), fresh=True, line=Line(UNREACHABLE, remedy),
            alert="GrantorNotReady", check=Sees("broker", "failed", remedy),
        )

    faulty("wrong password for Kafka", "correct sasl.username or sasl.password", sasl_password="another")
    _, foreign, _ = certificate(lane.folder, "foreign")
    faulty("brokers' certificate of a foreign authority", "set ssl.ca.location", ssl_ca_location=foreign)
    faulty("plain client at a listener with TLS", "seems to speak TLS", security_protocol="SASL_PLAINTEXT")
    faulty("TLS client at a plain listener", "seems to speak no TLS", bootstrap=lane.kafka.address)
    faulty("no password for a listener that wants one", "the listener wants a password", security_protocol="SSL")
    faulty("unknown name of a broker", "correct the name", bootstrap=f"no-such-broker.invalid:{free_port()}")


def rights(lane):
    def lacks(name, right, words, alert, sees):
        lane.fault(
            name, lambda: lane.without(*right), lambda: lane.give_back(*right), fresh=True, line=Line(REFUSES, words),
            alert=alert, check=sees,
        )

    submitted, granted = lane.topic("submitted"), lane.topic("granted")
    lacks("no right to read the group", ("GROUP", lane.name, "READ"), "Read on the group", "GrantorNotReady",
          Sees("group", "failed", "give it Read on the group"))
    lacks("no right to see the input topic", ("TOPIC", submitted, "READ"), "Read on the input topic",
          "GrantorNoPartitions", Sees(f"topic {submitted}", "failed", "may not see it, or it is missing"))

    def describe_only():
        lane.kafka.give("TOPIC", submitted, "DESCRIBE")
        lane.without("TOPIC", submitted, "READ")
        lane.submit(lane.signed())

    def read():
        lane.give_back("TOPIC", submitted, "READ")
        lane.kafka.take("TOPIC", submitted, "DESCRIBE")

    lane.fault(
        "no right to read the input topic that it sees", describe_only, read, fresh=True,
        line=Line(REFUSES, "Read on the input topic"), alert="GrantorKafkaRefuses",
        check=Sees(f"topic {submitted}", "failed", "give it Read on the topic"),
    )

    def no_write():
        lane.kafka.take("TOPIC", granted, "WRITE")
        # The broker knows a moment later.
        time.sleep(1)
        lane.submit(lane.signed())

    lane.fault(
        "no right to write events", no_write, lambda: lane.give_back("TOPIC", granted, "WRITE"),
        line=Line(NOT_TAKEN, "give it Write on the topic"), alert="GrantorEventsRefused",
        check=Sees(f"topic {granted}", "failed", "see it|give it Write on the topic"),
    )


def topics(lane):
    granted = lane.topic("granted")

    def too_large():
        lane.kafka.configure(granted, "max.message.bytes", "100")
        lane.submit(lane.signed())

    describe = ("TOPIC", granted, "DESCRIBE_CONFIGS")
    lane.kafka.give(*describe)
    lane.fault(
        "topic takes no event of this size", too_large,
        lambda: lane.kafka.configure(granted, "max.message.bytes", None),
        line=Line(NOT_TAKEN, "larger than the topic or the broker allows"), alert="GrantorEventsRefused",
        check=Sees(f"topic {granted}", "warning", "max.message.bytes is 100"),
    )

    def drop():
        lane.kafka.drop(granted)
        lane.submit(lane.signed())

    lane.fault(
        "topic of events is missing", drop, lane.make_topics,
        line=Line(NOT_TAKEN, "does not exist; grantor topics create makes it"), alert="GrantorEventsRefused",
        check=Sees(f"topic {granted}", "failed", "missing; grantor topics create makes it"),
    )

    # A ledger belongs to its topics, so a worker of a topic that never was has a ledger and a group of its own.
    missing = f"{lane.name}.not-made"
    lane.kafka.give("TOPIC", missing, "READ")
    lane.kafka.give("GROUP", "newcomer", "READ")
    lane.fault(
        "input topic is missing", fresh=True, cause=lambda: lane.start(
            GRANTOR_TOPIC_SUBMITTED=missing, GRANTOR_KAFKA_GROUP_ID="newcomer",
            GRANTOR_LEDGER_URL=f"sqlite:{lane.folder}/newcomer.db",
        ),
        line=Line(REFUSES, "make the topic: grantor topics create"), alert="GrantorNoPartitions",
        check=Sees(f"topic {missing}", "failed", "missing; grantor topics create makes it"),
    )


def group(lane):
    members = []

    def close():
        while members:
            members.pop().close()

    def other_protocol():
        members.append(lane.stranger(partition_assignment_strategy="cooperative-sticky"))
        lane.start()

    def alone():
        close()
        lane.wait_until_ready()

    lane.fault(
        "another assignment protocol in the group", other_protocol, alone, fresh=True,
        line=Line(REFUSES, "the same partition.assignment.strategy"), alert="GrantorNotReady",
        check=Blind("brokers tell a group's protocol to its members only"),
    )
    lane.fault(
        "session timeout that the brokers refuse", lambda: lane.start_with(session_timeout_ms=5000), fresh=True,
        line=Line(REFUSES, "set session.timeout.ms"), alert="GrantorNotReady",
        check=Blind("it joins no group, and only then brokers say so"),
    )

    def same_name():
        lane.start(GRANTOR_KAFKA_GROUP_INSTANCE_ID="the-one")
        lane.wait_until_ready()
        members.append(lane.stranger(group_instance_id="the-one", partition_assignment_strategy="range"))

    def renamed():
        close()
        lane.restart()

    lane.fault(
        "two workers under one name", same_name, renamed, fresh=True,
        line=ends("the same kafka.groupInstanceId; each needs its own", code=1), alert="GrantorDown",
        check=Blind("it joins no group, and only then brokers say so"),
    )


def brokers(lane):
    away = {"alert": "GrantorNotReady", "check": Sees("broker", "failed", "nobody listens there")}

    def back():
        lane.kafka.start()
        lane.wait_until_ready()

    lane.fault(
        "broker dies", lane.kafka.part.kill, back,
        line=Line(UNREACHABLE, "the broker ended the connection|nobody listens there"), **away,
    )

    def nobody():
        lane.kafka.part.kill()
        lane.start()

    lane.fault(
        "broker is away at the start", nobody, back, fresh=True, line=Line(UNREACHABLE, "nobody listens there"), **away,
    )
