"""deploy/prometheus: every alert reads metrics that exist, is tested and explained. Prometheus' own tool checks the rest."""

import re

import promql_parser

from .documents import anchors

RULES = "deploy/prometheus/rules.yml"
TESTS = "deploy/prometheus/rules.test.yml"
RUNBOOK = "docs/operations.md"
# Metrics of others: Prometheus' own, and kafka_exporter's. Their labels' values are not the program's.
FOREIGN = {"up", "kafka_consumergroup_lag"}
SEVERITIES = {"page", "ticket"}
HISTOGRAM_SUFFIXES = ("_bucket", "_count", "_sum")


def check(repository):
    alerts = [
        (group["name"], rule)
        for document in repository.documents(RULES)
        for group in document["groups"]
        for rule in group["rules"]
    ]
    names = [rule.get("alert", "(a recording rule)") for _, rule in alerts]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{RULES}: {name}: stands more than once"
    for _, rule in alerts:
        for violation in rule_violations(repository, rule):
            yield f"{RULES}: {rule.get('alert')}: {violation}"
    fired = {
        case["alertname"]
        for test in repository.documents(TESTS)[0]["tests"]
        for case in test["alert_rule_test"]
        if case["exp_alerts"]
    }
    for name in sorted(set(names) ^ fired):
        yield f"{TESTS}: {name}: is fired by no test, or is no alert"
    explained = set(re.findall(r"^### (Grantor\w+)$", repository.text(RUNBOOK), re.M))
    for name in sorted(set(names) ^ explained):
        yield f"{RUNBOOK}: {name}: has no entry, or is no alert"


def rule_violations(repository, rule):
    if not re.fullmatch(r"Grantor[A-Z]\w+", rule.get("alert", "")):
        yield "is not named like an alert of Grantor"
    if rule.get("labels", {}).get("severity") not in SEVERITIES:
        yield f"has no severity of {sorted(SEVERITIES)}"
    annotations = rule.get("annotations", {})
    if set(annotations) != {"summary", "description", "runbook"}:
        yield "has other annotations than summary, description and runbook"
    path, _, anchor = annotations.get("runbook", "").partition("#")
    if path != RUNBOOK or anchor != rule["alert"].lower() or anchor not in anchors(repository.text(RUNBOOK)):
        yield "its runbook is no entry of " + RUNBOOK
    try:
        expression = promql_parser.parse(rule["expr"])
    except ValueError as error:
        yield f"cannot be parsed: {error}"
        return
    for selector in selectors(expression):
        yield from selector_violations(repository, selector)


def selectors(node):
    """Every selector of series in an expression."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node
    elif isinstance(node, (list, tuple)):
        for child in node:
            yield from selectors(child)
    else:
        for name in ("lhs", "rhs", "expr", "param", "args", "vector_selector"):
            child = getattr(node, name, None)
            if child is not None:
                yield from selectors(child)


def selector_violations(repository, selector):
    if selector.name in FOREIGN:
        return
    names = {selector.name} | {
        selector.name.removesuffix(suffix) for suffix in HISTOGRAM_SUFFIXES if selector.name.endswith(suffix)
    }
    known = names & repository.metrics or selector.name.startswith("process_") and "process_" in repository.sources
    if not known:
        yield f"no metric is called {selector.name}"
    for matcher in selector.matchers.matchers:
        if matcher.name in ("job", "instance"):
            continue
        if not re.search(rf'(?:dimensions:|labels =)[^\n]*\("{matcher.name}", ', repository.sources):
            yield f"no metric has a label {matcher.name}"
        for value in matcher.value.split("|"):
            if not repository.is_a_value(value):
                yield f"{matcher.name} is never {value}"
