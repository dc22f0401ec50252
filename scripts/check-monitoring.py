#!/usr/bin/env python3
"""Checks deploy/prometheus and deploy/grafana against docs/alerts.md, and against a real worker under load.

    scripts/check-monitoring.py FOLDER

FOLDER has the built programs grantor, kafka-mock and grantor-demo. Each alert has its test and its section, and each
metric and label is the program's, and follows Prometheus' conventions. Then Prometheus scrapes the demo's worker while
Apple goes away and the worker is killed: each panel of the dashboard must have data, and each rule must be evaluated.
Uses Prometheus of the PATH, or Debian's package, unpacked below .build. Loopback only. Prints one line per violation. Exit code: 0 none, 1 violations,
2 wrong usage.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

from checkout import ROOT, free_port, use_virtual_environment

use_virtual_environment()
try:
    import yaml
except ImportError as error:
    sys.exit(f"{error}. Run: scripts/setup.sh --for test")

RULES, TESTS, RUNBOOK = "deploy/prometheus/rules.yml", "deploy/prometheus/rules.test.yml", "docs/alerts.md"
DASHBOARD = "deploy/grafana/dashboards/grantor.json"
# Seconds from one scrape to the next. Panels' queries look at this many scrapes.
SCRAPE, RATE = 1, "20s"


def prometheus(name):
    """A program of Prometheus: of the PATH, or of Debian's package. An installed package would start a server."""
    found = shutil.which(name)
    folder = ROOT / ".build/prometheus"
    if not found and not (folder / "usr/bin" / name).exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "-qq", "download", "prometheus"], cwd=folder, check=True)
        subprocess.run(["dpkg-deb", "-x", str(next(folder.glob("*.deb"))), "."], cwd=folder, check=True)
    return found or str(folder / "usr/bin" / name)


def get(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


# The files by themselves


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def rules():
    return [rule for group in yaml.safe_load(text(RULES))["groups"] for rule in group["rules"]]


def panels():
    return [panel for panel in json.loads(text(DASHBOARD))["panels"] if panel["type"] != "row"]


def expressions():
    """Each query with the place where it stands."""
    for rule in rules():
        yield f"{RULES}: {rule.get('alert') or rule['record']}", rule["expr"]
    for panel in panels():
        for target in panel["targets"]:
            yield f"{DASHBOARD}: {panel['title']}", target["expr"]


def files_agree():
    alerts = {rule["alert"]: rule for rule in rules() if "alert" in rule}
    tested = {True: set(), False: set()}
    for test in yaml.safe_load(text(TESTS))["tests"]:
        for case in test["alert_rule_test"]:
            tested[bool(case["exp_alerts"])].add(case["alertname"])
    for fires, names in tested.items():
        for name in sorted(set(alerts) ^ names):
            yield f"{TESTS}: {name}: no test where it {'fires' if fires else 'is quiet'}, or no such alert"
    sections = dict(re.findall(r"^### (\w+)\n\n\*(Page|Ticket)\.\*", text(RUNBOOK), re.MULTILINE))
    for name in sorted(set(alerts) ^ set(sections)):
        yield f"{RUNBOOK}: {name}: no section, or no such alert"
    for name, rule in alerts.items():
        if rule["labels"]["severity"].capitalize() != sections.get(name):
            yield f"{RUNBOOK}: {name}: another severity"
        if rule["annotations"].get("runbook") != f"{RUNBOOK}#{name.lower()}":
            yield f"{RULES}: {name}: another runbook"
    for command in (
        ["check", "rules", RULES], ["check", "config", "deploy/prometheus/prometheus.yml"], ["test", "rules", TESTS],
    ):
        done = subprocess.run([prometheus("promtool"), *command], cwd=ROOT, text=True, capture_output=True)
        if done.returncode != 0:
            yield f"promtool {' '.join(command)}: {(done.stdout + done.stderr).strip()}"


def names_are_the_programs(exposed):
    """Each metric is shown by the worker or declared in the program, and each value of a label stands there."""
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "Sources").rglob("*.swift"))
    shown = set(re.findall(r"^# HELP (\w+)", exposed, re.MULTILINE))
    recorded = {rule.get("record") for rule in rules()}
    for place, query in expressions():
        if re.search(r'\ble="\d+"', query):
            yield f"{place}: Prometheus 3 writes le=\"10.0\" where earlier ones write le=\"10\""
        for name in set(re.findall(r"\b\w+:[\w:]+", query)) - recorded:
            yield f"{place}: no rule records {name}"
        for name in re.findall(r"\b(?:grantor|process)_\w+", query):
            if not {name, re.sub(r"_(bucket|sum|count)$", "", name)} & shown and f'"{name}"' not in sources:
                yield f"{place}: no metric is called {name}"
        for label, values in re.findall(r'(\w+)[=!]~?"([^"]+)"', query):
            if label in ("job", "le"):
                continue
            for value in values.split("|"):
                if not re.search(rf"\b{value}\b", sources):
                    yield f"{place}: {label} is never {value}"


