#!/usr/bin/env bash
# Runs the tests of what is concurrent or written with pointers under a sanitizer of the compiler's.
#
# usage: scripts/sanitize.sh thread|address
#
#   thread   data races: two threads at the same memory, one of them writing, with nothing between them
#   address  memory that is used after it was freed, beyond its end, or never freed
#
# Tools/Sanitizing/README.md says what the sanitizers cannot see and how that is made up for.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kind="${1:-}"
case "$kind" in
thread | address) ;;
*)
    sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 64
    ;;
esac

suites="${SUITES:-ThreadingTests SchedulingTests KafkaTests HTTPClientTests HTTPServerTests SimulatorServerTests LedgerSQLiteTests LedgerPostgresTests ProcessingTests}"
scratch="${SCRATCH:-.build/sanitized/$kind}"

# The sanitizers bring allocators of their own: Package.swift leaves jemalloc out.
export GRANTOR_SANITIZING=1
"${SWIFT:-swift}" build --build-tests --sanitize "$kind" --scratch-path "$scratch"

case "$kind" in
thread)
    # Loaded first, so that the sanitizer sees what Swift's library and the C library keep from it.
    clang -O1 -fPIC -shared -o "$scratch/seen.so" Tools/Sanitizing/*.c
    preload="$PWD/$scratch/seen.so"
    export TSAN_OPTIONS="exitcode=1:suppressions=$PWD/Tools/Sanitizing/races.txt:history_size=4"
    ;;
address)
    preload=
    export ASAN_OPTIONS="exitcode=1:detect_leaks=1:detect_stack_use_after_return=1"
    export LSAN_OPTIONS="suppressions=$PWD/Tools/Sanitizing/leaks.txt:print_suppressions=0"
    ;;
esac

# A process for each target, so that a report names it, and another one follows.
failed=
for suite in $suites; do
    echo "== $suite"
    LD_PRELOAD="$preload" "$scratch/debug/grantorPackageTests.xctest" --testing-library swift-testing \
        --filter "^$suite\\." || failed="$failed $suite"
done
if [ -n "$failed" ]; then
    echo "failed:$failed" >&2
    exit 1
fi
