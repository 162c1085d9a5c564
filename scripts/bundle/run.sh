#!/usr/bin/env bash
# Tests and measures tilec on this machine:
#     ./run.sh [--device D] [--quick] [--tests] [--bench] [--out FOLDER]
# D is cuda:0 and hip:0 if the drivers find a GPU, else cpu and then sim:sm_80 (compiled for GPUs,
# executed without one). --quick: a part of the tests, and small benchmarks. --tests, --bench: only
# these. Writes FOLDER/results.json, FOLDER/results.txt (a table) and the output of each part; the
# status is not 0 if anything failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
devices=()
quick=0
parts=""
out=$PWD/tilec-results
while [ $# -gt 0 ]; do
    case $1 in
    --device) devices+=("${2:?--device takes a name}") && shift ;;
    --quick) quick=1 ;;
    --tests | --bench) parts="$parts ${1#--}" ;;
    --out) out=${2:?--out takes a folder} && shift ;;
    *)
        sed -n '2,9p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
parts=${parts:-tests bench}
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd)
cd "$here" || exit 2
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export TILEC_CACHE_DIR=$out/cache
unset TILEC_CPU_TARGET TILEC_TEST_WHOLE TILEC_TEST_TARGETS TILEC_TUNE_FILE
export TILEC_TUNE_FILE=
export TILEC_TEST_LLVM=$here/lib/libtilec_llvm.so

has_gpu() { # DEVICE
    bin/tilec run examples/vector_add.tile add --device "$1" --set T=f32 --set N=1000 --check \
        >>"$out/gpu.log" 2>&1
}
if [ ${#devices[@]} -eq 0 ]; then
    : >"$out/gpu.log"
    for device in cuda:0 hip:0; do
        if has_gpu "$device"; then devices+=("$device"); fi
    done
    if [ ${#devices[@]} -eq 0 ]; then
        echo "run.sh: no GPU is used:"
        grep error: "$out/gpu.log"
        devices=(cpu sim:sm_80)
    fi
fi

: >"$out/results.txt"
: >"$out/rows.json"
failed=0
row() { # DEVICE NAME RESULT SECONDS
    printf '%-10s %-18s %-8s %6s s\n' "$1" "$2" "$3" "$4" | tee -a "$out/results.txt"
    [ ! -s "$out/rows.json" ] || printf ',\n  ' >>"$out/rows.json"
    printf '{"device":"%s","test":"%s","result":"%s","seconds":%s}' "$1" "$2" "$3" "$4" \
        >>"$out/rows.json"
    [ "$3" != FAILED ] || failed=1
}
part() { # DEVICE NAME COMMAND…: a test
    local device=$1 name=$2 begin=$SECONDS log
    shift 2
    log=$out/${device//:/-}-$name.log
    if "$@" >"$log" 2>&1; then
        row "$device" "$name" passed $((SECONDS - begin))
    else
        row "$device" "$name" FAILED $((SECONDS - begin))
        tail -n 20 "$log"
    fi
}

# Runs one kernel with the command, and checks the output of `tilec devices`.
command_works() {
    bin/tilec devices &&
        bin/tilec run examples/vector_add.tile add --device "$1" --set T=f32 --set N=3000 --check &&
        bin/tilec run examples/softmax.tile softmax --device "$1" --set R=3 --set C=1000 --check
}
examples_work() {
    if [ $quick -eq 0 ]; then
        bin/test_examples --device "$1"
        return
    fi
    for kernel in add softmax matmul; do
        bin/test_examples --device "$1" $kernel || return 1
    done
}
# The matrix of operations, types and shapes against references in C, compiled for the device.
matrix_works() {
    if [ $quick -eq 0 ]; then
        matrix_on "$1"
        return
    fi
    for op in add dot; do
        TILEC_TEST_OP=$op matrix_on "$1" || return 1
    done
}
matrix_on() {
    case $1 in
    cpu*) cells_run "cpu native" bin/test_matrix ;;
    sim*) cells_run sim bin/test_matrix ;;
    cuda* | hip*) TILEC_TEST_GPU=$1 cells_run sim bin/test_matrix ;;
    *) echo "no matrix is compiled for $1" ;;
    esac
}
# A matrix of which no cell ran has failed.
cells_run() { # ROW COMMAND
    local said
    said=$(TILEC_TEST_DEVICE=$1 "$2" 2>&1) || { echo "$said" && return 1; }
    echo "$said"
    grep -q "^  $1  *[1-9][0-9]* cells" <<<"$said"
}
# Chains of operations that compilers combine, and random kernels, on special values: the same bits
# as on the interpreter. (sm_90 is the row's name there; the device runs code of its own kind.)
chains_work() { TILEC_TEST_GPU=$1 TILEC_TEST_WHOLE=$((1 - quick)) bin/test_chains; }
random_works() { TILEC_TEST_GPU=$1 TILEC_TEST_DEVICE=sm_90 bin/test_special; }
# Streams, events, prints, faults, graphs: what a host program does.
device_works() { bin/test_device --device "$1"; }
# Runs kernels that were compiled ahead of time, with the runtime alone.
library_works() {
    case $1 in
    cpu* | cuda* | hip*) bin/aot_host "$1" ;;
    *) echo "the runtime alone has no $1" ;;
    esac
}
bench() { # DEVICE: a table, and rows for results.json
    local small=
    case $1 in
    cuda* | hip*) [ $quick -eq 0 ] || small=--small ;;
    *) small=--small ;;
    esac
    bin/bench_gpu --device "$1" $small --json "$out/bench-${1//:/-}.json"
}
peers() { python3 peers.py "$out/peers.json"; }

for device in "${devices[@]}"; do
    for what in $parts; do
        if [ "$what" = tests ]; then
            part "$device" command command_works "$device"
            part "$device" examples examples_work "$device"
            part "$device" matrix matrix_works "$device"
            part "$device" device device_works "$device"
            part "$device" library library_works "$device"
            case $device in
            cuda* | hip*)
                part "$device" chains chains_work "$device"
                part "$device" random random_works "$device"
                ;;
            esac
        else
            part "$device" bench bench "$device"
            tee -a "$out/results.txt" <"$out/${device//:/-}-bench.log"
            case $device in
            cuda* | hip*)
                if python3 -c 'import torch' 2>/dev/null; then
                    part "$device" peers peers
                    tee -a "$out/results.txt" <"$out/${device//:/-}-peers.log"
                else
                    echo "PyTorch, Triton: not measured, they are not installed" |
                        tee -a "$out/results.txt"
                fi
                ;;
            esac
        fi
    done
done

{
    printf '{"version":"%s","quick":%s,\n "tests":[' "$(bin/tilec --version | head -n 1)" \
        "$([ $quick -eq 1 ] && echo true || echo false)"
    cat "$out/rows.json"
    printf '],\n "bench":{'
    separator=
    for file in "$out"/bench-*.json "$out"/peers.json; do
        [ -s "$file" ] || continue
        key=$(basename "$file" .json)
        printf '%s"%s":' "$separator" "${key#bench-}"
        cat "$file"
        separator=,
    done
    printf '}}\n'
} >"$out/results.json"
rm -f "$out/rows.json"
if [ $failed -ne 0 ]; then
    echo "run.sh: something failed; $out has what it said"
    exit 1
fi
echo "run.sh: everything passed; results are in $out"
