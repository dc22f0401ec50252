#!/bin/sh
# Prints the ten functions in which a worker under load spends most of its time, and its time by library.
#
# usage: scripts/profile.sh [signed|receipts]
set -eu

binaries=.build/release
case "${1:-signed}" in
signed) load="--ledger sqlite --receipts 0 --signed-transactions 100000" ;;
receipts) load="--ledger sqlite --latency 0 --receipts 30000 --signed-transactions 0" ;;
*)
    echo "usage: $0 [signed|receipts]" >&2
    exit 64
    ;;
esac
command -v perf >/dev/null || {
    echo "perf is missing (Debian: linux-perf)" >&2
    exit 1
}

data=$(mktemp)
trap 'rm -f "$data"' EXIT
# shellcheck disable=SC2086 # several options
"$binaries/grantor-bench" worker --runs 1 $load >/dev/null 2>&1 &
bench=$!
worker=
while kill -0 "$bench" 2>/dev/null && [ -z "$worker" ]; do
    worker=$(pgrep -P "$bench" -f 'grantor run$' | head -n 1 || true)
    sleep 0.1
done
[ -n "$worker" ] || {
    echo "the worker did not start" >&2
    exit 1
}
# Until certificates are known and connections stand.
sleep 4
perf record --output "$data" --freq 999 --pid "$worker" -- sleep 6 >/dev/null 2>&1
wait "$bench"
for key in symbol dso; do
    echo "== by $key"
    perf report --input "$data" --no-children --sort "$key" 2>/dev/null | grep -v '^#' | grep -v '^$' | head -n 10
done
