"""The parts of scripts/faults-test.py beside those of scripts/examples_stage.py: a broker with TLS, passwords and
rights, a ledger's server and its standby, and a Prometheus with the alerts. All on loopback."""

import importlib
import json
import re
import signal
import subprocess
import urllib.request
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding, AclBindingFilter, AclOperation, AclPermissionType, AdminClient, AlterConfigOpType, ConfigEntry,
    ConfigResource, ResourcePatternType, ResourceType,
)

from checkout import ROOT, free_port, wait_for

from examples_stage import Kafka, Part, Postgres

monitoring = importlib.import_module("check-monitoring")

RULES = ROOT / "deploy/prometheus/rules.yml"
# Seconds from one scrape to the next, and of the rules' windows: what a fault has counted is forgotten soon after it.
SCRAPE, WINDOW = 1, 15
# An age in seconds that an alert asks for is a wait like `for`, and shortened to this.
AGE = 3


def certificate(folder, name):
    """A certificate of 127.0.0.1 that signs itself. Returns the file of both, the certificate's, and the key's."""
    key, own, both = (Path(folder) / f"{name}.{end}" for end in ("key", "crt", "pem"))
    subprocess.run(
        [
            *"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(),
            "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(own),
        ], check=True, stderr=subprocess.DEVNULL,
    )
    both.write_text(key.read_text() + own.read_text())
    return str(both), str(own), str(key)


class SecuredKafka(Kafka):
    """A broker with a second listener: TLS, a password by SCRAM, and no right but those that are given. Whoever comes
    by the first listener may do everything."""

    USER, PASSWORD = "grantor", "the-brokers-password"

    def _properties(self):
        self.secure = f"127.0.0.1:{free_port()}"
        both, self.authority, _ = certificate(self.folder, "broker")
        self._admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        plain, login = super()._properties(), "org.apache.kafka.common.security.scram.ScramLoginModule"
        more = {name: f"{plain[name]},SECURE://{self.secure}" for name in ("listeners", "advertised.listeners")}
        return plain | more | {
            "listener.security.protocol.map": f"{plain['listener.security.protocol.map']},SECURE:SASL_SSL",
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.secure.scram-sha-512.sasl.jaas.config": f"{login} required;",
            "ssl.keystore.type": "PEM", "ssl.keystore.location": both,
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        }

    def _format(self, *words):
        super()._format(*words, "--add-scram", f"SCRAM-SHA-512=[name={self.USER},password={self.PASSWORD}]")

    def client(self, **changes):
        """librdkafka's properties of the user. Changes have `_` for `.`."""
        return {
            "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": self.USER,
            "sasl.password": self.PASSWORD, "ssl.ca.location": self.authority, "session.timeout.ms": 6000,
        } | {key.replace("_", "."): value for key, value in changes.items()}

    def start(self):
        """With what it had, after `part.kill()`."""
        self._launch()
        wait_for("Kafka", self._answers)

    def _right(self, kind, name, operation, right):
        return right(
            ResourceType[kind], name, ResourcePatternType.LITERAL, f"User:{self.USER}", "*", AclOperation[operation],
            AclPermissionType.ALLOW,
        )

    def give(self, kind, name, operation):
        right = self._right(kind, name, operation, AclBinding)
        self._admin.create_acls([right])[right].result()

    def take(self, kind, name, operation):
        right = self._right(kind, name, operation, AclBindingFilter)
        self._admin.delete_acls([right])[right].result()

    def configure(self, topic, name, value):
        """Sets a property of a topic; None takes it back."""
        operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
        resource = ConfigResource(
            ConfigResource.Type.TOPIC, topic,
            incremental_configs=[ConfigEntry(name, value, incremental_operation=operation)],
        )
        self._admin.incremental_alter_configs([resource])[resource].result()

    def drop(self, topic):
        self._admin.delete_topics([topic])[topic].result()


