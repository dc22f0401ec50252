#!/usr/bin/env bash
# Makes stand-ins for the images that Dockerfile and docker-compose.yml name, for hosts without a way to the registries
# where the real ones are. Each has the real one's name, and is made of Debian's packages, this host's Swift toolchain
# and the Apache Kafka of KAFKA_HOME. An image that is there already stays as it is. Needs root, Docker and debootstrap.
#
#   KAFKA_HOME=/opt/kafka scripts/stand-in-images.sh [IMAGE...]    those alone, by the names below
set -euo pipefail

toolchain=swift:6.3-bookworm runtime=debian:trixie-slim kafka=apache/kafka:3.9.1 postgres=postgres:17-trixie
prometheus=prom/prometheus:v3.5.0
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

say() { printf 'stand-ins: %s\n' "$*"; }

wanted=" ${*:-$toolchain $kafka $postgres $prometheus} "

is_there() { docker image inspect "$1" >/dev/null 2>&1; }

is_missing() { [[ "$wanted" == *" $1 "* ]] && ! is_there "$1"; }

# Where this host has its packages from.
mirror="$(apt-cache policy base-files | awk '$2 ~ /^http/ && $3 ~ /main$/ && !found { print $2; found = 1 }')"

base() { # suite image
    is_there "$2" && return 0
    say "$2 ..."
    debootstrap --variant=minbase "$1" "$work/$1" "$mirror" >"$work/log" || { tail "$work/log"; return 1; }
    # apt works as on this host.
    for part in apt.conf.d auth.conf.d keyrings; do
        [ -d "/etc/apt/$part" ] && cp -r "/etc/apt/$part/." "$work/$1/etc/apt/$part/"
    done
    tar -C "$work/$1" -c . | docker import - "$2" >/dev/null
    rm -rf "${work:?}/$1"
}

# Reads a Dockerfile from standard input.
image() { # image folder
    say "$1 ..."
    docker build --quiet --tag "$1" --file - "$2" >/dev/null
}

base trixie "$runtime"
base bookworm debian:bookworm-slim

if is_missing "$toolchain"; then
    usr="$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")"
    image "$toolchain" "$usr" <<'DOCKERFILE'
FROM debian:bookworm-slim
RUN apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends \
    binutils gcc git libc6-dev libcurl4 libedit2 libgcc-12-dev libncurses6 libpython3.11 libsqlite3-0 libstdc++-12-dev \
    libxml2 libz3-4 ca-certificates tzdata unzip zlib1g-dev >/dev/null && rm -rf /var/lib/apt/lists/*
COPY . /usr/
DOCKERFILE
fi

if is_missing "$kafka"; then
    mkdir -p "$work/kafka"
    cp -rL "${KAFKA_HOME:?has to name a folder of Apache Kafka}/." "$work/kafka/"
    image "$kafka" "$work/kafka" <<'DOCKERFILE'
FROM debian:bookworm-slim
RUN apt-get -qq update && mkdir -p /usr/share/man/man1 && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install \
    --no-install-recommends openjdk-17-jre-headless procps >/dev/null && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1000 appuser && mkdir -p /mnt/shared/config /etc/kafka/docker /var/lib/kafka/data
COPY . /opt/kafka/
# The official image configures itself by the same class.
RUN printf '%s\n' '#!/bin/bash' 'set -e' \
    'export CLUSTER_ID="${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}"' \
    'cd /opt/kafka' \
    ': >config/server.properties' \
    'java -cp "libs/*" kafka.docker.KafkaDockerWrapper setup --default-configs-dir /etc/kafka/docker --mounted-configs-dir /mnt/shared/config --final-configs-dir /opt/kafka/config >/tmp/setup 2>&1 || grep -qi "already formatted" /tmp/setup || { cat /tmp/setup; exit 1; }' \
    'exec bin/kafka-server-start.sh config/server.properties' >/etc/kafka/docker/run \
    && chmod +x /etc/kafka/docker/run && cp /opt/kafka/config/*.properties /etc/kafka/docker/ \
    && touch /etc/kafka/docker/server.properties /opt/kafka/config/server.properties && chmod -R u+w /opt/kafka/config /etc/kafka \
    && chown -R appuser /opt/kafka /var/lib/kafka /etc/kafka
USER appuser
CMD ["/etc/kafka/docker/run"]
DOCKERFILE
fi

if is_missing "$postgres"; then
    mkdir -p "$work/postgres"
    image "$postgres" "$work/postgres" <<'DOCKERFILE'
FROM debian:trixie-slim
RUN groupadd --gid 999 postgres && useradd --uid 999 --gid 999 --home-dir /var/lib/postgresql postgres \
    && apt-get -qq update && mkdir -p /etc/postgresql-common \
    && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \
    && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends postgresql-17 >/dev/null \
    && rm -rf /var/lib/apt/lists/* && mkdir -p /var/lib/postgresql/data /run/postgresql /docker-entrypoint-initdb.d \
    && chown -R postgres:postgres /var/lib/postgresql /run/postgresql
ENV PATH=/usr/lib/postgresql/17/bin:$PATH PGDATA=/var/lib/postgresql/data
# As the official one: it makes the database at the first start, behind its socket, and runs what is mounted for that.
RUN printf '%s\n' '#!/bin/bash' 'set -e' \
    'if [ "$(id -u)" = 0 ]; then mkdir -p "$PGDATA"; chown -R postgres:postgres "$PGDATA"; exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"; fi' \
    'if [ ! -s "$PGDATA/PG_VERSION" ]; then' \
    '  initdb --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256 $POSTGRES_INITDB_ARGS' \
    '  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"' \
    '  pg_ctl -D "$PGDATA" -w -o "-c listen_addresses= " start' \
    '  [ "$POSTGRES_DB" = postgres ] || createdb --username="$POSTGRES_USER" "$POSTGRES_DB"' \
    '  for file in /docker-entrypoint-initdb.d/*.sql; do [ -f "$file" ] && psql -v ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --file="$file"; done' \
    '  pg_ctl -D "$PGDATA" -m fast -w stop' 'fi' \
    'exec "$@" -c "listen_addresses=*"' >/usr/local/bin/docker-entrypoint.sh && chmod +x /usr/local/bin/docker-entrypoint.sh
VOLUME /var/lib/postgresql/data
EXPOSE 5432
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
DOCKERFILE
fi
if is_missing "$prometheus"; then
    mkdir -p "$work/prometheus"
    image "$prometheus" "$work/prometheus" <<'DOCKERFILE'
FROM debian:trixie-slim
RUN apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends prometheus \
    >/dev/null && rm -rf /var/lib/apt/lists/* && mkdir -p /prometheus && chown nobody /prometheus
USER nobody
WORKDIR /prometheus
ENTRYPOINT ["/usr/bin/prometheus"]
DOCKERFILE
fi
say 'all there, but for Grafana, which Debian does not have'
