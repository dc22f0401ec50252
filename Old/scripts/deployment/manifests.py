"""deploy/kubernetes: each manifest against Kubernetes' schemas, and all of them against each other and the program."""

import copy
import re

import kubernetes_validate

from .repository import seconds

FOLDER = "deploy/kubernetes"
# The oldest and the newest version that the manifests are meant for.
VERSIONS = ["1.30", "1.37"]
# Custom resources, whose schemas are not Kubernetes'.
FOREIGN = {("keda.sh/v1alpha1", "ScaledObject"), ("keda.sh/v1alpha1", "TriggerAuthentication")}


def check(repository):
    manifests = [
        (str(path.relative_to(repository.root)), document)
        for path in sorted((repository.root / FOLDER).rglob("*.yaml"))
        for document in repository.documents(path.relative_to(repository.root))
        if "kind" in document
    ]
    if not manifests:
        yield f"{FOLDER}: holds no manifests"
    for path, document in manifests:
        for violation in [*schema(document), *general(document)]:
            yield f"{path}: {violation}"
    everything = Manifests(repository, manifests)
    for path, document in manifests:
        for violation in everything.violations(document):
            yield f"{path}: {violation}"


def schema(document):
    if (document["apiVersion"], document["kind"]) in FOREIGN:
        return
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(copy.deepcopy(document), version, strict=True)
        except kubernetes_validate.ValidationError as error:
            where = "/".join(str(part) for part in error.path)
            yield f"not valid in Kubernetes {version}: {where}: {error.message[:200]}"
        except kubernetes_validate.SchemaNotFoundError:
            yield f"Kubernetes {version} has no {document['apiVersion']} {document['kind']}"


def general(document):
    if "namespace" in document["metadata"]:
        yield "names a namespace"


