#!/usr/bin/env python3
"""Looks through the files of the worker's image, and prints one line for each thing that has no business there.

    scripts/check-image.py IMAGE [BASE]

IMAGE, and BASE, which it is made from, are folders or tar files as `docker export` writes them. Exit code: 0 nothing
was found, 1 something, 2 wrong usage.
"""

import os
import re
import stat
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

PROGRAM, USER, HOME = "usr/bin/grantor", 10001, "var/lib/grantor"
# Debian's folders for everybody, and empty. A container whose root is read-only closes them.
OPEN = {"tmp", "var/tmp", "run/lock"}
# Bytes of the program, its libraries and the authorities' certificates.
LIMIT = 60_000_000
# A file that is longer is a program or a library; no key and no receipt is.
LONGEST = 1_000_000

PROGRAMS = {
    "a compiler, linker or debugger": r"([\w.-]+-)?(gcc|g\+\+|cc|c\+\+|cpp|clang|clang\+\+|swift|swiftc|as|ld|ld\.(bfd|gold|lld)"
    r"|lld|make|cmake|gdb|lldb|strace)(-[\d.]+)?",
    "a program that is not the worker's": r"grantor-.+|kafka-mock|docker|psql",
}
NAMES = {
    "source, or made of it": r".+\.(swift|swiftmodule|h|o|a)|\.git|\.build",
    "a secret or a setting": r".*\.(p8|p12|pfx|key|env)|\.pgpass|\.netrc|.*shared-secret.*|ledger(-owner|-operator)?-password|apps\.yaml"
    r"|kafka\.properties",
    "evidence of a purchase": r".*(receipt|signed-transaction).*",
    "a ledger": r".+\.(db|sqlite3?)(-wal|-shm)?",
}
TEXTS = {
    "a private key": rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[\w+/=]{16}",
    "a signed transaction": rb"eyJ[\w-]{30,}\.eyJ[\w-]{30,}\.[\w-]{60,}",
    "a password": rb"(?m)^(sasl\.password|\w*PASSWORD)\s*=\s*\w",
}


class File(NamedTuple):
    path: str
    # With its kind, as in stat().
    mode: int
    user: int
    group: int
    size: int
    text: bytes
    # Whether the file gives who starts it capabilities.
    lends: bool


def in_folder(root):
    for folder, folders, names in os.walk(root):
        for path in (os.path.join(folder, name) for name in folders + names):
            found = os.lstat(path)
            plain = stat.S_ISREG(found.st_mode)
            text = Path(path).read_bytes() if plain and found.st_size <= LONGEST else b""
            lends = plain and "security.capability" in os.listxattr(path)
            size = found.st_size if plain else 0
            yield File(os.path.relpath(path, root), found.st_mode, found.st_uid, found.st_gid, size, text, lends)


def in_tar(path):
    kinds = {tarfile.DIRTYPE: stat.S_IFDIR, tarfile.SYMTYPE: stat.S_IFLNK}
    # As a stream, because it holds each library once only.
    with tarfile.open(path, mode="r|*") as archive:
        for one in archive:
            # A second name has its file's mode.
            kind = stat.S_IFREG if one.isreg() or one.islnk() else kinds.get(one.type, 0)
            text = archive.extractfile(one).read() if one.isreg() and one.size <= LONGEST else b""
            lends = "SCHILY.xattr.security.capability" in one.pax_headers
            name = one.name.removeprefix("./")
            yield File(name, kind | one.mode, one.uid, one.gid, one.size if one.isreg() else 0, text, lends)


def files(place):
    # An engine mounts its own on these.
    found = in_folder(place) if os.path.isdir(place) else in_tar(place)
    return (file for file in found if file.path.split("/")[0] not in ("dev", "proc", "sys"))


def is_open(file):
    """Whether the worker's user may write it. An owner may give itself the right."""
    mine = file.user == USER or file.group == USER and file.mode & stat.S_IWGRP
    return not stat.S_ISLNK(file.mode) and bool(mine or file.mode & stat.S_IWOTH)


def of_file(file):
    name, kind = os.path.basename(file.path), stat.S_IFMT(file.mode)
    if kind == stat.S_IFLNK or kind == stat.S_IFREG and file.mode & 0o111:
        yield from (what for what, pattern in PROGRAMS.items() if re.fullmatch(pattern, name))
    yield from (what for what, pattern in NAMES.items() if re.fullmatch(pattern, name))
    yield from (what for what, pattern in TEXTS.items() if re.search(pattern, file.text))
    if kind == stat.S_IFREG and (file.mode & (stat.S_ISUID | stat.S_ISGID) or file.lends):
        yield "lends rights to who starts it"
    if is_open(file) and file.path not in OPEN | {HOME}:
        yield f"may be written by user {USER}"
    if os.path.dirname(file.path) in OPEN | {HOME}:
        yield "in a folder that is to be empty"


def violations(image, base=None):
    """What is wrong with the image, line by line; without `base` nothing is said about its size."""
    below = {file.path: file.size for file in files(base)} if base else {}
    there, size = {}, 0
    for file in files(image):
        size += file.size if below.get(file.path) != file.size else 0
        there[file.path] = file.text.decode(errors="replace")
        for what in of_file(file):
            yield f"{file.path}: {what}"
    if PROGRAM not in there:
        yield f"{PROGRAM}: is missing"
    if not re.search(rf"^grantor:x:{USER}:{USER}:.*:/usr/sbin/nologin$", there.get("etc/passwd", ""), re.MULTILINE):
        yield f"etc/passwd: grantor is not user {USER}, or has a shell"
    for name in re.findall(r"^([\w-]+):(?![!*])", there.get("etc/shadow", ""), re.MULTILINE):
        yield f"etc/shadow: {name} has a password"
    if base and size > LIMIT:
        yield f"{size / 1e6:.1f} MB beside its base, in place of {LIMIT / 1e6:.0f}"


def main():
    if len(sys.argv) not in (2, 3) or not all(os.path.exists(place) for place in sys.argv[1:]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    found = list(violations(*sys.argv[1:]))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
