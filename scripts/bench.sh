#!/usr/bin/env bash
# tilec on the CPU compared with its peers, as a table: interleaved medians and ratios, on one
# thread, then on all. A peer that is not installed is left out, with the command that installs it.
#
#     scripts/bench.sh [FILTER] [--quick] [--json] [--peers] [--threads LIST]
#
#   FILTER       only cases whose name contains it: "softmax", "matmul f32"
#   --quick      a sixth of the time, wider spreads
#   --json       one JSON array for each number of threads
#   --peers      installs oneDNN (PyPI, 800 MB) into build/peers first
#   --threads    numbers of threads, "1 2" by default
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"

arguments=()
filter=()
peers=0
threads="1 $(nproc)"
[ "$(nproc)" -gt 1 ] || threads=1
while [ $# -gt 0 ]; do
    case $1 in
    --quick | --json) arguments+=("$1") ;;
    --peers) peers=1 ;;
    --threads) threads=$2 && shift ;;
    -*) echo "bench.sh: unknown option $1" >&2 && exit 2 ;;
    *) filter=("$1") ;;
    esac
    shift
done

if [ $peers -eq 1 ] && [ ! -e build/peers/lib/libdnnl.so ]; then
    python3 -m venv build/peers
    build/peers/bin/pip install --quiet onednn onednn-devel
fi

cmake --preset release >/dev/null
cmake --build --preset release --target bench_cpu tilec_tool >/dev/null # and with it libtilec_llvm
bench=build/release/bench_cpu

# The hand-written loops, compiled for exactly this CPU.
mkdir -p build/bench
compiler=$(command -v clang-22 || command -v clang || command -v cc)
if [ -n "$(find bench/hand -newer build/bench/libhand.so 2>/dev/null)" ] ||
    [ ! -e build/bench/libhand.so ]; then
    "$compiler" -std=c17 -O3 -march=native -ffp-contract=fast -fPIC -shared -I. bench/hand/*.c \
        -o build/bench/libhand.so -lm
fi
arguments+=(--hand build/bench/libhand.so)

find_library() { # find_library NAME: where the loader would find it
    ldconfig -p | awk -v name="$1" '$1 == name && !found++ { print $NF }'
}
openmp=$(find_library libomp.so.5)
# Debian's alternatives install OpenBLAS under the name of the reference library.
blas=$(ls /usr/lib/*/openblas-pthread/libopenblas.so.0 2>/dev/null | head -1 || true)
[ -n "$blas" ] || blas=$(find_library libopenblas.so.0)
onednn=
[ ! -e build/peers/lib/libdnnl.so ] || onednn=build/peers/lib/libdnnl.so
# By its name, so that oneDNN and PoCL share one loader: oneDNN's, if it is installed, which finds
# PoCL as the system's would.
opencl=libOpenCL.so.1
arguments+=(--openmp "$openmp" --blas "$blas" --onednn "$onednn" --opencl "$opencl")

# The best setting of each library: OpenBLAS knows few CPUs by name; oneDNN finds its CPU through
# OpenCL; OpenMP threads sleep soon after their work, so that they do not disturb the next
# measurement.
unset OPENBLAS_CORETYPE
flags=" $(grep -m1 '^flags' /proc/cpuinfo 2>/dev/null || true) "
case $flags in
*" avx512_bf16 "*) export OPENBLAS_CORETYPE=Cooperlake ;;
*" avx512f "*) export OPENBLAS_CORETYPE=SkylakeX ;;
esac
export LD_LIBRARY_PATH="$PWD/build/peers/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export OCL_ICD_FILENAMES="$PWD/build/peers/lib/libintelocl.so"
export KMP_BLOCKTIME=${KMP_BLOCKTIME:-1}

# The cache of code that PoCL compiles. Its threads are not bound to processors (POCL_AFFINITY), and
# neither are those of the other peers.
export POCL_CACHE_DIR="$PWD/build/bench/pocl"
mkdir -p "$POCL_CACHE_DIR"

for n in $threads; do
    # The number of PoCL's threads; the second variable is for later versions.
    export POCL_MAX_PTHREAD_COUNT=$n POCL_CPU_MAX_CU_COUNT=$n
    # A single thread is pinned, which also limits libraries that start one thread for each
    # processor.
    pin=()
    [ "$n" -gt 1 ] || pin=(taskset -c 0)
    # TILEC_BENCH_RUN="chrt -r 1": runs with priority on a busy machine, for users who may do that.
    read -r -a more <<<"${TILEC_BENCH_RUN:-}"
    pin+=("${more[@]}")
    "${pin[@]}" "$bench" --threads "$n" "${arguments[@]}" "${filter[@]}"
done

if [[ " ${arguments[*]} " != *" --json "* && (-z "${filter[*]}" || fresh == "${filter[*]}") ]]; then
    echo "a fresh process, the kernel in the disk cache (the first run fills it)"
    cache=build/bench/cache
    rm -rf "$cache" && mkdir -m 700 -p "$cache"
    for _ in 1 2 3 4 5 6; do
        echo "    $("$bench" --fresh "$PWD/$cache" 2>&1 | head -1)"
    done
fi
