#!/usr/bin/env bash
# Every example's code object, for every AMD processor: it links, has no scratch memory and spills
# nothing with the consts that `tune` begins with. Each kernel is tried with f16 and with f32.
#   objects.sh TILEC        one processor for each, another in the next slice
#   TILEC_TEST_WHOLE=1      all
set -u
tilec=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Kernels that cannot have an operand type: products of fp8 name theirs.
fp8="--set A=f8e4m3 --set B=f8e5m2 --set C=f16"
declare -A other=([fp8_matmul]=$fp8 [fp8_linear]=$fp8)
processors=(gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1010 gfx1030 gfx1100
    gfx1151 gfx1200 gfx1201 gfx1250 gfx1251 gfx9-generic gfx9-4-generic gfx10-1-generic
    gfx10-3-generic gfx11-generic gfx12-generic)

slice=${TILEC_TEST_SLICE:-0}
failed=0 done=0
fail() {
    echo "$1"
    failed=$((failed + 1))
}

# number KEY: of the metadata that LLVM's assembly ends with.
number() {
    sed -n "s/^ *\.$1: *//p" "$scratch/k.s"
}

# one FILE KERNEL PROCESSOR SETTINGS…
one() {
    local file=$1 kernel=$2 gfx=$3 what="$2 for $3, ${*:4}" form
    shift 3
    for form in asm object; do
        if ! "$tilec" emit "$file" "$kernel" --target "$gfx" --as $form "$@" \
            -o "$scratch/k.${form:0:1}" 2>"$scratch/log"; then
            # The oldest have less memory than `tune` begins with, for every target.
            if [[ $gfx == gfx[67]* ]] && grep -q 'bytes of shared memory for' "$scratch/log"; then
                echo "$what: left out: $(sed -n '1s/.*error: //p' "$scratch/log")"
            else
                fail "$what: does not compile: $(head -1 "$scratch/log")"
            fi
            return
        fi
    done
    mv "$scratch/k.a" "$scratch/k.s"
    # A shared object of 64 bits for the machine 224.
    [ "$(od -An -tx1 -N5 "$scratch/k.o")" = ' 7f 45 4c 46 02' ] &&
        [ "$(od -An -tu2 -j16 -N4 "$scratch/k.o" | tr -s ' ')" = ' 3 224' ] ||
        fail "$what: not a linked code object"
    local v s memory
    v=$(number vgpr_spill_count) s=$(number sgpr_spill_count)
    memory=$(number private_segment_fixed_size)
    [ "$v $s $memory" = '0 0 0' ] ||
        fail "$what: spills $v vector, $s scalar registers, $memory bytes of scratch"
}

# A spill is noticed: no register file holds this tile.
one examples/matmul.tile matmul gfx1030 --set T=f16 --set warps=1 >"$scratch/said"
grep -q 'vector' "$scratch/said" || {
    echo "a matmul of one warp does not spill? $(cat "$scratch/said")"
    exit 1
}
failed=0

while IFS=: read -r file head; do
    kernel=${head#kernel }
    kernel=${kernel%%(*}
    settings=("--set T=f16" "--set T=f32")
    [[ $head == *"(type T,"* ]] || settings=("${other[$kernel]:-}")
    for s in "${settings[@]}"; do
        picked=("${processors[@]}")
        if [ "${TILEC_TEST_WHOLE:-0}" != 1 ]; then
            hash=$(cksum <<<"$kernel $s")
            picked=("${processors[(${hash%% *} + slice) % ${#processors[@]}]}")
        fi
        # shellcheck disable=SC2086
        for gfx in "${picked[@]}"; do one "$file" "$kernel" "$gfx" $s; done
        done=$((done + ${#picked[@]}))
    done
done < <(grep -H '^kernel ' examples/*.tile)

echo "amdgpu: $done code objects, $failed not as they should be"
[ "$done" -gt 0 ] && [ "$failed" -eq 0 ]
