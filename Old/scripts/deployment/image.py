"""The image's build: what Dockerfile copies is there, and everything that the package needs is copied."""

import re


def check(repository):
    dockerfile = repository.text("Dockerfile")
    builder = dockerfile.split("\nFROM ")[1]
    copied = {name for line in re.findall(r"^COPY (.+)$", builder, re.M) for name in line.split()[:-1]}
    ignored = repository.text(".dockerignore").split()
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    if ignored[:1] != ["*"]:
        yield ".dockerignore: does not begin with *, so secrets could get into the image's build"
    for name in sorted(copied):
        if not (repository.root / name).exists():
            yield f"Dockerfile: copies {name}, which is not there"
        elif name not in allowed:
            yield f".dockerignore: hides {name} from Dockerfile"
    for name in sorted(package_folders(repository) - copied):
        yield f"Dockerfile: does not copy {name}, which Package.swift names"


def package_folders(repository):
    """Top folders of the package's targets."""
    package = repository.text("Package.swift")
    folders = {path.split("/")[0] for path in re.findall(r'\bpath: "([^"]+)"', package)}
    return folders | {"Sources", "Tests", "Package.swift"}
