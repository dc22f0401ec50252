#!/bin/sh
# Builds a commit of this repository for release, beside the working copy, and prints the folder with its executables.
#
# usage: scripts/build-commit.sh [commit]
#
# Without a commit it is what the working copy was made from: the last commit while the program has changes, else the one before.
# The clone stays in .build/before, so that the next build of another commit is a short one.
set -eu

if [ $# -gt 0 ]; then
    name=$1
elif [ -z "$(git status --porcelain -- Sources Benchmarks Package.swift)" ]; then
    name=HEAD~1
else
    name=HEAD
fi
commit=$(git rev-parse --quiet --verify "$name^{commit}") || {
    echo "$name is no commit here; in a shallow clone there may be too few" >&2
    exit 65
}
clone=.build/before
[ -e "$clone/.git" ] || git clone --quiet --shared --no-checkout . "$clone"
# It shares the objects of this repository, wherever that is by now, and so knows every commit that this one knows.
git rev-parse --path-format=absolute --git-path objects >"$clone/.git/objects/info/alternates"
git -C "$clone" checkout --quiet --detach --force "$commit"
echo "Building $(git log -1 --format='%h %s' "$commit")" >&2
(cd "$clone" && ${SWIFT:-swift} build -c release >&2)
echo "$clone/.build/release"
