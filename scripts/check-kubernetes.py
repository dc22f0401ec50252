#!/usr/bin/env python3
"""Checks deploy/kubernetes against Kubernetes' schemas, against itself, and against the program.

    scripts/check-kubernetes.py GRANTOR

GRANTOR is the built program. It is started with each container's arguments, variables and files, without Kafka and
ledger. Needs loopback only, and no cluster. Prints one line per violation. Exit code: 0 none, 1 violations, 2 wrong
usage.
"""

import copy
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from checkout import ROOT, free_port, use_virtual_environment

use_virtual_environment()
try:
    import kubernetes_validate
    import yaml
except ImportError as error:
    sys.exit(f"{error}. Run: scripts/setup.sh --for test")

FOLDER = "deploy/kubernetes"
KUBERNETES = [f"1.{minor}" for minor in range(29, 38)]
# Custom resources; their schemas are not Kubernetes' own.
FOREIGN = {"ScaledObject", "TriggerAuthentication", "PodMonitor"}
SECRETS = "/etc/grantor/secrets"
RESTRICTED = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
# Each says a version of the product that must be the program's.
VERSIONED = [
    "Sources/Configuration/WorkerConfiguration.swift", "Dockerfile", "Makefile", "docker-compose.yml",
    "Tools/AppStoreSimulator/Program/SimulatorProgram.swift", "Tools/Benchmarks/main.swift",
    f"{FOLDER}/jobs/kustomization.yaml", f"{FOLDER}/workers/kustomization.yaml",
    f"{FOLDER}/operators/kustomization.yaml",
]
VERSION = re.compile(
    r'(?:programVersion = "|\bversion: "|\bVERSION ?= ?|\bgrantor[a-z-]*:|name: grantor,.*newTag: )(\d+\.\d+\.\d+\b)'
)


# The files of the checkout


class Manifests:
    """All documents below deploy/kubernetes, and what README.md there says about them."""

    def __init__(self, root):
        self.root = root
        self.readme = self.text(f"{FOLDER}/README.md")
        self.settings = set(re.findall(r"^\| `(GRANTOR_\w+)`", self.text("docs/configuration.md"), re.MULTILINE))
        self.documents = [
            (str(path.relative_to(root / FOLDER)), document)
            for path in sorted((root / FOLDER).glob("*/*.yaml"))
            for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
            if document["kind"] != "Kustomization"
        ]

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def built(self, part):
        """What `kubectl apply -k` sends: the resources, with the images' names and tags."""
        kustomization = yaml.safe_load(self.text(f"{FOLDER}/{part}/kustomization.yaml"))
        images = {image["name"]: f"{image['newName']}:{image['newTag']}" for image in kustomization.get("images", [])}
        documents = []
        for name in kustomization["resources"]:
            documents += yaml.safe_load_all(self.text(f"{FOLDER}/{part}/{name}"))
        for document in documents:
            for container in containers(document):
                container["image"] = images.get(container["image"], container["image"])
        return documents

    def find(self, kind, name="grantor"):
        return next((one for _, one in self.documents if name_of(one) == (kind, name)), None)

    def variables(self, container):
        """The container's environment."""
        found = {}
        for source in container.get("envFrom", []):
            found |= (self.find("ConfigMap", source["configMapRef"]["name"]) or {"data": {}})["data"]
        return found | {variable["name"]: variable["value"] for variable in container.get("env", [])}

    def files(self, document, container):
        """The files that are mounted into a container, with their texts; a secret's are those that README.md names."""
        volumes, found = {volume["name"]: volume for volume in pod(document)["volumes"]}, {}
        for mount in container["volumeMounts"]:
            volume = volumes[mount["name"]]
            if "configMap" in volume:
                texts = self.config_map(volume["configMap"]["name"])
            elif "secret" not in volume:
                continue
            else:
                texts = dict.fromkeys(re.findall(r"^\| `([\w.-]+)` \|", self.readme, re.MULTILINE))
            found |= {f"{mount['mountPath']}/{name}": text for name, text in texts.items()}
        return found

    def config_map(self, name):
        """Its data. One that README.md makes of a file has that file."""
        made = re.search(rf"create configmap {name} --from-file=(\S+)", self.readme)
        if made and (self.root / FOLDER / made[1]).is_file():
            return {Path(made[1]).name: self.text(f"{FOLDER}/{made[1]}")}
        return (self.find("ConfigMap", name) or {"data": {}})["data"]

    def secrets(self):
        return set(re.findall(r"create secret generic ([\w-]+)", self.readme))


