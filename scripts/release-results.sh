#!/usr/bin/env bash
# Stores the results of scripts/test-all.sh on this commit, for a release:
#   scripts/release-results.sh
# Copies build/test-all/table.md to bench/results/test-all-VERSION.md. Refuses a table in which a
# part failed or did not run. Commit the file it wrote.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
table=build/test-all/table.md
fail() {
    echo "release-results: error: $1" >&2
    echo "release-results: help: $2" >&2
    exit 1
}
[ -s $table ] || fail "there is no $table" "run scripts/test-all.sh"
commit=$(git rev-parse --short HEAD)
grep -q "^# test-all on $commit," $table ||
    fail "$table is of another commit: $(head -n 1 $table)" "run scripts/test-all.sh on this one"
if grep -E '\| (FAILED|not run) \|' $table >&2; then
    fail "these parts did not pass" "mend them, then scripts/test-all.sh --resume"
fi
version=$(sed -n 's/^#define TILEC_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/tilec/version.h |
    paste -sd.)
mkdir -p bench/results
cp $table "bench/results/test-all-$version.md"
echo "release-results: wrote bench/results/test-all-$version.md"
