#!/usr/bin/env python3
"""Runs docker-compose.yml as a user does, breaks its parts on the way, and judges topics and tables.

From a clone of the last commit: secrets, image, `up` with two workers, purchases in parts. Between the parts workers,
PostgreSQL and Kafka are killed, workers are replaced one by one, and everything goes `down` and `up` again. An operator
tries a held submission again, a new apps file takes the place of the former one, and an audit holds. In the end each
purchase must have one event id and one row. Fewer purchases than parts go through in one part, and nothing is broken.
The image's files are looked through, too. Needs Docker with Compose, python3, git and a built grantor-simulator; the
images of Dockerfile and docker-compose.yml come from a registry or are made by scripts/stand-in-images.sh. Whatever it
started it removes.

    scripts/compose-test.py SIMULATOR [PURCHASES]
"""
import functools
import importlib
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import urllib.request

import checkout
import evidence
from checkout import Failure, free_port

check_image = importlib.import_module("check-image")

APP, PRODUCT = "com.example.game", "com.example.game.gems100"
# An app whose catalogue lacks the product at first.
LATE = "com.example.late"
BROKER = "localhost:19092"
PARTS = 8
# Each look takes a call of Docker's.
wait_for = functools.partial(checkout.wait_for, pause=1)


def run(*words, stdin=None, check=True, cwd=None):
    done = subprocess.run(words, input=stdin, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if check and done.returncode != 0:
        raise Failure(f"{' '.join(words[:6])} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


class Simulator:
    """Signs transactions as the App Store does, under an authority of its own."""

    def __init__(self, program, folder):
        self.process = subprocess.Popen(
            [program, "--authority-folder", folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        addresses = json.loads(self.process.stdout.readline())
        self.url, self.roots = addresses["controlURL"], addresses["rootsFile"]
        self.context = ssl.create_default_context(cafile=addresses["caFile"])

    def ask(self, path, order):
        request = urllib.request.Request(f"{self.url}/simulator/{path}", json.dumps(order).encode(), method="POST")
        with urllib.request.urlopen(request, context=self.context) as answer:
            return json.load(answer)

    def signed(self, transaction, app=APP):
        return evidence.signed(self.ask, app, evidence.purchase(transaction, PRODUCT))

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Stack:
    def __init__(self, folder):
        self.folder = folder
        self.project = f"grantor-test-{os.getpid()}"
        is_plugin = subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0
        program = ["docker", "compose"] if is_plugin else ["docker-compose"]
        files = ["-f", "docker-compose.yml", "-f", "compose.test.yml"]
        self.words = [*program, "--project-name", self.project, *files, "--profile", "worker"]
        # Another stack may have the usual ports of this host.
        for name in ("KAFKA_PORT", "PROMETHEUS_PORT", "GRAFANA_PORT"):
            os.environ[name] = str(free_port())

    def compose(self, *words, **options):
        return run(*self.words, *words, cwd=self.folder, **options)

    def up(self):
        self.compose("up", "-d", "--scale", "worker=2")

    def ids(self, service):
        return self.compose("ps", "-q", service).split()

    def kill(self, service):
        """`kill -9` of all containers of a service, which are then started again."""
        ids = self.ids(service)
        run("docker", "kill", "--signal", "KILL", *ids)
        run("docker", "start", *ids)

    def healthy(self, service):
        ids = self.ids(service)
        states = run("docker", "inspect", "--format", "{{.State.Health.Status}}", *ids).split() if ids else []
        return bool(states) and all(state == "healthy" for state in states)

    def wait(self, service):
        wait_for(f"a healthy {service}", lambda: self.healthy(service), 180)

    def tool(self, name, *words, **options):
        path = f"/opt/kafka/bin/{name}.sh"
        return self.compose("exec", "-T", "kafka", path, "--bootstrap-server", BROKER, *words, **options)

    def submit(self, records):
        self.tool(
            "kafka-console-producer", "--topic", "receipts.submitted", "--property", "parse.key=true",
            "--producer-property", "acks=all", stdin="".join(f"{key}\t{value}\n" for key, value in records),
        )

    def events(self, topic):
        lines = self.tool(
            "kafka-console-consumer", "--topic", topic, "--from-beginning", "--timeout-ms", "10000", check=False
        )
        return [json.loads(line) for line in lines.splitlines() if line.startswith("{")]

    def operate(self, *words):
        """A command of docs/procedures.md."""
        return self.compose("run", "--rm", "-T", "operator", *words)

    def count(self, table):
        text = self.compose(
            "exec", "-T", "postgres", "psql", "-U", "grantor_owner", "-d", "grantor", "-Atc",
            f"SELECT count(*) FROM {table}", check=False,
        ).strip()
        return int(text) if text.isdigit() else -1

    def end(self):
        self.compose("down", "--volumes", "--timeout", "30", check=False)
        return run("docker", "ps", "-aq", "--filter", f"label=com.docker.compose.project={self.project}").split()


def prepare(clone, simulator):
    run("scripts/make-secrets.sh", cwd=clone)
    os.makedirs(f"{clone}/config/apps")
    write_apps(clone, f"{LATE}.other")
    shutil.copy(simulator.roots, f"{clone}/config/roots.pem")
    os.chmod(f"{clone}/config/roots.pem", 0o644)
    worker = {
        "environment": {"GRANTOR_APPLE_ROOT_CERTIFICATES": "/etc/grantor/roots.pem"},
        "volumes": ["./config/roots.pem:/etc/grantor/roots.pem:ro"],
    }
    with open(f"{clone}/compose.test.yml", "w", encoding="utf-8") as file:
        # JSON is YAML.
        json.dump({"services": {"worker": worker}}, file)


def write_apps(clone, late):
    """Puts an apps file in the place of the former one, as an editor does. `late` is the one product of the late app."""
    app = "{{bundleId: {}, sandbox: {{policy: reject}}, receipts: local, products: {}}}"
    products = f"[{{id: {late}, type: consumable, items: [{{item: gems, quantity: 1}}]}}]"
    with open(f"{clone}/config/new.yaml", "w", encoding="utf-8") as file:
        file.write(f"apps:\n  - {app.format(APP, 'any')}\n  - {app.format(LATE, products)}\n")
    os.replace(f"{clone}/config/new.yaml", f"{clone}/config/apps/apps.yaml")


def operate(stack, simulator, purchases, say):
    """What people do: tries a held submission again, mends the apps file, and audits."""
    value = {
        "submissionId": "late", "userId": "player-1", "bundleId": LATE,
        "signedTransaction": simulator.signed("3000000000000000", LATE),
    }
    stack.submit([("player-1", json.dumps(value))])
    held = ("submissions", "list", "--state=held", "--json")
    wait_for("the held submission", lambda: '"late"' in stack.operate(*held), 60)
    stack.operate("submissions", "retry", "late", "--app", LATE, "--actor", "anna", "--reason", "a test")
    if stack.count("operator_actions") != 1:
        raise Failure("an operator's retry is not noted")
    write_apps(stack.folder, PRODUCT)
    stack.compose("kill", "-s", "HUP", "worker")
    wait_for("the late grant", lambda: stack.count("grants") > purchases, 60)
    wait_for("its event", lambda: stack.count("outbox") == 0, 60)
    for _ in range(2):
        stack.operate("audit", "--checkpoint", "/var/lib/grantor/audited.json")
    say("an operator tries a held submission again, the apps file is mended, and an audit holds twice")


def look_through(image, folder):
    """Fails where the image has what has no business there, beside its base."""
    with open(f"{folder}/clone/Dockerfile", encoding="utf-8") as file:
        base = re.search(r"^FROM (\S+) AS worker$", file.read(), re.MULTILINE).group(1)
    for name, which in (("image", image), ("base", base)):
        container = run("docker", "create", which, "true").strip()
        run("docker", "export", "--output", f"{folder}/{name}.tar", container)
        run("docker", "rm", container)
    found = list(check_image.violations(f"{folder}/image.tar", f"{folder}/base.tar"))
    user = run("docker", "image", "inspect", "--format", "{{.Config.User}}", image).strip()
    if user != "10001:10001":
        found.append(f"runs as {user or 'root'}")
    if found:
        raise Failure("the image: " + "; ".join(found))


def play(stack, simulator, purchases, say):
    stack.compose("build", "topics")
    say("the image is built")
    stack.up()
    for service in ("kafka", "postgres", "worker"):
        stack.wait(service)
    say("all parts are healthy")
    worker = stack.ids("worker")[0]
    look_through(run("docker", "inspect", "--format", "{{.Image}}", worker).strip(), os.path.dirname(stack.folder))
    say("the image has nothing but what a worker needs")
    breaks = ["worker", "postgres", "kafka", "upgrade", "worker", "postgres", "kafka", "down"]
    if purchases < PARTS:
        breaks = ["nothing"]
    size = -(-purchases // len(breaks))
    numbers = range(purchases)
    for part in range(len(breaks)):
        records = []
        for number in numbers[part * size : (part + 1) * size]:
            value = {
                "submissionId": f"order-{number}", "userId": f"player-{number % 997}", "bundleId": APP,
                "signedTransaction": simulator.signed(str(2_000_000_000_000_000 + number)),
            }
            records.append((value["userId"], json.dumps(value)))
        stack.submit(records)
        match breaks[part]:
            case "upgrade":
                stack.compose("up", "-d", "--no-deps", "--force-recreate", "--scale", "worker=2", "worker")
            case "nothing":
                pass
            case "down":
                stack.compose("down", "--timeout", "30")
                stack.up()
            case service:
                stack.kill(service)
        say(f"{min(purchases, (part + 1) * size)} purchases; {breaks[part]}")
        for service in ("kafka", "postgres", "worker"):
            stack.wait(service)
    wait_for(f"{purchases} grants", lambda: stack.count("grants") >= purchases, 300)
    wait_for("the last event", lambda: stack.count("outbox") == 0, 120)
    operate(stack, simulator, purchases, say)


def judge(stack, purchases):
    granted, failed = stack.events("purchases.granted"), stack.events("purchases.failed")
    ids = {}
    for event in granted:
        if event["bundleId"] == LATE:
            continue
        ids.setdefault(event["transactionId"], set()).add(event["eventId"])
    lost = purchases - len(ids)
    twice = sum(len(names) > 1 for names in ids.values())
    # The late one counts apart.
    rows = stack.count("grants") - 1
    print(f"{len(granted)} events of {len(ids)} purchases; {lost} lost, {twice} twice, {len(failed)} failed; {rows} rows")
    return [] if lost == 0 and twice == 0 and not failed and rows == purchases else ["not each purchase is granted once"]


def check(folder, say, simulator, purchases):
    clone = f"{folder}/clone"
    run("git", "clone", "--quiet", str(checkout.ROOT), clone)
    simulator = Simulator(simulator, f"{folder}/authority")
    stack, orphans = None, []
    try:
        prepare(clone, simulator)
        stack = Stack(clone)
        play(stack, simulator, purchases, say)
        faults = judge(stack, purchases)
    except Failure as failure:
        faults = [failure, stack.compose("logs", "--tail", "20", check=False)[-6000:] if stack else ""]
    finally:
        simulator.stop()
        orphans = stack.end() if stack else []
    return faults + [f"the container {name} is left" for name in orphans]


if __name__ == "__main__":
    found = checkout.arguments(
        simulator={"type": os.path.abspath}, purchases={"nargs": "?", "type": int, "default": 10_000}
    )
    sys.exit(checkout.run("compose-test", check, "PASSED", **found))
