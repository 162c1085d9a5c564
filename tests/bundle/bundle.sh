#!/usr/bin/env bash
# The bundle: made, unpacked in a clean folder, and run there without anything of the build: on cpu,
# on a simulated GPU, and on a driver without a GPU. Anything wrong fails the test.
#   bundle.sh               on one of the three, on another in the next slice; what must fail, too
#   TILEC_TEST_WHOLE=1      on all
set -eu
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "bundle: $1"
    exit 1
}

status=0
[ "${TILEC_TEST_WHOLE:-0}" = 1 ] || export BUNDLE_LEVEL=1
scripts/gpu-bundle.sh "$scratch/b.tar.gz" || status=$?
[ $status -eq 0 ] || exit $status
scripts/build.sh release fake_cuda
cp build/release/tests/libfake_cuda.so "$scratch/"
mkdir "$scratch/clean" "$scratch/home"
tar -C "$scratch/clean" -xzf "$scratch/b.tar.gz"
bundle=$scratch/clean/tilec-gpu-bundle

# The check of symbols sees them, and libraries that are missing.
scripts/bundle/symbols.sh "$bundle" 2.28 >"$scratch/said" && fail "no symbol is newer than 2.28?"
grep -q 'needs a glibc newer than 2.28' "$scratch/said"
cp -R "$bundle" "$scratch/less"
rm "$scratch"/less/lib/libcmocka*
scripts/bundle/symbols.sh "$scratch/less" >"$scratch/said" && fail "nobody misses a library"
grep -q 'needs libcmocka' "$scratch/said"

run() { # FOLDER ARGUMENT…
    local folder=$1
    shift
    (cd / && env -i PATH=/usr/bin:/bin HOME="$scratch/home" \
        TILEC_CUDA_LIBRARY="$scratch/libfake_cuda.so" "$folder/run.sh" --quick \
        --out "$scratch/out" "$@")
}
has() { grep -qE "$2" "$scratch/out/$1" || { cat "$scratch/out/$1"; fail "'$2' is not in $1"; }; }
part=$((${TILEC_TEST_SLICE:-0} % 3))
is_due() { [ "${TILEC_TEST_WHOLE:-0}" = 1 ] || [ $part -eq "$1" ]; }
all=(cpu sim:sm_80 cuda:0)
devices=("${all[@]}")
[ "${TILEC_TEST_WHOLE:-0}" = 1 ] || devices=("${all[$part]}")
# shellcheck disable=SC2046
run "$bundle" $(printf -- '--device %s ' "${devices[@]}")
for device in "${devices[@]}"; do
    for name in command examples matrix device library bench; do
        has results.txt "^$device +$name +passed"
        has results.json "\"device\":\"$device\",\"test\":\"$name\",\"result\":\"passed\""
    done
done
has results.txt '^matmul f16 .* TFLOP/s'
if [[ " ${devices[*]} " == *" cuda:0 "* ]]; then
    for name in chains random; do has results.txt "^cuda:0 +$name +passed"; done
    has results.txt '^launch, bare driver .* us'
    has results.json '"cuda-0":\[\{"name":"copy","seconds":'
fi
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$scratch/out/results.json"
fi

cp -R "$bundle/lib" "$scratch/less/"

# A kernel that is wrong is noticed, by the tests and in the results.
if is_due 0; then
    sed -i 's|/ sum(e)|/ (2 * sum(e))|' "$scratch/less/examples/softmax.tile"
    if run "$scratch/less" --device sim:sm_80 --tests >"$scratch/said"; then
        fail "a wrong kernel passed"
    fi
    has results.txt '^sim:sm_80 +examples +FAILED'
    has results.txt '^sim:sm_80 +matrix +passed'
fi

# The tests take the bundle's own compiler library, and fail where it is missing.
if is_due 1; then
    rm "$scratch/less/lib/libtilec_llvm.so"
    if run "$scratch/less" --device cuda:0 --tests >"$scratch/said"; then
        fail "nobody misses the compiler library"
    fi
    for name in matrix chains random; do has results.txt "^cuda:0 +$name +FAILED"; done
fi
echo "bundle: ok"
