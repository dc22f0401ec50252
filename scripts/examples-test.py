#!/usr/bin/env python3
"""Runs the programs of Examples/ on Kafka, PostgreSQL, the App Store simulator and one worker, and judges inventories.

    scripts/examples-test.py FOLDER

FOLDER has the built programs grantor, kafka-mock and grantor-simulator. Claims are sent, many of them again, and some
by thieves; others must be refused. A purchase is granted late, and another one after its failure. The consumers are
killed on the way, and read everything a second time under another group. In the end each purchase must be in the
inventory once. The service is called for another app's grants, is away, and changes its secret. The consumer in Java
runs where KAFKA_HOME names an Apache Kafka, whose libraries it needs. Loopback only. Exit code: 0 passed, 1 not, 2
wrong usage.
"""

import glob
import json
import os
import subprocess
import sys

from checkout import ROOT, Failure, arguments, run, use_virtual_environment, wait_for

use_virtual_environment()
try:
    import psycopg
    from confluent_kafka import Producer

    from examples_claims import (
        claim_order_late, end_by_hand, fail_twice, fail_without_app, refuse_claims, send_while_claimed, spoil, steal,
    )
    from examples_service import SERVED, serve
    from examples_shop import APP, CHEST, GEMS, MAP, SWORD, TESTER, Shop, apps, key
    from examples_stage import PENDING, AppStore, Kafka, Part, Postgres, Worker
except ImportError as error:
    sys.exit(f"{error}. Run: scripts/setup.sh --for test")

PLAYERS = 6
JDBC_DRIVER = "/usr/share/java/postgresql.jar"
EXAMPLES = ROOT / "Examples"
# The partitions of a consumer that was killed wait for as long.
SESSION_MILLISECONDS = 6000
# A receipt of a customer with a long history is larger than what clients send unless told otherwise.
LARGE_RECEIPT = 1_000_000


