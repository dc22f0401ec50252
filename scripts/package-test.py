#!/usr/bin/env python3
"""Installs the package on clean Debian 12 and 13, runs its service under systemd, and judges what is granted and left.

In a container each: install, ten lines of settings at most, a first granted event by an Apache Kafka beside it; then
kill -9, a worker that is frozen, a stop, a mistake in the configuration, an upgrade, removal, purge, and the tarball
with its service.
Needs Docker, python3, dpkg-deb, a built grantor-simulator and what make package made; the images come from a registry
or are made by scripts/stand-in-images.sh. It removes all that it starts.

    scripts/package-test.py SIMULATOR [bookworm|trixie]
"""
import glob
import importlib
import json
import os
import re
import shutil
import sys
import tempfile
import time

# Its simulator and its helpers serve here, too.
stack = importlib.import_module("compose-test")
Failure, run, wait_for = stack.Failure, stack.run, stack.wait_for

SUITES = ("bookworm", "trixie")
FIRST_EVENT_LIMIT = 120
BROKER = "localhost:9092"
KAFKA = {
    "KAFKA_NODE_ID": "1", "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9093", "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093", "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://{BROKER}",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1", "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1", "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
    "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false", "KAFKA_HEAP_OPTS": "-Xms256m -Xmx512m",
}
# Slim images leave manuals and documents out. /boot gives systemd the cgroups that it wants, also on an old host.
DOCKERFILE = r"""
FROM debian:{suite}-slim
RUN rm -f /etc/dpkg/dpkg.cfg.d/docker && apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install \
    --no-install-recommends systemd systemd-sysv man-db >/dev/null && rm -rf /var/lib/apt/lists/*
RUN printf '%s\n' '#!/bin/sh' 'set -e' '[ "$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs ] || umount -R /sys/fs/cgroup' \
    'mount -t cgroup2 none /sys/fs/cgroup' 'exec /sbin/init' >/boot-systemd && chmod 755 /boot-systemd
STOPSIGNAL SIGRTMIN+3
CMD ["/boot-systemd"]
"""
APPS = f"apps:\n  - {{bundleId: {stack.APP}, sandbox: {{policy: reject}}, receipts: local, products: any}}\n"
# With quotes, blanks and an end of Windows, which systemd and grantor-admin must read alike.
ROOTS = "  GRANTOR_APPLE_ROOT_CERTIFICATES = \"/etc/grantor/roots.pem\" \\r"


