#!/usr/bin/env bash
# Tests and measures tilec on an NVIDIA GPU, each part within its limit of seconds:
#     bench/card/run.sh OUT [PART SECONDS]...
# OUT/logs gets what each part says, and its JSON files; OUT/logs/rows has a line for each command.
# All parts, with the seconds that they get by default (27 minutes in all):
#     tests 500    the tests of the bundle, 15 at a time: examples, the API, chains, the matrix,
#                  compute-sanitizer where it is installed
#     bench 60     bench_gpu
#     peers 140    PyTorch and Triton, where they are installed: the work of bench_gpu, then more
#     tune 250     tilec tune of products and attention
#     sweep 300    tilec bench of the lines of sweep.txt
#     turns 120    products and attention in turns with PyTorch's, on the same data (turns.py)
#     facts 60     arithmetic of the card against that of the simulator (facts/)
#     rates 60     rates, latencies and bandwidths (rates.cu); for Hopper alone
#     ring 80      products in hand-written PTX (ring.py); for Hopper alone, needs PyTorch
#     ncu 60       Nsight Compute about bench_gpu, where it is installed
# The bundle is build/tilec-gpu-bundle.tar.gz, or the file in TILEC_BUNDLE; scripts/gpu-bundle.sh
# makes it. rates and facts need nvcc: where out/card/ does not have them they are built, and
# `run.sh --build` does only that, for another machine. The measuring parts must be alone on the
# GPU. A failed part does not change the status.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
defaults=(tests 500 bench 60 peers 140 tune 250 sweep 300 turns 120 facts 60 rates 60 ring 80
    ncu 60)

usage() {
    sed -n '2,/^set/{/^#/s/^# \?//p}' "$0"
    exit "$1"
}
build() {
    local flags=(-std=c++17 '-gencode=arch=compute_90a,code=sm_90a') nvcc part jobs=() failed=0
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    mkdir -p "$root/out/card" && cd "$root/out/card" || return 1
    [ -x "$nvcc" ] || { echo "no nvcc: rates and facts are left out" && return 1; }
    python3 "$here/wgmma.py" >wgmma.cuh || return 1
    for part in main approx mma exact; do
        "$nvcc" "${flags[@]}" -O2 -fmad=false -diag-suppress 128,177,550 -c -o $part.o \
            "$here/facts/$part.cu" &
        jobs+=($!)
    done
    "$nvcc" "${flags[@]}" -O3 -I. -o rates "$here/rates.cu" || failed=1
    for part in "${jobs[@]}"; do wait "$part" || failed=1; done
    [ $failed -eq 0 ] && "$nvcc" "${flags[@]}" -o facts {main,approx,mma,exact}.o
}

# one END NAME LIMIT COMMAND: runs a command with a limit if there is time before END; adds a row.
one() {
    local left=$(($1 - $(date +%s))) name=$2 limit=$3 begin=$SECONDS status=0
    if [ $left -le 3 ]; then
        echo "$name not-started" >>"$logs/rows"
        return
    fi
    [ "$limit" -le $left ] || limit=$left
    timeout -k 2 "$limit" bash -c "$4" >"$logs/$name.log" 2>&1 || status=$?
    echo "$name status=$status $((SECONDS - begin))s" >>"$logs/rows"
}

# add NAME LIMIT COMMAND: a test for the queue of run_tests.
add() { printf '%s\0' "$end" "$@" >>"$queue"; }
sanitize() { # TOOL KERNEL...
    local tool=$1 kernel commands=
    shift
    for kernel; do
        commands+="compute-sanitizer --tool $tool bin/test_examples --device cuda:0 $kernel; "
    done
    add "$tool" 90 "$commands"
}
run_tests() { # END
    local end=$1 queue i n portion gpu='TILEC_TEST_GPU=cuda:0'
    local whole="TILEC_TEST_WHOLE=1 $gpu"
    queue=$(mktemp)
    add device 60 'bin/test_device --device cuda:0'
    add library 60 'bin/aot_host cuda:0'
    add chains 150 "$whole bin/test_chains"
    add slice 300 "TILEC_TEST_DEVICE=sim $gpu bin/test_matrix"
    while read -r kernel; do
        add "example-$kernel" 100 "bin/test_examples --device cuda:0 $kernel"
    done < <(sed -n 's/^EXAMPLE([a-z0-9_]*, \([a-z0-9_]*\),.*/\1/p' \
        "$root/tests/examples/examples.def")
    if command -v compute-sanitizer >/dev/null; then
        sanitize memcheck matmul softmax
        sanitize racecheck matmul attention sort_rows
        sanitize synccheck matmul attention
    fi
    # Portions of the whole matrix and of random kernels, as many as fit, from all over them.
    for ((i = 0; i < 2000; i++)); do
        n=$((i * 37 % 2000 + 1))
        portion="$whole TILEC_TEST_PORTION=$n/2000"
        add "matrix-$n" 60 "$portion TILEC_TEST_DEVICE=sim bin/test_matrix"
        add "special-$n" 60 "$portion TILEC_TEST_DEVICE=sm_90 bin/test_special"
    done
    # shellcheck disable=SC2016 # the inner bash expands $@
    CUDA_CACHE_DISABLE=1 xargs -0 -P 15 -n 4 bash -c 'one "$@"' _ <"$queue"
    rm -f "$queue"
    awk '/status=0/ { passed++ } /not-started/ { waiting++ } END {
        print passed + 0 " passed, " waiting + 0 " not started; others:"
    }' "$logs/rows"
    grep 'status=[1-9]' "$logs/rows" | head -n 40
    cat "$logs"/matrix-*.log |
        awk '/^  sim  / { n += $2 } END { print n + 0 " cells of the matrix ran" }'
    grep -h 'sm_' "$logs/chains.log"
    tail -n 3 "$logs/device.log"
}

