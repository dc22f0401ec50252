#!/usr/bin/env python3
"""Runs the commands of README.md's "Run it for real" on Apache Kafka, and waits for the answer that it promises.

    scripts/readme-test.py FOLDER

FOLDER has the built program grantor. The commands run as they stand there, but for these: brokers and folders of the
host are ones of the test's own, nothing runs as root, and the program is built already. Loopback only: Apple is behind a
proxy that is not there, of which `grantor check` warns. Exit code: 0 passed, 1 not, 2 wrong usage or no KAFKA_HOME.
"""

import os
import re
import sys
from pathlib import Path

import pages
from checkout import ROOT, Failure, arguments, free_port, run, wait_for

BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## Run it for real\n(.*?)^###? ", re.MULTILINE | re.DOTALL)
ANSWER = "receipt_malformed"


def blocks(text, replaced):
    """The section's blocks: language and content, with the names that are the test's own."""
    section = SECTION.search(text)
    if section is None:
        raise Failure("README.md has no section Run it for real")
    for indent, language, content in BLOCK.findall(section.group(1)):
        content = re.sub(f"^{indent}", "", content, flags=re.MULTILINE)
        for name, own in replaced:
            content = content.replace(name, own)
        yield language, content


def start_broker(shell):
    """The broker of docs/by-hand.md; returns its address."""
    text = pages.text_by_hand()
    for _, _, commands, _ in pages.blocks(text):
        if "kafka-storage.sh format" in commands:
            shell.run(commands)
            return re.search(r"PLAINTEXT://(localhost:\d+)", commands).group(1)
    raise Failure("docs/by-hand.md starts no broker")


def play(folder, say, programs):
    checkout = pages.linked_checkout(folder)
    (checkout / ".build").mkdir()
    (checkout / ".build" / "release").symlink_to(programs)
    own = {name: Path(folder) / name for name in ("etc", "lib", "bin")}
    for path in own.values():
        path.mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GRANTOR_")}
    environment |= {
        "PATH": f"{own['bin']}:{os.environ['KAFKA_HOME']}/bin:{os.environ['PATH']}", "LOG_DIR": folder,
        "GRANTOR_HTTP_BIND": f"127.0.0.1:{free_port()}", "GRANTOR_APPLE_PROXY": f"http://127.0.0.1:{free_port()}",
        "KAFKA_HEAP_OPTS": "-Xmx512m -XX:TieredStopAtLevel=1", "USER": os.environ.get("USER", "root"),
    }
    shell, reader = pages.Shell(checkout, "first", environment), pages.Shell(checkout, "reader", environment)
    try:
        broker = start_broker(shell)
        pages.repeat(shell, f"kafka-topics.sh --bootstrap-server {broker} --list\n", [])
        say("a broker answers")
        replaced = [
            ("kafka-1:9092,kafka-2:9092", broker), ("kafka-1:9092", broker), ("/etc/grantor", str(own["etc"])),
            ("/var/lib/grantor", str(own["lib"])), ("/usr/local/bin", str(own["bin"])), ("sudo ", ""),
        ]
        for language, content in blocks((ROOT / "README.md").read_text(encoding="utf-8"), replaced):
            if language == "yaml":
                (own["etc"] / "apps.yaml").write_text(content, encoding="utf-8")
                (own["etc"] / "secrets" / "shared-secret").write_text("0123456789abcdef0123456789abcdef", encoding="utf-8")
                continue
            # A program that runs until Ctrl-C runs beside the next commands.
            content = re.sub(r"^grantor run$", "grantor run 2>> worker.log &", content, flags=re.MULTILINE)
            before, consumer, after = content.partition("kafka-console-consumer.sh")
            shell.run(before)
            say(before.strip().splitlines()[0])
            if consumer:
                reader.run(f"{consumer}{after.rstrip()} &\n")
                wait_for_answer(reader.log, checkout / "worker.log")
                say(f"answer: {ANSWER}")
                return
        raise Failure("README.md reads no answer")
    finally:
        reader.end()
        shell.end()


def wait_for_answer(output, worker):
    try:
        wait_for(ANSWER, lambda: ANSWER in output.read_text(encoding="utf-8", errors="replace"), pages.PATIENCE)
    except Failure as failure:
        log = worker.read_text(encoding="utf-8", errors="replace") if worker.exists() else ""
        raise Failure("\n".join([f"{failure}; the worker:", *log.splitlines()[-15:]])) from None


if __name__ == "__main__":
    found = arguments(needs_kafka=True, programs={"metavar": "FOLDER", "type": os.path.abspath})
    sys.exit(run("README", play, "its commands do what it says", **found))
