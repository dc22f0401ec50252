#!/usr/bin/env python3
"""Breaks the stack of docker-compose.yml in many ways, waits for the alert of each, and mends it again.

From a clone of the last commit: two workers, a simulated App Store, Prometheus with the rules of deploy/prometheus,
whose waits and windows are a minute at most here. Each break is one that happens: a part that stops, a wrong secret, a
topic that takes nothing, claims that are false. No alert may fire on the stack that is well, or stay after a mending.
Needs what scripts/compose-test.py needs, and the image of the demo. Whatever it started it removes.

    scripts/alerts-test.py
"""

import importlib
import json
import re
import ssl
import sys
import time
import urllib.request
from pathlib import Path

import checkout
import evidence

# Its stack and its helpers serve here, too.
compose_test = importlib.import_module("compose-test")
Failure, Stack, run, wait_for = (getattr(compose_test, name) for name in ("Failure", "Stack", "run", "wait_for"))

GAME, STUDIO = "com.example.game", "com.example.studio"
SECRET = "0123456789abcdef0123456789abcdef"
# Longest time from a break to its alert, and from a mending until nothing fires.
LIMIT, MENDED_LIMIT = 150, 300
# How long nothing fires on the stack that is well: longer than the rules' windows and waits together.
QUIET = 75


def quick(rules):
    """The rules with waits of five seconds and windows of a minute."""
    return re.sub(r"\[\w+\]", "[1m]", re.sub(r"\bfor: \w+", "for: 5s", rules)).replace("15 * 60", "60")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)


def prepare(clone):
    run("scripts/make-secrets.sh", cwd=clone)
    products = f"products: [{{id: {GAME}.gems, type: consumable, items: [{{item: gems, quantity: 1}}]}}]"
    apps = [
        f"  - bundleId: {app}\n    sandbox: {{policy: reject}}\n    receipts: verifyReceipt\n"
        f"    sharedSecretFiles: [/etc/grantor/{name}]\n    {products}\n"
        for app, name in ((GAME, "right"), (STUDIO, "wrong"))
    ]
    write(clone / "config/apps/apps.yaml", "apps:\n" + "".join(apps))
    write(clone / "config/right", SECRET)
    write(clone / "config/wrong", SECRET[::-1])
    rules = clone / "deploy/prometheus/rules.yml"
    write(rules, quick(rules.read_text(encoding="utf-8")))
    settings = clone / "deploy/prometheus/prometheus.yml"
    write(settings, settings.read_text(encoding="utf-8").replace("15s", "2s").replace("10s", "2s"))
    apple = "https://apple:8443"
    worker = {
        "environment": {
            "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": f"{apple}/verifyReceipt",
            "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": "https://apple:8444/verifyReceipt",
            "GRANTOR_APPLE_CA_FILE": "/apple/authority/ca.pem",
            "GRANTOR_APPLE_ROOT_CERTIFICATES": "/apple/authority/roots.pem",
        },
        "volumes": ["./config:/etc/grantor:ro", "apple:/apple:ro"],
    }
    simulator = {
        "image": "grantor-demo:0.2.0",
        # The workers' user, so that they can read the folder.
        "user": "10001:10001",
        "entrypoint": ["/usr/bin/grantor-simulator"],
        "command": [
            "--host", "apple", "--production-port", "8443", "--sandbox-port", "8444", "--control-port", "8445",
            "--authority-folder", "/var/lib/grantor/authority", "--accept-secret", SECRET,
        ],
        "volumes": ["apple:/var/lib/grantor"],
        "ports": ["127.0.0.1::8445"],
    }
    parts = {"services": {"worker": worker, "apple": simulator}, "volumes": {"apple": None}}
    write(clone / "compose.test.yml", json.dumps(parts))


class Players:
    """Makes evidence with the simulator's keys, and submits it."""

    def __init__(self, stack):
        self.stack, self.number = stack, 0
        # Its certificate is for the name that containers use.
        self.context = ssl._create_unverified_context()
        self.find_control()

    def find_control(self):
        port = self.stack.compose("port", "apple", "8445").strip().split(":")[-1]
        self.control = f"https://127.0.0.1:{port}/simulator"

    def ask(self, path, order):
        request = urllib.request.Request(f"{self.control}/{path}", json.dumps(order).encode(), method="POST")
        with urllib.request.urlopen(request, context=self.context) as answer:
            return json.load(answer)

    def purchase(self, product=f"{GAME}.gems"):
        self.number += 1
        return evidence.purchase(4_000_000_000_000_000 + self.number, product)

    def receipt(self, *purchases, app=GAME):
        return {"receipt": evidence.receipt(self.ask, app, purchases)}

    def signed(self):
        return {"signedTransaction": evidence.signed(self.ask, GAME, self.purchase())}

    def submit(self, *claims, app=GAME):
        records = []
        for one in claims:
            self.number += 1
            value = {"submissionId": f"s-{self.number}", "userId": f"u-{self.number}", "bundleId": app, **one}
            records.append((value["userId"], json.dumps(value)))
        self.stack.submit(records)