class LedgerServer(Postgres):
    """A server as a ledger wants it. Everybody but its owner needs a password."""

    SETTINGS = {"shared_buffers": "32MB"}
    USER, PASSWORD = "grantor_worker", "the-ledgers-password"

    def _fill(self):
        super()._fill()
        rules = ("all postgres 127.0.0.1/32 trust", "replication all 127.0.0.1/32 trust",
                 "all all 127.0.0.1/32 scram-sha-256")
        Path(f"{self.data}/pg_hba.conf").write_text("".join(f"host {rule}\n" for rule in rules), encoding="utf-8")

    def stop(self):
        """As a power cut does, but for its processes: they are told."""
        self.part.process.send_signal(signal.SIGQUIT)
        self.part.process.wait()

    def start(self):
        self._launch()
        wait_for("PostgreSQL", self._answers)

    def worker_url(self, database):
        return f"postgres://{self.USER}@127.0.0.1:{self.port}/{database}"


class Standby(LedgerServer):
    def __init__(self, folder, primary):
        self.primary = primary
        super().__init__(folder)

    def _fill(self):
        options = f"-h 127.0.0.1 -p {self.primary.port} -U postgres -R -X stream -c fast".split()
        subprocess.run(self._words("pg_basebackup", "-D", self.data, *options), check=True, cwd="/")


class Watch:
    """A Prometheus that scrapes a worker of each lane, and has the rules of deploy/prometheus for each.

    Windows and ages are short. Each `for` is as it stands, so an alert that must wait is pending.
    """

    def __init__(self, folder, ports):
        self.url = f"http://127.0.0.1:{free_port()}"
        rules = RULES.read_text(encoding="utf-8")
        self.rules = {rule["alert"]: rule for rule in monitoring.rules() if "alert" in rule}
        for lane in ports:
            Path(f"{folder}/{lane}.yml").write_text(self._of(lane, rules), encoding="utf-8")
        config = {
            "global": {"scrape_interval": f"{SCRAPE}s", "evaluation_interval": f"{SCRAPE}s"},
            "rule_files": [f"{folder}/{lane}.yml" for lane in ports],
            "scrape_configs": [
                {"job_name": lane, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
                for lane, port in ports.items()
            ],
        }
        Path(f"{folder}/prometheus.json").write_text(json.dumps(config), encoding="utf-8")
        self.part = Part(folder, "prometheus", [
            monitoring.prometheus("prometheus"), f"--config.file={folder}/prometheus.json",
            f"--storage.tsdb.path={folder}/data", f"--web.listen-address={self.url[7:]}", "--log.level=error",
        ])
        wait_for("Prometheus", self._answers)

    @staticmethod
    def _of(lane, rules):
        """The rules for one lane's job, with short windows and ages."""
        rules = rules.replace('job="grantor"', f'job="{lane}"').replace("severity:", f"lane: {lane}, severity:")
        rules = re.sub(r"\bgrantor:", f"{lane}:", rules)
        rules = re.sub(r"\[\d+[smhd]\]", f"[{WINDOW}s]", rules).replace("15 * 60", str(WINDOW))
        return re.sub(r"(_seconds\{[^}]*\}\)) > \d+", rf"\1 > {AGE}", rules)

    def _answers(self):
        self.part.must_run()
        try:
            return self.active("") == {}
        except OSError:
            return False

    def active(self, lane):
        """The lane's alerts that are not quiet, each with its state: `pending` or `firing`."""
        with urllib.request.urlopen(f"{self.url}/api/v1/alerts", timeout=10) as answer:
            alerts = json.load(answer)["data"]["alerts"]
        return {
            alert["labels"]["alertname"]: alert["state"]
            for alert in sorted(alerts, key=lambda alert: alert["state"], reverse=True)
            if alert["labels"]["lane"] == lane
        }

    def words(self, name, state):
        """What an alert does, for people."""
        rule = self.rules[name]
        severity = rule["labels"]["severity"]
        wait = f", {severity} after {rule['for']}" if "for" in rule else f", {severity}"
        age = re.search(r"_seconds\{[^}]*\}\) > (\d+)", rule["expr"])
        return f"{name} {state}{wait}" + (f" above {age.group(1)} s" if age else "")