class Play:
    def __init__(self, folder, programs):
        self.folder = folder
        self.parts = []
        self.kafka = self.add(Kafka(folder, programs))
        self.postgres = self.add(Postgres(folder))
        self.apple = self.add(AppStore(folder, programs))
        self.worker = self.add(Worker(folder, programs, self.kafka, self.apple, apps()))
        self.shop = Shop(self.apple)
        # The backend's account table: the account token of each user who has one.
        self.tokens = {}
        self.raw = Producer(
            {"bootstrap.servers": self.kafka.address, "message.max.bytes": 2 << 20, "log_level": 0}
        )

    def add(self, part):
        self.parts.append(part.part)
        return part

    def make_database(self, name):
        self.postgres.run("postgres", f"CREATE DATABASE {name}")
        self.postgres.run(name, (EXAMPLES / "schema.sql").read_text(encoding="utf-8"))

    def session(self, claim):
        """What a backend has of a claim: its session's user, the account token of that user, and what the client
        said."""
        said = {name: value for name, value in claim.items() if name != "userId"}
        return {"userId": claim["userId"], "appAccountToken": self.tokens.get(claim["userId"]), "claim": said}

    def run_producer(self, claims):
        return subprocess.run(
            [sys.executable, str(EXAMPLES / "producer.py")], text=True, stderr=subprocess.PIPE,
            input="".join(json.dumps(self.session(claim)) + "\n" for claim in claims),
            env=os.environ | {"KAFKA": self.kafka.address, "DATABASE": self.postgres.url("shop")},
        )

    def produce(self, *claims):
        """Hands claims to the producer of the examples, which must send them all."""
        done = self.run_producer(claims)
        if done.returncode != 0:
            raise Failure(f"the producer ended with {done.returncode}: {done.stderr}")

    def submit(self, submission_id, claim):
        """Sends what another service would send."""
        value = {"submissionId": submission_id, **claim}
        self.raw.produce("receipts.submitted", key=value["userId"], value=json.dumps(value))
        self.raw.flush()

    def publish(self, topic, version, event):
        """An event as a worker would tell it; one of another version need not look alike."""
        headers = [("ce_type", f"com.grantor.purchase.{version}".encode())]
        self.raw.produce(topic, key=event.get("userId", ""), value=json.dumps(event), headers=headers)
        self.raw.flush()

    def publish_pair(self, claim):
        """A claim is held, and tried again at the same moment, which is newer than all real ones."""
        event = {"submissionId": self.id(claim), "userId": claim["userId"], "bundleId": APP}
        event["pendingAt"] = "2999-01-01T00:00:00Z"
        for state, cause in (
            ("held", "product_not_configured"), ("retrying", "unreachable"), ("held", "product_not_configured"),
        ):
            self.publish(PENDING, "pending.v1", event | {"state": state, "cause": cause})

    def consume(self, language, database, group):
        words = [sys.executable, str(EXAMPLES / "consumer.py"), group]
        url = self.postgres.url(database)
        if language == "Java":
            if not os.path.exists(JDBC_DRIVER):
                raise Failure(f"there is no {JDBC_DRIVER}; scripts/setup.sh --for test installs it on Debian")
            url = self.postgres.jdbc(database)
            path = ":".join([*glob.glob(f"{os.environ['KAFKA_HOME']}/libs/*.jar"), JDBC_DRIVER])
            words = ["java", "-Xmx256m", "-cp", path, str(EXAMPLES / "Consumer.java"), group]
        part = Part(
            self.folder, f"consumer-{group}", words, KAFKA=self.kafka.address, DATABASE=url,
            SESSION_TIMEOUT_MS=str(SESSION_MILLISECONDS), PENDING_TOPIC=PENDING,
        )
        self.parts.append(part)
        return part

    def kill_while_giving(self, language, database, group):
        """Starts a consumer, and kills it while its first transaction waits for a lock: nothing of it is given, and
        another consumer must begin with the same events."""
        with psycopg.connect(self.postgres.url(database)) as lock:
            lock.execute("LOCK TABLE given_events IN EXCLUSIVE MODE")
            consumer = self.consume(language, database, group)
            waiting = "SELECT 1 FROM pg_locks WHERE relation = 'given_events'::regclass AND NOT granted"
            wait_for("the first gift", lambda: consumer.must_run() or self.postgres.run(database, waiting))
            consumer.kill()
        # The server notices that the killed one is gone as soon as it has the lock.
        others = "SELECT 1 FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
        wait_for("the end of its session", lambda: not self.postgres.run("postgres", others, database))
        if self.given(database) > 0:
            raise Failure("a killed consumer has given something")

    def wait_for_end(self, consumer, group, database):
        """Waits until a group has read everything, and expects that it has given the right things."""
        wait_for(f"the end of {group}", lambda: consumer.must_run() or self.kafka.has_read_all(group))
        faults = list(self.faults(database))
        if faults:
            raise Failure("\n".join([f"at the end of {group}:", *faults]))

    def fail_again(self, claim):
        """The failure of spoilt evidence under a claim's id, which comes behind the grant of better evidence."""
        event = {"submissionId": self.id(claim), "userId": claim["userId"], "bundleId": APP}
        self.publish("purchases.failed", "failed.v1", event | {"reason": "signature_invalid"})

    def given(self, database):
        return self.postgres.run(database, "SELECT count(*) FROM given_events")[0][0]

    def states(self, database):
        """The state of each claim, with its reason, or the cause for which it waits."""
        cause = "CASE state WHEN 'pending' THEN waits_for ELSE reason END"
        claimed = "transaction_id || CASE order_id WHEN '' THEN '' ELSE '/' || order_id END"
        rows = self.postgres.run(database, f"SELECT user_id, {claimed}, state, {cause} FROM submissions")
        return {(user, claimed): (state, cause) for user, claimed, state, cause in rows}

    def wait_for_state(self, what, claim, *state):
        wait_for(what, lambda: self.states("shop").get(key(claim)) == state)

    def id(self, claim):
        sql = "SELECT submission_id FROM submissions WHERE user_id = %s AND transaction_id = %s AND order_id = %s"
        found = self.postgres.run("shop", sql, claim["userId"], claim["transactionId"], claim.get("orderId", ""))
        return found[0][0]

    def faults(self, database):
        """What a database has otherwise than it should."""
        sql = "SELECT user_id, item, quantity FROM inventory"
        found = {(user, item): quantity for user, item, quantity in self.postgres.run(database, sql)}
        for item in sorted(found.keys() | self.shop.inventory.keys()):
            if found.get(item, 0) != self.shop.inventory[item]:
                yield f"{database}: {' '.join(item)}: {found.get(item, 0)}, and {self.shop.inventory[item]} were paid"
        states = self.states(database)
        for claim, wanted in self.shop.answers.items():
            if states.get(claim) != wanted:
                yield f"{database}: {' '.join(claim)}: {states.get(claim)}, not {wanted}"

    def end(self):
        for part in reversed(self.parts):
            part.stop()


