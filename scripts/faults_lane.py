"""One lane of scripts/faults-test.py: a worker with topics, group, ledger and alerts of its own, and the faults that
are made under it one after the other."""

import json
import os
import signal
import subprocess
import urllib.request
from pathlib import Path

from confluent_kafka import Producer

import evidence
from checkout import Failure, free_port, wait_for

from examples_stage import TOPICS, Part
from faults_judge import Judged

APP, SECRET = "com.example.game", "0123456789abcdef0123456789abcdef"
GEMS = f"{APP}.gems100"
# Longest time of a command, in seconds.
COMMAND = 90


class Lane(Judged):
    def __init__(self, stage, name, kafka, apple, **settings):
        self.stage, self.name, self.port = stage, name, free_port()
        self.folder = f"{stage.folder}/{name}"
        os.mkdir(self.folder)
        self.kafka, self.apple, self.part, self.rows, self.number, self.has_begun = kafka, apple, None, [], 0, False
        self.apps_file = self.file("apps.yaml", json.dumps(self.apps()))
        addresses = apple.addresses
        self.right = {
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": kafka.address, "GRANTOR_KAFKA_GROUP_ID": name,
            "GRANTOR_KAFKA_PROPERTIES_FILE": self.properties({"session.timeout.ms": 6000}),
            "GRANTOR_LEDGER_URL": f"sqlite:{self.folder}/ledger.db", "GRANTOR_APPS_FILE": self.apps_file,
            "GRANTOR_HTTP_BIND": f"127.0.0.1:{self.port}", "GRANTOR_APPLE_CA_FILE": addresses["caFile"],
            "GRANTOR_APPLE_ROOT_CERTIFICATES": addresses["rootsFile"],
            "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": addresses["productionURL"],
            "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": addresses["sandboxURL"],
            "GRANTOR_SERVER_API_PRODUCTION_URL": addresses["serverAPIProductionURL"],
            "GRANTOR_SERVER_API_SANDBOX_URL": addresses["serverAPISandboxURL"],
            "GRANTOR_APPLE_CONNECT_TIMEOUT": "1s", "GRANTOR_APPLE_TIMEOUT": "3s", "GRANTOR_SHUTDOWN_TIMEOUT": "3s",
        } | {f"GRANTOR_TOPIC_{topic.split('.')[1].upper()}": f"{name}.{topic}" for topic in TOPICS}
        self.settings = self.right
        self.make_topics()
        self.right |= settings
        self.producer = Producer({"bootstrap.servers": kafka.address, "log_level": 0})

    def make_topics(self):
        """As whoever may do everything."""
        self.run("topics", "create", "--partitions", "2", "--replicas", "1", **self.everybody)

    @property
    def everybody(self):
        """The settings by which anything may be done with the brokers."""
        return {
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": self.kafka.address,
            "GRANTOR_KAFKA_PROPERTIES_FILE": self.properties({"session.timeout.ms": 6000}),
        }

    def topic(self, kind):
        return self.right[f"GRANTOR_TOPIC_{kind.upper()}"]

    def file(self, name, text):
        Path(f"{self.folder}/{name}").write_text(text, encoding="utf-8")
        return f"{self.folder}/{name}"

    def properties(self, values):
        """A file of Kafka's properties. Each has a name of its own, because a lane goes back to the right ones."""
        text = "".join(f"{key}={value}\n" for key, value in values.items())
        return self.file(f"client-{abs(hash(text)):x}.properties", text)

    def apps(self, *more, products=(), **members):
        """The apps file; JSON is YAML."""
        self.file("secret", SECRET)
        items = [{"item": "gems", "quantity": 1}]
        listed = [{"id": product, "type": "consumable", "items": items} for product in (GEMS, *products)]
        app = {"bundleId": APP, "sandbox": {"policy": "reject"}, "sharedSecretFiles": ["secret"], "products": listed}
        return {"apps": [app | members, *more]}

    def reload(self, apps):
        """Puts an apps file in place, sends SIGHUP, and waits until the worker has read it."""
        mark = self.end_of_log()
        self.file("apps.yaml", apps if isinstance(apps, str) else json.dumps(apps))
        self.part.process.send_signal(signal.SIGHUP)
        wait_for("the apps file", lambda: any(line["message"].startswith("The apps file") for line in self.said(mark)))

    # Worker and commands

    def start(self, **changes):
        """Starts a worker with the right settings but for these, and does not wait; None takes a setting away."""
        self.stop()
        self.settings = {key: value for key, value in (self.right | changes).items() if value is not None}
        self.part = Part(self.folder, "worker", [self.stage.grantor, "run"], **self.settings)

    def stop(self):
        if self.part:
            self.part.stop()
            self.part = None

    def restart(self):
        """Starts a worker with the right settings, and waits until it is ready."""
        self.start()
        self.wait_until_ready()

    def wait_until_ready(self):
        wait_for(f"a worker of the lane {self.name} that is ready", self.is_ready)

    def heal(self):
        """Makes sure that the worker is as it should be."""
        if not (self.part and self.part.process.poll() is None and self.settings == self.right and self.is_ready()):
            self.restart()

    def is_ready(self):
        if self.part.process.poll() is not None:
            last = self.said(0)[-1:]
            raise Failure(f"the worker of the lane {self.name} ended with {self.part.process.returncode}: {last}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def metric(self, name, label):
        """The sum of a metric's series with a label."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name) and label in line)

    def end_of_log(self):
        log = Path(f"{self.folder}/worker.log")
        return log.stat().st_size if log.exists() else 0

    def said(self, mark):
        """The worker's lines since a mark. The last one may be half written."""
        log = Path(f"{self.folder}/worker.log")
        found = []
        for text in log.read_bytes()[mark:].decode(errors="replace").splitlines() if log.exists() else []:
            try:
                found.append(json.loads(text))
            except ValueError:
                pass
        return found

    def command(self, *words, **changes):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GRANTOR_")}
        changed = {key: value for key, value in (self.settings | changes).items() if value is not None}
        return subprocess.run(
            [self.stage.grantor, *words], env=kept | changed, text=True, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=COMMAND, cwd="/",
        )

    def run(self, *words, **changes):
        done = self.command(*words, **changes)
        if done.returncode != 0:
            raise Failure(f"grantor {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")

    # Players

    def purchase(self, product=GEMS):
        self.number += 1
        return evidence.purchase(3_000_000_000_000_000 + self.number, product)

    def signed(self, product=GEMS, app=APP, **order):
        return {
            "bundleId": app,
            "signedTransaction": evidence.signed(self.apple.ask, app, self.purchase(product), **order),
        }

    def receipt(self, *products, app=APP):
        purchases = [self.purchase(product) for product in products or (GEMS,)]
        return {"bundleId": app, "receipt": evidence.receipt(self.apple.ask, app, purchases)}

    def submit(self, *claims):
        for claim in claims:
            self.number += 1
            value = {"submissionId": f"{self.name}-{self.number}", "userId": f"user-{self.number}"} | claim
            self.produce(value["userId"], json.dumps(value))

    def produce(self, key, value):
        self.producer.produce(self.topic("submitted"), key=key, value=value)
        self.producer.flush()