def name_of(document):
    return document["kind"], document["metadata"]["name"]


def pod(document):
    spec = document.get("spec", {})
    return spec.get("jobTemplate", {}).get("spec", spec).get("template", {}).get("spec", {})


def containers(document):
    return [*pod(document).get("initContainers", []), *pod(document).get("containers", [])]


def seconds(duration):
    """0 for what is no duration, of which the program tells."""
    parts = re.fullmatch(r"(\d+)(ms|s|m|h)", duration)
    return int(parts[1]) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[parts[2]] if parts else 0


# Each document by itself


def check_schemas(manifests):
    for path, document in manifests.documents:
        for version in KUBERNETES if document["kind"] not in FOREIGN else []:
            try:
                kubernetes_validate.validate(copy.deepcopy(document), version, strict=True)
            except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
                yield f"{path}: not valid in Kubernetes {version}: {getattr(error, 'message', error)}"
                break


def check_pods(manifests):
    for path, document in manifests.documents:
        spec = pod(document)
        if not spec:
            continue
        context = spec.get("securityContext", {})
        if not context.get("runAsNonRoot") or {context.get("runAsUser"), context.get("fsGroup")} != {10001}:
            yield f"{path}: does not run as the image's user 10001"
        if context.get("seccompProfile") != {"type": "RuntimeDefault"}:
            yield f"{path}: has no seccomp profile"
        if spec.get("automountServiceAccountToken") is not False:
            yield f"{path}: holds a token of the cluster"
        if spec.get("enableServiceLinks") is not False:
            yield f"{path}: gets the variables of services, which the program refuses"
        for container in containers(document):
            name = f"{path}: {container['name']}"
            if container.get("securityContext") != RESTRICTED:
                yield f"{name}: is not restricted to {json.dumps(RESTRICTED)}"
            resources = container["resources"]
            if set(resources.get("requests", {})) != {"cpu", "memory"} or "memory" not in resources.get("limits", {}):
                yield f"{name}: does not request CPU and memory, or has no limit of memory"
            for variable in sorted(set(manifests.variables(container)) - manifests.settings):
                yield f"{name}: {variable} is no setting of docs/configuration.md"
            for source in container.get("envFrom", []):
                if not manifests.find("ConfigMap", source["configMapRef"]["name"]):
                    yield f"{name}: there is no ConfigMap {source['configMapRef']['name']}"
        for volume in spec["volumes"]:
            if "secret" in volume and volume["secret"]["secretName"] not in manifests.secrets():
                yield f"{path}: README.md makes no secret {volume['secret']['secretName']}"
            if "configMap" in volume and not manifests.config_map(volume["configMap"]["name"]):
                yield f"{path}: there is no ConfigMap {volume['configMap']['name']}"


def check_files(manifests):
    """Every file that a variable, a command or a mounted text names is mounted, too."""
    for path, document in manifests.documents:
        for container in containers(document):
            files = manifests.files(document, container)
            texts = [*manifests.variables(container).values(), *container.get("command", []), *files.values()]
            if f"{SECRETS}/kafka.properties" in files:
                texts.append(kafka_properties(manifests))
            named = {name for text in texts if text for name in re.findall(r"/etc/grantor/[\w./-]+", text)}
            # Jobs and operators have the workers' settings, and need no apps.
            excused = set() if name_of(document) == ("Deployment", "grantor") else {"/etc/grantor/apps/apps.yaml"}
            for name in sorted(named - set(files) - excused):
                yield f"{path}: {container['name']}: {name} is named, and neither mounted nor in README.md"