def tell(play, say):
    """The story. Returns how many inventories there are."""
    shop, players = play.shop, [f"player-{number}" for number in range(PLAYERS)]
    play.make_database("shop")
    bought = [(players[number % PLAYERS], number % 3 + 1) for number in range(24)]
    claims = [shop.claim(user, shop.gems(user, quantity)) for user, quantity in bought]
    sword = shop.purchase(players[0], SWORD, "sword", 1, kind="nonConsumable")
    claims.append(shop.claim(players[0], sword))
    large = shop.gems(players[1])
    claims.append(shop.claim(players[1], large, receipt=shop.receipt(large, size=LARGE_RECEIPT)))
    late = shop.claim(players[2], shop.purchase(players[2], CHEST, "chest", 1))
    genuine = shop.claim(players[3], shop.gems(players[3]))
    spoilt = spoil(genuine)
    # A tester gets an answer, and no items.
    test = shop.claim(TESTER, trial := shop.unpaid(GEMS), signedTransaction=shop.signed(trial, "sandbox"))
    # Another user's is refused, and would not be once the catalogue names the user: that needs a new id.
    refused_test = ("failed", "environment_not_allowed")
    trial = shop.unpaid(GEMS)
    foreign = shop.claim(players[0], trial, refused_test, signedTransaction=shop.signed(trial, "sandbox"))
    # One purchase pays one order.
    gems = shop.gems(players[1])
    paying = shop.claim(players[1], gems, signedTransaction=shop.signed(gems), orderId="order-1")
    held = ("pending", "product_not_configured")
    waiting = shop.claim(players[4], shop.unpaid(MAP), held)
    # A backend that does not have the player's account token yet. A client cannot choose an id.
    tokened = shop.gems(players[5]) | {"appAccountToken": "4f1d2c3b-0a59-4e68-8f77-665544332211"}
    bare = shop.claim(players[5], tokened, signedTransaction=shop.signed(tokened), submissionId="of-a-client")
    # A purchase that nobody claims for the order that it pays.
    without_order = shop.claim(players[2], shop.gems(players[2]))
    unlisted = shop.unpaid(MAP)
    ended = shop.claim(players[3], unlisted, ("failed", "abandoned_by_operator"))
    # Two events of one moment tell why it waits.
    moved = shop.claim(players[5], shop.unpaid(MAP), ("pending", "unreachable"))
    play.produce(*claims, late, spoilt, test, foreign, paying, waiting, bare, moved, without_order, ended)
    refuse_claims(play)
    better = shop.claim(players[2], shop.gems(players[2]))
    send_while_claimed(play, spoil(better), better)
    play.publish("purchases.granted", "granted.v2", {"bundleId": APP, "purchase": {"event": "of a later version"}})
    play.publish_pair(moved)
    say(f"{len(claims) + 10} claims are submitted, and poor ones refused")

    play.postgres.run("shop", "UPDATE submissions SET acknowledged_at = NULL WHERE user_id <> %s", players[0])
    # The clients bring what they brought before, too.
    play.produce(*claims)
    for number, claim in enumerate(claims[:5]):
        play.submit(f"restore:{number}", claim)
    # StoreKit 1 gives a restored purchase a new id. The copy that answers it names its submission in a header.
    shop.number += 1
    restored = sword | {"transactionId": str(shop.number), "originalTransactionId": sword["transactionId"]}
    play.produce(shop.claim(players[0], restored))
    basket = [shop.gems(players[4]) for _ in range(3)]
    play.submit("basket:1", {"userId": players[4], "bundleId": APP, "receipt": shop.receipt(*basket)})
    say("many are sent again, and repeated")

    play.kill_while_giving("Python", "shop", "inventory")
    consumer = play.consume("Python", "shop", "inventory")
    play.wait_for_state("the failure", spoilt, "failed", "signature_invalid")
    play.produce(genuine)
    play.wait_for_state("the grant after the failure", genuine, "granted", None)
    play.wait_for_state("the wait for the account token", bare, "pending", "account_token_missing")
    play.tokens[players[5]] = tokened["appAccountToken"]
    play.produce(bare)
    play.wait_for_state("the grant after the wait", bare, "granted", None)
    steal(play)
    claim_order_late(play, without_order)
    end_by_hand(play, ended, again=shop.signed(unlisted))
    fail_twice(play)
    fail_without_app(play)
    # The first claim owns a purchase, so the thief comes behind it.
    play.wait_for_state("the owner's grant", claims[0], "granted", None)
    play.wait_for_state("the order's grant", paying, "granted", None)
    paid = ("failed", "granted_to_another_order")
    other = shop.claim(
        players[1], gems, paid, signedTransaction=paying["signedTransaction"], orderId="order-2",
    )
    play.wait_for_state("the refusal of a test", foreign, *refused_test)
    former = play.id(foreign)
    play.produce(other, foreign)
    if play.id(foreign) == former:
        raise Failure("what has the same answer for ever under its id is not sent under a new one")
    stolen = {"transactionId": claims[0]["transactionId"], "signedTransaction": claims[0]["signedTransaction"]}
    refused = ("failed", "owned_by_another_user")
    theft = shop.claim(players[5], stolen, refused, signedTransaction=stolen["signedTransaction"])
    play.produce(theft)
    play.fail_again(spoilt)
    play.wait_for_state("the second order's refusal", other, *paid)
    play.wait_for_state("the refusal under a new id", foreign, *refused_test)
    say("a consumer is killed, and another one started; thieves come; spoilt and poor evidence is mended")

    play.wait_for_state("the held purchase", late, *held)
    play.worker.reload(apps({"id": CHEST, "type": "consumable", "items": [{"item": "chest", "quantity": 1}]}))
    play.wait_for_state("the late grant", late, "granted", None)
    play.wait_for_state("the thief's answer", theft, *refused)
    play.wait_for_end(consumer, "inventory", "shop")
    consumer.stop()
    say("the product that the catalogue lacked is granted late")
    read_again(play, "Python", "shop", say)
    if not play.kafka.home:
        return 1

    play.make_database("shop_java")
    members = "submission_id, user_id, bundle_id, transaction_id, order_id"
    for row in play.postgres.run("shop", f"SELECT {members} FROM submissions"):
        values = "%s, %s, %s, %s, %s, '{}'"
        play.postgres.run("shop_java", f"INSERT INTO submissions ({members}, claim) VALUES ({values})", *row)
    play.kill_while_giving("Java", "shop_java", "inventory-java")
    consumer = play.consume("Java", "shop_java", "inventory-java")
    play.wait_for_end(consumer, "inventory-java", "shop_java")
    play.fail_again(spoilt)
    play.wait_for_end(consumer, "inventory-java", "shop_java")
    consumer.stop()
    say("a consumer in Java is killed, and another one has read everything")
    read_again(play, "Java", "shop_java", say)
    return 2


