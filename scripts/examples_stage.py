"""The parts that scripts/examples-test.py and scripts/faults-test.py play on, all of this host and on loopback: Kafka,
PostgreSQL, the App Store simulator and one worker. Each ends with this process, however that one ends."""

import ctypes
import json
import os
import shutil
import signal
import ssl
import subprocess
import urllib.request
from pathlib import Path

import psycopg
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from checkout import PATIENCE, Failure, free_port, wait_for

PENDING = "purchases.pending"
EVENTS = ["purchases.granted", "purchases.failed", PENDING]
TOPICS = ["receipts.submitted", *EVENTS, "receipts.quarantined"]


# Looked up here, because a process with several threads may do little between fork and exec.
_prctl = ctypes.CDLL(None).prctl


def _end_with_parent():
    # PR_SET_PDEATHSIG of prctl(2). The parent is the thread that starts the process.
    _prctl(1, signal.SIGKILL)


class Part:
    """A process whose output is in a file of the folder, or a pipe."""

    def __init__(self, folder, name, words, pipes=False, **environment):
        self.name = name
        self.log = f"{folder}/{name}.log"
        # Settings of the one who runs this must not reach the worker.
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GRANTOR_")}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                words, env=kept | environment, stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else log, stderr=log, text=True, preexec_fn=_end_with_parent, cwd="/",
            )

    def must_run(self):
        if self.process.poll() is not None:
            raise Failure(f"{self.name} ended with {self.process.returncode}:\n{self.tail()}")

    def tail(self):
        return "\n".join(Path(self.log).read_text(encoding="utf-8", errors="replace").splitlines()[-15:])

    def kill(self):
        """`kill -9`."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()


class Kafka:
    """Apache Kafka where KAFKA_HOME names one, else librdkafka's mock."""

    def __init__(self, folder, programs):
        self.home, self.folder = os.environ.get("KAFKA_HOME"), folder
        self.name = "Apache Kafka" if self.home else "a mock of Kafka"
        if self.home:
            self.address = f"127.0.0.1:{free_port()}"
            self._format()
            self._launch()
        else:
            topics = [word for topic in TOPICS for word in ("--topic", f"{topic}:2")]
            self.part = Part(folder, "kafka", [f"{programs}/kafka-mock", *topics], pipes=True)
            self.address = self.part.process.stdout.readline().split()[-1]
        wait_for("Kafka", self._answers)

    def _properties(self):
        controller = f"127.0.0.1:{free_port()}"
        return {
            "node.id": 1, "process.roles": "broker,controller", "controller.quorum.voters": f"1@{controller}",
            "controller.listener.names": "CONTROLLER", "inter.broker.listener.name": "PLAIN",
            "listeners": f"PLAIN://{self.address},CONTROLLER://{controller}",
            "advertised.listeners": f"PLAIN://{self.address}",
            "listener.security.protocol.map": "PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT", "log.dirs": f"{self.folder}/kafka",
            "auto.create.topics.enable": "false", "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 4, "group.initial.rebalance.delay.ms": 0,
            "log.cleaner.dedupe.buffer.size": 16777216,
        }

    def _format(self, *words):
        """Makes an empty store. The words are options of kafka-storage.sh."""
        lines = [f"{key}={value}\n" for key, value in self._properties().items()]
        Path(f"{self.folder}/kafka.properties").write_text("".join(lines), encoding="utf-8")
        subprocess.run(
            [
                f"{self.home}/bin/kafka-storage.sh", "format", "-t", "Z3JhbnRvci10ZXN0cy0wMQ",
                "-c", f"{self.folder}/kafka.properties", *words,
            ],
            env={**os.environ, "LOG_DIR": self.folder}, check=True, stdout=subprocess.DEVNULL,
        )

    def _launch(self):
        self.part = Part(
            self.folder, "kafka", [f"{self.home}/bin/kafka-server-start.sh", f"{self.folder}/kafka.properties"],
            LOG_DIR=self.folder, KAFKA_HEAP_OPTS="-Xmx512m",
        )

    def _answers(self):
        self.part.must_run()
        try:
            return AdminClient({"bootstrap.servers": self.address, "log_level": 0}).list_topics(timeout=1).brokers
        except KafkaException:
            return False

    def reader(self, group):
        return Consumer({"bootstrap.servers": self.address, "group.id": group, "auto.offset.reset": "earliest"})

    def partitions(self, reader, topics=EVENTS):
        """The partitions of topics, each with its end."""
        for topic in topics:
            for number in reader.list_topics(topic, timeout=PATIENCE).topics[topic].partitions:
                partition = TopicPartition(topic, number, 0)
                yield partition, reader.get_watermark_offsets(partition, timeout=PATIENCE)[1]

    def has_read_all(self, group):
        """Whether a group has committed the end of every partition with events."""
        reader = self.reader(group)
        ends = list(self.partitions(reader))
        committed = reader.committed([partition for partition, _ in ends], timeout=PATIENCE)
        reader.close()
        return all(end == 0 or found.offset == end for found, (_, end) in zip(committed, ends))

    def events(self):
        """Every record of the event topics."""
        reader = self.reader("examples-judge")
        found = []
        for partition, end in list(self.partitions(reader)):
            reader.assign([partition])
            for _ in range(end):
                record = reader.poll(PATIENCE)
                if record is None or record.error():
                    raise Failure(f"a record of {partition.topic}: {record and record.error()}")
                found.append(record)
        reader.close()
        return found