class Host:
    """A clean Debian with systemd, and a broker that shares its network."""

    def __init__(self, suite):
        image = f"grantor-package-test:{suite}"
        run("docker", "build", "--tag", image, "-", stdin=DOCKERFILE.replace("{suite}", suite))
        self.name = f"grantor-package-test-{os.getpid()}-{suite}"
        self.kafka = f"{self.name}-kafka"
        self.submitted = self.events = 0
        variables = [word for name, value in KAFKA.items() for word in ("-e", f"{name}={value}")]
        run("docker", "run", "-d", "--name", self.kafka, *variables, "apache/kafka:3.9.1")
        # Without the one capability that a host of containers may lack itself.
        run(
            "docker", "run", "-d", "--name", self.name, "--network", f"container:{self.kafka}", "--cgroupns=private",
            "--cap-add=ALL", "--cap-drop=SYS_RESOURCE", "--security-opt=seccomp=unconfined",
            "--security-opt=apparmor=unconfined", "--tmpfs=/run", "-e", "container=docker", image,
        )
        wait_for("systemd", lambda: self.state() in ("running", "degraded"), 60)
        probe = ("bash", "-c", "exec 3<>/dev/tcp/localhost/9092 && echo open")
        wait_for("Kafka", lambda: run("docker", "exec", self.kafka, *probe, check=False).strip() == "open", 120)

    def state(self):
        return self.shell("systemctl is-system-running", check=False).strip()

    def shell(self, text, stdin=None, check=True):
        return run("docker", "exec", "-i", self.name, "bash", "-ec", text, stdin=stdin, check=check)

    def copy(self, source, target):
        run("docker", "cp", source, f"{self.name}:{target}")

    def install(self, package):
        self.copy(package, "/root/")
        return self.shell(
            "export DEBIAN_FRONTEND=noninteractive; apt-get -qq update && "
            f"apt-get -qq -y install --no-install-recommends /root/{os.path.basename(package)} 2>&1"
        )

    def tool(self, name, *words, **options):
        path = f"/opt/kafka/bin/{name}.sh"
        return run("docker", "exec", "-i", self.kafka, path, "--bootstrap-server", BROKER, *words, **options)

    def grant(self, simulator):
        """Submits a purchase and waits for its event, which proves that a worker works."""
        self.submitted += 1
        transaction = str(2_000_000_000_000_000 + self.submitted)
        value = {
            "submissionId": f"order-{transaction}", "userId": "player-1", "bundleId": stack.APP,
            "signedTransaction": simulator.signed(transaction),
        }
        self.tool(
            "kafka-console-producer", "--topic", "receipts.submitted", "--property", "parse.key=true",
            stdin=f"player-1\t{json.dumps(value)}\n",
        )
        # A killed worker may have told an event twice, so one more is read until the new one is among them.
        granted = []
        while transaction not in granted:
            lines = self.tool(
                "kafka-console-consumer", "--topic", "purchases.granted", "--from-beginning", "--timeout-ms", "60000",
                "--max-messages", str(self.events + 1), check=False,
            ).splitlines()
            granted = [json.loads(line)["transactionId"] for line in lines if line.startswith("{")]
            expect(len(granted) > self.events, f"no event of {transaction} within a minute")
            self.events = len(granted)

    def show(self, *names):
        words = " ".join(f"--property={name}" for name in names)
        lines = self.shell(f"systemctl show grantor.service {words}").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def worker(self):
        """The worker's process, or None while there is none."""
        service = self.show("MainPID", "ActiveState")
        return service["MainPID"] if service["ActiveState"] == "active" and service["MainPID"] != "0" else None

    def wait_for_another(self, worker, limit):
        wait_for("another worker", lambda: self.worker() not in (None, worker), limit)

    def end(self):
        run("docker", "rm", "--force", "--volumes", self.name, self.kafka, check=False)


def expect(condition, text):
    if not condition:
        raise Failure(text)


def older(package, folder):
    """The same content under a lower version."""
    run("dpkg-deb", "--raw-extract", package, f"{folder}/older")
    control = f"{folder}/older/DEBIAN/control"
    with open(control, encoding="utf-8") as file:
        text = re.sub(r"^Version: .*$", "Version: 0.1.0", file.read(), flags=re.MULTILINE)
    with open(control, "w", encoding="utf-8") as file:
        file.write(text)
    run("dpkg-deb", "--build", "--root-owner-group", "-Zgzip", "-z1", f"{folder}/older", f"{folder}/grantor_0.1.0.deb")
    return f"{folder}/grantor_0.1.0.deb"


def configure(host, simulator):
    host.copy(simulator.roots, "/etc/grantor/roots.pem")
    host.shell("cat >/etc/grantor/apps.yaml; chmod 644 /etc/grantor/apps.yaml /etc/grantor/roots.pem", stdin=APPS)
    host.shell(
        f"sed -i 's/^GRANTOR_KAFKA_BOOTSTRAP_SERVERS=$/&{BROKER}/; $a \\{ROOTS}' /etc/grantor/grantor.env"
    )


def first_event(host, package, simulator, say):
    started = time.monotonic()
    said = host.install(package)
    expect("grantor is not started" in said, "installation does not say that the worker is not started")
    expect(host.show("ActiveState")["ActiveState"] == "inactive", "installation starts a worker without configuration")
    installed = time.monotonic() - started
    configure(host, simulator)
    lines = int(host.shell("cat /etc/grantor/grantor.env /etc/grantor/apps.yaml | grep -cvE '^(#|$)'"))
    expect(lines <= 10, f"{lines} lines of configuration")
    host.shell("grantor-admin topics create --partitions 1 && grantor-admin migrate")
    checked = host.shell("grantor-admin check", check=False)
    expect("FAILED" not in "".join(line for line in checked.splitlines() if "Apple" not in line), checked)
    host.shell("systemctl enable --now --quiet grantor")
    host.grant(simulator)
    seconds = time.monotonic() - started
    say(f"a first granted event after {seconds:.0f} s and {lines} lines; the install took {installed:.0f} s of them")
    expect(seconds <= FIRST_EVENT_LIMIT, f"the first granted event took longer than {FIRST_EVENT_LIMIT} s")


