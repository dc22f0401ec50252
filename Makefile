.DEFAULT_GOAL := help
.PHONY: help setup build demo build-tests test lint schemas deploy-check bench bench-compare profile outage chaos scale fuzz sanitize clean

SWIFT ?= swift
# Extra flags for building the tests; CI turns warnings into errors with them.
SWIFTFLAGS ?=
# Extra flags for running the tests, such as --filter IntakeTests.
TESTFLAGS ?=
# How long the App Store is away in `make outage`.
OUTAGE_SECONDS ?= 60
# How long chaos goes on, and what it draws faults and submissions from.
MINUTES ?= 1.5
SEED ?= 2030
# Extra arguments of bench: with "--runs 1 --rows 10000,1000000" it takes ten minutes and 2 GB.
BENCHFLAGS ?=
# Extra arguments of chaos and scale.
CHAOSFLAGS ?=
# How long each target is fuzzed.
FUZZ_SECONDS ?= 60

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what building needs (Debian; root or sudo)
	@scripts/setup.sh --for build

build: setup ## Build the worker: .build/release/grantor
	$(SWIFT) build -c release --product grantor

demo: build ## Watch it work: broker, App Store and ledger in one process, no account needed
	.build/release/grantor demo

build-tests: ## Build everything for tests, without running them
	@scripts/setup.sh --for test
	$(SWIFT) build --build-tests $(SWIFTFLAGS)

test: build-tests ## Run all tests; installs what they need
	$(SWIFT) test --disable-xctest $(SWIFTFLAGS) $(TESTFLAGS)

lint: ## Check the style of the Swift sources
	$(SWIFT) format lint --strict --recursive --parallel Sources Tests Benchmarks Chaos Fuzzing Package.swift

schemas: ## Check the message contract and its examples
	@scripts/setup.sh --for test
	.venv/bin/python scripts/validate-schemas.py

deploy-check: ## Check image, composition, manifests, alerts and docs, without starting anything
	@scripts/setup.sh --for ci
	docker-compose --file docker-compose.yml config --quiet
	docker-compose --file docker-compose.yml --profile demo --profile monitoring config --quiet
	.venv/bin/python scripts/check-deployment.py
	.venv/bin/python scripts/check-deployment-tests.py
	.tools/promtool check config deploy/prometheus/prometheus.yml
	.tools/promtool test rules deploy/prometheus/rules.test.yml

bench: ## Measure all that is claimed about speed, beside its limits: forty minutes, 25 GB of disk (BENCHFLAGS)
	@scripts/setup.sh --for test
	$(SWIFT) build -c release
	.build/release/grantor-bench all --output .build/bench.json $(BENCHFLAGS)
	.build/release/grantor-bench ledger
	.build/release/grantor-bench stages
	.build/release/grantor-bench clients

bench-compare: ## Measure the commit before (BEFORE) and this one by turns: ratios of workers and stages, 20 minutes (BENCHFLAGS)
	@scripts/setup.sh --for test
	$(SWIFT) build -c release
	before=$$(scripts/build-commit.sh $(BEFORE)) && .build/release/grantor-bench compare "$$before" --runs 5 \
		--output .build/compare.json $(BENCHFLAGS)
	.build/release/grantor-bench stages --output .build/stages.json --baseline Benchmarks/baseline.json

profile: setup ## Show where a worker under load spends its time (needs perf)
	$(SWIFT) build -c release
	scripts/profile.sh signed

outage: ## Take the App Store away for a minute at full load (OUTAGE_SECONDS), and look at the worker meanwhile
	@scripts/setup.sh --for test
	$(SWIFT) build -c release
	.build/release/grantor-bench outage --seconds $(OUTAGE_SECONDS)

chaos: ## Prove that faults cost nothing: real processes, killed, cut off and judged (MINUTES, SEED)
	@scripts/setup.sh --for test
	$(SWIFT) build $(SWIFTFLAGS) --product grantor
	$(SWIFT) build $(SWIFTFLAGS) --product kafka-mock-broker
	$(SWIFT) build $(SWIFTFLAGS) --product KeptMemory
	$(SWIFT) build $(SWIFTFLAGS) --product grantor-chaos
	$$($(SWIFT) build $(SWIFTFLAGS) --show-bin-path)/grantor-chaos run --minutes $(MINUTES) --seed $(SEED) $(CHAOSFLAGS)

scale: ## Measure how more workers share the load, and what a rebalance costs
	@scripts/setup.sh --for test
	$(SWIFT) build -c release
	.build/release/grantor-chaos scale $(CHAOSFLAGS)

fuzz: setup ## Feed what reads foreign bytes with millions of inputs, a minute each (FUZZ_SECONDS)
	GRANTOR_FUZZING=1 $(SWIFT) build -c release --product grantor-fuzz --scratch-path .build/fuzzing \
		-Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld
	@for target in signedTransaction payload receipt answers submission; do \
		echo "== $$target, $(FUZZ_SECONDS) s"; \
		mkdir -p .build/fuzzing/found/$$target; \
		.build/fuzzing/release/grantor-fuzz $$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
			-max_len=65536 -print_final_stats=1 -verbosity=0 -artifact_prefix=.build/fuzzing/$$target- \
			.build/fuzzing/found/$$target Fuzzing/cases/$$target || exit 1; \
	done

sanitize: setup ## Look for data races and misused memory in what is concurrent or written with pointers: half an hour
	@scripts/setup.sh --for test
	scripts/sanitize.sh thread
	scripts/sanitize.sh address

clean: ## Remove what was built and installed into the checkout
	rm -rf .build .venv .tools
