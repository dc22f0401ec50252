#!/usr/bin/env bash
# Plants each bug in a copy of the sources and expects it to be noticed: by a test suite, or by a run of the simulation.
#
#     Tests/PlantedBugs/run.sh Ledger           all patches of a folder
#     Tests/PlantedBugs/run.sh Ledger 14 18     those whose names begin so
#     Tests/PlantedBugs/run.sh Postgres         bugs of the PostgreSQL driver, on a real server
#     Tests/PlantedBugs/run.sh Simulation       the bugs that simulated fleets must notice
#     Tests/PlantedBugs/run.sh Processing       bugs of the core that fleets meet too rarely
#     Tests/PlantedBugs/run.sh AppStore         bugs of what Apple's replies mean
#     Tests/PlantedBugs/run.sh Fulfilment       bugs of what inventory services' replies mean
#     Tests/PlantedBugs/run.sh Kafka            bugs of the Kafka client, on Apache Kafka (KAFKA_HOME)
#     Tests/PlantedBugs/run.sh Audit            bugs by which an audit would not find what is broken, or invent it
#
# A patch says in its head what is wrong with it (first line). In `Simulation` one of SEEDS runs must break a promise;
# in the others it names the suite that must notice ("Suite: …", a filter of `swift test`). This ends with 1 if a patch
# does not apply any more, does not build, is not noticed, or has the suite run for longer than HANGING seconds.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:?the folder of patches}
shift
seeds=${SEEDS:-20000}
hanging=${HANGING:-1200}
below="Sources/Scheduling Sources/CLibcrypto Sources/Contract Sources/Cryptography Sources/Ledger Tools/LedgerModel"
# The parts that a folder's suites need. Targets enter the build when their folder is there.
case $folder in
    Ledger)
        parts="$below Sources/CSQLite Sources/LedgerSQLite Tests/ContractTests Tests/LedgerConformance
            Tests/LedgerModelTests Tests/LedgerSQLiteTests Tests/LedgerTests Tests/MemberTesting schemas
            docs/integration.md" ;;
    Postgres)
        parts="$below Sources/CLibpq Sources/LedgerPostgres Tests/LedgerConformance Tests/LedgerPostgresTests
            Tests/MemberTesting Tests/PostgresTesting Tests/SocketTesting Tools/ChildProcesses docs/postgresql.md
            deploy/postgres" ;;
    Simulation)
        parts="$below Sources/CommandParser Sources/Processing Tools/Simulation Tools/Simulate" ;;
    Processing)
        parts="$below Sources/Processing Tests/MemberTesting Tests/ProcessingTests docs/architecture.md" ;;
    Audit)
        parts="$below Sources/CLibpq Sources/CLibrdkafka Sources/CLinux Sources/CSQLite Sources/Audit Sources/Kafka
            Sources/KafkaScanning Sources/LedgerPostgres Sources/LedgerSQLite Sources/Logging Sources/Metrics
            Sources/Threading Tests/AuditTests Tests/MemberTesting Tests/PostgresTesting Tests/SocketTesting Tools/ChildProcesses" ;;
    AppStore)
        parts="$below Sources/AppStore Tools/CertificateMaking Tests/AppStoreTests" ;;
    Fulfilment)
        parts="$below Sources/AppStore Sources/Fulfilment Tests/FulfilmentTests" ;;
    Kafka)
        parts="$below Sources/CLibrdkafka Sources/CLinux Sources/Threading Sources/Logging Sources/Metrics
            Sources/Kafka Sources/KafkaScanning Tools/ChildProcesses Tools/KafkaMock Tests/KafkaTesting
            Tests/KafkaTests Tests/SocketTesting" ;;
    *)
        echo "no such folder of patches: $folder" >&2
        exit 64 ;;
esac
swift=${SWIFT:-swift}

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp "$root/Package.swift" "$copy"
for part in $parts; do
    mkdir -p "$copy/$(dirname "$part")"
    cp -R "$root/$part" "$copy/$part"
done
cd "$copy"

if [ "$folder" = Simulation ]; then
    build() { $swift build -c release --product grantor-simulate >"$copy/output" 2>&1; }
    # The first argument is a suite's name, which a run of the simulation has not.
    passes() { .build/release/grantor-simulate until-broken 1 "${2:-$seeds}" >"$copy/output" 2>&1; }
else
    build() { $swift build --build-tests >"$copy/output" 2>&1; }
    passes() { timeout "$hanging" $swift test --disable-xctest --filter "$1" >"$copy/output" 2>&1; }
fi

if ! build || ! passes '.*' 300; then
    cat output
    echo "What has to notice fails without a planted bug."
    exit 1
fi

missed=0
for patch in "$root/Tests/PlantedBugs/$folder"/*.patch; do
    name=$(basename "$patch" .patch)
    if [ $# -gt 0 ]; then
        wanted=no
        for prefix in "$@"; do case $name in "$prefix"*) wanted=yes ;; esac; done
        [ $wanted = yes ] || continue
    fi
    suite=$(sed -n 's/^Suite: //p' "$patch")
    if ! patch --quiet --forward -p1 <"$patch"; then
        echo "DOES NOT APPLY  $name"
        exit 1
    fi
    if ! build; then
        grep error: output || true
        echo "DOES NOT BUILD  $name"
        missed=1
    elif passes "$suite"; then
        echo "NOT NOTICED     $name"
        missed=1
    elif [ $? = 124 ]; then
        # A test without a bound: people would wait for it, and CI would end without a word.
        echo "HANGS           $name"
        missed=1
    else
        echo "noticed         $name $(grep -m 1 '^seed [0-9]*:' output | cut -c 1-120 || true)"
    fi
    patch --quiet --reverse -p1 <"$patch"
done
exit $missed
