#!/usr/bin/env bash
# Checks all files of this commit, and moves scripts/check/base to it if every rule holds:
#     scripts/check-base.sh
# Some checks read only the files that changed since that commit, so they take longer the older it
# is. Refuses a tree with changes. Commit the file it wrote.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
if [ -n "$(git status --porcelain)" ]; then
    echo "check-base: error: the tree has changes" >&2
    echo "check-base: help: commit them, since the file names a commit" >&2
    exit 1
fi
for check in warnings format headers selftest; do
    CHECK_ALL=1 "scripts/check/$check.sh" || exit 1
done
git rev-parse HEAD >scripts/check/base
echo "check-base: scripts/check/base is this commit now"
