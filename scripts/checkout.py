"""What several checks of this folder share: the checkout, its own interpreter, a free port, and waiting."""

import os
import socket
import sys
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