# The files beside a real worker


def metrics_follow_conventions(exposed):
    """Prometheus' own judgement of the worker's answer; all names of ours have one beginning, all labels one spelling."""
    done = subprocess.run(
        [prometheus("promtool"), "check", "metrics"], cwd=ROOT, input=exposed, text=True, capture_output=True,
    )
    if done.returncode != 0 or done.stderr.strip():
        yield f"promtool check metrics: {(done.stdout + done.stderr).strip()}"
    for name in re.findall(r"^# TYPE (\w+)", exposed, re.MULTILINE):
        if not name.startswith(("grantor_", "process_")):
            yield f"{name}: not under grantor_"
    for label, value in re.findall(r'[{,](\w+)="([^"]*)"', exposed):
        if label not in ("app", "le", "version", "topic") and not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", value):
            yield f"{label}={value}: not in snake case"


class Watch:
    """A Prometheus that scrapes one worker on loopback and evaluates the rules."""

    def __init__(self, folder, worker):
        self.url = f"http://127.0.0.1:{free_port()}"
        config = {
            "global": {"scrape_interval": f"{SCRAPE}s", "evaluation_interval": f"{SCRAPE}s"},
            "rule_files": [str(ROOT / RULES)],
            "scrape_configs": [{"job_name": "grantor", "static_configs": [{"targets": [f"127.0.0.1:{worker}"]}]}],
        }
        path = f"{folder}/prometheus.yml"
        Path(path).write_text(json.dumps(config), encoding="utf-8")
        self.process = subprocess.Popen(
            [
                prometheus("prometheus"), f"--config.file={path}", f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address={self.url[7:]}", "--log.level=error",
            ],
        )

    def ask(self, path, **words):
        return json.loads(get(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(words)}"))["data"]

    def has_data(self, query, since, until):
        query = query.replace("$__rate_interval", RATE)
        found = self.ask("query_range", query=query, start=since, end=until, step=SCRAPE)["result"]
        return any(value != "NaN" for series in found for _, value in series["values"])

    def stop(self):
        self.process.terminate()
        self.process.wait()


def play(programs, folder, tell):
    """Watches the demo's worker.

    Yields violations; the worker's last answer goes to `tell`.
    """
    worker = free_port()
    watch = Watch(folder, worker)
    try:
        since = time.time()
        demo = subprocess.Popen(
            [f"{programs}/grantor-demo"], env={**os.environ, "DEMO_HTTP_PORT": str(worker)},
            stdout=subprocess.PIPE, text=True,
        )
        exposed = ""
        while demo.poll() is None:
            try:
                exposed = get(f"http://127.0.0.1:{worker}/metrics")
            except OSError:
                pass  # It has not begun, or was killed a moment ago.
            time.sleep(SCRAPE)
        tell(exposed)
        if demo.returncode != 0:
            yield f"the demo: {demo.stdout.read()[-2000:]}"
        for panel in panels():
            for target in panel["targets"]:
                if not watch.has_data(target["expr"], since, time.time()):
                    yield f"{DASHBOARD}: {panel['title']}: no data for {target['expr']}"
        for group in watch.ask("rules")["groups"]:
            for rule in group["rules"]:
                if rule["health"] != "ok":
                    yield f"{RULES}: {rule['name']}: {rule['health']} {rule.get('lastError', '')}"
    finally:
        watch.stop()


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    violations = list(files_agree())
    exposed = []
    with tempfile.TemporaryDirectory(prefix="grantor-monitoring-") as folder:
        violations += play(sys.argv[1], folder, exposed.append)
    violations += names_are_the_programs(exposed[0])
    violations += metrics_follow_conventions(exposed[0])
    for violation in violations:
        print(violation)
    targets = sum(len(panel["targets"]) for panel in panels())
    print(f"{len(rules())} rules, {len(panels())} panels with {targets} queries: {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
