#!/usr/bin/env bash
# The warp machine's speed on tilec's own kernels for sm_80, bare and with all observers (the rows
# of docs/performance.md): scripts/sim-speed.sh [BUILD]
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
build=${1:-build/release}
texts=$(mktemp -d)
trap 'rm -rf "$texts"' EXIT
# row FILE KERNEL "SETTINGS" GRID ARG...: a view is given by its array and its extents.
row() {
    local file=$1 kernel=$2 settings=() grid=$4 entry shared
    for setting in $3; do settings+=(--set "$setting"); done
    shift 4
    "$build/tilec" emit "examples/$file.tile" "$kernel" "${settings[@]}" --target sm_80 --as asm \
        -o "$texts/$kernel.ptx"
    entry=$(sed -n 's/^\.visible \.entry \([^(]*\)(.*/\1/p' "$texts/$kernel.ptx")
    shared=$("$build/tilec" emit "examples/$file.tile" "$kernel" "${settings[@]}" --target sm_80 \
        --as metadata | sed \
    "s/.*\"entry\":\"$entry\",\"block\":[^]]*],\"shared\":\([0-9]*\).*/\1/")
    "$build/bench_sim" "$texts/$kernel.ptx" "$grid" "$shared" "$@"
}
n=i64:1024
row matmul matmul T=f16 2 f16:262144 i64:256 $n f16:131072 $n i64:128 f16:32768 i64:256 i64:128
row attention attention T=f16 2 f16:8192 i64:1 i64:1 i64:128 i64:64 \
    f16:16384 i64:1 i64:1 i64:256 i64:64 f16:16384 i64:1 i64:1 i64:256 i64:64 \
    f16:8192 i64:1 i64:1 i64:128 i64:64 f32=0.125
row vector_add add T=f32 256 f32:262144 i64:262144 f32:262144 i64:262144 f32:262144 i64:262144
row gelu bias_gelu T=f32 256 f32:262144 i64:256 $n f32:1024 $n f32:262144 i64:256 $n
row reduce row_sum T=f32 256 f32:262144 i64:256 $n f32:256 i64:256
row softmax softmax "" 256 f32:262144 i64:256 $n f32:262144 i64:256 $n
row layernorm layernorm T=f32 256 f32:262144 i64:256 $n f32:1024 $n f32:1024 $n f32:262144 \
    i64:256 $n \
    f32=0.00001
row transpose transposed T=f32 32 f32:32768 i64:32 $n f32:32768 $n i64:32
