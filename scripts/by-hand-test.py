#!/usr/bin/env python3
"""Runs the commands of docs/by-hand.md on Apache Kafka and the App Store simulator, and judges their answers.

    scripts/by-hand-test.py FOLDER

FOLDER has the built programs grantor and grantor-simulator. Each block of `sh` runs in one shell, in the page's order.
A block of `text` behind it has lines that its output must have, in this order; `…` stands for anything. A block whose
lines all call grantor is run again until it succeeds and answers so. Loopback only. Exit code: 0 passed, 1 not, 2 wrong
usage or no KAFKA_HOME.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from checkout import ROOT, Failure, free_port, wait_for

PAGE = ROOT / "docs" / "by-hand.md"
# The page's ports, which free ones replace.
PORTS = ("localhost:9092", "localhost:9093")
BLOCK = re.compile(r"(?:<!-- (stays|not run)[^\n]*-->\n)?^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Longest wait for a block's answer, in seconds.
PATIENCE = 60
# Seconds between two tries.
PAUSE = 0.5
END = "-- end of block --"


def blocks(text):
    """The page's commands: number of the line, mark, commands, and the answer's lines."""
    found = []
    for match in BLOCK.finditer(text):
        mark, kind, content = match.groups()
        if kind == "sh":
            found.append((text.count("\n", 0, match.start(2)) + 1, mark, content, []))
        elif found:
            found[-1][3].extend(content.splitlines())
    return found


def may_be_repeated(commands):
    return all(line.startswith("grantor ") and not line.endswith(("&", "\\")) for line in commands.splitlines())


def missing(answer, output):
    """The first line of an answer that the output lacks; None if it has all of them, in their order."""
    rest = iter(output.splitlines())
    for line in answer:
        pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
        if not any(pattern.fullmatch(found.rstrip()) for found in rest):
            return line
    return None


class Shell:
    """One bash that runs blocks one after the other, as a terminal does. Its output goes to a file beside it."""

    def __init__(self, folder, name, environment):
        self.log = folder.parent / f"{name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["bash"], stdin=subprocess.PIPE, stdout=log, stderr=log, text=True, cwd=folder, env=environment,
                start_new_session=True,
            )
        # Jobs have numbers and process groups, and end with the shell. A pipe fails with any of its parts.
        self.run("set -o monitor -o pipefail\ntrap 'for job in $(jobs -p); do kill -KILL -- -$job; done' EXIT\n")

    def run(self, commands):
        """Runs a block and returns its output.

        Throws Failure if its last command fails, or if it does not end.
        """
        start = self.log.stat().st_size
        self.process.stdin.write(f"{commands}printf '\\n%s %s\\n' '{END}' $?\n")
        self.process.stdin.flush()
        end = re.compile(rf"^{re.escape(END)} (\d+)\n", re.MULTILINE)
        limit = time.monotonic() + PATIENCE
        while not (match := end.search(output := self.log.read_text(encoding="utf-8", errors="replace")[start:])):
            if self.process.poll() is not None or time.monotonic() > limit:
                raise Failure(f"does not end:\n{output}")
            time.sleep(0.05)
        output = output[: match.start()]
        if match.group(1) != "0":
            raise Failure(f"ends with {match.group(1)}:\n{output}")
        return output

    def end(self):
        """Ends it with all of its jobs."""
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)


def repeat(shell, commands, answer):
    """Runs a block until it succeeds and its output has the answer."""
    limit = time.monotonic() + PATIENCE
    while True:
        try:
            output = shell.run(commands)
            fault = missing(answer, output)
        except Failure as failure:
            output, fault = "", str(failure)
        if fault is None:
            return
        if time.monotonic() > limit:
            raise Failure(f"never has {fault}\n{output}")
        time.sleep(PAUSE)


def text_of_page():
    text = PAGE.read_text(encoding="utf-8")
    for port in PORTS:
        text = text.replace(port, f"localhost:{free_port()}")
    return text


def play(folder, programs, say):
    # A checkout of its own: nothing of a developer's is used or overwritten. Its compiler has built everything already.
    checkout = Path(folder) / "checkout"
    checkout.mkdir()
    for path in ROOT.iterdir():
        if path.name != ".build":
            (checkout / path.name).symlink_to(path)
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
        for line, mark, commands, answer in blocks(text_of_page()):
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


def run(name, play, done):
    """The whole of a script that plays a page: `play` gets a folder, the program's path and where to say how far it is.

    Says at the end `done`, or the fault, behind `name`. The result is the script's exit code.
    """
    if len(sys.argv) != 2:
        print(sys.modules["__main__"].__doc__, file=sys.stderr)
        return 2
    if not os.environ.get("KAFKA_HOME"):
        print("KAFKA_HOME must name an unpacked Apache Kafka", file=sys.stderr)
        return 2
    started = time.monotonic()

    def say(text):
        print(f"after {time.monotonic() - started:5.1f} s  {text}", flush=True)

    folder = tempfile.mkdtemp(prefix=f"grantor-{name.replace(' ', '-').lower()}-")
    try:
        play(folder, os.path.abspath(sys.argv[1]), say)
        fault = None
    except Failure as failure:
        fault = failure
    finally:
        shutil.rmtree(folder)
    print(f"{name}: FAILED\n{fault}" if fault else f"{name}: {done}")
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(run("by hand", play, "the page's commands answer as it says"))
