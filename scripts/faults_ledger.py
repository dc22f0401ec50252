"""The faults of scripts/faults-test.py between a worker and its ledger: on PostgreSQL, and on SQLite."""

import errno
import os
import re
import sqlite3
import subprocess

from checkout import ROOT

from examples_stage import Part, wait_for
from faults_judge import Line, Sees, ends
from faults_lane import Lane

AWAY = "The ledger is not available; nothing is read"
WAITS = "The ledger is unavailable; the worker waits for it before it joins its group"


class PostgresLane(Lane):
    def __init__(self, stage, name, kafka, apple, server, standby):
        super().__init__(stage, name, kafka, apple)
        self.server, self.standby = server, standby
        server.run("postgres", f"CREATE ROLE {server.USER} LOGIN PASSWORD '{server.PASSWORD}'")
        # rights.sql demands it, although no command of an operator is called here.
        server.run("postgres", "CREATE ROLE grantor_operator")
        for database in ("ledger", "empty", "forgetful"):
            server.run("postgres", f"CREATE DATABASE {database}")
        self.right |= {
            "GRANTOR_LEDGER_URL": server.worker_url("ledger"),
            "GRANTOR_LEDGER_PASSWORD_FILE": self.file("password", server.PASSWORD),
        }
        self.settings = self.right
        for database in ("ledger", "forgetful"):
            self.migrate(database)

    def migrate(self, database):
        """As docs/postgresql.md says: the owner makes the tables, and gives the roles their rights."""
        self.run("migrate", GRANTOR_LEDGER_URL=self.server.url(database), GRANTOR_LEDGER_PASSWORD_FILE=None)
        rights = (ROOT / "deploy/postgres/rights.sql").read_text(encoding="utf-8")
        # Lines that begin so are psql's own.
        self.server.run(database, re.sub(r"(?m)^\\.*$", "", rights))

    def sql(self, text):
        self.server.run("ledger", text)


def play_postgres(lane):
    away(lane)
    refused(lane)
    others(lane)


def away(lane):
    server = lane.server
    unreachable = Sees("ledger", "failed", "cannot be reached|connection was lost")

    def stop():
        server.stop()
        lane.submit(lane.signed())

    lane.fault(
        "PostgreSQL goes away", stop, server.start, line=Line(AWAY, "cannot be reached|connection was lost"),
        alert="GrantorReadingStopped", check=unreachable,
    )

    def start():
        server.stop()
        lane.start()

    def back():
        server.start()
        lane.wait_until_ready()

    lane.fault(
        "PostgreSQL is away at the start", start, back, fresh=True, line=Line(WAITS, "cannot be reached"),
        alert="GrantorNotReady", check=unreachable,
    )

    def crowded():
        server.run("postgres", f"ALTER ROLE {server.USER} CONNECTION LIMIT 0")
        lane.start()

    def free():
        server.run("postgres", f"ALTER ROLE {server.USER} CONNECTION LIMIT -1")
        lane.wait_until_ready()

    lane.fault(
        "PostgreSQL has no connection left", crowded, free, fresh=True, line=Line(WAITS, "too many connections"),
        alert="GrantorNotReady", check=Sees("ledger", "failed", "too many connections"),
    )
    lane.fault(
        "only a standby is named", lambda: lane.start(GRANTOR_LEDGER_URL=lane.standby.worker_url("ledger")), fresh=True,
        line=Line(WAITS, "is a read-only standby"), alert="GrantorNotReady",
        check=Sees("ledger", "failed", "is a read-only standby"),
    )


def refused(lane):
    server = lane.server
    lane.fault(
        "wrong password for PostgreSQL",
        lambda: lane.start(GRANTOR_LEDGER_PASSWORD_FILE=lane.file("wrong-password", "another")), fresh=True,
        line=ends("password authentication failed"), alert="GrantorDown",
        check=Sees("ledger", "failed", "password authentication failed"),
    )

    def less():
        lane.sql(f"REVOKE INSERT ON grants FROM {server.USER}")

    def more():
        lane.sql(f"GRANT INSERT ON grants TO {server.USER}")

    def start_with_less():
        less()
        lane.start()

    def restart_with_more():
        more()
        lane.restart()

    lane.fault(
        "role lacks a right at the start", start_with_less, restart_with_more, fresh=True,
        line=ends("lacks INSERT on grants"), alert="GrantorDown",
        check=Sees("ledger rights", "failed", "lacks INSERT on grants"),
    )

    def lose():
        less()
        lane.submit(lane.signed())

    lane.fault(
        "role loses a right", lose, more, line=Line(AWAY, "this user lacks a right"), alert="GrantorReadingStopped",
        check=Sees("ledger rights", "failed", "lacks INSERT on grants"),
    )


