#!/usr/bin/env bash
# Runs examples/c/layers.c on every kind of device, on GPUs' drivers without a GPU as well.
#
#     layers.sh PROGRAM        libtilec_llvm and the fakes are in the program's folder
set -eu
program=$1
here=$(dirname "$program")
failed=0
runs() { # runs DEVICE [VARIABLE=VALUE]…
    local device=$1
    shift
    if ! env "$@" "$program" "$device" >"$scratch/output" 2>"$scratch/errors"; then
        echo "layers: it fails on $device: $(cat "$scratch/errors")"
        failed=1
    elif ! diff tests/install/expected/layers.txt "$scratch/output" ||
        ! grep -qE "^$device: [1-9][0-9]* multiprocessors$" "$scratch/errors"; then
        echo "layers: on $device it prints something else: $(cat "$scratch/errors")"
        failed=1
    fi
}
export TILEC_TUNE_FILE= # each run measures
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
runs interp
if [ ! -e "$here/libtilec_llvm.so" ]; then
    echo "layers: skipped compiled code: this build has no libtilec_llvm"
    exit "$failed"
fi
for device in cpu:1 cpu:2 cpu:5 sim:sm_80 sim:sm_90a sim:gfx90a sim:gfx1100; do runs "$device"; done
for device in cuda cuda:1; do
    runs "$device" TILEC_CUDA_LIBRARY="$here/libfake_cuda.so"
done
for device in hip hip:1; do runs "$device" TILEC_HIP_LIBRARY="$here/libfake_hip.so"; done
runs hip TILEC_HIP_LIBRARY="$here/libfake_hip5.so" FAKE_GPU_VERSION=50221153
[ "$failed" -ne 0 ] || echo "layers: ok"
exit "$failed"
