#!/usr/bin/env bash
# The effect of the options chiplets, direct and turns on the code, where they mean something:
# counts of the main loop with and without. Off, and where they mean nothing, no byte of the code
# changes.
#   options.sh TILEC
set -u
tilec=$1
folder=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
checked=0 failed=0

wrong() {
    echo "$*"
    failed=$((failed + 1))
}

# emit OUT TARGET FILE KERNEL SETTING…
emit() {
    local out=$scratch/$1 target=$2 file=$3 kernel=$4 settings=()
    shift 4
    for s in "$@"; do settings+=(--set "$s"); done
    "$tilec" emit "$folder/../../examples/$file.tile" "$kernel" --target "$target" --as asm \
        "${settings[@]}" -o "$out" 2>"$scratch/log" ||
        wrong "$kernel $* for $target does not compile: $(head -1 "$scratch/log")"
}

# Lines of the whole code, and of its main loop (as loop.awk finds it by its matrix instructions),
# that have the words.
count() { grep -cE "$2" "$scratch/$1"; }
loop() { awk -f "$folder/loop.awk" "$scratch/$1"; }

# same TARGET FILE KERNEL OPTIONS SETTING…: the options change nothing.
same() {
    local target=$1 file=$2 kernel=$3 options=$4
    shift 4
    checked=$((checked + 1))
    emit plain "$target" "$file" "$kernel" "$@"
    # shellcheck disable=SC2086
    emit other "$target" "$file" "$kernel" "$@" $options
    cmp -s "$scratch/plain" "$scratch/other" ||
        wrong "$kernel for $target: $options is no plain code"
}

# has WORDS COUNT TARGET FILE KERNEL SETTING…: COUNT lines have the words, and nothing spills.
has() {
    local words=$1 expected=$2 found
    shift 2
    checked=$((checked + 1))
    emit code "$@"
    found=$(count code "$words")
    [ "$found" -eq "$expected" ] || wrong "$*: expected $expected of '$words', found $found"
    [ "$(loop code | cut -d' ' -f7)" = 0 ] || wrong "$*: scratch memory in the loop"
}

for target in gfx90a gfx942 gfx950 gfx1100 sm_80; do
    same $target matmul matmul 'direct=0 turns=0 chiplets=0' T=f16 warps=8
done
same gfx942 matmul matmul chiplets=1 T=f16
for target in gfx90a gfx1100 sm_80 x86-64-v3; do
    same $target matmul matmul 'direct=1 chiplets=8' T=f16
done
for target in gfx1100 gfx1201 sm_80; do
    same $target matmul matmul turns=1 T=f16 warps=8
done
same gfx942 matmul matmul turns=1 T=f16 warps=4

# One phase of a product's step, two of attention's: it rises, and falls.
for target in gfx90a gfx942 gfx950; do
    has s_setprio 2 $target matmul matmul T=f16 warps=8 turns=1
    has s_setprio 4 $target attention attention T=f16 warps=8 BM=128 turns=1
done

# Loads that go straight to shared memory: steps before the loop, and the loop's own. Neither factor
# is stored there by other instructions.
has 'buffer_load_dword .* lds' 24 gfx942 matmul matmul T=f32 BM=64 BN=64 BK=32 direct=1
has 'ds_write' 0 gfx942 matmul matmul T=f32 BM=64 BN=64 BK=32 direct=1
has 'buffer_load_dwordx4 .* lds' 6 gfx950 matmul matmul T=f32 BM=64 BN=64 BK=32 direct=1
has 'buffer_load_dwordx4 .* lds' 6 gfx950 matmul matmul T=f16 warps=8 direct=1

echo "amdgpu: $checked uses of options, $failed wrong"
[ "$failed" -eq 0 ]
