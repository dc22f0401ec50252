#!/usr/bin/env python3
"""Checks the message contract in schemas/, and messages against it.

  validate-schemas.py                            schemas, examples and asyncapi.yaml of this repository
  validate-schemas.py --schema NAME FILE...      values, one JSON text a line, against schemas/NAME.schema.json
  validate-schemas.py --events FILE...           captured events, one a line:
                                                 {"topic": ..., "key": ..., "headers": {...}, "value": {...}}

FILE may be - for standard input. Prints one line per violation and none of the values it looked at, because a value
may be evidence. Exit code: 0 all valid, 1 violations, 2 wrong usage.
"""

import argparse
import json
import re
import sys
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

from checkout import ROOT, use_virtual_environment

SCHEMAS = ROOT / "schemas"


use_virtual_environment()
try:
    import yaml
    from jsonschema import Draft202012Validator, FormatChecker, validators
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012
except ImportError as error:
    sys.exit(f"{error}. Run: scripts/setup.sh --for test")


# Reading


class Unreadable(Exception):
    """The text is not one JSON value by the contract's rules."""


def parse(text):
    """Reads JSON, refusing members that stand twice and numbers that JSON does not have."""

    def members(pairs):
        seen = dict(pairs)
        if len(seen) != len(pairs):
            raise Unreadable("a member stands more than once")
        return seen

    def constant(name):
        raise Unreadable(f"{name} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=members, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg} at character {error.pos}") from None


