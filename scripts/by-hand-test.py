#!/usr/bin/env python3
"""Runs the commands of docs/by-hand.md on Apache Kafka and the App Store simulator, and judges their answers.

    scripts/by-hand-test.py FOLDER

FOLDER has the built programs grantor and grantor-simulator. Each block of `sh` runs in one shell, in the page's order.
A block of `text` behind it has lines that its output must have, in this order; `…` stands for anything. A block whose
lines all call grantor is run again until it succeeds and answers so. Loopback only. Exit code: 0 passed, 1 not, 2 wrong
usage or no KAFKA_HOME.
"""

import os
import sys
from pathlib import Path

from checkout import Failure, arguments, free_port, run, wait_for
from pages import PATIENCE, Shell, blocks, linked_checkout, may_be_repeated, missing, repeat, text_by_hand


def play(folder, say, programs):
    checkout = linked_checkout(folder)
    # It has built everything already.
    compiler = Path(folder) / "compiler"
    compiler.write_text(f'#!/bin/sh\n[ "$2" != --show-bin-path ] || echo "{programs}"\n', encoding="utf-8")
    compiler.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("GRANTOR_", "SIMULATOR"))}
    environment |= {
        "PATH": f"{programs}:{os.environ['KAFKA_HOME']}/bin:{os.environ['PATH']}", "GRANTOR_HTTP_BIND": f"127.0.0.1:{free_port()}",
        "SWIFT": str(compiler), "SIMULATORFLAGS": "", "KAFKA_HEAP_OPTS": "-Xmx512m -XX:TieredStopAtLevel=1",
        "LOG_DIR": folder,
    }
    shell, second = Shell(checkout, "first", environment), Shell(checkout, "second", environment)
    addresses = checkout / ".build" / "simulator" / "addresses.json"
    try:
        for line, mark, commands, answer in blocks(text_by_hand()):
            try:
                if mark == "stays":
                    second.run(f"{commands.strip()} &\n")
                    wait_for(addresses.name, lambda: addresses.exists() and addresses.stat().st_size > 0, PATIENCE)
                elif mark != "not run" and may_be_repeated(commands):
                    repeat(shell, commands, answer)
                elif mark != "not run":
                    fault = missing(answer, output := shell.run(commands))
                    if fault is not None:
                        raise Failure(f"has not {fault}\n{output}")
            except Failure as failure:
                raise Failure(f"docs/by-hand.md:{line}: {failure}\n{tail(checkout)}") from None
            say(f"line {line}")
    finally:
        shell.end()
        second.end()


def tail(checkout):
    log = checkout / ".build" / "by-hand" / "worker.log"
    if not log.exists():
        return ""
    return "\n".join(["the worker:", *log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]])


if __name__ == "__main__":
    found = arguments(needs_kafka=True, programs={"metavar": "FOLDER", "type": os.path.abspath})
    sys.exit(run("by hand", play, "the page's commands answer as it says", **found))
