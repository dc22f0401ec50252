#!/usr/bin/env bash
# Installs what building or testing needs on Debian 12, where only the Swift toolchain is there already.
# Safe to run again: with everything in place it does nothing and takes well under a second.
#
#   scripts/setup.sh [--for build|test]
#
#   build  C libraries and tools (default)
#   test   also a PostgreSQL server, which tests start themselves; Python with the packages of
#          scripts/requirements.txt, in .venv; and where KAFKA_HOME is set Java with its compiler,
#          and PostgreSQL's driver for it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

say() {
    printf 'setup: %s\n' "$*"
}

fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

purpose=build
while [ $# -gt 0 ]; do
    case "$1" in
    --for)
        [ $# -ge 2 ] || fail "--for needs build or test"
        purpose="$2"
        shift 2
        ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 64 ;;
    esac
done

packages=(librdkafka-dev libcurl4-openssl-dev libssl-dev libjemalloc-dev libpq-dev libsqlite3-dev libyaml-dev pkg-config ca-certificates make git)
case "$purpose" in
build) ;;
test) packages+=(postgresql python3 python3-venv) ;;
*) usage >&2 && exit 64 ;;
esac

# Apache Kafka, which the tests of whole processes start where KAFKA_HOME names one, runs on Java. The example in Java is
# compiled, and needs a driver for PostgreSQL.
if [ "$purpose" = test ] && [ -n "${KAFKA_HOME:-}" ]; then
    packages+=(libpostgresql-jdbc-java)
    command -v javac >/dev/null || packages+=(openjdk-17-jdk-headless)
fi

is_installed() {
    [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "neither root nor sudo; as root, run: $*"
    fi
}

install_packages() {
    local missing=()
    for package in "${packages[@]}"; do
        is_installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing ${missing[*]}"
    as_root apt-get -qq -o Acquire::Retries=3 update
    # Else Debian makes a cluster with the server, and starts it.
    if [[ " ${missing[*]} " == *" postgresql "* ]]; then
        apt_install postgresql-common
        as_root sed -i -E 's/^#?create_main_cluster.*/create_main_cluster = false/' \
            /etc/postgresql-common/createcluster.conf
    fi
    apt_install "${missing[@]}"
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
        install --no-install-recommends "$@" >/dev/null
}

# On other systems nothing is installed, only looked for.
find_libraries() {
    command -v pkg-config >/dev/null || fail "pkg-config is missing"
    for library in rdkafka libcurl libssl jemalloc libpq sqlite3 yaml-0.1; do
        pkg-config --exists "$library" || fail "the C library $library is missing (its headers too)"
    done
}

install_python_packages() {
    # Debian's own, where it is: an interpreter from elsewhere may lack venv.
    local python=/usr/bin/python3 stamp=.venv/requirements.sha256 wanted
    [ -x "$python" ] || python="$(command -v python3)" || fail "python3 is missing"
    wanted="$(sha256sum <scripts/requirements.txt) $(readlink -f "$python")"
    if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        return 0
    fi
    say "installing Python packages into .venv"
    "$python" -m venv --clear .venv || fail "$python cannot make a virtual environment"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --retries 5 \
        --requirement scripts/requirements.txt
    # Written last, so that an installation that was cut short is begun again.
    printf '%s' "$wanted" >"$stamp"
}

command -v swift >/dev/null || fail "Swift is missing; install 6.2 or later from https://www.swift.org/install"
if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    install_packages
else
    find_libraries
fi
[ "$purpose" = build ] || install_python_packages