class Alerts:
    def __init__(self, url):
        self.url, self.seen, self.good = url, [], True

    def firing(self):
        with urllib.request.urlopen(f"{self.url}/api/v1/alerts", timeout=10) as answer:
            alerts = json.load(answer)["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}

    def expect(self, *names):
        """Waits until each has fired."""
        left = set(names)

        def all_fired():
            left.difference_update(self.firing())
            return not left

        seconds = self.time(LIMIT, all_fired)
        for name in names:
            print(f"  {'not fired' if name in left else 'fired    '} {name} ({seconds:.0f} s)", flush=True)
        self.seen += [name for name in names if name not in left]

    def over(self):
        """Waits until nothing fires."""
        seconds = self.time(MENDED_LIMIT, lambda: not self.firing())
        print(f"  firing after {seconds:.0f} s: {', '.join(sorted(self.firing())) or 'nothing'}", flush=True)

    def quiet(self):
        """Watches for a while that nothing fires."""
        fired, end = set(), time.monotonic() + QUIET
        while time.monotonic() < end:
            fired |= self.firing()
            time.sleep(1)
        print(f"  fired without a cause in {QUIET} s: {', '.join(sorted(fired)) or 'nothing'}", flush=True)
        self.good &= not fired

    def time(self, limit, condition):
        began = time.monotonic()
        try:
            wait_for("", condition, limit)
        except Failure:
            self.good = False
        return time.monotonic() - began


def play(stack, alerts, say):
    players = Players(stack)

    def broken(text, *names):
        say(text)
        alerts.expect(*names)

    def mended(text):
        say(text)
        alerts.over()

    players.submit(*[players.signed() for _ in range(50)])
    wait_for("50 grants", lambda: stack.count("grants") >= 50, 60)
    # Until Prometheus has found the workers it says that none answers.
    mended("50 purchases are granted")
    say("all is well")
    alerts.quiet()

    stack.submit([("u", "not a submission")] * 3)
    broken("records that are no submissions", "GrantorQuarantine")
    mended("no more of them")

    players.submit(*[players.signed() for _ in range(20)], app="com.example.unknown")
    players.submit(*[{"receipt": players.receipt(players.purchase(), app=STUDIO)["receipt"]}], app=STUDIO)
    players.submit(players.receipt(players.purchase(), players.purchase(f"{GAME}.unlisted")))
    broken("an app that nobody configured, a wrong shared secret, and a product that nobody listed",
           "GrantorCatalogueIncomplete", "GrantorHeld", "GrantorPassedOver")
    write(Path(stack.folder) / "config/wrong", SECRET)
    run("docker", "kill", "--signal", "HUP", *stack.ids("worker"))
    mended("the shared secret is right")

    forged = [players.signed()["signedTransaction"] for _ in range(150)]
    players.submit(*[{"signedTransaction": text[:-8] + "AAAAAAAA"} for text in forged])
    broken("150 forged transactions", "GrantorForgeries")
    mended("no more of them")

    apple = stack.ids("apple")
    waiting = [players.receipt(players.purchase()) for _ in range(1200)]
    run("docker", "stop", "--time", "1", *apple)
    players.submit(*waiting)
    broken("Apple is away, and 1,200 receipts wait",
           "GrantorAppleAway", "GrantorAppleStopped", "GrantorAppleGone", "GrantorWaiting")
    run("docker", "start", *apple)
    broken("Apple is back; what waited is told late",
           "GrantorAnswersLateFast", "GrantorAnswersLateSlow", "GrantorAnswersLateForDays")
    mended("nothing waits any more")

    # Docker may have given it another port.
    players.find_control()
    claims = [players.signed() for _ in range(20)]
    postgres = stack.ids("postgres")
    run("docker", "pause", *postgres)
    players.submit(*claims)
    broken("PostgreSQL stands still", "GrantorReadingStopped")
    # The submissions before were read, and wait for the ledger.
    players.submit(*[players.signed() for _ in range(20)])
    broken("more comes than is read", "GrantorNothingRead")
    run("docker", "unpause", *postgres)
    mended("PostgreSQL goes on")

    topic = ["--alter", "--entity-type", "topics", "--entity-name", "purchases.granted"]
    stack.tool("kafka-configs", *topic, "--add-config", "max.message.bytes=100")
    players.submit(*[players.signed() for _ in range(5)])
    broken("a topic takes no events", "GrantorEventsRefused")
    stack.tool("kafka-configs", *topic, "--delete-config", "max.message.bytes")
    mended("the topic takes them")

    kafka = stack.ids("kafka")
    run("docker", "stop", *kafka)
    broken("Kafka is away", "GrantorNoPartitions")
    run("docker", "start", *kafka)
    stack.wait("kafka")
    mended("Kafka is back")

    worker = stack.ids("worker")
    for _ in range(5):
        run("docker", "restart", "--time", "1", worker[0])
        time.sleep(4)
    broken("a worker that starts again and again", "GrantorRestarts")
    mended("it stays")
    run("docker", "stop", *worker)
    broken("all workers are stopped", "GrantorDown")
    run("docker", "start", *worker)
    mended("they run again")


def check(folder, say):
    clone = Path(folder) / "clone"
    run("git", "clone", "--quiet", str(checkout.ROOT), str(clone))
    prepare(clone)
    stack = Stack(str(clone))
    stack.words += ["--profile", "monitoring"]
    alerts, faults = None, []
    try:
        services = ["--scale", "worker=2", "worker", "apple", "prometheus"]
        stack.compose("up", "-d", "--no-build", *services)
        for service in ("kafka", "postgres", "worker", "prometheus"):
            stack.wait(service)
        alerts = Alerts("http://" + stack.compose("port", "prometheus", "9090").strip())
        play(stack, alerts, say)
        faults = [] if alerts.good else ["not each alert fired and ended"]
    except Failure as failure:
        faults = [failure]
    finally:
        orphans = stack.end()
    say(f"{len(alerts.seen) if alerts else 0} alerts fired")
    return faults + [f"the container {name} is left" for name in orphans]


if __name__ == "__main__":
    sys.exit(checkout.run("alerts-test", check, "PASSED", **checkout.arguments()))
