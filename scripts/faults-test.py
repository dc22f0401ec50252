#!/usr/bin/env python3
"""Makes faults one by one on real parts, and judges what a worker, the alerts and `grantor check` say of each.

    scripts/faults-test.py FOLDER [WORD ...]

FOLDER has the built programs grantor and grantor-simulator; KAFKA_HOME names an unpacked Apache Kafka. With words, only
faults are made whose names have one of them. For each fault the worker must say one line with its cause and what to do.
The alert must fire, or be pending where its rule waits, and end once the fault is mended. `grantor check` must agree
with the worker, or the table says that it cannot see the fault. The parts are two brokers, one with TLS, passwords and
rights; PostgreSQL with a standby; two simulated App Stores; an inventory service; and Prometheus with the rules of
deploy/prometheus, whose windows are seconds here. Loopback only, without Docker. Exit code: 0 passed, 1 not, 2 wrong
usage or no KAFKA_HOME.
"""

import os
import shutil
import sys
import tempfile
import textwrap
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from checkout import Failure, arguments, free_port, use_virtual_environment

use_virtual_environment()
try:
    import faults_apple
    import faults_kafka
    import faults_ledger
    import faults_service
    from examples_stage import AppStore, Kafka
    from faults_judge import Row
    from faults_lane import SECRET, Lane
    from faults_stage import LedgerServer, SecuredKafka, Standby, Watch
except ImportError as error:
    sys.exit(f"{error}. Run: scripts/setup.sh --for test")

# Columns of the table, in characters.
WIDTHS = (26, 64, 34, 52)


class Stage:
    """All parts, and the lanes that play on them at the same time."""

    def __init__(self, folder, programs, words):
        self.folder, self.grantor, self.words = folder, f"{programs}/grantor", words
        self.started, self.saying = time.monotonic(), threading.Lock()
        self.plain = Kafka(self.sub("plain"), None)
        self.secured = SecuredKafka(self.sub("secured"), None)
        self.server = LedgerServer(self.sub("primary"))
        self.standby = Standby(self.sub("standby"), self.server)
        key = f"{self.sub('signer')}/key.p8"
        self.signer = AppStore(f"{folder}/signer", programs, "--accept-secret", SECRET, "--api-key-file", key)
        # Its ports stay, so that it can come back.
        ports = [f"--{name}-port={free_port()}" for name in ("production", "sandbox", "control")]
        self.breakable = AppStore(self.sub("breakable"), programs, "--accept-secret", SECRET, *ports)
        self.say("all parts run")
        plain = (self.plain, self.signer)
        self.lanes = [
            (faults_kafka.KafkaLane(self, "brokers", self.secured, self.signer), faults_kafka.play),
            (
                faults_ledger.PostgresLane(self, "postgres", *plain, self.server, self.standby),
                faults_ledger.play_postgres,
            ),
            (Lane(self, "sqlite", *plain), faults_ledger.play_sqlite),
            (Lane(self, "apple", self.plain, self.breakable), faults_apple.play_apple),
            (faults_apple.PeopleLane(self, "people", *plain), faults_apple.play_people),
            (faults_service.ServiceLane(self, "service", *plain), faults_service.play),
        ]
        self.watch = Watch(folder, {lane.name: lane.port for lane, _ in self.lanes})

    def end(self):
        for part in self.plain, self.secured, self.standby, self.server, self.signer, self.breakable, self.watch:
            part.part.kill()

    def sub(self, name):
        os.mkdir(f"{self.folder}/{name}")
        return f"{self.folder}/{name}"

    def wants(self, fault):
        return not self.words or any(word in fault for word in self.words)

    def say(self, text):
        with self.saying:
            print(f"after {time.monotonic() - self.started:5.1f} s  {text}", file=sys.stderr, flush=True)

    def play(self):
        """Plays all lanes. Returns their rows."""

        def play(lane, faults):
            try:
                faults(lane)
            except Exception:
                traceback.print_exc()
                lane.rows.append(Row(f"the lane {lane.name}", missing=["it could not go on"]))
            finally:
                lane.stop()

        with ThreadPoolExecutor(len(self.lanes)) as together:
            for lane, faults in self.lanes:
                together.submit(play, lane, faults)
        return [row for lane, _ in self.lanes for row in lane.rows]


def table(rows, folder):
    """The rows as text, with cells of several lines."""

    def cells(words):
        columns = [textwrap.wrap(word.replace(folder, "…"), width) for word, width in zip(words, WIDTHS)]
        height = max(map(len, columns))
        for number in range(height):
            line = [column[number] if number < len(column) else "" for column in columns]
            yield " | ".join(text.ljust(width) for text, width in zip(line, WIDTHS)).rstrip()

    rule = "-+-".join("-" * width for width in WIDTHS)
    lines = list(cells(("fault", "worker says", "alert", "check")))
    for row in rows:
        lines += [rule, *cells((row.name, row.line, row.alert, row.check))]
    return "\n".join(lines)


def main():
    how = {"programs": {"metavar": "FOLDER", "type": os.path.abspath}, "words": {"metavar": "WORD", "nargs": "*"}}
    found = arguments(needs_kafka=True, **how)
    folder = tempfile.mkdtemp(prefix="grantor-faults-")
    # The database's user enters it.
    os.chmod(folder, 0o755)
    try:
        stage = Stage(folder, **found)
        rows = stage.play()
    except Failure as failure:
        print(f"faults: FAILED: {failure}")
        return 1
    print(table(rows, folder))
    faulty = [row for row in rows if row.missing]
    for row in faulty:
        print(f"FAILED: {row.name}: {'; '.join(row.missing)}".replace(folder, "…"))
    stage.end()
    judgement = f"{len(faulty)} FAILED" if faulty else "PASSED"
    print(f"{len(rows)} faults in {time.monotonic() - stage.started:.0f} s: {judgement}")
    if faulty:
        print(f"The logs are in {folder}.")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
