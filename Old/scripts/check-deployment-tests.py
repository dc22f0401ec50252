#!/usr/bin/env python3
"""Proves that check-deployment.py sees mistakes: each one is made in a copy of the files, and must be named."""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = [
    "Sources", "Package.swift", "Dockerfile", ".dockerignore", "docker-compose.yml", "README.md", "docs", "deploy",
    "config/apps.demo.yaml",
]
COMPOSE = "docker-compose.yml"
DEPLOYMENT = "deploy/kubernetes/deployment.yaml"
RULES = "deploy/prometheus/rules.yml"

PYTHON = ROOT / ".venv" / "bin" / "python"
if PYTHON.exists() and Path(sys.prefix).resolve() != (ROOT / ".venv").resolve():
    os.execv(PYTHON, [str(PYTHON), __file__, *sys.argv[1:]])

from deployment import alerts, compose, documents, image, manifests
from deployment.image import package_folders
from deployment.repository import Repository


class CheckDeploymentTests(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for folder in package_folders(Repository(ROOT)) - {"Package.swift"}:
            (self.root / folder).mkdir()
        for part in PARTS:
            source, target = ROOT / part, self.root / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)

    def expect(self, part, file, old, new, *expected):
        """Replaces the first `old` of a file, and expects violations with these words, one more than without it each."""
        before = set(part.check(Repository(self.root)))
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        found = set(part.check(Repository(self.root))) - before
        for words in expected:
            self.assertTrue(any(words in violation for violation in found), f"{words!r} is not among {sorted(found)}")

    def test_the_image_lacks_a_folder_of_the_package(self):
        self.expect(image, "Dockerfile", "COPY Tests Tests\n", "", "does not copy Tests")

    def test_the_build_context_hides_a_folder(self):
        self.expect(image, ".dockerignore", "!Tests\n", "", "hides Tests")

    def test_the_build_context_holds_everything(self):
        self.expect(image, ".dockerignore", "*\n", "", "secrets could get into")

    def test_a_container_may_write(self):
        self.expect(compose, COMPOSE, "  read_only: true\n", "", "worker: the root file system can be written")

    def test_a_container_keeps_capabilities(self):
        self.expect(compose, COMPOSE, "  cap_drop: [ALL]\n", "", "worker: has capabilities")

    def test_a_container_has_no_limit(self):
        self.expect(compose, COMPOSE, "  mem_limit: 512m\n", "", "worker: has no mem_limit")

    def test_a_container_runs_as_root(self):
        self.expect(compose, COMPOSE, "    user: '999:999'\n", "", "postgres: is not told to run as another user")

    def test_a_worker_is_killed_too_early(self):
        self.expect(compose, COMPOSE, "stop_grace_period: 30s", "stop_grace_period: 10s", "worker: is killed before")

    def test_a_worker_does_not_wait_for_the_schema(self):
        self.expect(
            compose, COMPOSE, "privileges: { condition: service_completed_successfully }",
            "privileges: { condition: service_started }", "worker: waits for privileges by service_started")

    def test_a_variable_is_misspelt(self):
        self.expect(compose, COMPOSE, "GRANTOR_APPS_FILE:", "GRANTOR_APP_FILE:", "GRANTOR_APP_FILE is no variable")

    def test_a_command_is_misspelt(self):
        self.expect(compose, COMPOSE, "command: [migrate]", "command: [migration]", "no command migration")

    def test_a_password_is_in_the_environment(self):
        self.expect(
            compose, COMPOSE, "grantor@postgres/", "grantor:secret@postgres/", "GRANTOR_LEDGER_URL holds a password")

    def test_a_port_is_open_to_all(self):
        self.expect(compose, COMPOSE, "127.0.0.1:9092:9092", "9092:9092", "publishes 9092:9092")

    def test_an_image_is_of_another_version(self):
        self.expect(compose, COMPOSE, "grantor:0.1.0", "grantor:0.2.0", "the image is not of version 0.1.0")

    def test_a_manifest_has_a_field_that_kubernetes_does_not_know(self):
        self.expect(manifests, DEPLOYMENT, "minReadySeconds", "minReadySecond", "not valid in Kubernetes 1.30")

    def test_a_probe_asks_for_another_path(self):
        self.expect(manifests, DEPLOYMENT, "path: /livez", "path: /healthz", "the startupProbe asks for what")

    def test_a_pod_is_killed_too_early(self):
        self.expect(
            manifests, DEPLOYMENT, "terminationGracePeriodSeconds: 40", "terminationGracePeriodSeconds: 20",
            "is killed before it has stopped")

    def test_a_pod_may_write(self):
        self.expect(
            manifests, DEPLOYMENT, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false",
            "worker: the root file system can be written", "passfile: the root file system can be written")

    def test_a_label_differs_from_its_selector(self):
        self.expect(
            manifests, "deploy/kubernetes/poddisruptionbudget.yaml", "component: worker", "component: workers",
            "selects no worker")

    def test_a_file_is_named_and_not_mounted(self):
        self.expect(
            manifests, "deploy/kubernetes/configmap.yaml", "/etc/grantor/ledger/ca.crt", "/etc/grantor/tls/ca.crt",
            "worker: /etc/grantor/tls/ca.crt is named and not mounted")

    def test_a_secret_is_not_declared(self):
        self.expect(
            manifests, DEPLOYMENT, "secretName: grantor-apple", "secretName: grantor-aple",
            "the volume apple is of a secret")

    def test_workers_share_more_than_apple_allows(self):
        self.expect(
            manifests, "deploy/kubernetes/horizontalpodautoscaler.yaml", "maxReplicas: 12", "maxReplicas: 13",
            "13 workers with a share of 0.08", "13 workers are too many")

    def test_an_alert_reads_a_metric_that_is_not_there(self):
        self.expect(
            alerts, RULES, "grantor_window_submissions", "grantor_window_submission", "no metric is called")

    def test_an_alert_asks_for_a_label_that_never_is(self):
        self.expect(alerts, RULES, "rateLimited|", "rateLimitted|", "cause is never rateLimitted")

    def test_an_alert_asks_for_a_label_that_no_metric_has(self):
        self.expect(alerts, RULES, '{warning="undecided"}', '{kind="undecided"}', "no metric has a label kind")

    def test_an_alert_cannot_be_parsed(self):
        self.expect(
            alerts, RULES, "max(grantor_events_withheld) > 0", "max(grantor_events_withheld > 0", "cannot be parsed")

    def test_an_alert_has_no_entry(self):
        self.expect(alerts, "docs/operations.md", "### GrantorHeld\n", "### Held\n", "GrantorHeld: has no entry")

    def test_an_alert_is_not_tested(self):
        self.expect(
            alerts, RULES, "alert: GrantorDoubts", "alert: GrantorDoubt", "GrantorDoubt: is fired by no test",
            "GrantorDoubts: is fired by no test")

    def test_a_link_leads_nowhere(self):
        self.expect(
            documents, "docs/operations.md", "](guarantees.md)", "](guarantee.md)", "guarantee.md leads nowhere")

    def test_a_link_leads_to_no_heading(self):
        self.expect(
            documents, "docs/operations.md", "](#roll-back)", "](#rollback)", "#rollback leads to no heading")

    def test_a_page_names_a_variable_that_is_not_there(self):
        self.expect(
            documents, "docs/operations.md", "GRANTOR_NOT_FOUND_WINDOW", "GRANTOR_NOT_FOUND_TIME",
            "GRANTOR_NOT_FOUND_TIME is no variable")

    def test_a_page_names_a_command_that_is_not_there(self):
        self.expect(documents, "docs/operations.md", "`grantor check`", "`grantor doctor`", "no command doctor")


if __name__ == "__main__":
    unittest.main()
