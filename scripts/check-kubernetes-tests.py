#!/usr/bin/env python3
"""Plants mistakes in a copy of deploy/kubernetes, one by one, and expects check-kubernetes.py to notice each.

    scripts/check-kubernetes-tests.py GRANTOR

GRANTOR is the built program. Exit code: 0 all were noticed, 1 not all, 2 wrong usage.
"""

import importlib
import shutil
import sys
import tempfile
from pathlib import Path

from planted_mistakes import report

# File, what stands there, what is planted, and a part of the line that must tell it.
MISTAKES = [
    ("workers/deployment.yaml", "minReadySeconds", "minReadSeconds", "not valid in Kubernetes 1.29"),
    ("workers/deployment.yaml", "runAsUser: 10001", "runAsUser: 1000", "user 10001"),
    ("workers/deployment.yaml", "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "is not restricted"),
    ("workers/deployment.yaml", "enableServiceLinks: false", "enableServiceLinks: true", "variables of services"),
    ("workers/deployment.yaml", "limits: { memory: 512Mi }", "limits: {}", "no limit of memory"),
    ("workers/deployment.yaml", "GracePeriodSeconds: 45", "GracePeriodSeconds: 40", "not 25 seconds above"),
    ("workers/deployment.yaml", "secretName: grantor,", "secretName: grantor-app,", "makes no secret grantor-app"),
    ("workers/deployment.yaml", "path: /livez", "path: /healthz", "livenessProbe asks /healthz"),
    ("workers/deployment.yaml", "path: /readyz", "path: /livez", "readinessProbe asks /livez"),
    ("workers/deployment.yaml", "containerPort: 8080", "containerPort: 8081", "GRANTOR_HTTP_BIND is not port 8081"),
    ("workers/service.yaml", "targetPort: http", "targetPort: web", "the Service is not port 8080"),
    ("settings/network-policy.yaml", "port: 8080", "port: 8081", "the NetworkPolicy is not port 8080"),
    ("workers/deployment.yaml", "args: [run]", "args: [work]", "grantor ends with 64"),
    ("workers/disruption-budget.yaml", "component: worker", "component: workers", "the PodDisruptionBudget selects"),
    ("workers/service.yaml", "path: /metrics", "path: /metric", "the Service asks /metric"),
    ("workers/autoscaler-by-cpu.yaml", "maxReplicas: 8", "maxReplicas: 48", "more workers than the 24 partitions"),
    ("workers/autoscaler-by-lag.yaml", "consumerGroup: grantor", "consumerGroup: other", "consumerGroup is not"),
    ("workers/kustomization.yaml", "newTag: 0.2.0", "newTag: 0.1.9", "names ['0.1.9']"),
    ("jobs/kustomization.yaml", "name: postgres,", "name: postgresql,", "image postgres has no version"),
    ("jobs/migrate.yaml", "grantor_owner@postgres.example.com", "grantor_owner@other", "migrates another ledger"),
    ("jobs/topics.yaml", "--partitions=24", "--partition=24", "more workers than the 0 partitions"),
    ("jobs/migrate.yaml", "args: [migrate]", "args: [migrat]", "migrate: grantor ends with 64"),
    ("jobs/topics.yaml", "values: [64, 78]", "values: [64]", "tries again after 78"),
    ("jobs/topics.yaml", "configMapRef: { name: grantor }", "configMapRef: { name: grant }", "no ConfigMap grant"),
    ("operators/operator.yaml", "grantor_operator@", "grantor_worker@", "grantor-operator has another ledger"),
    ("operators/operator.yaml", "secretName: grantor-operator", "secretName: grantor", "has not the operators' secret"),
    ("operators/audit.yaml", "mountPath: /var/lib/grantor", "mountPath: /var/lib/audits", "grantor-audit cannot write"),
    ("operators/audit.yaml", "memory: 768Mi", "memory: 512Mi", "grantor-audit has no memory"),
    ("operators/audit.yaml", "args: [audit,", "args: [audits,", "audit: grantor ends with 64"),
    ("settings/settings.yaml", "GRANTOR_KAFKA_GROUP_ID", "GRANTOR_GROUP_ID", "GRANTOR_GROUP_ID is no setting"),
    ("settings/settings.yaml", "TIMEOUT: 20s", "TIMEOUT: '20'", "SHUTDOWN_TIMEOUT"),
    ("settings/settings.yaml", "/ledger-ca.crt", "/ca.crt", "/etc/grantor/secrets/ca.crt is named"),
    ("settings/apps.yaml", "policy: reject", "policy: refuse", "sandbox.policy"),
    ("settings/apps.yaml", "/AuthKey.p8", "/Key.p8", "/etc/grantor/secrets/Key.p8 is named"),
    ("README.md", "configmap grantor-rights", "configmap rights", "no ConfigMap grantor-rights"),
]


def copy_checkout(check, root):
    for path in [*check.VERSIONED, "docs/configuration.md", "deploy/postgres/rights.sql"]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(check.ROOT / path, root / path)
    shutil.copytree(check.ROOT / check.FOLDER, root / check.FOLDER, dirs_exist_ok=True)


def missed(check, program):
    for name, there, planted, expected in MISTAKES:
        with tempfile.TemporaryDirectory(prefix="grantor-kubernetes-") as folder:
            copy_checkout(check, Path(folder))
            file = Path(folder) / check.FOLDER / name
            text = file.read_text(encoding="utf-8")
            if there not in text:
                yield f"{name}: {there} is not there"
                continue
            file.write_text(text.replace(there, planted), encoding="utf-8")
            found = []
            # Ends at the line that is expected, because the program takes its time.
            for line in check.violations(Path(folder), program):
                found.append(line)
                if expected in line:
                    break
            else:
                yield f"{name}: {planted} is not noticed; found: {found}"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    check = importlib.import_module("check-kubernetes")
    return report(missed(check, Path(sys.argv[1]).resolve()), len(MISTAKES))


if __name__ == "__main__":
    sys.exit(main())
