#!/usr/bin/env bash
# Runs every fuzz target for a bounded time: scripts/fuzz.sh [TARGET…]
#   FUZZ_SECONDS   seconds per target (default 10)
#   FUZZ_SEED      of the random choices (default 1, so that one commit is judged as it was before;
#                  0: another each time, as scripts/test-all.sh has it)
# Starts from the committed corpus in tests/fuzz/corpus/<target>/ (source also from the examples and
# the files of errors). New inputs go to build/fuzz/found/, inputs that fail to
# build/fuzz/artifacts/.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
seconds=${FUZZ_SECONDS:-10}
seed=${FUZZ_SEED:-1}
if ! ls tests/fuzz/fuzz_*.c >/dev/null 2>&1; then
    echo "fuzz: skipped: there are no fuzz targets"
    exit 77
fi
clang=$(command -v clang-22 || command -v clang || true)
if [ -z "$clang" ]; then
    echo "fuzz: skipped: no clang here: apt-get install clang-22"
    exit 77
fi
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'int LLVMFuzzerTestOneInput(const char *d, long n); int LLVMFuzzerTestOneInput(const char *d,
long n) { return d && n ? 0 : 0; }' >"$probe/probe.c"
if ! "$clang" -fsanitize=fuzzer,address "$probe/probe.c" -o "$probe/probe" 2>/dev/null; then
    echo "fuzz: skipped: $clang has no libFuzzer: apt-get install libclang-rt-22-dev"
    exit 77
fi
scripts/build.sh fuzz
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        targets+=("$(basename "$source" .c)")
    done
fi
status=0
for target in "${targets[@]}"; do
    name=${target#fuzz_}
    found=build/fuzz/found/$name
    mkdir -p "$found" build/fuzz/artifacts
    folders=("$found")
    [ ! -d "tests/fuzz/corpus/$name" ] || folders+=("tests/fuzz/corpus/$name")
    [ "$name" != source ] || folders+=(examples tests/files/errors)
    options=(-seed="$seed" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -verbosity=0
        -artifact_prefix="build/fuzz/artifacts/$name-")
    [ ! -f "tests/fuzz/$name.dict" ] || options+=(-dict="tests/fuzz/$name.dict")
    log=build/fuzz/$name.log
    if "build/fuzz/$target" "${options[@]}" "${folders[@]}" >"$log" 2>&1; then
        echo "fuzz: $target: ${seconds} s, nothing found;" \
            "$(find "$found" -type f | wc -l) inputs kept"
    else
        echo "fuzz: $target: FAILED"
        tail -n 60 "$log"
        status=1
    fi
done
exit $status
