#!/usr/bin/env bash
# Installs what building or testing needs on Debian 12, where only the Swift toolchain is there already.
# Safe to run again: with everything in place it does nothing and takes well under a second.
#
#   scripts/setup.sh [--for build|test|ci]
#
#   build  C libraries and tools (default)
#   test   also Python with the packages of scripts/requirements.txt, in .venv
#   ci     also docker-compose and promtool, to check docker-compose.yml and the alerts
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
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
        [ $# -ge 2 ] || fail "--for needs build, test or ci"
        purpose="$2"
        shift 2
        ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 64 ;;
    esac
done

packages=(librdkafka-dev libcurl4-openssl-dev libssl-dev libgmp-dev libjemalloc-dev libpq-dev libsqlite3-dev pkg-config ca-certificates make git)
case "$purpose" in
build) ;;
test) packages+=(curl openssl postgresql-15 python3 python3-venv) ;;
ci) packages+=(curl openssl postgresql-15 python3 python3-venv docker-compose) ;;
*) usage >&2 && exit 64 ;;
esac

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
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
        install --no-install-recommends "${missing[@]}" >/dev/null
}

# On other systems nothing is installed, only looked for.
find_libraries() {
    command -v pkg-config >/dev/null || fail "pkg-config is missing"
    for library in rdkafka libcurl libcrypto gmp jemalloc libpq sqlite3; do
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

# Debian has it in a package that also starts a server, so only the program is taken out of it.
install_promtool() {
    [ ! -x .tools/promtool ] || return 0
    if command -v promtool >/dev/null; then
        mkdir -p .tools && ln -sf "$(command -v promtool)" .tools/promtool
        return 0
    fi
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || fail "promtool is missing"
    say "taking promtool out of Debian's prometheus"
    local folder
    folder="$(mktemp -d)"
    # Its lists may be older than what Debian has by now.
    (cd "$folder" && { apt-get -qq -o Acquire::Retries=3 download prometheus 2>/dev/null ||
        { as_root apt-get -qq -o Acquire::Retries=3 update && apt-get -qq -o Acquire::Retries=3 download prometheus; }; })
    dpkg-deb --extract "$folder"/prometheus_*.deb "$folder/package"
    mkdir -p .tools
    # Moved last, so that an installation that was cut short is begun again.
    mv "$folder/package/usr/bin/promtool" .tools/promtool
    rm -rf "$folder"
}

command -v swift >/dev/null || fail "Swift is missing; install 6.2 or later from https://www.swift.org/install"
if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    install_packages
else
    find_libraries
fi
[ "$purpose" = build ] || install_python_packages
[ "$purpose" != ci ] || install_promtool