def others(lane):
    server = lane.server
    # A group that has read nothing yet, so that a ledger may be new.
    lane.fault(
        "grantor migrate was not run", fresh=True, cause=lambda: lane.start(
            GRANTOR_LEDGER_URL=server.worker_url("empty"), GRANTOR_KAFKA_GROUP_ID="newcomer",
        ),
        line=ends("grantor migrate makes one"), alert="GrantorDown",
        check=Sees("ledger", "failed", "grantor migrate makes it"),
    )

    def later():
        lane.sql("UPDATE ledger SET version = version + 2")
        lane.start()

    def now():
        lane.sql("UPDATE ledger SET version = version - 2")
        lane.restart()

    lane.fault(
        "schema of a later version", later, now, fresh=True, line=ends(r"schema \d+ is newer"), alert="GrantorDown",
        check=Sees("ledger schema", "failed", r"schema \d+ is newer"),
    )
    lane.fault(
        "another group's ledger", lambda: lane.start(GRANTOR_KAFKA_GROUP_ID="another"), fresh=True,
        line=ends("belongs to .*Name this group's own ledger"), alert="GrantorDown",
        check=Sees("ledger", "failed", "belongs to", exit=78),
    )

    def forget():
        lane.heal()
        lane.submit(lane.signed())
        wait_for("a grant", lambda: lane.metric("grantor_submissions_finished_total", '"granted"') > 0)
        # A stop in order commits.
        lane.start(GRANTOR_LEDGER_URL=server.worker_url("forgetful"))

    lane.fault(
        "ledger that knows nothing of the group", forget, fresh=True,
        line=ends("the group has committed offsets, and the ledger .* knows nothing of them"), alert="GrantorDown",
        check=Sees("ledger", "failed", "knows nothing of the group's offsets", exit=78),
    )


def play_sqlite(lane):
    full_disk(lane)
    locked(lane)


def full_disk(lane):
    """On a small disk of its own, and with a group of its own, whose offsets another ledger would not know."""
    name = "disk of SQLite is full"
    if not lane.stage.wants(name):
        return
    lane.begin()
    disk, right = f"{lane.folder}/disk", lane.right
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=320m", "none", disk], stderr=subprocess.DEVNULL).returncode:
        lane.stage.say(f"{lane.name}: {name}: NOT CHECKED, because only root can make a disk")
        return
    lane.right = right | {"GRANTOR_LEDGER_URL": f"sqlite:{disk}/ledger.db", "GRANTOR_KAFKA_GROUP_ID": "small"}
    filler = f"{disk}/filler"

    def fill():
        with open(filler, "wb", buffering=0) as file:
            try:
                while file.write(bytes(1 << 20)):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        lane.submit(*[lane.signed() for _ in range(5)])

    lane.fault(
        name, fill, lambda: os.remove(filler), line=Line(AWAY, "full"), alert="GrantorReadingStopped",
        check=Sees("ledger disk", "failed", "0 MiB free; .*make room"),
    )
    lane.stop()
    subprocess.run(["umount", disk], check=True)
    lane.right = right


def locked(lane):
    holder = []

    def lock():
        holder.append(sqlite3.connect(f"{lane.folder}/ledger.db", isolation_level=None))
        holder[0].execute("BEGIN IMMEDIATE")
        lane.submit(lane.signed())

    def free():
        holder.pop().execute("ROLLBACK")

    lane.fault(
        "another program holds SQLite's lock", lock, free, line=Line(AWAY, "locked"), alert="GrantorReadingStopped",
        check=Sees("ledger write", "failed", "locked"),
    )
    lane.fault(
        "no folder for SQLite's file", lambda: lane.start(GRANTOR_LEDGER_URL=f"sqlite:{lane.folder}/none/ledger.db"),
        fresh=True, line=ends("there is no folder for"), alert="GrantorDown",
        check=Sees("ledger", "failed", "there is no folder for"),
    )

    second = []
    says = Line("Another worker has the ledger; this one waits", "holder: ")

    def start_second():
        settings = lane.right | {"GRANTOR_HTTP_BIND": "127.0.0.1:0"}
        second.append(Part(lane.folder, "worker", [lane.stage.grantor, "run"], **settings))

    def end_second():
        second.pop().stop()

    lane.fault(
        "a second worker on SQLite's file", start_second, end_second, line=says, alert=None,
        check=Sees("ledger", "ok", "owed"),
    )