def read_again(play, language, database, say):
    """Another group gets every event, as a consumer does that was killed before it committed its offsets."""
    consumer = play.consume(language, database, f"again-{language}")
    play.wait_for_end(consumer, f"again-{language}", database)
    consumer.stop()
    say(f"everything is read once more by the consumer in {language}")


def judge(play, inventories):
    """Yields what is wrong with the events, so that nothing would be shown."""
    shop, records = play.shop, play.kafka.events()
    # The service's part has looked at its app's events.
    records = [record for record in records if dict(record.headers())["ce_type"].endswith(b".v1")]
    records = [record for record in records if json.loads(record.value() or "{}").get("bundleId") != SERVED]
    granted = [record for record in records if record.topic() == "purchases.granted"]
    distinct = {json.loads(record.value())["eventId"] for record in granted}
    repeats = sum(any(name == "grantor-repeat-of" for name, _ in record.headers()) for record in granted)
    # The tester's event is the one that gives nothing.
    if len(distinct) != shop.paid + 1:
        yield f"{len(distinct)} granted events of {shop.paid + 1} purchases"
    if repeats < 5:
        yield f"{repeats} events are marked as repeats: the play shows nothing"
    print(
        f"{shop.paid} purchases, {len(records)} events, {len(granted) - len(distinct)} of them copies; "
        f"inventories that are right: {inventories}"
    )


def check(folder, say, programs):
    # The database's user enters it.
    os.chmod(folder, 0o755)
    play = None
    try:
        play = Play(folder, programs)
        say(f"all parts run: {play.kafka.name}, PostgreSQL, App Store, worker")
        inventories = tell(play, say)
        serve(play, say)
        return list(judge(play, inventories + 1))
    except Failure as failure:
        return [failure, *(f"{part.name}:\n{part.tail()}" for part in (play.parts if play else []))]
    finally:
        if play:
            play.end()
        if not os.environ.get("KAFKA_HOME"):
            print("NOT CHECKED: the consumer in Java, which needs KAFKA_HOME")


if __name__ == "__main__":
    found = arguments(programs={"metavar": "FOLDER", "type": os.path.abspath})
    sys.exit(run("examples", check, "each purchase is in each inventory once", **found))
