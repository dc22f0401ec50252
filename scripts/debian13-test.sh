#!/usr/bin/env bash
# Runs the tests on Debian 13's libraries, which the worker's image has, and on its PostgreSQL and Java. The tests are
# those that `make build-tests` has built on this host. Needs Docker. Further arguments go to the tests.
#
#   scripts/debian13-test.sh [--filter ProcessingTests]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

image=grantor-debian13-tests
docker build --quiet --tag "$image" - <<'DOCKERFILE'
FROM debian:trixie-slim
RUN apt-get -qq update \
    && mkdir -p /etc/postgresql-common \
    && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \
    && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends \
        ca-certificates libcurl4t64 libjemalloc2 libpq5 librdkafka1 libsqlite3-0 libssl3t64 libyaml-0-2 \
        openjdk-21-jre-headless openssl postgresql-17 procps >/dev/null \
    && rm -rf /var/lib/apt/lists/*
DOCKERFILE

# Everything lies where it lies on this host, because the tests find programs and libraries by these paths.
mounts=()
for folder in "$PWD" "$(dirname "$(dirname "$(readlink -f "$(command -v "${SWIFT:-swift}")")")")" "${KAFKA_HOME:-}"; do
    [ -z "$folder" ] || mounts+=(--volume "$folder:$folder:ro")
done

# Loopback is all the network that there is. Docker's own loopback lacks IPv6, and its /dev/shm is small for ledgers and
# for PostgreSQL's databases.
docker run --rm --init --network none --sysctl net.ipv6.conf.all.disable_ipv6=0 --shm-size 4g "${mounts[@]}" \
    --workdir "$PWD" --env KAFKA_HOME "$image" \
    .build/debug/grantorPackageTests.xctest --testing-library swift-testing "$@"
