.DEFAULT_GOAL := help
# What is set up comes before what is built.
.NOTPARALLEL:
.PHONY: help setup setup-test build demo simulator build-tests test simulate planted-bugs chaos chaos-fleet image compose-test alerts-test faults package package-test sanitize fuzz lint format schemas docs examples by-hand readme monitoring kubernetes clean

SWIFT ?= swift
# Extra flags for building; CI turns warnings into errors with them.
SWIFTFLAGS ?=
# Where the shell finds debug programs.
BIN = $$($(SWIFT) build --show-bin-path)
# As in Sources/Configuration/WorkerConfiguration.swift.
VERSION = 0.2.0
# Runs of `make simulate`.
SEEDS ?= 20000
# Extra flags for running the tests.
TESTFLAGS ?=

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what building needs (Debian; root or sudo)
	@scripts/setup.sh --for build

setup-test:
	@scripts/setup.sh --for test

# A debug program, by its product's name.
build-%:
	$(SWIFT) build --product $* $(SWIFTFLAGS)

build: setup ## Build the worker: .build/release/grantor
	$(SWIFT) build -c release --product grantor

demo: setup build-grantor build-kafka-mock build-grantor-demo ## Play a day of purchases on embedded parts, and judge the result
	$(BIN)/grantor-demo

# Where the simulated App Store keeps its keys, and writes its addresses.
SIMULATOR ?= $(CURDIR)/.build/simulator
# Its ports stay, so that a worker's settings do, too.
SIMULATORFLAGS ?= --production-port 8443 --sandbox-port 8444 --control-port 8445

simulator: setup build-grantor-simulator ## Run the simulated App Store: prints its addresses and the files of its certificates and key
	@mkdir -p $(SIMULATOR) && rm -f $(SIMULATOR)/key.p8 && \
	$(BIN)/grantor-simulator --authority-folder $(SIMULATOR)/authority \
		--api-key-file $(SIMULATOR)/key.p8 $(SIMULATORFLAGS) | tee $(SIMULATOR)/addresses.json

build-tests: setup-test ## Build everything for tests, without running them
	$(SWIFT) build --build-tests $(SWIFTFLAGS)

# A test target's name, or another regular expression, runs these tests alone.
SUITES ?=

test: build-tests ## Run all tests (or SUITES); installs what they need
	$(SWIFT) test --skip-build --disable-xctest $(SWIFTFLAGS) $(if $(SUITES),--filter "$(SUITES)") $(TESTFLAGS)

planted-bugs: ## Plant known mistakes one by one and expect the tests to notice
	SWIFT="$(SWIFT)" Tests/PlantedBugs/run.sh Ledger
	SWIFT="$(SWIFT)" Tests/PlantedBugs/run.sh Postgres
	SWIFT="$(SWIFT)" Tests/PlantedBugs/run.sh Processing
	SWIFT="$(SWIFT)" Tests/PlantedBugs/run.sh AppStore
	SWIFT="$(SWIFT)" Tests/PlantedBugs/run.sh Fulfilment
	[ -z "$(KAFKA_HOME)" ] || SWIFT="$(SWIFT)" Tests/PlantedBugs/run.sh Kafka
	SWIFT="$(SWIFT)" Tests/PlantedBugs/run.sh Audit
	SWIFT="$(SWIFT)" Tests/PlantedBugs/run.sh Simulation

# The faults' schedule.
SEED ?= 1
# Flags of the short runs.
CHAOSFLAGS ?= --submissions 3000

chaos: setup build-grantor build-kafka-mock build-grantor-chaos ## Kill and stop workers under load, try every account token and unlisted product; on Apache Kafka if KAFKA_HOME is set
	@bin=$(BIN) && \
	$$bin/grantor-chaos kills --program $$bin/grantor --kills 10 $(CHAOSFLAGS) && \
	$$bin/grantor-chaos stop --program $$bin/grantor $(CHAOSFLAGS) && \
	$$bin/grantor-chaos tokens --program $$bin/grantor && \
	$$bin/grantor-chaos unlisted --program $$bin/grantor

chaos-fleet: setup-test build-grantor build-kafka-mock build-grantor-chaos ## Break four workers, three brokers, PostgreSQL with a standby, and Apple for a minute, by a schedule (SEED)
	@bin=$(BIN) && \
	$$bin/grantor-chaos fleet --program $$bin/grantor --seconds 60 --seed $(SEED) $(CHAOSFLAGS)

image: ## Build the container image (Docker)
	docker build --target worker --build-arg REVISION=$$(git rev-parse HEAD) -t grantor:$(VERSION) .

# Purchases of `make compose-test`.
PURCHASES ?= 10000

