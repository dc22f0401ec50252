"""What several checks of this folder share: the checkout, its own interpreter, and a free port."""

import os
import socket
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def use_virtual_environment():
    """Starts this program again under the checkout's own interpreter, which has what requirements.txt pins."""
    python = ROOT / ".venv" / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != (ROOT / ".venv").resolve():
        os.execv(python, [str(python), *sys.argv])


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
