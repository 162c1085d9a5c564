#!/usr/bin/env bash
# AArch64 under qemu-user, on a machine of another kind: builds the preset aarch64 (everything but
# code generation) with a cross compiler and runs its quick tests; then builds examples/aot for
# AArch64 with this machine's tilec, links it with the AArch64 runtime, and runs that.
#   scripts/test-aarch64.sh               all
#   scripts/test-aarch64.sh PATTERN       the tests that match (ctest -R), and no built library
# Status: 0 passed, 1 failed, 77 skipped with the reason. Nothing is installed: the libraries that
# Debian has not as cross packages are fetched and unpacked below build/aarch64.
#   TEST_JOBS      tests at a time (default: one for each processor)
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
root=$PWD
out=$root/build/aarch64
begin=$SECONDS

# Quick tests that are left out | reason. All others run.
left_out='
aot/aot                 | builds and runs for this machine; what it does is done below instead
install/.*              | builds and runs for this machine
bundle                  | builds and runs for this machine
docs/c_api              | compiles for this machine
filetest/selftest       | starts a program of the build by its path, which needs the emulator
tools/test_places       | starts copies of the command, which need the emulator
tools/test_explain      | code generation
tools/test_measure      | code generation
tools/test_options      | code generation
files/explain-.*        | code generation
files/tools             | code generation
examples/ptxas          | code generation
examples/amdgpu.*       | code generation
'
rows() { awk -F'|' 'NF == 2 { gsub(/^ +| +$/, "", $1); sub(/^ +/, "", $2); print $1 ";" $2 }' \
    <<<"$left_out"; }

skip() {
    echo "aarch64: skipped: $1"
    exit 77
}
fail() {
    echo "aarch64: failed: $1" >&2
    exit 1
}
# quietly NAME COMMAND…: writes the output to a file in build/aarch64, and shows its end if the
# command fails.
quietly() {
    local log=$out/$1.log
    shift
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log"
        fail "$*; see $log"
    fi
}
step() { printf 'aarch64: %5d s: %s\n' $((SECONDS - begin)) "$1"; }

case $(uname -m) in
aarch64 | arm64) skip "this machine is AArch64: scripts/test.sh tests that here" ;;
esac
missing=()
command -v aarch64-linux-gnu-gcc >/dev/null || missing+=(gcc-aarch64-linux-gnu)
[ -e /usr/aarch64-linux-gnu/include/stdio.h ] || missing+=(libc6-dev-arm64-cross)
command -v qemu-aarch64 >/dev/null || command -v qemu-aarch64-static >/dev/null ||
    missing+=(qemu-user)
