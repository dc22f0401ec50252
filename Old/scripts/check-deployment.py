#!/usr/bin/env python3
"""Checks image, docker-compose.yml, Kubernetes manifests, alerts and documentation against each other and the program.

  check-deployment.py [ROOT]    of this checkout, or of another one

Needs no network, engine or cluster. Prints one line per violation. Exit code: 0 none, 1 violations, 2 wrong usage.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def use_virtual_environment():
    """Starts this program again under the checkout's own interpreter, which has what requirements.txt pins."""
    python = ROOT / ".venv" / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != (ROOT / ".venv").resolve():
        os.execv(python, [str(python), __file__, *sys.argv[1:]])


use_virtual_environment()
try:
    from deployment import alerts, compose, documents, image, manifests
    from deployment.repository import Repository
except ImportError as error:
    sys.exit(f"{error}. Run: scripts/setup.sh --for ci")


def main():
    if len(sys.argv) > 2 or sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 2
    repository = Repository(Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT)
    parts = (image, compose, manifests, alerts, documents)
    found = [violation for part in parts for violation in part.check(repository)]
    for violation in found:
        print(violation)
    if not found:
        print("valid: image, composition, manifests, alerts and documentation")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