tune() { # END NAME FILE KERNEL --set...
    local end=$1 name=$2
    shift 2
    one "$end" "tune-$name" 50 "bin/tilec tune examples/$* --device cuda:0 --math contract,approx \
        --table '$logs/tuned.txt' --json >'$logs/tune-$name.json'"
}
run_tune() { # END
    local f16='--set T=f16' heads='--set B=4 --set H=16 --set G=16 --set M=2048 --set N=2048'
    tune "$1" matmul-f16-4096 matmul.tile matmul "$f16 --set M=4096 --set N=4096 --set K=4096"
    tune "$1" matmul-f16-8192 matmul.tile matmul "$f16 --set M=8192 --set N=8192 --set K=8192"
    tune "$1" attention-64 attention.tile attention \
        "$f16 $heads --set D=64 --set BD=64 --set scale=0.125"
    tune "$1" attention-128 attention.tile attention \
        "$f16 $heads --set D=128 --set BD=128 --set scale=0.088"
    tune "$1" matmul-f32 matmul.tile matmul '--set T=f32 --set M=2048 --set N=2048 --set K=2048'
    tune "$1" fp8 fp8_matmul.tile fp8_matmul \
        '--set A=f8e4m3 --set B=f8e4m3 --set C=f16 --set M=4096 --set N=4096 --set K=4096'
    [ ! -f "$logs/tuned.txt" ] || cat "$logs/tuned.txt"
}

run_part() { # PART END: the last lines that it says
    local part=$1 end=$2 left=$(($2 - $(date +%s)))
    case $part in
    tests) run_tests "$end" ;;
    tune) run_tune "$end" ;;
    bench) one "$end" bench $left "bin/bench_gpu --device cuda:0 --json '$logs/bench.json'" ;;
    peers)
        one "$end" bench-peers 40 "python3 peers.py '$logs/bench-peers.json'"
        cat "$logs/bench-peers.log"
        left=$((end - $(date +%s)))
        one "$end" peers $left "python3 '$here/peers.py' '$logs/peers.json' $((left - 6))"
        ;;
    sweep) one "$end" sweep $left "python3 '$here/sweep.py' '$logs/sweep.json' '$here/sweep.txt'" ;;
    turns) one "$end" turns $left "python3 '$here/turns.py' '$logs/turns.json' $((left - 12))" ;;
    facts) one "$end" facts $left "'$root/out/card/facts' '$logs/facts.json'" ;;
    rates) one "$end" rates $left "'$root/out/card/rates' '$logs/rates.json'" ;;
    ring) one "$end" ring $left "python3 '$here/ring.py' '$logs/ring.json' $((left - 12))" ;;
    ncu) one "$end" ncu $left "ncu --set full --kernel-id :::2 bin/bench_gpu --device cuda:0" ;;
    *) echo "run.sh: no part '$part'" >&2 && return ;;
    esac
    [ ! -f "$logs/$part.log" ] || tail -n 40 "$logs/$part.log"
}

case ${1:-} in
-h | --help) usage 0 ;;
--build)
    build
    exit
    ;;
'' | -*) usage 2 >&2 ;;
esac
mkdir -p "$1/logs" || exit 2
logs=$(cd "$1/logs" && pwd)
shift
[ $# -gt 0 ] || set -- "${defaults[@]}"
[ $(($# % 2)) -eq 0 ] || usage 2 >&2
export logs
export -f one
case " $* " in
*' facts '* | *' rates '*) [ -x "$root/out/card/rates" ] || (build) ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xzf "${TILEC_BUNDLE:-$root/build/tilec-gpu-bundle.tar.gz}" || exit 2
cd "$work/tilec-gpu-bundle" || exit 2
export LD_LIBRARY_PATH=$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export TILEC_TEST_LLVM=$PWD/lib/libtilec_llvm.so TILEC_CACHE_DIR=$work/cache TILEC_TUNE_FILE=
export PYTHONUNBUFFERED=1 TRITON_CACHE_DIR=$work/triton
: >"$logs/rows"
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.mem,power.limit,temperature.gpu \
    --format=csv,noheader
bin/tilec devices | tee "$logs/devices.log"
while [ $# -gt 0 ]; do
    echo "== $1, $2 s at most"
    run_part "$1" $(($(date +%s) + $2))
    shift 2
done