compose-test: setup build-grantor-simulator ## Run docker-compose.yml, kill each part twice under load, and judge topics and tables (Docker)
	scripts/compose-test.py $(BIN)/grantor-simulator $(PURCHASES)

package: setup ## Pack the worker as a .deb and a tarball for Debian 12 and 13: .build/packages
	$(SWIFT) build -c release --product grantor --scratch-path .build/static --static-swift-stdlib -Xlinker -s
	scripts/package.sh .build/static/release/grantor

package-test: package build-grantor-simulator ## Install the package on clean Debian 12 and 13, and try its service (Docker)
	scripts/package-test.py $(BIN)/grantor-simulator

sanitize: setup-test ## Look for data races and misused memory in the wrappers, the mailbox and the core
	SWIFT="$(SWIFT)" scripts/sanitize.sh thread
	SWIFT="$(SWIFT)" scripts/sanitize.sh address

# The targets of fuzzing, and the seconds of each.
FUZZ_TARGETS ?= $(notdir $(wildcard Tools/Fuzzing/cases/*))
FUZZ_SECONDS ?= 60

fuzz: setup ## Feed what reads foreign bytes with millions of inputs, a minute each (FUZZ_SECONDS)
	GRANTOR_FUZZING=1 $(SWIFT) build -c release --product grantor-fuzz --scratch-path .build/fuzzing \
		-Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld
	@for target in $(FUZZ_TARGETS); do \
		echo "== $$target, $(FUZZ_SECONDS) s"; \
		mkdir -p .build/fuzzing/found/$$target; \
		.build/fuzzing/release/grantor-fuzz $$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
			-max_len=65536 -print_final_stats=1 -verbosity=0 -artifact_prefix=.build/fuzzing/$$target- \
			.build/fuzzing/found/$$target Tools/Fuzzing/cases/$$target || exit 1; \
	done

# A folder of its own: other builds go on meanwhile.
simulate: ## Run simulated fleets: SEEDS runs, each with faults of its own
	$(SWIFT) build -c release --product grantor-simulate --scratch-path .build/simulate $(SWIFTFLAGS)
	.build/simulate/release/grantor-simulate 1 $(SEEDS)

lint: ## Check the style of the Swift sources
	$(SWIFT) format lint --strict --recursive --parallel Sources Tests Tools Package.swift

format: ## Bring the Swift sources into their style, in place
	$(SWIFT) format --in-place --recursive --parallel Sources Tests Tools Package.swift

schemas: setup-test ## Check the message contract and its examples
	.venv/bin/python scripts/validate-schemas.py

docs: setup build-grantor ## Check links and commands of all Markdown files, and plant mistakes to see that they are noticed
	@bin=$(BIN) && \
	scripts/check-docs.py $$bin/grantor && \
	scripts/check-docs-tests.py $$bin/grantor

examples: setup-test build-grantor build-kafka-mock build-grantor-simulator ## Run the programs of Examples/ with a worker, and judge inventories; the one in Java if KAFKA_HOME is set
	scripts/examples-test.py $(BIN)

by-hand: setup-test build-grantor build-grantor-simulator ## Run the commands of docs/by-hand.md on Apache Kafka (KAFKA_HOME) and a worker, and judge their answers
	scripts/by-hand-test.py $(BIN)

readme: setup-test build-grantor ## Run the commands of README's "Run it for real" on Apache Kafka (KAFKA_HOME), and wait for its answer
	scripts/readme-test.py $(BIN)

alerts-test: ## Break the stack of docker-compose.yml in many ways, and wait for the alert of each (Docker)
	docker build --target worker -t grantor:$(VERSION) .
	docker build --target demo -t grantor-demo:$(VERSION) .
	scripts/alerts-test.py

# Words of the faults' names; without any, all are made.
FAULTS ?=

faults: setup-test build-grantor build-grantor-simulator ## Make faults one by one on Kafka (KAFKA_HOME), PostgreSQL and a worker, and judge line, alert and check of each
	scripts/faults-test.py $(BIN) $(FAULTS)

monitoring: setup-test build-grantor build-kafka-mock build-grantor-demo ## Check alerts, their tests and sections, and the dashboard on the demo's worker
	scripts/check-monitoring.py $(BIN)

kubernetes: setup-test build-grantor ## Check deploy/kubernetes and the product's version, and plant mistakes to see that they are noticed
	@bin=$(BIN) && \
	scripts/check-kubernetes.py $$bin/grantor && \
	scripts/check-kubernetes-tests.py $$bin/grantor

clean: ## Remove what was built and installed into the checkout
	rm -rf .build .venv
