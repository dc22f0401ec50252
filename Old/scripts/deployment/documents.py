"""The documentation's links lead somewhere, and what it tells people to type exists."""

import re
from pathlib import Path

# Not the program's: a prefix on its own, Kubernetes' names for services, and the build's switch for fuzzing.
NO_VARIABLES = {"GRANTOR_", "GRANTOR_SERVICE_HOST", "GRANTOR_PORT_", "GRANTOR_FUZZING"}


def check(repository):
    root = repository.root
    pages = [
        path for path in [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("deploy/**/*.md")]
        if path.is_file()
    ]
    for page in sorted(pages):
        name = str(page.relative_to(root))
        text = page.read_text(encoding="utf-8")
        for violation in [*links(root, page, text), *variables(repository, text), *commands(repository, text)]:
            yield f"{name}: {violation}"


def links(root, page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"the link {target} leads nowhere"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"the link {target} leads to no heading"


def anchors(text):
    """The anchors of a page's headings, as they are made from their words."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", without_code(text), re.M):
        words = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        found.add(words.replace(" ", "-"))
    return found


def without_code(text):
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)


def variables(repository, text):
    for name in sorted(set(re.findall(r"\bGRANTOR_[A-Z_]+", text)) - NO_VARIABLES):
        if name not in repository.variables:
            yield f"{name} is no variable of the worker"


def commands(repository, text):
    """Commands at the beginning of a code span or of a line of code."""
    for word in sorted(set(re.findall(r"(?:^|`|\bexec worker /opt/grantor/)grantor ([a-z][a-z-]*)\b", text, re.M))):
        if word not in repository.commands:
            yield f"grantor has no command {word}"
