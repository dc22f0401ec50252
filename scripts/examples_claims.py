"""The part of scripts/examples-test.py about claims that must not be sent, or not again, and about thieves, orders and
failures: what Examples/producer.py and the consumers must keep from harm."""

import sys

import psycopg

from checkout import ROOT

from examples_shop import APP, GEMS, key
from examples_stage import Failure

sys.path.insert(0, str(ROOT / "Examples"))
sys.dont_write_bytecode = True
import producer


def spoil(claim):
    """The claim with a signature that is not Apple's."""
    head, payload, signature = claim["signedTransaction"].split(".")
    return claim | {"signedTransaction": ".".join([head, payload, signature[::-1]])}


def send_while_claimed(play, claim, better):
    """A client brings better evidence while Kafka is waited for. Neither side may wait for the other, and what was
    not sent may not count as sent."""

    def store(claim, options):
        with psycopg.connect(play.postgres.url("shop"), autocommit=True, options=options) as client:
            producer.store(client, claim["userId"], None, play.session(claim)["claim"])

    class SlowKafka:
        def __init__(self):
            self.waiting = []

        def produce(self, *_, on_delivery, **__):
            self.waiting.append(on_delivery)

        def flush(self):
            store(better, "-c lock_timeout=10000")
            for delivered in self.waiting:
                delivered(None, None)

    store(claim, "")
    with psycopg.connect(play.postgres.url("shop"), autocommit=True) as connection:
        try:
            sent = producer.send(connection, SlowKafka())
        except psycopg.errors.LockNotAvailable as error:
            raise Failure("a client waits for its claim's row while Kafka is waited for") from error
    sql = "SELECT acknowledged_at IS NULL FROM submissions WHERE submission_id = %s"
    if sent != (1, 1) or not play.postgres.run("shop", sql, play.id(claim))[0][0]:
        raise Failure(f"evidence that came while Kafka was waited for counts as sent: {sent}")


def refuse(play, claims, good):
    """Hands claims to the producer that it must refuse, one by one, and a good one behind them."""
    done = play.run_producer([*claims, good])
    told = done.stderr.splitlines()
    if done.returncode != 1 or len(told) != len(claims):
        raise Failure(f"{len(claims)} claims should be refused: {done.returncode}\n{done.stderr}")
    users = [claim["userId"] for claim in claims]
    if play.postgres.run("shop", "SELECT 1 FROM submissions WHERE user_id = ANY(%s)", users):
        raise Failure("a claim that must be refused is stored")


def refuse_claims(play):
    """Claims that prove nothing or have no answer: each is told, and the next one is stored."""
    shop = play.shop

    def claim(**changes):
        transaction = shop.unpaid(GEMS)["transactionId"]
        changed = {"userId": "nobody", "bundleId": APP, "transactionId": transaction, "receipt": "A" * 200} | changes
        return {name: value for name, value in changed.items() if value is not ...}

    bare = [claim(receipt=value) for value in (..., None, "", " " * 200, "null", {}, ["A" * 200])]
    bare += [claim(receipt="", signedTransaction=value) for value in (" ", "(null)", 7)]
    poison = [
        claim(transactionId=...), claim(transactionId=2000000999999999), claim(transactionId="12\n"),
        claim(transactionId="0"), claim(orderId=7), claim(orderId="a\u0000"), claim(orderId="none"),
        claim(bundleId=APP + "\n"), claim(bundleId=None), claim(productId="\ud83d"), claim(receipt="\ud83d" * 200),
        claim(userId="None"), claim(userId=""),
    ]
    # A member that is null is left out.
    gems = shop.gems("player-null")
    good = shop.claim("player-null", gems, signedTransaction=shop.signed(gems), orderId=None, productName="\ud83d")
    refuse(play, [*bare, *poison], good)


def steal(play):
    """A thief has a purchase's evidence, and reads the buyer's account token in it. The backend's own account table
    binds the purchase all the same."""
    shop = play.shop
    play.tokens |= {
        "buyer": "9b2d7a10-5f0e-4c5a-9a51-0123456789ab", "thief": "1c3e5a70-5f0e-4c5a-9a51-ba9876543210",
    }
    gems = shop.gems("buyer") | {"appAccountToken": play.tokens["buyer"]}
    refused = ("failed", "account_token_mismatch")
    signed = shop.signed(gems)
    theft = shop.claim("thief", gems, refused, signedTransaction=signed, appAccountToken=play.tokens["buyer"])
    play.produce(theft)
    play.wait_for_state("the refusal of a thief", theft, *refused)
    play.produce(shop.claim("buyer", gems, signedTransaction=signed))


def fail_twice(play):
    """A second failure under one id would have the first one's event, and tell its reason."""
    shop = play.shop
    refused = ("failed", "environment_not_allowed")
    trial = shop.unpaid(GEMS)
    claim = shop.claim("player-twice", trial, refused, signedTransaction=shop.signed(trial, "sandbox"))
    play.produce(spoil(claim))
    play.wait_for_state("the first failure", claim, "failed", "signature_invalid")
    play.produce(claim)
    play.wait_for_state("the second failure's reason", claim, *refused)


def fail_without_app(play):
    """The failure of a submission whose app cannot be read names none."""
    claim = {"userId": "player-none", "transactionId": "1"}
    play.postgres.run(
        "shop",
        "INSERT INTO submissions (submission_id, user_id, bundle_id, transaction_id, claim, acknowledged_at)"
        " VALUES ('no-app', %s, %s, %s, '{}', now())", claim["userId"], APP, claim["transactionId"],
    )
    play.shop.answers[key(claim)] = ("failed", "malformed_submission")
    play.submit("no-app", claim)


def claim_order_late(play, first):
    """A purchase that was claimed without an order pays none that is claimed for it later."""
    shop = play.shop
    play.wait_for_state("the grant without an order", first, "granted", None)
    play.produce(
        shop.claim(
            first["userId"], first, ("failed", "granted_to_another_order"),
            signedTransaction=first["signedTransaction"], orderId="order-3",
        )
    )


def end_by_hand(play, claim, again):
    """What a person has ended stays ended, also with evidence that is signed `again`."""
    play.wait_for_state("the wait of what a person ends", claim, "pending", "product_not_configured")
    words = ["--app", APP, "--actor", "anna", "--reason", "given by hand"]
    play.worker.command("submissions", "abandon", play.id(claim), *words)
    play.wait_for_state("its end", claim, "failed", "abandoned_by_operator")
    # The client brings it at each start, for another order, too, and StoreKit may sign it anew.
    other = claim | {"orderId": "order-4"}
    play.produce(claim, claim | {"signedTransaction": again}, other)
    states = play.states("shop")
    if states[key(claim)] != ("failed", "abandoned_by_operator") or key(other) in states:
        raise Failure("what a person has ended is sent again by itself")