def lines_of(name):
    """The lines of a file that are not empty, each with its number."""
    with sys.stdin if name == "-" else open(name, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield f"{name}:{number}", line


# Validating


def whole_pattern(validator, pattern, instance, schema):
    """JSON Schema's patterns are ECMA-262, where $ is the end of the text; Python's $ also stands before a last \\n."""
    yield from Draft202012Validator.VALIDATORS["pattern"](
        validator, re.sub(r"\$$", r"\\Z", pattern), instance, schema
    )


Validator = validators.extend(Draft202012Validator, {"pattern": whole_pattern})


def retrieve(uri):
    schema = parse(Path(uri.removeprefix("file://")).read_text(encoding="utf-8"))
    # By its $schema member jsonschema would go back to its own validator, and to Python's patterns with it.
    del schema["$schema"]
    return DRAFT202012.create_resource(schema)


REGISTRY = Registry(retrieve=retrieve)


def schema_path(name):
    return SCHEMAS / f"{name}.schema.json"


def validator_for(name, fragment=""):
    """The validator of schemas/NAME.schema.json, or of a part of it."""
    return Validator(
        {"$ref": f"{schema_path(name).as_uri()}{fragment}"},
        registry=REGISTRY,
        format_checker=FormatChecker(["date-time"]),
    )


def describe(error):
    """A violation as (where, keyword, what), without the value."""
    where = "/".join(str(part) for part in error.absolute_path) or "(whole)"
    keyword, expected = error.validator, error.validator_value
    if keyword == "required":
        what = "lacks " + error.message.split("'")[1]
    elif keyword == "pattern":
        what = f"does not match {expected}"
    elif keyword in ("enum", "const", "type", "format", "minimum", "minItems", "minLength"):
        what = f"breaks {keyword} {json.dumps(expected)}"
    elif keyword in ("unevaluatedProperties", "dependentRequired"):
        what = error.message
    else:
        what = f"breaks {keyword}"
    return where, keyword, what


def violations(value, name, fragment=""):
    errors = sorted(validator_for(name, fragment).iter_errors(value), key=lambda error: list(map(str, error.path)))
    return [describe(error) for error in errors]


# Events

GRANTOR = uuid.UUID("7c1f5e0b-92d4-4a6e-b358-0d47e19a26cf")
EVENTS = uuid.uuid5(GRANTOR, "events")
GRANTS = uuid.uuid5(GRANTOR, "grants")


def milliseconds(text):
    """Milliseconds since 1970 of a time in an event."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)


def grant_id(value):
    """The id that a grant must have: UUIDv5 of what makes the purchase this purchase."""
    if value["productType"] == "consumable":
        name = "t:" + value["transactionId"]
    elif value["productType"] != "autoRenewable":
        name = "t:" + value["originalTransactionId"]
    elif "webOrderLineItemId" in value:
        name = "w:" + value["webOrderLineItemId"]
    else:
        name = f"p:{value['originalTransactionId']}:{milliseconds(value['purchasedAt'])}"
    return str(uuid.uuid5(GRANTS, f"{value['environment']}:{name}"))


def event_id(kind, value, headers):
    """The id that an event must have: UUIDv5 of what it tells."""
    if kind == "granted":
        return str(uuid.uuid5(EVENTS, "granted:" + value["grantId"]))
    bundle = value["bundleId"]
    if kind == "pending":
        texts = [
            bundle, value["submissionId"], value["userId"], value.get("orderId", ""), headers.get("traceparent", ""),
            value["state"], value["cause"], str(value["attempts"]),
            *(str(milliseconds(value[time])) for time in ("receivedAt", "pendingAt", "nextTryAt")),
        ]
        return str(uuid.uuid5(EVENTS, "pending" + "".join(f":{len(text.encode())}:{text}" for text in texts)))
    return str(uuid.uuid5(EVENTS, f"failed:{len(bundle.encode())}:{bundle}:{value['submissionId']}"))


def event_violations(event, topics):
    """What is wrong with a captured event: its parts against the strict schemas, and the parts against each other."""
    kind = topics.get(event.get("topic")) if isinstance(event, dict) else None
    if kind is None:
        return ["topic: none of " + ", ".join(topics)]
    headers, value, key = event.get("headers"), event.get("value"), event.get("key")
    if kind == "quarantined":
        found = violations(headers, "receipts.quarantined.headers")
        return [f"headers {where}: {what}" for where, _, what in found]
    found = [
        f"headers {where}: {what}"
        for where, _, what in violations(headers, "strict/cloudevents.headers", f"#/$defs/{kind}")
    ] + [f"value {where}: {what}" for where, _, what in violations(value, f"strict/purchases.{kind}")]
    if found:
        return found
    subject, time = {
        "granted": ("transactionId", "grantedAt"),
        "failed": ("submissionId", "failedAt"),
        "pending": ("submissionId", "pendingAt"),
    }[kind]
    agreements = [
        ("key", "value userId", key == value["userId"]),
        ("headers ce_id", "value eventId", headers["ce_id"] == value["eventId"]),
        ("headers ce_subject", f"value {subject}", headers["ce_subject"] == value[subject]),
        ("headers ce_time", f"value {time}", headers["ce_time"] == value[time]),
        ("value eventId", "the id made from what it tells", value["eventId"] == event_id(kind, value, headers)),
    ]
    if kind == "granted":
        agreements.append(("value grantId", "the id made from the purchase", value["grantId"] == grant_id(value)))
    return [f"{left}: differs from {right}" for left, right, agree in agreements if not agree]


# The repository's own files


def check_schemas():
    """Every schema is one by the metaschema, and its references lead somewhere."""
    for path in sorted(SCHEMAS.rglob("*.schema.json")):
        name = str(path.relative_to(SCHEMAS))
        try:
            schema = parse(path.read_text(encoding="utf-8"))
        except Unreadable as error:
            yield f"{name}: {error}"
            continue
        for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema):
            where, _, what = describe(error)
            yield f"{name}: {where}: {what}"
        yield from check_references(path, schema)


def check_examples():
    """Examples validate; those in invalid/ break exactly the rule that expected.json names for them."""
    for path in sorted((SCHEMAS / "examples").glob("*/*.json")):
        message = path.parent.name
        if message == "invalid":
            continue
        name = str(path.relative_to(SCHEMAS))
        try:
            content = parse(path.read_text(encoding="utf-8"))
        except Unreadable as error:
            yield f"{name}: {error}"
            continue
        if message == "receipts.submitted":
            for where, _, what in violations(content, message):
                yield f"{name}: {where}: {what}"
        else:
            for what in event_violations(content, DEFAULT_TOPICS):
                yield f"{name}: {what}"
    yield from check_invalid_examples(SCHEMAS / "examples" / "invalid")


def check_invalid_examples(folder):
    for message in sorted(path for path in folder.iterdir() if path.is_dir()):
        expected = parse((message / "expected.json").read_text(encoding="utf-8"))
        files = {path.name: path for path in message.glob("*.json") if path.name != "expected.json"}
        for name in sorted(set(expected) ^ set(files)):
            yield f"{message.name}/{name}: stands in one of the folder and expected.json only"
        for name in sorted(set(expected) & set(files)):
            try:
                content = parse(files[name].read_text(encoding="utf-8"))
                found = [f"{where} {keyword}" for where, keyword, _ in violations(content, message.name)]
            except Unreadable as error:
                found = [str(error)]
            if found != [expected[name]]:
                yield f"invalid/{message.name}/{name}: expected {[expected[name]]}, found {found}"


def references_in(node, where="#"):
    """Every $ref below a node, with its place."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield where, node["$ref"]
        for name, child in node.items():
            yield from references_in(child, f"{where}/{name}")
    elif isinstance(node, list):
        for index, child in enumerate(node):
            yield from references_in(child, f"{where}/{index}")


def resolve(path, document, reference):
    """What a reference in a document leads to; KeyError where it leads nowhere."""
    target, _, pointer = reference.partition("#")
    if target:
        file = path.parent / target
        if not file.is_file():
            raise KeyError(target)
        document = parse(file.read_text(encoding="utf-8"))
    for part in filter(None, pointer.split("/")):
        part = part.replace("~1", "/").replace("~0", "~")
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def check_references(path, document):
    for where, reference in references_in(document):
        try:
            resolve(path, document, reference)
        except (KeyError, IndexError, ValueError, TypeError):
            yield f"{path.relative_to(SCHEMAS)}: {where}: {reference} leads nowhere"


KAFKA_BINDING = {
    "server": {"schemaRegistryUrl", "schemaRegistryVendor", "bindingVersion"},
    "channel": {"topic", "partitions", "replicas", "topicConfiguration", "bindingVersion"},
    "operation": {"groupId", "clientId", "bindingVersion"},
    "message": {"key", "schemaIdLocation", "schemaIdPayloadEncoding", "schemaLookupStrategy", "bindingVersion"},
}


def check_asyncapi():
    """asyncapi.yaml has the parts that AsyncAPI 3.0 requires, and they name each other."""
    path = SCHEMAS / "asyncapi.yaml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))

    def required(where, node, *names):
        for name in names:
            if not isinstance(node, dict) or name not in node:
                yield f"asyncapi.yaml: {where}: lacks {name}"

    def binding(where, node, kind):
        unknown = set(node.get("bindings", {}).get("kafka", {})) - KAFKA_BINDING[kind]
        for name in sorted(unknown):
            yield f"asyncapi.yaml: {where}: the Kafka {kind} binding has no {name}"

    yield from required("#", document, "asyncapi", "info", "channels", "operations", "components")
    yield from required("#/info", document.get("info"), "title", "version")
    if document.get("asyncapi") != "3.0.0":
        yield "asyncapi.yaml: #/asyncapi: is not 3.0.0"
    yield from check_references(path, document)

    channels, used = document.get("channels", {}), set()
    for name, server in document.get("servers", {}).items():
        yield from required(f"#/servers/{name}", server, "host", "protocol")
        yield from binding(f"#/servers/{name}", server, "server")
    for name, channel in channels.items():
        yield from required(f"#/channels/{name}", channel, "address", "messages")
        yield from binding(f"#/channels/{name}", channel, "channel")
    for name, operation in document.get("operations", {}).items():
        where = f"#/operations/{name}"
        yield from required(where, operation, "action", "channel", "messages")
        yield from binding(where, operation, "operation")
        if operation.get("action") not in ("send", "receive"):
            yield f"asyncapi.yaml: {where}: action is neither send nor receive"
        channel = operation.get("channel", {}).get("$ref", "")
        used.add(channel.removeprefix("#/channels/"))
        for message in operation.get("messages", []):
            if not message.get("$ref", "").startswith(channel + "/messages/"):
                yield f"asyncapi.yaml: {where}: a message is not one of its channel's"
    for name in sorted(set(channels) - used):
        yield f"asyncapi.yaml: #/channels/{name}: no operation uses it"
    for name, message in document.get("components", {}).get("messages", {}).items():
        yield from required(f"#/components/messages/{name}", message, "name", "contentType", "headers", "bindings")
        yield from binding(f"#/components/messages/{name}", message, "message")
    addresses = {channel.get("address") for channel in channels.values()}
    if addresses != set(DEFAULT_TOPICS) | {"receipts.submitted"}:
        yield "asyncapi.yaml: #/channels: the addresses are not the default topics"


# The command line

DEFAULT_TOPICS = {
    "purchases.granted": "granted",
    "purchases.failed": "failed",
    "purchases.pending": "pending",
    "receipts.quarantined": "quarantined",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--schema", metavar="NAME", help="such as receipts.submitted or strict/purchases.granted")
    mode.add_argument("--events", action="store_true", help="the files hold captured events")
    parser.add_argument(
        "--topic", metavar="KIND=NAME", action="append", default=[],
        help="another topic name for granted, failed, pending or quarantined events",
    )
    parser.add_argument("files", metavar="FILE", nargs="*")
    options = parser.parse_args()
    if bool(options.schema or options.events) != bool(options.files):
        parser.error("FILE goes with --schema or --events")
    if options.schema and not schema_path(options.schema).is_file():
        parser.error(f"there is no schema {options.schema}")
    options.topics = dict(DEFAULT_TOPICS)
    for pair in options.topic:
        kind, _, name = pair.partition("=")
        if kind not in DEFAULT_TOPICS.values() or not name:
            parser.error(f"{pair} is not KIND=NAME")
        options.topics = {n: k for n, k in options.topics.items() if k != kind} | {name: kind}
    return options


def check_lines(options):
    count = 0
    for file in options.files:
        for place, line in lines_of(file):
            count += 1
            try:
                content = parse(line)
            except Unreadable as error:
                yield f"{place}: {error}"
                continue
            if options.events:
                yield from (f"{place}: {what}" for what in event_violations(content, options.topics))
            else:
                found = violations(content, options.schema)
                yield from (f"{place}: {where}: {what}" for where, _, what in found)
    if count == 0:
        yield "no message to check"


def main():
    options = arguments()
    if options.files:
        found = list(check_lines(options))
    else:
        found = [*check_schemas(), *check_examples(), *check_asyncapi()]
    for violation in found:
        print(violation)
    if found:
        return 1
    print("valid: " + (", ".join(options.files) if options.files else "schemas, examples and asyncapi.yaml"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
