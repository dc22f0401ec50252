#!/usr/bin/env bash
# Runs the tests of what is concurrent or written with pointers under a sanitizer of the compiler's.
#
# usage: scripts/sanitize.sh thread|address
#
#   thread   data races: two threads at the same memory, one of them writing, with nothing between them
#   address  memory that is used after it was freed, beyond its end, or never freed
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

# Those on virtual time take the sanitizer's five- to tenfold time in seconds that the clock does not have, and run into their limits.
suites="${SUITES:-HTTPTransportTests|KafkaTests|AuditTests|FulfillmentTests\.(VerifyReceiptTry|FirstTries|Handover|Rolling|CallAdmission|Verification)|LedgerTests\.(LedgerProperty|SQLite|PostgresLedger|PostgresConcurrency)}"
scratch=".build/sanitized/$kind"

# The sanitizers bring allocators of their own: Package.swift leaves jemalloc out.
export GRANTOR_SANITIZING=1
swift build --build-tests --sanitize "$kind" --scratch-path "$scratch"

options=exitcode=1
case "$kind" in
thread)
    # Loaded first, so that the sanitizer sees what Swift's library and the C library keep from it.
    clang -O1 -fPIC -shared -o "$scratch/seen.so" Sanitizing/*.c
    export LD_PRELOAD="$PWD/$scratch/seen.so"
    export TSAN_OPTIONS="$options:suppressions=$PWD/Sanitizing/suppressions.txt:history_size=4"
    ;;
address) export ASAN_OPTIONS="$options:detect_leaks=1" ;;
esac
"$scratch/debug/grantorPackageTests.xctest" --testing-library swift-testing --filter "$suites"