def kafka_properties(manifests):
    return re.search(r"```properties\n(.*?)```", manifests.readme, re.DOTALL)[1]


def check_jobs(manifests):
    for path, document in manifests.documents:
        if document["kind"] == "Job":
            rules = document["spec"].get("podFailurePolicy", {}).get("rules", [])
            if not any(rule["action"] == "FailJob" and 78 in rule["onExitCodes"]["values"] for rule in rules):
                yield f"{path}: tries again after 78, which a person must mend"


# Documents compared with each other


def check_workers(manifests):
    deployment = manifests.find("Deployment")
    worker, labels = containers(deployment)[0], deployment["spec"]["template"]["metadata"]["labels"]
    variables = manifests.variables(worker)
    selectors = [
        (kind, manifests.find(kind)["spec"]["selector"])
        for kind in ("Deployment", "PodDisruptionBudget", "PodMonitor", "Service")
    ]
    selectors += [("topology spread", one["labelSelector"]) for one in pod(deployment)["topologySpreadConstraints"]]
    selectors.append(("NetworkPolicy", manifests.find("NetworkPolicy")["spec"]["podSelector"]))
    for kind, selector in selectors:
        if not selector.get("matchLabels", selector).items() <= labels.items():
            yield f"workers: the {kind} selects no worker"
    if pod(deployment).get("terminationGracePeriodSeconds", 0) < seconds(variables["GRANTOR_SHUTDOWN_TIMEOUT"]) + 25:
        yield "workers: terminationGracePeriodSeconds is not 25 seconds above GRANTOR_SHUTDOWN_TIMEOUT"
    yield from check_ports(manifests, worker, variables)
    for path, job in manifests.documents:
        if job["kind"] == "Job" and "migrate" in path:
            owner = manifests.variables(containers(job)[0])["GRANTOR_LEDGER_URL"]
            if owner.replace("//grantor_owner@", "//grantor_worker@") != variables["GRANTOR_LEDGER_URL"]:
                yield f"{path}: migrates another ledger than the workers', or not as grantor_owner"


def check_operators(manifests):
    """Commands of people have a role that may change something, and an audit may write what it must."""
    worker = manifests.variables(containers(manifests.find("Deployment"))[0])["GRANTOR_LEDGER_URL"]
    for kind, name in (("Deployment", "grantor-operator"), ("CronJob", "grantor-audit")):
        document = manifests.find(kind, name)
        container = containers(document)[0]
        if manifests.variables(container)["GRANTOR_LEDGER_URL"] != worker.replace("_worker@", "_operator@"):
            yield f"operators: {name} has another ledger than the workers, or is not grantor_operator"
        if {one["secret"]["secretName"] for one in pod(document)["volumes"] if "secret" in one} != {"grantor-operator"}:
            yield f"operators: {name} has not the operators' secret"
        if not container["resources"]["limits"]["memory"] == "768Mi":
            yield f"operators: {name} has no memory for an audit, which takes 512 MiB"
        volumes = {one["name"]: one for one in pod(document)["volumes"]}
        writable = {
            one["mountPath"] for one in container["volumeMounts"]
            if {"emptyDir", "persistentVolumeClaim"} & volumes[one["name"]].keys()
        }  # fmt: skip
        named = [word.partition("=")[2] for word in container.get("args", []) if "=" in word] or ["/tmp/file"]
        for path in named:
            if not any(Path(path).is_relative_to(folder) for folder in writable):
                yield f"operators: {name} cannot write {path}"
    audit = pod(manifests.find("CronJob", "grantor-audit"))
    claims = [one["persistentVolumeClaim"]["claimName"] for one in audit["volumes"] if "persistentVolumeClaim" in one]
    if not claims or not manifests.find("PersistentVolumeClaim", claims[0]):
        yield "operators: grantor-audit has no volume that keeps its checkpoint"


