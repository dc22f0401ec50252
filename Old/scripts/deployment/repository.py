"""What the program's own sources and documentation say that deployments rest on."""

import re
from functools import cached_property
from pathlib import Path

import yaml


class Repository:
    """A checkout. Nothing of it is built or run."""

    def __init__(self, root):
        self.root = Path(root)

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def documents(self, path):
        """The YAML documents of a file."""
        return [document for document in yaml.safe_load_all(self.text(path)) if document is not None]

    @cached_property
    def sources(self):
        """All Swift sources as one text."""
        return "\n".join(path.read_text(encoding="utf-8") for path in sorted((self.root / "Sources").rglob("*.swift")))

    @cached_property
    def variables(self):
        """The worker's variables with their defaults, by the table that documents them."""
        rows = re.findall(r"^\| `(GRANTOR_[A-Z_]+)` \|[^|]*\|([^|]*)\|", self.text("docs/configuration.md"), re.M)
        return {name: default.strip().strip("`") for name, default in rows}

    @cached_property
    def commands(self):
        return set(re.findall(r'commandName: "([a-z-]+)"', self.sources))

    @cached_property
    def metrics(self):
        """Names under which metrics are made."""
        return set(re.findall(r'"((?:grantor|kafka|process)_[a-z_]+)"', self.sources))

    @cached_property
    def version(self):
        return re.search(r'version: "([0-9.]+)"', self.sources).group(1)

    @cached_property
    def health_paths(self):
        return {"/" + name for name in re.findall(r'router\.get\("(\w+)"\)', self.sources)}

    def is_a_value(self, word):
        """Whether the program has a case or a text of this name."""
        return re.search(rf'"{re.escape(word)}"|\bcase (?:\w+, )*{re.escape(word)}\b', self.sources) is not None

    @property
    def stop_seconds(self):
        """How long a stop in order takes at most, by default."""
        return seconds(self.variables["GRANTOR_SHUTDOWN_TIMEOUT"])


def seconds(text):
    """Seconds of a whole number with a unit; a bare number is seconds."""
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h|d)?", str(text)).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, None: 1}[unit]
