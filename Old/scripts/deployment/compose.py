"""docker-compose.yml: what its schema cannot say. The schema itself is checked by docker-compose."""

from .repository import seconds

# Made by people or by scripts/make-secrets.sh, and never committed.
OWN_FILES = ("./config/apps.yaml", "./config/secrets/")


def check(repository):
    for violation in violations(repository):
        yield f"docker-compose.yml: {violation}"


def violations(repository):
    document = repository.documents("docker-compose.yml")[0]
    services = document["services"]
    for name, service in services.items():
        for violation in [
            *hardening(service), *limits(service), *order(service, services), *places(repository, service, document),
            *settings(repository, service),
        ]:
            yield f"{name}: {violation}"
    for name, secret in document.get("secrets", {}).items():
        if not secret.get("file", "").startswith("./config/secrets/"):
            yield f"the secret {name} is no file of config/secrets"


def hardening(service):
    if service.get("read_only") is not True:
        yield "the root file system can be written"
    if "/tmp" not in service.get("tmpfs", []):
        yield "has no /tmp"
    if service.get("cap_drop") != ["ALL"] or "cap_add" in service:
        yield "has capabilities"
    if "no-new-privileges:true" not in service.get("security_opt", []) or "privileged" in service:
        yield "can gain privileges"
    if service.get("user", "0").split(":")[0] in ("0", "root"):
        yield "is not told to run as another user than root"
    for port in service.get("ports", []):
        if not port.startswith("127.0.0.1:"):
            yield f"publishes {port} beyond this host"


def limits(service):
    for limit in ("mem_limit", "cpus", "pids_limit", "logging"):
        if limit not in service:
            yield f"has no {limit}"
    tag = service["image"].rpartition(":")[2]
    if not any(character.isdigit() for character in tag):
        yield f"the image {service['image']} names no version"


def is_one_shot(service):
    return service.get("restart", "no") in ("no", "on-failure")


def order(service, services):
    """Who ends is waited for until it ended, who stays until it is healthy."""
    for name, dependency in service.get("depends_on", {}).items():
        if name not in services:
            yield f"depends on {name}, which is not there"
            continue
        wanted = "service_completed_successfully" if is_one_shot(services[name]) else "service_healthy"
        if dependency["condition"] != wanted:
            yield f"waits for {name} by {dependency['condition']}, not {wanted}"
        if wanted == "service_healthy" and not has_health_check(services[name]):
            yield f"waits for the health of {name}, which has no check"
    if not is_one_shot(service) and not has_health_check(service):
        yield "has no health check"


def has_health_check(service):
    """The worker's image brings its own."""
    return "test" in service.get("healthcheck", {}) or is_grantor(service) and "healthcheck" not in service


def is_grantor(service):
    return service["image"].startswith("grantor:")


def places(repository, service, document):
    for volume in service.get("volumes", []):
        source = volume.split(":")[0]
        if "docker.sock" in source:
            yield "holds the engine's socket"
        if source.startswith("./"):
            if not source.startswith(OWN_FILES) and not (repository.root / source).exists():
                yield f"mounts {source}, which is not there"
            if not volume.endswith(":ro"):
                yield f"may write to {source}"
        elif source not in document["volumes"]:
            yield f"the volume {source} is not declared"
    for secret in service.get("secrets", []):
        name = secret if isinstance(secret, str) else secret["source"]
        if name not in document["secrets"]:
            yield f"the secret {name} is not declared"
    for network in service.get("networks", []):
        if network not in document["networks"]:
            yield f"the network {network} is not declared"


def settings(repository, service):
    environment = service.get("environment", {})
    for name, value in environment.items():
        if name.startswith("GRANTOR_") and name not in repository.variables:
            yield f"{name} is no variable of the worker"
        if any(word in name for word in ("PASSWORD", "SECRET", "TOKEN")) and not name.endswith("_FILE"):
            yield f"{name} holds a secret where everybody sees it"
        if "@" in str(value) and ":" in str(value).partition("://")[2].partition("@")[0]:
            yield f"{name} holds a password"
    if not is_grantor(service):
        return
    if service["image"] != f"grantor:{repository.version}":
        yield f"the image is not of version {repository.version}"
    for word in service["command"][:1]:
        if word not in repository.commands:
            yield f"grantor has no command {word}"
    limit = environment.get("GRANTOR_SHUTDOWN_TIMEOUT", repository.variables["GRANTOR_SHUTDOWN_TIMEOUT"])
    if seconds(service["stop_grace_period"]) <= seconds(limit):
        yield "is killed before it has stopped in order"
