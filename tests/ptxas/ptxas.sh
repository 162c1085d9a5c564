#!/usr/bin/env bash
# Every example's PTX through ptxas, for every architecture: it assembles, spills nothing and has no
# stack with the consts that `tune` begins with. Each kernel is tried with f16 and with f32.
#   ptxas.sh TILEC          one architecture for each, another in the next slice
#   TILEC_TEST_WHOLE=1      all
# Skipped (77) where there is no ptxas; an architecture that it does not know is said and left out.
set -u
tilec=$1
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null) || {
    echo "skipped: no ptxas here; NVIDIA's toolkit has it, or: pip install nvidia-cuda-nvcc-cu12"
    exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Kernels that cannot have an operand type: products of fp8 name theirs.
fp8="--set A=f8e4m3 --set B=f8e5m2 --set C=f16"
declare -A other=([fp8_matmul]=$fp8 [fp8_linear]=$fp8)
architectures=()
for sm in 75 80 86 89 90 100 120; do
    if "$ptxas" --help | grep -q "sm_$sm\b"; then
        architectures+=("$sm")
    else
        echo "left out: this ptxas does not know sm_$sm"
    fi
done

slice=${TILEC_TEST_SLICE:-0}
failed=0 done=0
fail() {
    echo "$1"
    failed=$((failed + 1))
}

# one FILE KERNEL SM SETTINGS…
one() {
    local file=$1 kernel=$2 sm=$3 what="$2 for sm_$3, ${*:4}"
    shift 3
    if ! "$tilec" emit "$file" "$kernel" --target "sm_$sm" --as asm "$@" -o "$scratch/k.ptx" \
        2>"$scratch/log"; then
        fail "$what: does not compile: $(head -1 "$scratch/log")"
    elif ! "$ptxas" -arch="sm_$sm" -v -o /dev/null "$scratch/k.ptx" 2>"$scratch/log"; then
        fail "$what: ptxas refuses it: $(grep -m1 -i error "$scratch/log")"
    elif ! grep -q ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill' "$scratch/log"; then
        fail "$what: $(grep -m1 'stack frame' "$scratch/log")"
    fi
}

# A spill is noticed: no register file holds these tiles.
large=(--set T=f32 --set BM=256 --set BN=128 --set warps=4)
one examples/attention.tile attention 80 "${large[@]}" >"$scratch/said"
grep -q 'bytes spill' "$scratch/said" || {
    echo "an attention of 256 rows does not spill? $(cat "$scratch/said")"
    exit 1
}
failed=0

while IFS=: read -r file head; do
    kernel=${head#kernel }
    kernel=${kernel%%(*}
    settings=("--set T=f16" "--set T=f32")
    [[ $head == *"(type T,"* ]] || settings=("${other[$kernel]:-}")
    for s in "${settings[@]}"; do
        picked=("${architectures[@]}")
        if [ "${TILEC_TEST_WHOLE:-0}" != 1 ]; then
            hash=$(cksum <<<"$kernel $s")
            picked=("${architectures[(${hash%% *} + slice) % ${#architectures[@]}]}")
        fi
        # shellcheck disable=SC2086
        for sm in "${picked[@]}"; do one "$file" "$kernel" "$sm" $s; done
        done=$((done + ${#picked[@]}))
    done
done < <(grep -H '^kernel ' examples/*.tile)

echo "ptxas: $done kernels assembled, $failed not as they should be"
[ "$done" -gt 0 ] && [ "$failed" -eq 0 ]
