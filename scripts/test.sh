#!/usr/bin/env bash
# The test command: sets up, builds two presets, and runs each test in the preset that suits it.
#   scripts/test.sh                          what a commit must pass
#   scripts/test.sh [--slice N] [REGEX]      the tests whose names match, e.g. '^matrix/', or '.'
# `debug` has sanitizers, for code that manages memory itself; `release` is fast, for sweeps over
# numbers and devices. A large sweep runs one slice only. The number of the slice is the number of
# commits, so that consecutive commits run different slices; it is 0 if the history is missing.
# Without REGEX most of the long tests run in one of three consecutive slices only.
# For each test that fails, a line says how to repeat it alone, also when the run is interrupted.
# Results and seconds of all tests are in build/tests.json. The status is 0 when everything passed,
# 130 when it was interrupted.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"

slice=0
if [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = false ] &&
    [ "$(git rev-parse --show-toplevel)" = "$PWD" ]; then
    slice=$(git rev-list --count HEAD 2>/dev/null || echo 0)
fi
match=
while [ $# -gt 0 ]; do
    case $1 in
    --slice)
        slice=${2:-}
        [ $# -eq 1 ] || shift
        ;;
    -*)
        echo "test: error: unknown option '$1'; scripts/test.sh --help" >&2
        exit 2
        ;;
    *)
        if [ -n "$match" ]; then
            echo "test: error: two patterns; write one, such as '^(base|ir)/'" >&2
            exit 2
        fi
        match=$1
        ;;
    esac
    shift
done
if ! [[ $slice =~ ^(0|[1-9][0-9]{0,8})$ ]]; then
    echo "test: error: --slice '$slice': expected a number such as 522" >&2
    exit 2
fi

scripts/setup.sh
scripts/bochs.sh || [ $? -eq 77 ] || exit 1
scripts/build.sh debug commit_tests
scripts/build.sh release commit_tests

# One run over both builds, with those tests of each that have the label. ctest treats tests of the
# same name as one test, so the other tests must be left out.
mkdir -p build/commit
echo "test: slice $slice"
scripts/lib/test-choice.sh "$slice" "$([ -z "$match" ] && echo turns || echo all)" \
    build/commit/CTestTestfile.cmake build/{debug,release}/CTestTestfile.cmake
rm -f build/commit/results.xml build/commit/output build/tests.json
export TILEC_TEST_SLICE=$slice
# Filetests that the last commit or the working tree changed run in each slice.
TILEC_TEST_CHANGED=$({ git diff --name-only HEAD~1 -- tests/files
    git ls-files --others --exclude-standard -- tests/files; } 2>/dev/null || true)
export TILEC_TEST_CHANGED
status=0
# ctest and its tests receive Ctrl-C as well; the rest of the script waits until they have ended.
interrupted() {
    trap "" INT HUP
    scripts/lib/test-interrupted.sh build/commit/output "$slice" "$match"
    exit 130
}
trap interrupted INT HUP
set -o pipefail
ctest --test-dir build/commit -R "${match:-.}" --no-tests=error --output-on-failure -j "$(nproc)" \
    --test-output-size-passed 1000000 --output-junit results.xml 2>&1 |
    tee -i build/commit/output || status=$?
set +o pipefail
trap - INT HUP
scripts/lib/test-report.sh build/commit/results.xml build/tests.json "$slice" || status=1
exit $status
