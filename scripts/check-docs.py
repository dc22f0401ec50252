#!/usr/bin/env python3
"""Checks the links of all Markdown files, and the commands that they name.

    scripts/check-docs.py GRANTOR

Each relative link leads to a file of the checkout, and its anchor to a heading there. Each `grantor ...` in code names
a command and options that the program's help has, and each `make ...` a target of the Makefile. GRANTOR is the built
program. Prints one line per violation. Exit code: 0 none, 1 violations, 2 wrong usage.
"""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from checkout import ROOT

# Parts of the first build that wait for their turn; their links are those of another tree.
PASSED_OVER = "Old/"
# It tells of commands that are gone.
HISTORY = "CHANGELOG.md"
# Code fences, with what they hold.
FENCE = re.compile(r"^(```+|~~~+).*?^\1[^\S\n]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
SYMPTOMS = ROOT / "docs" / "symptoms.md"
# Sections whose rows begin with words of the program's.
SAID = ("## It is not ready", "## Lines of the log")
# Words behind `make` that are no targets.
SETTING = re.compile(r"[A-Z_]+=")


def pages():
    done = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, text=True, check=True, stdout=subprocess.PIPE)
    return [ROOT / path for path in done.stdout.splitlines() if not path.startswith(PASSED_OVER)]


def blank(match):
    """What a match is replaced by, so that lines keep their numbers."""
    return "\n" * match.group().count("\n")


def line_of(text, place):
    return text.count("\n", 0, place) + 1


@cache
def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    text = FENCE.sub(blank, text)
    found = {}
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = found[name] = found.get(name, -1) + 1
        if count:
            found[f"{name}-{count}"] = 0
    return set(found)


def links(page, text):
    plain = CODE.sub(blank, FENCE.sub(blank, text))
    for match in LINK.finditer(plain):
        target = match.group(1) or match.group(2)
        if OUTSIDE.match(target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve()
        if path and not file.exists():
            yield line_of(plain, match.start()), f"{target}: no such file"
        elif anchor and (not path or file.suffix == ".md"):
            if anchor not in anchors(file.read_text(encoding="utf-8") if path else text):
                yield line_of(plain, match.start()), f"{target}: no such heading"


class Program:
    """The commands and options of the program, from its help."""

    def __init__(self, path):
        self.path = path

    @cache
    def help(self, words):
        done = subprocess.run([self.path, *words, "--help"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.stdout if done.returncode == 0 else ""

    def subcommands(self, words):
        _, _, rest = self.help(words).partition("SUBCOMMANDS:\n")
        return re.findall(r"^  ([a-z][a-z-]*)", rest.split("\n\n")[0], re.MULTILINE)

    def violation(self, words):
        """The fault of a command line; None if the program takes its command and options."""
        command = ()
        for word in words:
            known = self.subcommands(command)
            if not known:
                break
            if word.startswith("-") or not re.fullmatch(r"[a-z][a-z-]*", word):
                break
            if word not in known:
                return f"no command {' '.join(['grantor', *command, word])}"
            command += (word,)
        for word in words[len(command):]:
            option = word.split("=")[0]
            if option == "--":
                break
            if re.fullmatch(r"--[a-z][a-z-]+", option) and not re.search(rf"{option}(?![a-z-])", self.help(command)):
                return f"{' '.join(['grantor', *command])} has no {option}"
        return None


def command_lines(text):
    """The code of a page, line by line, each with its number. A line that ends in a backslash goes on."""
    for match in FENCE.finditer(text):
        number = line_of(text, match.start())
        joined = match.group().replace("\\\n", "  ")
        for offset, line in enumerate(joined.split("\n")[1:-1]):
            yield number + 1 + offset, line
    for match in CODE.finditer(FENCE.sub(blank, text)):
        yield line_of(FENCE.sub(blank, text), match.start()), " ".join(match.group(2).split())


def commands(program, targets, text):
    for number, line in command_lines(text):
        line = re.sub(r"(^|\s)#.*", "", line)
        for part in re.split(r"&&|\|\|?|;|\$\(|\)", line):
            words = part.split()
            while words and (words[0] in ("sudo", "exec", "run") or re.fullmatch(r"\w+=\S*", words[0])):
                words = words[1:]
            if not words:
                continue
            if words[0] in ("grantor", "grantor-admin", "/usr/bin/grantor"):
                fault = program.violation(words[1:])
                if fault:
                    yield number, fault
            elif words[0] == "make":
                for word in words[1:]:
                    if word.startswith("-") or SETTING.match(word):
                        continue
                    if re.fullmatch(r"[a-z][a-z-]*", word) and word not in targets:
                        yield number, f"no target make {word}"


@cache
def sources():
    return "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "Sources").rglob("*.swift")))


def symptoms(text):
    """What the page of symptoms lacks, or says otherwise than the program."""
    for alert in re.findall(r"^### (\w+)$", (ROOT / "docs" / "alerts.md").read_text(encoding="utf-8"), re.MULTILINE):
        if f"(alerts.md#{alert.lower()})" not in text:
            yield 1, f"no row leads to {alert}"
    section = None
    for number, line in enumerate(text.splitlines(), start=1):
        section = line if line.startswith("## ") else section
        said = re.match(r"\| `([^`]+)` \|", line)
        if said and section in SAID and said.group(1).split("…")[0].strip() not in sources():
            yield number, f"the program does not say {said.group(1)}"


def targets():
    return set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def violations(page, text, program):
    """What is wrong with a page that has this text, in the order of its lines."""
    found = list(links(page, text))
    if page.name != HISTORY:
        found += commands(program, targets(), text)
    if page == SYMPTOMS:
        found += symptoms(text)
    for number, fault in sorted(found):
        yield f"{page.relative_to(ROOT)}:{number}: {fault}"


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    program = Program(str(Path(sys.argv[1]).resolve()))
    if not program.subcommands(()):
        print(f"{program.path} shows no commands", file=sys.stderr)
        return 2
    found = [line for page in pages() for line in violations(page, page.read_text(encoding="utf-8"), program)]
    for line in found:
        print(line)
    print(f"{len(pages())} pages: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