class Manifests:
    """All manifests, to follow names from one to another."""

    def __init__(self, repository, manifests):
        self.repository = repository
        self.by_name = {(document["kind"], document["metadata"]["name"]): document for _, document in manifests}

    def violations(self, document):
        kind = document["kind"]
        if kind in ("Deployment", "Job"):
            pod = document["spec"]["template"]
            yield from self.pod(pod["spec"])
            yield from self.containers(pod["spec"])
        if kind == "Deployment":
            yield from self.deployment(document)
        if kind == "ConfigMap":
            yield from self.settings(document["data"])
        if kind in ("PodDisruptionBudget", "Service"):
            selector = document["spec"]["selector"]
            yield from self.selects_workers(selector.get("matchLabels", selector))
        if kind in ("HorizontalPodAutoscaler", "ScaledObject"):
            yield from self.autoscaler(document["spec"])

    def workers(self):
        return self.by_name["Deployment", "grantor"]["spec"]

    def selects_workers(self, labels):
        if not labels.items() <= self.workers()["template"]["metadata"]["labels"].items():
            yield "selects no worker"

    def pod(self, spec):
        """The restricted pod security standard, and what it leaves open."""
        context = spec.get("securityContext", {})
        if context.get("runAsNonRoot") is not True or context.get("runAsUser") != 10001:
            yield "does not run as the image's user"
        if context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            yield "has no seccomp profile"
        if spec.get("automountServiceAccountToken") is not False:
            yield "holds a token of the cluster"
        if spec.get("enableServiceLinks") is not False:
            yield "is given the variables of services, which may look like the worker's own"
        if any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")):
            yield "shares the host's namespaces"
        if ("ServiceAccount", spec.get("serviceAccountName")) not in self.by_name:
            yield "its service account is not there"
        for volume in spec.get("volumes", []):
            yield from self.volume(volume)

    def volume(self, volume):
        if "hostPath" in volume:
            yield f"the volume {volume['name']} is a folder of the host"
        if "emptyDir" in volume and "sizeLimit" not in volume["emptyDir"]:
            yield f"the volume {volume['name']} has no limit"
        if "configMap" in volume and ("ConfigMap", volume["configMap"]["name"]) not in self.by_name:
            yield f"the volume {volume['name']} is of a ConfigMap that is not there"
        if "secret" in volume and ("Secret", volume["secret"]["secretName"]) not in self.by_name:
            yield f"the volume {volume['name']} is of a secret that examples/secrets.yaml lacks"

    def containers(self, spec):
        volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
        for container in [*spec.get("initContainers", []), *spec["containers"]]:
            for violation in self.container(container, volumes):
                yield f"{container['name']}: {violation}"

    def container(self, container, volumes):
        context = container.get("securityContext", {})
        if context.get("readOnlyRootFilesystem") is not True:
            yield "the root file system can be written"
        if context.get("allowPrivilegeEscalation") is not False or context.get("privileged"):
            yield "can gain privileges"
        if context.get("capabilities") != {"drop": ["ALL"]}:
            yield "has capabilities"
        for kind in ("requests", "limits"):
            if set(container.get("resources", {}).get(kind, {})) != {"cpu", "memory"}:
                yield f"its {kind} are not those of cpu and memory"
        if container["image"].rpartition(":")[2] != self.repository.version:
            yield f"the image is not of version {self.repository.version}"
        for word in container.get("args", [])[:1]:
            if word not in self.repository.commands:
                yield f"grantor has no command {word}"
        environment = {variable["name"]: variable.get("value", "") for variable in container.get("env", [])}
        for source in container.get("envFrom", []):
            name = source.get("configMapRef", {}).get("name")
            if ("ConfigMap", name) not in self.by_name:
                yield "takes its variables from what is no ConfigMap here"
            else:
                environment |= self.by_name["ConfigMap", name]["data"]
        yield from self.settings(environment)
        yield from self.files(container, environment, volumes)

    def settings(self, data):
        for name in data:
            if name.startswith("GRANTOR_") and name not in self.repository.variables:
                yield f"{name} is no variable of the worker"

    def files(self, container, environment, volumes):
        """Every file that a variable or the apps file names is one that is mounted."""
        present, places = set(), {}
        for mount in container.get("volumeMounts", []):
            if mount["name"] not in volumes:
                yield f"mounts {mount['name']}, which is no volume"
                continue
            places[mount["mountPath"]] = volumes[mount["name"]]
            present |= {f"{mount['mountPath']}/{key}" for key in self.keys(volumes[mount["name"]])}
        texts = list(environment.values())
        for place, volume in places.items():
            texts += self.contents(volume)
        for name in sorted({name for text in texts for name in re.findall(r"/etc/grantor/[\w./-]+", text)}):
            if name not in present:
                yield f"{name} is named and not mounted"

    def source(self, volume):
        if "configMap" in volume:
            return self.by_name.get(("ConfigMap", volume["configMap"]["name"]))
        return self.by_name.get(("Secret", volume["secret"]["secretName"])) if "secret" in volume else None

    def keys(self, volume):
        source = self.source(volume) or {}
        return {**source.get("data", {}), **source.get("stringData", {})}

    def contents(self, volume):
        return self.keys(volume).values()

    def deployment(self, document):
        spec = document["spec"]
        yield from self.selects_workers(spec["selector"]["matchLabels"])
        pod = spec["template"]["spec"]
        worker = pod["containers"][0]
        data = self.by_name["ConfigMap", "grantor"]["data"]
        if pod["terminationGracePeriodSeconds"] <= seconds(data["GRANTOR_SHUTDOWN_TIMEOUT"]):
            yield "is killed before it has stopped in order"
        ports = {port["name"]: port["containerPort"] for port in worker["ports"]}
        if data["GRANTOR_HTTP_BIND"].rpartition(":")[2] != str(ports.get("http")):
            yield "the port is not that of GRANTOR_HTTP_BIND"
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            request = worker.get(probe, {}).get("httpGet", {})
            if request.get("path") not in self.repository.health_paths or request.get("port") not in ports:
                yield f"the {probe} asks for what the worker does not serve"
        if len(spec["template"]["spec"].get("topologySpreadConstraints", [])) < 2:
            yield "workers are not spread over hosts and zones"

    def autoscaler(self, spec):
        target = spec["scaleTargetRef"]["name"]
        if ("Deployment", target) not in self.by_name:
            yield f"scales {target}, which is not there"
        if "replicas" in self.workers():
            yield "contends with the deployment's own replicas"
        most = spec.get("maxReplicas", spec.get("maxReplicaCount"))
        topics = self.by_name["Job", f"grantor-topics-{self.repository.version.replace('.', '-')}"]
        arguments = topics["spec"]["template"]["spec"]["containers"][0]["args"]
        partitions = next(int(word.partition("=")[2]) for word in arguments if word.startswith("--partitions="))
        if 2 * most > partitions:
            yield f"{most} workers are too many for {partitions} partitions"
        apps = self.by_name["ConfigMap", "grantor-apps"]["data"]["apps.yaml"]
        for share in re.findall(r"share: ([0-9.]+)", apps):
            if float(share) * most > 1:
                yield f"{most} workers with a share of {share} each are over Apple's limit"
