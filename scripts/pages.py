"""Commands of a page, which one shell runs as a terminal does, and their answers."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from checkout import ROOT, Failure, free_port

BY_HAND = ROOT / "docs" / "by-hand.md"
# Its ports, which free ones replace.
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


def text_by_hand():
    """docs/by-hand.md with ports that are free."""
    text = BY_HAND.read_text(encoding="utf-8")
    for port in PORTS:
        text = text.replace(port, f"localhost:{free_port()}")
    return text


def linked_checkout(folder):
    """A checkout of its own, so that nothing of a developer's is used or overwritten."""
    checkout = Path(folder) / "checkout"
    checkout.mkdir()
    for path in ROOT.iterdir():
        if path.name != ".build":
            (checkout / path.name).symlink_to(path)
    return checkout