def documents(host, say):
    warnings = host.shell("LC_ALL=C.UTF-8 man --warnings grantor 2>&1 >/root/page")
    page = host.shell("cat /root/page")
    expect(not warnings, f"man warns: {warnings}")
    for words in ("grantor run", "grantor submissions retry", "/etc/grantor/grantor.env"):
        expect(words in page, f"the manual does not name {words}")
    units = "/usr/lib/systemd/system/grantor.service /usr/lib/systemd/system/grantor-watchdog.service"
    said = host.shell(f"systemd-analyze verify {units} 2>&1", check=False)
    expect(not said, f"systemd-analyze verify: {said}")
    for unit in units.split():
        score = host.shell(f"systemd-analyze security --offline=true {unit} | tail -n 1")
        say(re.sub(r"[^ -~]+", "", score).strip())
        exposure = float(re.search(r": ([0-9.]+)", score).group(1))
        expect(exposure <= 2.5, f"{unit} is exposed: {score}")


def service(host, simulator, say):
    worker = host.worker()
    status = host.shell(f"cat /proc/{worker}/status")
    for line in ("NoNewPrivs:\t1", "Seccomp:\t2", "CapBnd:\t0000000000000000"):
        expect(line in status, f"the worker's status lacks {line}")
    modes = host.shell("stat -c '%U:%G %a' /etc/grantor /etc/grantor/grantor.env /etc/grantor/secrets /var/lib/grantor")
    wanted = "root:grantor 750\nroot:grantor 640\nroot:grantor 750\ngrantor:grantor 750\n"
    expect(modes == wanted, f"modes: {modes}")

    host.shell(f"kill -KILL {worker}")
    host.wait_for_another(worker, 20)
    host.grant(simulator)
    say("a killed worker is started again")

    worker, frozen = host.worker(), time.monotonic()
    host.shell(f"kill -STOP {worker}")
    host.wait_for_another(worker, 90)
    say(f"a frozen worker has a successor after {time.monotonic() - frozen:.0f} s")
    host.grant(simulator)

    host.shell("systemctl reload grantor")
    log = "journalctl --unit grantor --output cat"
    wait_for("the line about a reload", lambda: "The apps file is read again" in host.shell(log), 20)
    host.shell("systemctl stop grantor")
    stopped = host.show("ActiveState", "Result", "ExecMainStatus")
    expect(list(stopped.values()).count("success") == 1 and stopped["ExecMainStatus"] == "0", f"a stop: {stopped}")
    watchdog = host.shell("systemctl is-active grantor-watchdog.service", check=False).strip()
    expect(watchdog == "inactive", f"the watchdog is {watchdog} after a stop")
    say("a stop ends with 0, and ends the watchdog")

    host.shell("mv /etc/grantor/apps.yaml /root/ && systemctl start grantor", check=False)
    wait_for("a failed service", lambda: host.show("ActiveState")["ActiveState"] == "failed", 20)
    # Longer than the pause before a restart.
    time.sleep(8)
    failed = host.show("ActiveState", "ExecMainStatus", "NRestarts")
    expect(failed == {"ActiveState": "failed", "ExecMainStatus": "78", "NRestarts": "0"}, f"a mistake: {failed}")
    host.shell("mv /root/apps.yaml /etc/grantor/ && systemctl start grantor")
    host.grant(simulator)
    say("a mistake in the configuration ends with 78, without a restart")


def upgrade(host, package, version, simulator, say):
    sums = "sha256sum /etc/grantor/{grantor.env,apps.yaml}; stat -c '%n %U:%G %a' /etc/grantor/*"
    before, worker = host.shell(sums), host.worker()
    host.install(package)
    expect(host.shell("dpkg-query --show --showformat='${Version}' grantor") == version, "no upgrade")
    expect(host.shell(sums) == before, "the upgrade changes the configuration")
    host.wait_for_another(worker, 30)
    host.grant(simulator)
    say(f"the upgrade to {version} keeps the configuration and restarts the worker")
    # One that somebody has stopped stays so.
    host.shell("systemctl stop grantor")
    host.shell(f"dpkg --install /root/{os.path.basename(package)}")
    expect(host.worker() is None, "an upgrade starts a worker that was stopped")
    host.shell("systemctl start grantor")


