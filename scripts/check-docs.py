#!/usr/bin/env python3
"""Checks the links of all Markdown files, and the commands that they name.

    scripts/check-docs.py GRANTOR

Each relative link leads to a file of the checkout, and its anchor to a heading there. Each `grantor ...` in code names
a command and options that the program's help has, and each `make ...` a target of the Makefile. docs/proof.md has each
promise and each planted mistake, and names suites that there are. README.zh-CN.md has what README.md has: headings,
commands, tables, words in code and links. GRANTOR is the built program. Prints one line per violation. Exit code: 0
none, 1 violations, 2 wrong usage.
"""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from checkout import ROOT

# It tells of commands that are gone.
HISTORY = "CHANGELOG.md"
# Code fences, with what they hold.
FENCE = re.compile(r"^(```+|~~~+).*?^\1[^\S\n]*$", re.MULTILINE | re.DOTALL)
# The same in a list, too.
BLOCK = re.compile(r"(^[ ]*```.*?^[ ]*```$)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
SYMPTOMS = ROOT / "docs" / "symptoms.md"
PROOF = ROOT / "docs" / "proof.md"
README, TRANSLATION = ROOT / "README.md", ROOT / "README.zh-CN.md"
# Sections whose rows begin with words of the program's.
SAID = ("## It is not ready", "## Lines of the log")
# Words behind `make` that are no targets.
SETTING = re.compile(r"[A-Z_]+=")


def pages():
    done = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, text=True, check=True, stdout=subprocess.PIPE)
    return [ROOT / path for path in done.stdout.splitlines()]


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


@cache
def suites():
    """Names that tests declare: suites, and lists of rules."""
    declared = re.compile(r"\b(?:struct|class|enum|extension|let|var) (\w+)")
    tests = sorted((ROOT / "Tests").rglob("*.swift"))
    return {name for path in tests for name in declared.findall(path.read_text(encoding="utf-8"))}


def proof(text):
    """What the page of proofs lacks, or names although it is not there."""
    promised = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    promised = promised.partition("## Promised\n")[2].partition("\n## ")[0]
    promises = {name.rstrip(".") for name in re.findall(r"^\*\*(.+?)\*\*", promised, re.MULTILINE)}
    planted = {
        f"{path.parent.name} {path.name.split('-')[0]}" for path in (ROOT / "Tests" / "PlantedBugs").glob("*/*.patch")
    }
    shown, named = set(), set()
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 3 or cells[0] == "promise" or set(cells[0]) == {"-"}:
            continue
        shown.add(cells[0])
        if cells[0] not in promises:
            yield number, f"nobody promises: {cells[0]}"
        if not cells[2]:
            yield number, f"no mistake is planted: {cells[0]}"
        for suite in re.findall(r"`(\w+(?:Tests|Rules|Play))`", cells[1]):
            if suite not in suites():
                yield number, f"no suite {suite}"
        for part in filter(None, cells[2].split("; ")):
            folder, *numbers = part.split()
            for mistake in (f"{folder} {digits}" for digits in numbers):
                named.add(mistake)
                if mistake not in planted:
                    yield number, f"no planted mistake {mistake}"
    yield from ((1, f"no proof of: {promise}") for promise in sorted(promises - shown))
    yield from ((1, f"no promise needs {mistake}") for mistake in sorted(planted - named))


def parts(text):
    """What a page has in every language, section by section: a list of (line, kind, what it has)."""
    found, number = [], 0
    for piece in BLOCK.split(text):
        if piece.lstrip().startswith("```"):
            # Labels of a drawing and comments are words of a language.
            block = re.sub(r"\[[^\]]*\]|\|[^|]*\|", "", piece) if "mermaid" in piece else re.sub(r"\s+# .*", "", piece)
            found.append((number + 1, "code", block))
        else:
            for offset, line in enumerate(piece.split("\n")):
                if line.startswith("#"):
                    found.append((number + offset + 1, "heading", line.partition(" ")[0]))
                elif line.startswith("|"):
                    said = sorted(code(line)) + sorted(linked(line))
                    found.append((number + offset + 1, "row", (line.count("|"), said)))
        number += piece.count("\n")
    return found


def code(text):
    return [" ".join(words.split()) for _, words in CODE.findall(text)]


def linked(text):
    """Where links lead. Anchors of the page itself are words of its language."""
    return [target for target, _ in LINK.findall(text) if not target.startswith("#")]


def translation(text):
    """What the translated page has otherwise than its original."""
    original = README.read_text(encoding="utf-8")
    pairs = list(zip(parts(original), parts(text)))
    for (line, kind, has), (number, other, there) in pairs:
        if (kind, has) != (other, there):
            yield number, f"not what README.md has in line {line}: {kind}"
            return
    if len(parts(original)) != len(parts(text)):
        yield 1, f"{len(parts(text))} headings, rows and blocks of code; README.md has {len(parts(original))}"
    plain = [BLOCK.sub("", page) for page in (original, text)]
    words, links = ([set(find(page)) for page in plain] for find in (code, linked))
    for (here, there), what in ((words, "code"), (links, "link")):
        yield from ((1, f"no {what} {lacking}") for lacking in sorted(here - there))


def targets():
    return set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def violations(page, text, program):
    """What is wrong with a page that has this text, in the order of its lines."""
    found = list(links(page, text))
    if page.name != HISTORY:
        found += commands(program, targets(), text)
    if page == SYMPTOMS:
        found += symptoms(text)
    if page == TRANSLATION:
        found += translation(text)
    if page == PROOF:
        found += proof(text)
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