class Postgres:
    """A server of this run's own, which syncs nothing. Root starts it as the user postgres."""

    SETTINGS = {"fsync": "off", "shared_buffers": "32MB"}

    def __init__(self, folder):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
        if not found:
            raise Failure("PostgreSQL is not installed; scripts/setup.sh --for test does that")
        self.programs, self.folder, self.port = found[-1], folder, free_port()
        self.data = f"{folder}/postgres"
        os.mkdir(self.data, 0o700)
        if os.geteuid() == 0:
            shutil.chown(self.data, "postgres", "postgres")
        self._fill()
        self._launch()
        wait_for("PostgreSQL", self._answers)

    def _words(self, program, *words):
        """A program of PostgreSQL's, as root in the name of the user postgres."""
        # The signal for the parent's end is lost where a process changes its user, so it is set behind that.
        user = "setpriv --reuid=postgres --regid=postgres --clear-groups --pdeathsig=KILL".split()
        return [*(user if os.geteuid() == 0 else []), f"{self.programs}/{program}", *words]

    def _fill(self):
        """Makes a cluster in the empty folder."""
        options = "-U postgres -A trust -E UTF8 --locale=C -N".split()
        subprocess.run(
            self._words("initdb", "-D", self.data, *options), check=True, cwd="/", stdout=subprocess.DEVNULL,
        )

    def _launch(self):
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": ""} | self.SETTINGS
        words = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        self.part = Part(self.folder, "postgres-server", self._words("postgres", "-D", self.data, *words))

    def _answers(self):
        self.part.must_run()
        try:
            self.run("postgres", "SELECT 1")
            return True
        except psycopg.OperationalError:
            return False

    def url(self, database):
        return f"postgres://postgres@127.0.0.1:{self.port}/{database}"

    def jdbc(self, database):
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{database}?user=postgres"

    def run(self, database, sql, *values):
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            found = connection.execute(sql, values or None)
            return found.fetchall() if found.description else []


class AppStore:
    """The simulator: signs as the App Store does, under an authority of its own."""

    def __init__(self, folder, programs, *options):
        """`options` are the simulator's own."""
        self.words = [f"{programs}/grantor-simulator", "--authority-folder", f"{folder}/authority", *options]
        self.folder = folder
        self.start()

    def start(self):
        self.part = Part(self.folder, "app-store", self.words, pipes=True)
        line = self.part.process.stdout.readline()
        if not line:
            raise Failure(f"the simulator does not start:\n{self.part.tail()}")
        self.addresses = json.loads(line)
        self.context = ssl.create_default_context(cafile=self.addresses["caFile"])

    def ask(self, path, order):
        return json.loads(self.tell(path, order))

    def tell(self, path, order=None):
        """An order, or without one the end of all orders of that path."""
        method, body = ("DELETE", None) if order is None else ("POST", json.dumps(order).encode())
        request = urllib.request.Request(f"{self.addresses['controlURL']}/simulator/{path}", body, method=method)
        with urllib.request.urlopen(request, context=self.context, timeout=PATIENCE) as answer:
            return answer.read()


class Worker:
    """`grantor run` with a ledger on SQLite."""

    def __init__(self, folder, programs, kafka, apple, apps):
        self.program, self.apps_file = f"{programs}/grantor", f"{folder}/apps.yaml"
        self.configure(apps)
        # The mock gives a member its partitions when a session has timed out, and answers an empty fetch late.
        properties = f"{folder}/client.properties"
        Path(properties).write_text("session.timeout.ms=6000\nfetch.wait.max.ms=10\n", encoding="utf-8")
        self.environment = {
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": kafka.address, "GRANTOR_APPS_FILE": self.apps_file,
            "GRANTOR_KAFKA_PROPERTIES_FILE": properties,
            "GRANTOR_LEDGER_URL": f"sqlite:{folder}/ledger.db", "GRANTOR_HTTP_BIND": "127.0.0.1:0",
            "GRANTOR_LOG_FORMAT": "text", "GRANTOR_TOPIC_PENDING": PENDING,
            "GRANTOR_APPLE_CA_FILE": apple.addresses["caFile"],
            "GRANTOR_APPLE_ROOT_CERTIFICATES": apple.addresses["rootsFile"],
            "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": apple.addresses["productionURL"],
            "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": apple.addresses["sandboxURL"],
        }
        if kafka.home:
            self.command("topics", "create")
        self.part = Part(folder, "worker", [self.program, "run"], **self.environment)

    def configure(self, apps):
        # JSON is YAML.
        Path(self.apps_file).write_text(json.dumps(apps), encoding="utf-8")

    def reload(self, apps):
        self.configure(apps)
        self.part.process.send_signal(signal.SIGHUP)

    def command(self, *words):
        done = subprocess.run(
            [self.program, *words], env=os.environ | self.environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        if done.returncode != 0:
            raise Failure(f"grantor {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout
