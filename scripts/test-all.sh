#!/usr/bin/env bash
# Everything: all presets, all labels, whole matrices, longer fuzzing. Hours; not for every commit.
#   FUZZ_SECONDS   seconds per fuzz target (default 600)
set -u
cd "$(dirname "$0")/.."
scripts/setup.sh || exit 1
export FUZZ_SECONDS=${FUZZ_SECONDS:-600}
export TILEC_TEST_WHOLE=1 # matrices run whole, not as a slice chosen by hash
failed=()
for preset in debug release clang tsan; do
    echo "== $preset"
    labels='.*'
    [ "$preset" = debug ] || labels='^(quick|long)$'
    unset TILEC_TEST_TARGETS
    [ "$preset" != release ] || export TILEC_TEST_TARGETS=all # the matrix as code of each target
    if ! scripts/build.sh "$preset" || ! ctest --preset "$preset" -L "$labels"; then
        failed+=("$preset")
    fi
done
echo "== coverage"
scripts/coverage.sh || failed+=(coverage)
if [ ${#failed[@]} -gt 0 ]; then
    echo "test-all: failed: ${failed[*]}"
    exit 1
fi
echo "test-all: everything passed"
