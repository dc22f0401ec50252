"""What several checks of this folder share: the checkout, its own interpreter, arguments and result, and waiting."""

import argparse
import os
import socket
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Longest wait for something that must come, in seconds. Only a hang takes as long.
PATIENCE = 180


class Failure(Exception):
    """Something is not as it must be, or does not come."""


def use_virtual_environment():
    """Starts this program again under the checkout's own interpreter, which has what requirements.txt pins."""
    python = ROOT / ".venv" / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != (ROOT / ".venv").resolve():
        os.execv(python, [str(python), *sys.argv])


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(what, condition, limit=PATIENCE, pause=0.1):
    """Looks every so many seconds whether something has come."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"{what} did not come within {limit} s")
        time.sleep(pause)


def arguments(needs_kafka=False, **names):
    """The script's arguments, each with what argparse has to know of it. Wrong ones end the script with 2."""
    parser = argparse.ArgumentParser(
        description=sys.modules["__main__"].__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, how in names.items():
        parser.add_argument(name, **how)
    found = parser.parse_args()
    if needs_kafka and not os.environ.get("KAFKA_HOME"):
        parser.error("KAFKA_HOME must name an unpacked Apache Kafka")
    return vars(found)


def run(name, play, done, **found):
    """The whole of a check: `play` gets a folder, which goes afterwards, a function that says how far it is, and the
    script's arguments. It returns the faults that it has found, or throws Failure.

    Says the faults at the end, or `done`. The result is the script's exit code.
    """
    started = time.monotonic()

    def say(text):
        print(f"after {time.monotonic() - started:6.1f} s  {text}", flush=True)

    with tempfile.TemporaryDirectory(prefix=f"grantor-{name.replace(' ', '-').lower()}-") as folder:
        try:
            faults = play(folder, say, **found)
        except Failure as failure:
            faults = [failure]
    for fault in faults or []:
        print(fault)
    print(f"{name}: {'FAILED' if faults else done}")
    return 1 if faults else 0