def check_ports(manifests, worker, variables):
    service, policy = manifests.find("Service"), manifests.find("NetworkPolicy")
    port = {one["name"]: one["containerPort"] for one in worker["ports"]}["http"]
    for name, other in (
        ("GRANTOR_HTTP_BIND", variables["GRANTOR_HTTP_BIND"].rpartition(":")[2]),
        ("the livenessProbe", worker["livenessProbe"]["httpGet"]["port"]),
        ("the readinessProbe", worker["readinessProbe"]["httpGet"]["port"]),
        ("the Service", service["spec"]["ports"][0]["targetPort"]),
        ("the Service's annotation", service["metadata"]["annotations"]["prometheus.io/port"]),
        ("the NetworkPolicy", policy["spec"]["ingress"][0]["ports"][0]["port"]),
    ):
        if str(other) not in ("http", str(port)):
            yield f"workers: {name} is not port {port}, but {other}"


def check_autoscalers(manifests):
    deployment = manifests.find("Deployment")
    arguments = containers(manifests.find("Job", "grantor-topics"))[0]["args"]
    partitions = next((int(word.partition("=")[2]) for word in arguments if word.startswith("--partitions=")), 0)
    lag, cpu = manifests.find("ScaledObject")["spec"], manifests.find("HorizontalPodAutoscaler")["spec"]
    numbers = {(cpu["minReplicas"], cpu["maxReplicas"]), (lag["minReplicaCount"], lag["maxReplicaCount"])}
    if len(numbers) != 1:
        yield "workers: the autoscalers differ in their numbers of workers"
    if max(most for _, most in numbers) > partitions:
        yield f"workers: the autoscalers allow more workers than the {partitions} partitions of topics.yaml"
    if {scaler["scaleTargetRef"]["name"] for scaler in (cpu, lag)} != {deployment["metadata"]["name"]}:
        yield "workers: an autoscaler scales what is not there"
    if "replicas" in deployment["spec"]:
        yield "workers: the Deployment's replicas and the autoscaler contend"
    trigger, variables = lag["triggers"][0]["metadata"], manifests.variables(containers(deployment)[0])
    variables = {"GRANTOR_KAFKA_GROUP_ID": "grantor", "GRANTOR_TOPIC_SUBMITTED": "receipts.submitted"} | variables
    for member, variable in (
        ("consumerGroup", "GRANTOR_KAFKA_GROUP_ID"), ("topic", "GRANTOR_TOPIC_SUBMITTED"),
        ("bootstrapServers", "GRANTOR_KAFKA_BOOTSTRAP_SERVERS"),
    ):  # fmt: skip
        if trigger[member] != variables[variable]:
            yield f"workers/autoscaler-by-lag.yaml: {member} is not {variable}"


def check_build(manifests):
    """Each part is built, by kubectl too where it is there; a build names no image without a version."""
    for part in ("settings", "jobs", "workers", "operators"):
        built = manifests.built(part)
        for document in built:
            for container in containers(document):
                if ":" not in container["image"]:
                    yield f"{part}: the image {container['image']} has no version"
        if shutil.which("kubectl"):
            words = ["kubectl", "kustomize", str(manifests.root / FOLDER / part)]
            done = subprocess.run(words, capture_output=True, text=True)
            theirs, ours = ({name_of(one): one for one in all} for all in (yaml.safe_load_all(done.stdout), built))
            if done.returncode != 0 or theirs != ours:
                yield f"{part}: kubectl kustomize builds something else: {done.stderr.strip()[:300]}"


def check_versions(manifests):
    versions = {path: set(VERSION.findall(manifests.text(path))) for path in VERSIONED}
    for path, found in versions.items():
        if found != versions[VERSIONED[0]]:
            yield f"{path}: names {sorted(found)}, and the program is {sorted(versions[VERSIONED[0]])}"


