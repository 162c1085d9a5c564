#!/usr/bin/env bash
# Runs the programs of examples/triton on the interpreter, the CPU and simulated GPUs.
#
#     triton.sh JIT_FOLDER AHEAD      libtilec_llvm is in the folder of the JIT programs
set -eu
jit=$1
ahead=$2
cd "$(dirname "$0")/../../examples/triton"
failed=0
runs() { # runs COUNT PROGRAM DEVICE: it prints as many results, and all are right
    local count=$1
    shift
    if ! "$@" >"$scratch/output" 2>&1 ||
        [ "$(grep -c 'numbers are right$' "$scratch/output")" -ne "$count" ]; then
        echo "triton: failed: $*"
        cat "$scratch/output"
        failed=1
    fi
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
devices=interp
if [ -e "$jit/libtilec_llvm.so" ]; then
    devices='interp cpu sim:sm_80 sim:sm_90a sim:gfx942'
else
    echo "triton: skipped compiled code: this build has no libtilec_llvm"
fi
for device in $devices; do
    runs 2 "$jit/example_matmul_jit" "$device"
    runs 1 "$jit/example_moe_jit" "$device"
    [ "$device" = interp ] || [ ! -e "$ahead" ] || runs 3 "$ahead" "$device"
done
[ "$failed" -ne 0 ] || echo "triton: ok"
exit "$failed"
