#!/usr/bin/env bash
# A chip that differs from another one in numbers is one row of target/chips.def. In a copy of the
# tree this adds a made-up NVIDIA chip, and gives a made-up AMD one the name of a processor that
# LLVM knows; then it compiles, explains, simulates and launches a kernel for each. The launches are
# on the fake drivers. Nothing but that file is changed.
#   new_chip.sh            in the root of the repository
set -eu
root=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' f; do [ ! -f "$f" ] || printf '%s\0' "$f"; done |
    tar -C "$root" --null -T - -cf - | tar -C "$scratch" -xf -
cd "$scratch"

fail() {
    echo "new_chip: $1" >&2
    exit 1
}

# sm_88, of which LLVM has the name: 20 warps and 72 KiB. gfx1153 with 48 KiB for a program, 12
# waves, portions of 32 registers, on the simulator.
nvidia='88, 90, 0, 20, 10, 64, 72, 71, 1024, 64, AMPERE'
amd='0x1153, 0x58, 0x1100, 11, 32, 48, 96, 1024, 12, 1024, 32, 32, 16, RDNA, WMMA3, 128, 0, DEVICE'
sed -i "s/^CHIP_NVIDIA( *89,.*/CHIP_NVIDIA($nvidia)\n&/
    s/^CHIP_AMD(0x1153,.*/CHIP_AMD($amd, RDNA3)/" target/chips.def
changed=$(diff -rq --exclude=.git "$root/target" target | wc -l)
[ "$changed" = 1 ] || fail "expected one changed file in target/, found $changed"
rows=$(diff "$root/target/chips.def" target/chips.def | grep -c '^>')
[ "$rows" = 2 ] || fail "expected two new rows, found $rows"

scripts/build.sh release tilec_tool tilec_llvm fake_cuda fake_hip >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    fail "it does not build"
}
tilec=build/release/tilec
export TILEC_CACHE=off

# says TEXT COMMAND…: the output has the text.
says() {
    local text=$1 out
    shift
    out=$("$@" 2>&1) || fail "$*: $out"
    [[ $out == *"$text"* ]] || fail "$*: no '$text' in: $out"
}

kernel=(examples/matmul.tile matmul --set T=f16 --set BM=64 --set BN=64 --set BK=32)
run=("$tilec" run "${kernel[@]}" --set M=96 --set N=64 --set K=64 --check --device)
for target in sm_88 gfx1153; do
    says "$target" "$tilec" devices --targets
    says "$target" "$tilec" emit "${kernel[@]}" --target "$target" --as asm
    says "6144 elements agree" "${run[@]}" "sim:$target"
done
export FAKE_GPU_ARCH=88 FAKE_GPU_VERSION=13000 FAKE_GPU_NEWEST=90
export TILEC_CUDA_LIBRARY=build/release/tests/libfake_cuda.so
says "6144 elements agree" "${run[@]}" cuda
says "sm_88" "$tilec" devices
export FAKE_GPU_ARCH=0x1153
unset FAKE_GPU_VERSION FAKE_GPU_NEWEST
export TILEC_HIP_LIBRARY=build/release/tests/libfake_hip.so
says "6144 elements agree" "${run[@]}" hip
says "gfx1153" "$tilec" devices
# The rows of the table decide.
says "of 72704" "$tilec" explain "${kernel[@]}" --target sm_88
says "of 20 warps" "$tilec" explain "${kernel[@]}" --target sm_88
says "of 49152" "$tilec" explain "${kernel[@]}" --target gfx1153
says "of 48 waves" "$tilec" explain "${kernel[@]}" --target gfx1153
echo "new_chip: two chips were added by two rows"
