#!/usr/bin/env python3
"""Plants in the tree of an image what has no business there, one by one, and expects check-image.py to notice each.

    scripts/check-image-tests.py

Each tree is looked through as a tar file and as a folder. Only root can give the folder's files to another user; else
owners are left to the tar file. Exit code: 0 all were noticed, 1 not all.
"""

import importlib
import io
import os
import sys
import tarfile
import tempfile
from typing import NamedTuple

from planted_mistakes import report

check = importlib.import_module("check-image")


class Entry(NamedTuple):
    path: str
    text: bytes | None = b""
    mode: int = 0o644
    user: int = 0
    group: int = 0
    link: str = ""
    lends: bool = False


def folder(path, mode=0o755, user=0, group=0):
    return Entry(path, None, mode, user, group)


KEY = b"-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIAaBbCcDdEeFf0123456789==\n"
JWS = b"x = " + b".".join((b"eyJ" + b"a" * 40, b"eyJ" + b"b" * 90, b"c" * 86))
WELL = [
    folder("usr"), folder("usr/bin"), folder("tmp", 0o1777), folder("var/tmp", 0o1777),
    folder("var/lib/grantor", 0o750, 10001, 10001), folder("var/mail", 0o2775, 0, 8), folder("dev/shm", 0o1777),
    Entry("usr/bin/grantor", b"\x7fELF receipts.submitted -----BEGIN PRIVATE KEY-----\0", 0o755),
    Entry("usr/bin/sh", link="dash"), Entry("usr/bin/ld.so", link="../lib64/ld-linux-x86-64.so.2"),
    Entry("etc/passwd", b"root:x:0:0:root:/root:/bin/bash\ngrantor:x:10001:10001::/nonexistent:/usr/sbin/nologin\n"),
    Entry("etc/shadow", b"root:*:20000:0:99999:7:::\ngrantor:!:20000::::::\n", 0o640, 0, 42),
    Entry("etc/pam.d/common-password"), Entry("etc/dpkg/dpkg.cfg.d/docker"),
    Entry("usr/lib/x86_64-linux-gnu/libcrypto.so.3", b"-----BEGIN \0PRIVATE KEY-----\0 PASSWORD = \0"),
]
PASSWD = "etc/passwd"
MISTAKES = [
    (Entry("usr/bin/x86_64-linux-gnu-gcc-14", mode=0o755), "compiler"),
    (Entry("usr/local/bin/cc", link="gcc"), "compiler"),
    (Entry("opt/swift/usr/bin/swift", mode=0o755), "compiler"),
    (Entry("usr/bin/ld.bfd", mode=0o755), "compiler"),
    (Entry("usr/bin/grantor-simulator", mode=0o755), "not the worker's"),
    (Entry("usr/bin/docker", mode=0o755), "not the worker's"),
    (Entry("source/Sources/grantor/main.swift"), "source"),
    (folder("source/.git"), "source"),
    (Entry("etc/grantor/AuthKey.p8"), "a secret"),
    (Entry("srv/.env"), "a secret"),
    (Entry("etc/grantor/shared-secret"), "a secret"),
    (Entry("etc/grantor/apps.yaml"), "a secret or a setting"),
    (Entry("srv/key.txt", b"# mine\n" + KEY), "a private key"),
    (Entry("srv/kept", JWS), "a signed transaction"),
    (Entry("srv/settings", b"a=b\nsasl.password=hunter2\n"), "a password"),
    (Entry("srv/receipt.bin"), "evidence"),
    (Entry("srv/grantor.db-wal"), "a ledger"),
    (Entry("usr/bin/su", mode=0o4755), "lends rights"),
    (Entry("usr/bin/chage", mode=0o2755), "lends rights"),
    (Entry("usr/bin/ping", mode=0o755, lends=True), "lends rights"),
    (Entry("etc/grantor.conf", mode=0o666), "may be written"),
    (folder("srv/all", 0o1777), "may be written"),
    (Entry("etc/grantor.conf", user=10001, mode=0o444), "may be written"),
    (Entry("etc/grantor.conf", group=10001, mode=0o664), "may be written"),
    (Entry("tmp/left"), "to be empty"),
    (Entry("var/lib/grantor/left"), "to be empty"),
    (Entry(PASSWD, b"grantor:x:10001:10001::/nonexistent:/bin/sh\n"), "has a shell"),
    (Entry(PASSWD, b"grantor:x:1000:1000::/nonexistent:/usr/sbin/nologin\n"), "not user 10001"),
    (Entry("etc/shadow", b"root:$y$j9T$abc:20000:0:99999:7:::\n"), "root has a password"),
    (Entry("usr/bin/grantor", None), "usr/bin/grantor: is missing"),
    (Entry("usr/lib/large", b"\0" * 60_000_001), "60.0 MB beside its base"),
]


def tar(path, entries):
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for entry in entries:
            one = tarfile.TarInfo(entry.path)
            one.mode, one.uid, one.gid, one.linkname = entry.mode, entry.user, entry.group, entry.link
            one.type = tarfile.SYMTYPE if entry.link else tarfile.REGTYPE if entry.text is not None else tarfile.DIRTYPE
            one.size = len(entry.text) if one.isreg() else 0
            if entry.lends:
                one.pax_headers["SCHILY.xattr.security.capability"] = "x"
            archive.addfile(one, io.BytesIO(entry.text or b""))


def images(place, entries):
    """The tree as a tar file and as a folder, and whether it has owners and capabilities as they were planted."""
    tar(f"{place}/image.tar", entries)
    with tarfile.open(f"{place}/image.tar") as archive:
        archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
        archive.extractall(f"{place}/image", numeric_owner=True)
    yield f"{place}/image.tar", True
    planted = entries[-1]
    yield f"{place}/image", not planted.lends and (os.geteuid() == 0 or planted.user == planted.group == 0)


def missed():
    with tempfile.TemporaryDirectory(prefix="grantor-image-") as place:
        base = f"{place}/base"
        os.mkdir(base)
        for image, _ in images(place, WELL):
            yield from (f"nothing is planted in {image}, and: {line}" for line in check.violations(image, base))
    for planted, expected in MISTAKES:
        entries = [entry for entry in WELL if entry.path != planted.path] + [planted]
        if planted == Entry(check.PROGRAM, None):
            entries.pop()
        with tempfile.TemporaryDirectory(prefix="grantor-image-") as place:
            base = f"{place}/base"
            os.mkdir(base)
            for image, whole in images(place, entries):
                found = list(check.violations(image, base))
                if whole and not any(expected in line for line in found):
                    yield f"{planted.path}: {expected} is not noticed in {os.path.basename(image)}; found: {found}"


def main():
    return report(missed(), len(MISTAKES))


if __name__ == "__main__":
    sys.exit(main())
