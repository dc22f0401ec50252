#!/usr/bin/env bash
# Packs the worker into .build/packages: a .deb for Debian 12 and 13, and a tarball. The same program and the same
# commit give the same bytes. PROGRAM is built on Debian 12 with --static-swift-stdlib: make package. Needs binutils.
#
#   scripts/package.sh PROGRAM
set -euo pipefail

[ $# -eq 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 64; }
program="$(readlink -f "$1")"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
umask 022

fail() {
    printf 'package: %s\n' "$*" >&2
    exit 1
}

SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
export SOURCE_DATE_EPOCH
version="$("$program" --version)"
architecture="$(dpkg --print-architecture)"
packages=.build/packages
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# The package must depend on the libraries that the program is linked with.
depends=" $(sed -n '/^Depends: /{ s///; s/([^)]*)//g; s/[,|]/ /g; p }' deploy/debian/control) "
for library in $(objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }'); do
    case "$library" in
    libswift* | libFoundation*) fail "$program needs $library; build it with --static-swift-stdlib" ;;
    esac
    owner="$(dpkg-query --search "*/$library" 2>/dev/null | sed -n '1s/:.*//p')"
    [[ "$depends" == *" ${owner:-none} "* ]] ||
        fail "$library is of ${owner:-no package}, which deploy/debian/control does not name"
done

# Both artefacts have these, in their folders, so that links from one to another hold.
documents=(README.md CHANGELOG.md NOTICE docs/*.md docs/decisions/*.md)
examples=(config/apps.example.yaml deploy/postgres/*.sql deploy/prometheus/rules.yml deploy/grafana/dashboards/grantor.json)
scripts/man-page.sh "$program" "$(date --utc --date="@$SOURCE_DATE_EPOCH" +%F)" >"$work/grantor.1"

make_deb() {
    local root="$work/deb" files=deploy/debian size document
    local documents_to="$root/usr/share/doc/grantor"
    install -d "$root"/{DEBIAN,etc,usr/bin,usr/sbin,usr/lib/{grantor,systemd/system},usr/share/man/man{1,8}} \
        "$documents_to/examples" "$root/var/lib/grantor"
    install -d -m 0750 "$root"/etc/grantor{,/secrets}
    install -m 0755 "$program" "$root/usr/bin/grantor"
    install -m 0755 $files/grantor-admin "$root/usr/sbin/grantor-admin"
    install -m 0755 $files/watchdog "$root/usr/lib/grantor/watchdog"
    install -m 0644 $files/grantor.service $files/grantor-watchdog.service "$root/usr/lib/systemd/system/"
    install -m 0640 $files/grantor.env "$root/etc/grantor/grantor.env"
    gzip -9n <"$work/grantor.1" >"$root/usr/share/man/man1/grantor.1.gz"
    printf '.so man1/grantor.1\n' | gzip -9n >"$root/usr/share/man/man8/grantor-admin.8.gz"
    for document in "${documents[@]}"; do install -D -m 0644 "$document" "$documents_to/$document"; done
    install -m 0644 "${examples[@]}" "$documents_to/examples/"
    {
        cat NOTICE
        printf '\nOn Debian the license is in /usr/share/common-licenses/Apache-2.0.\n'
    } >"$documents_to/copyright"
    printf 'grantor (%s) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' "$version" \
        "$(sed -n 's/^Maintainer: //p' $files/control)" "$(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")" |
        gzip -9n >"$documents_to/changelog.gz"

    size="$(du --apparent-size --summarize --block-size=1024 "$root" | cut -f1)"
    sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@SIZE@/$size/" $files/control \
        >"$root/DEBIAN/control"
    install -m 0755 $files/{postinst,prerm,postrm} "$root/DEBIAN/"
    printf '/etc/grantor/grantor.env\n' >"$root/DEBIAN/conffiles"
    (cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    set_times "$root"
    # More threads would divide the archive into other blocks.
    dpkg-deb --build --root-owner-group -Zxz --threads-max=1 "$root" \
        "$packages/grantor_${version}_$architecture.deb" >/dev/null
}

make_tarball() {
    local name="grantor-$version-linux-$architecture"
    local root="$work/$name" document
    install -d "$root/examples"
    install -m 0755 "$program" "$root/grantor"
    install -m 0644 "$work/grantor.1" LICENSE "$root/"
    for document in "${documents[@]}"; do install -D -m 0644 "$document" "$root/$document"; done
    install -m 0644 "${examples[@]}" deploy/debian/grantor.{env,service} deploy/debian/grantor-watchdog.service \
        "$root/examples/"
    install -m 0755 deploy/debian/{grantor-admin,watchdog} "$root/examples/"
    set_times "$root"
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --format=gnu -c "$name" | gzip -9n \
        >"$packages/$name.tar.gz"
}

set_times() {
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

install -d "$packages"
make_deb
make_tarball
(cd "$packages" && sha256sum -- *"$version"*"$architecture"*)
