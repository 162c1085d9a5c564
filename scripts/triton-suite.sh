#!/usr/bin/env bash
# Runs Triton's own tests of the language with tilec as the compiler.
#   scripts/triton-suite.sh [--device D] [--part N] [--keep] CHECKOUT [FILE]...
# CHECKOUT is a copy of github.com/triton-lang/triton-cpu; FILE is a name such as test_core.py
# (default: those of the list below). Needs python3 with torch, pytest, numpy and scipy; PYTHON is
# another Python. pytest-xdist, if it is there, uses all processors.
#   --device D   cpu (default), sim:sm_80, sim:gfx942, …
#   --part N     every N-th test, chosen by its name: devices that are simulated take long
#   --keep       renews tests/python/triton-suite.txt, the list of tests that do not pass
# Prints what passed of each file. A test that fails and is not in the list fails the run, as does
# one that is in the list and passes.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
root=$PWD list=tests/python/triton-suite.txt
fail() {
    echo "triton-suite: error: $1" >&2
    echo "triton-suite: help: $2" >&2
    exit 2
}
device=cpu part=1 keep=
while [ $# -gt 0 ]; do
    case $1 in
    --device) device=${2:?} && shift 2 ;;
    --part) part=${2:?} && shift 2 ;;
    --keep) keep=1 && shift ;;
    -*) fail "unknown option '$1'" "see --help" ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || fail "the folder of Triton's sources is missing" \
    "git clone --depth 1 https://github.com/triton-lang/triton-cpu"
tests=$1/python/test
[ -e "$tests/unit/language/test_core.py" ] ||
    fail "there is no $tests/unit/language/test_core.py" "give the folder of Triton's sources"
tests=$(cd "$tests" && pwd)
shift
[ $# -gt 0 ] || set -- test_core.py test_tuple.py test_block_pointer.py test_tensor_descriptor.py \
    test_standard.py test_random.py test_libdevice.py test_mxfp.py
python=${PYTHON:-python3}
for module in torch pytest numpy scipy; do
    "$python" -c "import $module" 2>/dev/null ||
        fail "'$python' has no $module" "apt-get install python3-torch python3-pytest python3-scipy"
done
workers=
! "$python" -c 'import xdist' 2>/dev/null || workers="-n $(nproc)"

export TILEC_LIBRARY=${TILEC_LIBRARY:-$root/build/release/libtilec.so}
export PYTHONPATH=$root/python:$root/tests/python PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
export TILEC_SUITE_PART=$part
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/all"
for file in "$@"; do
    export TILEC_SUITE_RESULTS=$scratch/$file
    : >"$TILEC_SUITE_RESULTS"
    # shellcheck disable=SC2086
    (cd "$tests" && "$python" -m tilec.triton --device "$device" -m pytest -q --tb=short $workers \
        -p suite_plugin -p no:cacheprovider --rootdir "${tests%/test}" --confcutdir "$tests" \
        --device cpu "unit/language/$file") >"$scratch/$file.log" 2>&1 || true
    # A test that passes its call and fails in its clean-up has two lines.
    awk -F'\t' -v file="$file" '
        { if (!($2 in outcome) || $1 == "failed") outcome[$2] = $1 }
        END {
            for (t in outcome) n[outcome[t]]++
            ran = n["passed"] + n["failed"]
            printf "triton-suite: %s: %d of %d passed (%.1f %%), %d skipped\n", file, n["passed"],
                ran, ran ? 100 * n["passed"] / ran : 0, n["skipped"]
        }' "$TILEC_SUITE_RESULTS"
    [ -s "$TILEC_SUITE_RESULTS" ] || tail -n 20 "$scratch/$file.log"
    cat "$TILEC_SUITE_RESULTS" >>"$scratch/all"
done
awk -F'\t' '$1 == "failed" { print $2 }' "$scratch/all" | LC_ALL=C sort -u >"$scratch/failed"
awk -F'\t' '$1 == "passed" { print $2 }' "$scratch/all" | LC_ALL=C sort -u >"$scratch/passed"
if [ -n "$keep" ]; then
    # Without the paths of this machine.
    awk -F'\t' '$1 == "failed" && !seen[$2]++ { printf "%s\t%s\n", $2, $3 }' "$scratch/all" |
        sed -E 's#[^ \t]*/(test_[a-z_]*\.py)#\1#g; s/[ \t]+$//' |
        LC_ALL=C sort >"$list"
    echo "triton-suite: $list: $(wc -l <"$list") tests that do not pass"
    exit 0
fi
cut -f1 "$list" | LC_ALL=C sort -u >"$scratch/known"
LC_ALL=C comm -23 "$scratch/failed" "$scratch/known" >"$scratch/new"
LC_ALL=C comm -12 "$scratch/passed" "$scratch/known" >"$scratch/gone"
[ ! -s "$scratch/new" ] || echo "triton-suite: not in $list:"
while IFS= read -r name; do
    awk -F'\t' -v name="$name" '$1 == "failed" && $2 == name { print "  " name ": " $3; exit }' \
        "$scratch/all"
done <"$scratch/new"
[ ! -s "$scratch/gone" ] || echo "triton-suite: in $list, but they pass:"
sed 's/^/  /' "$scratch/gone"
[ ! -s "$scratch/new" ] && [ ! -s "$scratch/gone" ]