def removal(host, say):
    files = host.shell("dpkg --listfiles grantor").split("\n")
    host.shell("DEBIAN_FRONTEND=noninteractive apt-get -qq -y remove grantor")
    kept = [path for path in files if path and host.shell(f"[ -d '{path}' ] || ls '{path}'", check=False)]
    expect(kept == ["/etc/grantor/grantor.env"], f"after removal there is {kept}")
    # A link to a unit that is gone, too.
    others = ("/proc", "/sys", "/run", "/root", "/var/log", "/var/cache", "/var/lib/dpkg")
    apart = " -o ".join(f"-path {path}" for path in others)
    find = f"find / -xdev \\( {apart} \\) -prune -o -name '*grantor*' -print"
    left = sorted(host.shell(find).split())
    expect([path for path in left if not path.startswith(("/etc/grantor", "/var/lib/grantor"))] == [], f"left: {left}")
    expect("/var/lib/grantor/grantor.db" in left and "/etc/grantor" in left, f"removal deletes too much: {left}")
    expect("/usr/bin/grantor" not in host.shell("ls -l /proc/[0-9]*/exe", check=False), "the worker runs after removal")
    said = host.shell("DEBIAN_FRONTEND=noninteractive apt-get -qq -y purge grantor 2>&1")
    expect("/var/lib/grantor stays" in said, "purge does not say that the ledger stays")
    left = host.shell(find).split()
    expect("/var/lib/grantor/grantor.db" in left, "purge deletes the ledger")
    expect([path for path in left if not path.startswith("/var/lib/grantor")] == [], f"after purge: {left}")
    say("removal leaves configuration and ledger, purge the ledger")


def tarball(host, path, version, simulator, say):
    host.copy(path, "/root/")
    # The libraries are there from the package, and so is the user.
    host.shell(f"cd /root && tar -xf {os.path.basename(path)} && userdel grantor")
    folder = f"/root/grantor-{version}-*/"
    section = host.shell(f"sed -n '/^### The service of the tarball/,/^## /p' {folder}docs/operations.md")
    commands = re.search(r"```sh\n(.*?)```", section, re.DOTALL).group(1)
    host.shell(f"cd {folder}\n{commands}")
    # The ledger is the package's, whose user had another number.
    host.shell("chown -R grantor: /var/lib/grantor")
    configure(host, simulator)
    said = host.shell("systemctl cat grantor.service grantor-watchdog.service | grep -c ^ExecStart=")
    expect(said.strip() == "2", "the tarball lacks a unit")
    host.shell("systemctl start grantor")
    host.grant(simulator)
    worker = host.worker()
    host.shell(f"kill -STOP {worker}")
    host.wait_for_another(worker, 90)
    host.grant(simulator)
    say("the tarball's service grants, and its watchdog kills a frozen worker")


def play(suite, packages, simulator, say):
    package, archive, previous, version = packages
    host = Host(suite)
    try:
        first_event(host, previous, simulator, say)
        documents(host, say)
        service(host, simulator, say)
        upgrade(host, package, version, simulator, say)
        removal(host, say)
        tarball(host, archive, version, simulator, say)
    except Failure:
        print(host.shell("journalctl --no-pager -n 40", check=False)[-6000:], file=sys.stderr)
        raise
    finally:
        host.end()


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["bookworm"], ["trixie"]):
        print(__doc__, file=sys.stderr)
        return 64
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    package = max(glob.glob(f"{here}/.build/packages/grantor_*.deb"), key=os.path.getmtime)
    archive = max(glob.glob(f"{here}/.build/packages/grantor-*.tar.gz"), key=os.path.getmtime)
    version = run("dpkg-deb", "--field", package, "Version").strip()
    if shutil.which("lintian"):
        # Its errors end the test; its warnings are about modes that keep others from reading the configuration.
        print(run("lintian", "--fail-on", "error", package), end="")
    passed = True
    with tempfile.TemporaryDirectory(prefix="grantor-package-") as folder:
        simulator = stack.Simulator(os.path.abspath(sys.argv[1]), f"{folder}/authority")
        try:
            packages = (package, archive, older(package, folder), version)
            for suite in sys.argv[2:] or SUITES:
                play(suite, packages, simulator, lambda text, suite=suite: print(f"{suite:8}  {text}", flush=True))
        except Failure as failure:
            print(f"package-test: {failure}", file=sys.stderr)
            passed = False
        finally:
            simulator.stop()
    print("PASSED" if passed else "FAILED")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
