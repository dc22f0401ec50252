"""The part of scripts/examples-test.py that is about Examples/service.py: an app whose grants it is called for."""

import http.client
import json
import ssl
import subprocess
import sys
from collections import Counter
from pathlib import Path

import evidence
from checkout import ROOT, Failure, free_port, wait_for

from examples_shop import CHEST, GEMS, apps
from examples_stage import Part

SERVED = "com.example.arena"
SECRETS = ["0123456789abcdef-one", "0123456789abcdef-two"]
DATABASE = "service"


class Service:
    """The example, with a certificate of this run's own, and the worker that calls it."""

    def __init__(self, play):
        self.play, self.port, self.part = play, free_port(), None
        self.file = lambda name: f"{play.folder}/{name}"
        # An authority that signs its own server.
        subprocess.run(
            [
                *"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(),
                "-subj", "/CN=127.0.0.1",
                "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", self.file("service.key"),
                "-out", self.file("service.pem"),
            ], check=True, stderr=subprocess.DEVNULL,
        )
        for number, secret in enumerate(SECRETS):
            Path(self.file(f"secret-{number}")).write_text(secret + "\n", encoding="utf-8")

    def start(self, *secrets):
        words = [sys.executable, str(ROOT / "Examples" / "service.py"), str(self.port)]
        self.part = Part(
            self.play.folder, "service", words, DATABASE=self.play.postgres.url(DATABASE), SECRETS=",".join(secrets),
            CERTIFICATE=self.file("service.pem"), KEY=self.file("service.key"),
        )
        self.play.parts.append(self.part)

    def look(self):
        """The status of its answer to a GET, with which `grantor check` sees whether it is there."""
        context = ssl.create_default_context(cafile=self.file("service.pem"))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=context)
        connection.request("GET", "/grants")
        return connection.getresponse().status

    def stop(self):
        self.part.kill()
        self.play.parts.remove(self.part)

    def configure(self, *secrets):
        """Has the worker call it, with these secrets' numbers, and waits until that is in force."""
        file = apps({"id": CHEST, "type": "consumable", "items": [{"item": "chest", "quantity": 1}]})
        gems = {"id": GEMS, "type": "consumable", "items": [{"item": "gems", "quantity": 100}]}
        service = {
            "url": f"https://127.0.0.1:{self.port}/grants", "caFile": self.file("service.pem"), "timeout": "5s",
            "secretFiles": [self.file(f"secret-{number}") for number in secrets],
        }
        file["apps"].append(
            {"bundleId": SERVED, "sandbox": {"policy": "accept"}, "products": [gems], "fulfillment": service}
        )
        before = self.readings()
        self.play.worker.reload(file)
        wait_for("the apps file", lambda: self.readings() > before)

    def readings(self):
        return Path(self.play.worker.part.log).read_text(encoding="utf-8").count("The apps file is read again")


def serve(play, say):
    """The story. Returns how many purchases it has."""
    play.make_database(DATABASE)
    service, inventory, paid, tested = Service(play), Counter(), 0, 0

    def claim(submission, user, environment, times=1):
        signed = evidence.signed(play.apple.ask, SERVED, play.shop.unpaid(GEMS), environment)
        for _ in range(times):
            play.submit(submission, {"userId": user, "bundleId": SERVED, "signedTransaction": signed})

    def buy(count, again=False):
        nonlocal paid
        for _ in range(count):
            paid += 1
            user = f"fighter-{paid % 3}"
            inventory[user, "gems"] += 100
            claim(f"arena:{paid}", user, "production", times=2 if again else 1)

    def given():
        rows = play.postgres.run(DATABASE, "SELECT user_id, item, quantity FROM inventory")
        return {(user, item): quantity for user, item, quantity in rows} == inventory and play.given(DATABASE) == paid

    def told():
        events = [json.loads(record.value()) for record in play.kafka.events() if record.topic() == "purchases.granted"]
        return len({event["eventId"] for event in events if event["bundleId"] == SERVED})

    def is_owed():
        return bool(json.loads(play.worker.command("outbox", "list", "--json"))["outbox"])

    service.start(SECRETS[0])
    service.configure(0)
    buy(10, again=True)
    wait_for("the service's gifts", given)
    if (status := service.look()) >= 500:
        raise Failure(f"a GET is answered with {status}, which grantor check takes for trouble")
    claim("arena:test", "fighter-0", "sandbox")
    tested = 1
    wait_for("their events, and that of a test", lambda: told() == paid + tested)
    if not given():
        raise Failure("a purchase of the sandbox was given")
    say("an inventory service is called for each grant of another app, and gives none of the sandbox")

    before = told()
    service.stop()
    buy(5)
    wait_for("a call without an answer", lambda: "cannot be reached" in play.worker.command("outbox", "list", "--wide"))
    shown = play.worker.command("submissions", "show", f"arena:{paid}", "--app", SERVED)
    if "inventory service has not" not in shown or told() != before:
        raise Failure(f"a grant is told before the service's yes, or nobody sees that it waits:\n{shown}")
    service.start(SECRETS[0])
    wait_for("what waited for the service", given)
    wait_for("the events of what waited", lambda: told() == paid + tested and not is_owed())
    say("the service was away: nothing was told, and all is told now")

    service.configure(1, 0)
    service.stop()
    service.start(SECRETS[1])
    service.configure(1)
    buy(3)
    wait_for("gifts under the new secret", given)
    wait_for("events under the new secret", lambda: told() == paid + tested and not is_owed())
    service.stop()
    say("its secret is changed, without a grant that was refused for good")
    return paid
