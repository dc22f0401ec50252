#!/usr/bin/env python3
"""Plants mistakes in pages, one by one, and expects check-docs.py to notice each, and nothing in good pages.

    scripts/check-docs-tests.py GRANTOR

GRANTOR is the built program. Exit code: 0 all were noticed, 1 not all, 2 wrong usage.
"""

import importlib
import sys
from pathlib import Path

from checkout import ROOT
from planted_mistakes import report

# Text of a page in docs/, and a part of the line that must tell the mistake.
MISTAKES = [
    ("[a](guarantee.md)", "docs/x.md:1: guarantee.md: no such file"),
    ("one\n[a](guarantees.md#promises)", "docs/x.md:2: guarantees.md#promises: no such heading"),
    ("# Two words\n[a](#two-word)", "docs/x.md:2: #two-word: no such heading"),
    ("[a]\n\n[a]: ../README.me", "docs/x.md:3: ../README.me: no such file"),
    ("`grantor topic create`", "docs/x.md:1: no command grantor topic"),
    ("`grantor topics\ncreat`", "docs/x.md:1: no command grantor topics creat"),
    ("```\n# first\ngrantor grants --order o\n```", "docs/x.md:3: grantor grants has no --order"),
    ("```\nsudo -u a x\nA=1 grantor run --confg x\n```", "docs/x.md:3: grantor run has no --confg"),
    ("```\ngrantor submissions list \\\n    --stat held\n```", "docs/x.md:2: grantor submissions list has no --stat"),
    ("```\ntrue && make schema\n```", "docs/x.md:2: no target make schema"),
]
# Of the page of symptoms: words, others in their place, and a part of the line that must tell the mistake.
SYMPTOMS = [
    ("(alerts.md#grantorheld)", "(alerts.md#grantordown)", "no row leads to GrantorHeld"),
    ("| `Kafka is unreachable` |", "| `Kafka is away` |", "the program does not say Kafka is away"),
    ("| `The ledger does not answer.` |", "| `The ledger is away.` |", "the program does not say The ledger is away."),
]
# Of the page of proofs, likewise.
PROOF = [
    ("| One owner |", "| Two owners |", ["nobody promises: Two owners", "no proof of: One owner"]),
    ("`OffsetTrackerTests`", "`OffsetTrackersTests`", ["no suite OffsetTrackersTests"]),
    ("AppStore 137", "AppStore 999", ["no planted mistake AppStore 999", "no promise needs AppStore 137"]),
    ("| AppStore 138 |", "| |", ["no mistake is planted: No wait costs a period", "no promise needs AppStore 138"]),
]
# Of the translation, likewise.
TRANSLATION = [
    ("\n### ", "\n## ", "not what README.md has in line"),
    ("make test    #", "make tests    #", "no target make tests"),
    ("`make compose-test` |", "`make package-test` |", "not what README.md has in line"),
    ("`grantor verify FILE`", "`grantor verify`", "no code grantor verify FILE"),
    ("(docs/alerts.md)", "(docs/chaos.md)", "no link docs/alerts.md"),
    ("\n| `failed` |", "\n", "not what README.md has in line"),
]
GOOD = """# Good: `code` (and more)
[a](#good-code-and-more) [b](guarantees.md#promised) [c](https://example.com/#x) [d](../schemas/examples)
`[e](nowhere)` `grantor submissions list --state held`, `make test SUITES=X`

```
[f](nowhere)
grantor grants show --user u | make lint   # grantor nothing
```
"""


def missed(check, program):
    page = ROOT / "docs/x.md"
    yield from (f"nothing is planted, and: {line}" for line in check.violations(page, GOOD, program))
    for text, expected in MISTAKES:
        found = list(check.violations(page, text, program))
        if found != [expected]:
            yield f"{text!r}: {expected} is not all that is noticed; found: {found}"
    text = check.SYMPTOMS.read_text(encoding="utf-8")
    for words, others, expected in SYMPTOMS:
        found = list(check.violations(check.SYMPTOMS, text.replace(words, others), program))
        if len(found) != 1 or not found[0].endswith(expected):
            yield f"{others}: {expected} is not all that is noticed; found: {found}"
    text = check.TRANSLATION.read_text(encoding="utf-8")
    for words, others, expected in TRANSLATION:
        found = list(check.violations(check.TRANSLATION, text.replace(words, others, 1), program))
        if not any(expected in line for line in found):
            yield f"{others!r}: {expected} is not noticed; found: {found}"
    text = check.PROOF.read_text(encoding="utf-8")
    for words, others, expected in PROOF:
        found = [line.split(": ", 1)[1] for line in check.violations(check.PROOF, text.replace(words, others), program)]
        if sorted(found) != sorted(expected):
            yield f"{others}: {expected} is not all that is noticed; found: {found}"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    check = importlib.import_module("check-docs")
    program = check.Program(str(Path(sys.argv[1]).resolve()))
    return report(missed(check, program), len(MISTAKES) + len(SYMPTOMS) + len(TRANSLATION) + len(PROOF))


if __name__ == "__main__":
    sys.exit(main())
