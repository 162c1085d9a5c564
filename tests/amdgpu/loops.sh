#!/usr/bin/env bash
# The main loops of products and attention on AMD's processors, with the consts that `tune` begins
# with. Each has a limit of instructions, uses the matrix instructions of the tile, reads LDS and
# global memory by 16 bytes, and has neither scratch memory nor a branch for edges. Where tilec asks
# LLVM for one more wave per SIMD, the kernel has few enough vector registers for it.
#   loops.sh TILEC
set -u
tilec=$1
folder=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Kernel, settings; then for each processor: instructions at most; exactly, matrix instructions,
# 16-byte reads of LDS, narrower ones, 16-byte loads, narrower ones, accesses of scratch memory,
# branches.
budgets='
matmul matmul T=f16
gfx90a 80 16 12 0 4 0 0 1
gfx942 80 16 12 0 4 0 0 1
gfx950 72 8 12 0 4 0 0 1
gfx1100 88 16 24 0 4 0 0 1
gfx1201 77 16 12 0 4 0 0 1
gfx906 147 128 12 0 0 0 0 1
gfx1030 279 256 16 0 0 0 0 1
matmul matmul T=bf16
gfx90a 80 16 12 0 4 0 0 1
gfx942 80 16 12 0 4 0 0 1
gfx950 72 8 12 0 4 0 0 1
gfx1100 88 16 24 0 4 0 0 1
gfx1201 77 16 12 0 4 0 0 1
matmul matmul T=f32
gfx90a 175 64 24 0 8 0 0 1
gfx950 175 64 24 0 8 0 0 1
matmul matmul_i8
gfx90a 285 64 16 0 8 0 0 1
gfx942 245 32 16 0 8 0 0 1
gfx950 235 16 16 0 8 0 0 1
gfx1100 375 64 48 0 8 0 0 1
gfx1201 350 64 24 0 8 0 0 1
fp8_matmul fp8_matmul A=f8e4m3 B=f8e5m2 C=f16
gfx950 260 32 16 0 8 0 0 1
gfx1201 350 64 24 0 8 0 0 1
fp8_matmul fp8_matmul A=f8e4m3fnuz B=f8e4m3fnuz C=f16
gfx942 245 32 16 0 8 0 0 1
attention attention T=f16
gfx90a 410 32 16 0 4 0 0 1
gfx942 410 32 16 0 4 0 0 1
gfx950 360 16 18 0 4 0 0 1
gfx1100 995 32 80 0 8 0 0 1
gfx1201 845 32 32 0 8 0 0 1
attention attention T=f16 CAUSAL=1
gfx90a 425 32 16 0 4 0 0 1
gfx942 425 32 16 0 4 0 0 1
gfx950 375 16 18 0 4 0 0 1
gfx1100 985 32 80 0 8 0 0 1
gfx1201 880 32 32 0 8 0 0 1
'

waves='
attention attention gfx942 128
linear linear_relu gfx950 64
conv2d conv2d gfx950 72
conv2d conv2d gfx1201 120
'

checked=0 failed=0
while read -r first second rest; do
    [ -n "$first" ] || continue
    if [[ $first != gfx* ]]; then
        file=$first kernel=$second settings=()
        for s in $rest; do settings+=(--set "$s"); done
        continue
    fi
    checked=$((checked + 1))
    what="$kernel ${settings[*]} for $first"
    if ! "$tilec" emit "$folder/../../examples/$file.tile" "$kernel" --target "$first" --as asm \
        "${settings[@]}" -o "$scratch/k.s" 2>"$scratch/log"; then
        echo "$what: does not compile: $(head -1 "$scratch/log")"
        failed=$((failed + 1))
        continue
    fi
    read -r all found <<<"$(awk -f "$folder/loop.awk" "$scratch/k.s")"
    if [ "$found" != "$rest" ] || [ "$all" -gt "$second" ]; then
        echo "$what: expected at most $second instructions, of them $rest; found $all, $found"
        failed=$((failed + 1))
    fi
done <<<"$budgets"
while read -r file kernel target most; do
    [ -n "$file" ] || continue
    checked=$((checked + 1))
    rm -f "$scratch/k.s"
    "$tilec" emit "$folder/../../examples/$file.tile" "$kernel" --target "$target" --as asm \
        --set T=f16 -o "$scratch/k.s" 2>"$scratch/log"
    read -r found < <(sed -n 's/^ *\.vgpr_count: *//p' "$scratch/k.s")
    if [ "${found:-0}" -eq 0 ] || [ "$found" -gt "$most" ]; then
        echo "$kernel for $target: expected at most $most vector registers, found ${found:-none}"
        failed=$((failed + 1))
    fi
done <<<"$waves"
echo "amdgpu: $checked loops and kernels, $failed beyond their budgets"
[ "$checked" -gt 0 ] && [ "$failed" -eq 0 ]
