#!/usr/bin/env bash
# Plants each bug in a copy of the sources and expects its test suite to fail.
#
#     Tests/PlantedBugs/run.sh Ledger           all patches of a folder
#     Tests/PlantedBugs/run.sh Ledger 14 18     those whose names begin so
#
# A patch says in its head what is wrong with it (first line) and which suite must notice ("Suite: …", a filter of
# `swift test`). A patch that does not apply any more, that does not build, or that no test notices ends this with 1.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:?the folder of patches}
shift
# What the suites of a folder need. Targets enter the build when their folder is there.
case $folder in
    Ledger)
        parts="Sources/CSQLite Sources/CLibcrypto Sources/Contract Sources/Cryptography Sources/Ledger Sources/LedgerSQLite
            Sources/Scheduling
            Tools/LedgerModel Tests/LedgerConformance Tests/LedgerModelTests Tests/LedgerSQLiteTests" ;;
    *)
        parts="Sources Tools Tests" ;;
esac
swift=${SWIFT:-swift}

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp "$root/Package.swift" "$copy"
for part in $parts; do
    mkdir -p "$copy/$part"
    cp -R "$root/$part/." "$copy/$part"
done
cd "$copy"

passes() { $swift test --disable-xctest --filter "$1" >"$copy/output" 2>&1; }

if ! passes '.*'; then
    cat output
    echo "The suites fail without a planted bug."
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
    if ! $swift build --build-tests >output 2>&1; then
        grep error: output || true
        echo "DOES NOT BUILD  $name"
        missed=1
    elif passes "$suite"; then
        echo "NOT NOTICED     $name"
        missed=1
    else
        echo "noticed         $name"
    fi
    patch --quiet --reverse -p1 <"$patch"
done
exit $missed