# Documents on the real program


class Program:
    """The built program, started as a container starts it, but for its files, which are elsewhere."""

    def __init__(self, path, manifests, folder):
        self.path, self.manifests, self.folder = path, manifests, folder
        key = openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        authority = openssl("req", "-x509", "-key", "/dev/stdin", "-subj", "/CN=authority", stdin=key)
        self.secrets = {".p8": key, ".crt": authority, ".properties": kafka_properties(manifests)}

    def start(self, document, container, **more):
        for name, text in self.manifests.files(document, container).items():
            file = Path(self.here(name))
            file.parent.mkdir(parents=True, exist_ok=True)
            content = self.secrets.get(file.suffix, "made-up") if text is None else text
            file.write_text(self.here(content), encoding="utf-8")
        variables = {name: self.here(value) for name, value in self.manifests.variables(container).items()}
        variables["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = "127.0.0.1:1"
        variables["GRANTOR_LEDGER_URL"] = re.sub(r"@[^/?]+", "@127.0.0.1:1", variables["GRANTOR_LEDGER_URL"])
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        arguments = [word.replace("/var/lib/grantor", str(self.folder)) for word in container["args"]]
        return subprocess.Popen([self.path, *arguments], env=variables | more, **pipes)

    def here(self, text):
        return text.replace("/etc/grantor", str(self.folder))

    def jobs(self):
        """With nothing to reach they end with 1, and an audit with 2. 78 is a refused setting, 64 an argument."""
        for path, document in self.manifests.documents:
            for container in containers(document):
                if document["kind"] in ("Job", "CronJob") and container["image"] == "grantor":
                    process = self.start(document, container)
                    output, _ = process.communicate(timeout=60)
                    if process.returncode != (2 if container["name"] == "audit" else 1):
                        name, code = container["name"], process.returncode
                        yield f"{path}: {name}: grantor ends with {code}: {output.strip()[-300:]}"

    def worker(self):
        """Without its ledger it is live and not ready, has metrics, and ends in order."""
        deployment = self.manifests.find("Deployment")
        worker = containers(deployment)[0]
        probes = {name: worker[name]["httpGet"]["path"] for name in ("livenessProbe", "readinessProbe")}
        probes["PodMonitor"] = self.manifests.find("PodMonitor")["spec"]["podMetricsEndpoints"][0]["path"]
        probes["Service"] = self.manifests.find("Service")["metadata"]["annotations"]["prometheus.io/path"]
        address = f"127.0.0.1:{free_port()}"
        process = self.start(deployment, worker, GRANTOR_HTTP_BIND=address)
        end = time.monotonic() + 30
        while status(address, "/livez") is None and process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        answers = {part: status(address, path) for part, path in probes.items()}
        process.terminate()
        try:
            output, _ = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
        if process.returncode != 0:
            yield f"workers: grantor ends with {process.returncode}: {output.strip()[-300:]}"
            return
        for part, answer in answers.items():
            if answer != (503 if part == "readinessProbe" else 200):
                yield f"workers: the {part} asks {probes[part]}, which answers {answer} without a ledger"


def openssl(*words, stdin=None):
    return subprocess.run(["openssl", *words], input=stdin, capture_output=True, text=True, check=True).stdout


def status(address, path):
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


CHECKS = [
    check_schemas, check_pods, check_files, check_jobs, check_workers, check_operators, check_autoscalers, check_build,
    check_versions,
]


def violations(root, program):
    manifests = Manifests(root)
    for check in CHECKS:
        yield from check(manifests)
    with tempfile.TemporaryDirectory(prefix="grantor-kubernetes-") as folder:
        started = Program(program, manifests, folder)
        yield from started.worker()
        yield from started.jobs()


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    found = list(violations(ROOT, Path(sys.argv[1]).resolve()))
    print("\n".join(found or [f"valid: {FOLDER}"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