[ ${#missing[@]} -eq 0 ] ||
    skip "missing: apt-get install --no-install-recommends ${missing[*]}"
mkdir -p "$out"

# ---- Libraries for AArch64: lists and packages of apt's own, in a folder of ours. apt checks their
# signatures as it does for this machine's.
libraries='libcmocka0 libcmocka-dev liblzma5 liblzma-dev libffi8 libffi-dev'
fetch() {
    local apt=$out/apt options
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/packages"
    : >"$apt/status"
    options=(-o "Dir::State=$apt" -o "Dir::State::lists=$apt/lists"
        -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
        -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=
        -o 'APT::Update::Post-Invoke-Success=' -o Acquire::Languages=none)
    apt-get "${options[@]}" update || return 1
    # shellcheck disable=SC2086
    (cd "$apt/packages" && apt-get "${options[@]}" download $libraries) || return 1
    for package in "$apt"/packages/*.deb; do
        dpkg -x "$package" "$out/sysroot" || return 1
    done
    rm -rf "$apt"
    touch "$out/sysroot/complete"
}
if [ ! -e "$out/sysroot/complete" ]; then
    if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
        skip "no apt-get to fetch AArch64's $libraries with"
    fi
    rm -rf "$out/sysroot"
    if ! fetch >"$out/fetch.log" 2>&1; then
        tail -n 5 "$out/fetch.log"
        skip "apt-get does not reach AArch64's $libraries; see $out/fetch.log"
    fi
    step 'libraries fetched'
fi

# ---- Tests. Time limits are those of long runs: an emulator takes its time.
TILEC_TEST_WHOLE=1 scripts/build.sh aarch64
unset TILEC_TEST_WHOLE
step 'built'
excluded=
while IFS=';' read -r name reason; do
    excluded="$excluded|$name"
    [ $# -gt 0 ] || printf 'aarch64: left out %-18s %s\n' "${name%.\*}" "$reason"
done < <(rows)
status=0
ctest --preset aarch64 -L '^quick$' -LE '^check$' -R "${1:-.}" -E "^(${excluded#|})\$" \
    --no-tests=error -j "${TEST_JOBS:-$(nproc)}" >"$out/ctest.log" 2>&1 || status=$?
summary=$(grep 'tests passed' "$out/ctest.log" || echo "ctest ended early, with status $status")
if [ $status -ne 0 ]; then
    sed -n '/^The following tests FAILED/,$p' "$out/ctest.log"
    fail "$summary; see $out/ctest.log"
fi
step "$summary"
if [ $# -gt 0 ]; then
    echo "aarch64: passed: $summary; no library was built"
    exit 0
fi

# ---- A library that this machine's tilec builds, in a program that AArch64 runs
scripts/build.sh release tilec_tool
tilec=$root/build/release/tilec
[ -e build/release/libtilec_llvm.so ] ||
    skip "code generation was not built, so no library can be: scripts/setup.sh says what is \
missing; $summary"
stage=$out/stage
rm -rf "$stage" "$out/ops"
mkdir -p "$out/ops"
quietly install cmake --install "$out" --prefix "$stage"
package=$(find "$stage" -name tilec_rt.pc)
export PKG_CONFIG_LIBDIR=${package%/*} PKG_CONFIG_PATH=
export TILEC_CACHE_DIR=$out/cache TILEC_CUDA_LIBRARY=none TILEC_HIP_LIBRARY=none
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
# emulated [env NAME=VALUE] PROGRAM ARGUMENT…
emulated() {
    local setting=()
    if [ "$1" = env ]; then
        setting=(env "$2")
        shift 2
    fi
    "${setting[@]}" "$qemu" -L /usr/aarch64-linux-gnu "$@"
}
cross() { aarch64-linux-gnu-gcc -std=c99 -O1 -Wall -Wextra -Werror "$@"; }
# runs TEXT COMMAND…: the command must print the text and succeed under qemu (fails: must not
# succeed).
runs() {
    emulated "${@:2}" >"$out/output" 2>&1 || { cat "$out/output"; fail "${*:2}"; }
    says "$@"
}
fails() {
    ! emulated "${@:2}" >"$out/output" 2>&1 || fail "it succeeds: ${*:2}"
    says "$@"
}
says() {
    grep -q -e "$1" "$out/output" || { cat "$out/output"; fail "'$1' is not printed: ${*:2}"; }
}

quietly library make -C "$out/ops" -f "$root/examples/aot/Makefile" "TILEC=$tilec" \
    TARGETS=sm_80,aarch64 CC=aarch64-linux-gnu-gcc MPICC=none
for program in "$out/ops/host" "$out/ops/loader"; do
    file -L "$program" 2>/dev/null | grep -q aarch64 || ! command -v file >/dev/null ||
        fail "$program is no program for AArch64"
done
runs 'all as expected' "$out/ops/host" cpu
grep '^[a-z].*numbers' "$out/output" | sed 's/^/aarch64: /'
runs 'all as expected' "$out/ops/loader" "$out/ops/libops_plugin.so"

# A target of another architecture is refused with a message.
fails 'which this machine does not run' env TILEC_CPU_TARGET=x86-64-v2 "$out/ops/host" cpu
# A GPU's code in the same library, on NVIDIA's driver without a GPU. AMD's would need code
# generation, which contains the disassembler.
runs '^device cuda' env "TILEC_CUDA_LIBRARY=$out/tests/libfake_cuda.so" "$out/ops/host" cuda
says 'all as expected'

# Two libraries with the same names in one process.
for times in 2 3; do
    echo "kernel scaled(f32 x[N], f32 y[N]) grid(1) { y[0 +: 1] = x[0 +: 1] * $times; }" \
        >"$out/ops/scaled.tile"
    quietly "twin$times" "$tilec" build "$out/ops/scaled.tile" --shared "$out/ops/twin$times.so" \
        --name twin --target aarch64
done
# shellcheck disable=SC2046
quietly twins cross $(pkg-config --cflags tilec_rt) tests/aot/twins.c \
    $(pkg-config --libs tilec_rt) "-Wl,-rpath,${package%/pkgconfig/*}" -ldl -o "$out/ops/twins"
runs '3 times' "$out/ops/twins" "$out/ops/twin2.so" "$out/ops/twin3.so"
step 'the built library'
echo "aarch64: passed: $summary; a library built here ran there; $(rows | wc -l) rows of tests" \
    "left out; $((SECONDS - begin)) s"
