#!/usr/bin/env bash
# Kernels ahead of time, as their users have them: installs a build into a folder, moves the folder,
# builds examples/aot with CMake (Ninja and make) and with plain make, runs its programs on all
# levels of this CPU and on the drivers without a GPU, and in a root that has the C library alone.
# Each run does the plain make and one of the rest: CMake with Ninja, CMake with make, what is
# rebuilt, and the root; another in the next slice. TILEC_TEST_WHOLE=1 does all of it.
#
#     aot.sh BUILD [FLAGS]        FLAGS: what the build was compiled with, "-fsanitize=…"
set -eu
build=$1
flags=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
problems=0
problem() {
    echo "aot: $*"
    problems=$((problems + 1))
}
quietly() { # prints what a command said only when it fails
    "$@" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        problem "failed: $*"
        return 1
    }
}
# runs TEXT COMMAND…: it is to succeed and print the text.
runs() {
    local text=$1
    shift
    if ! "$@" >"$scratch/output" 2>&1 || ! grep -q -e "$text" "$scratch/output"; then
        cat "$scratch/output"
        problem "failed, or '$text' is not printed: $*"
    fi
}
step() { printf 'aot: %3d s: %s\n' "$SECONDS" "$1"; }
has_part() { # has_part NUMBER: of 3
    [ "${TILEC_TEST_WHOLE:-0}" = 1 ] || [ $((${TILEC_TEST_SLICE:-0} % 3)) -eq "$1" ]
}

# Installed files must not name the folder that they were installed into.
quietly cmake --install "$build" --prefix "$scratch/first"
prefix=$scratch/moved
mv "$scratch/first" "$prefix"
package=$(find "$prefix" -name tilec_rt.pc)
export PKG_CONFIG_PATH=${package%/*}
libdir=$(pkg-config --variable=libdir tilec_rt)
if [ ! -e "$libdir/libtilec_llvm.so" ]; then
    echo "skipped: this build has no libtilec_llvm"
    exit 77
fi
shared=true
[ -e "$libdir/libtilec_rt.so" ] || shared=false
if ! command -v make >/dev/null; then
    echo "skipped: no make here: apt-get install make"
    exit 77
fi
levels='x86-64-v2'
! grep -qw avx2 /proc/cpuinfo || levels="$levels x86-64-v3"
! grep -qw avx512vl /proc/cpuinfo || levels="$levels x86-64-v4"
[ "$(uname -m)" != aarch64 ] || levels=aarch64
targets="sm_80 gfx90a $levels" # those of the drivers without a GPU, and of this machine
warnings='-O1 -Wall -Wextra -pedantic -Werror'

# Programs are looked at, not the kernels' compiler: no program may need it.
programs() { # programs FOLDER LIBRARY.so [quick]
    local folder=$1 plugin=$2
    if [ "${3:-}" = quick ]; then
        runs 'all as expected' "$folder/host"
        return
    fi
    for level in $levels; do
        runs 'all as expected' env "TILEC_CPU_TARGET=$level" "$folder/host" cpu
    done
    for side in cuda hip; do
        library=$build/tests/libfake_$side.so
        runs 'all as expected' env TILEC_CUDA_LIBRARY=none TILEC_HIP_LIBRARY=none \
            "TILEC_${side^^}_LIBRARY=$library" "$folder/host"
        grep -q "^device $side" "$scratch/output" ||
            problem "with a driver of $side the program runs on another device"
    done
    if TILEC_CUDA_LIBRARY=none "$folder/host" cuda >"$scratch/output" 2>&1; then
        problem "device cuda is opened without a driver"
    fi
    $shared || return 0
    runs 'all as expected' "$folder/loader" "$plugin"
    runs 'all as expected' env "TILEC_HIP_LIBRARY=$build/tests/libfake_hip.so" "$folder/loader" \
        "$plugin" hip
}
# OpenMPI keeps memory until the process ends; this is not our leak.
ranks() { # ranks FOLDER
    if [ ! -e "$1/ranks" ]; then
        echo "aot: skipped ranks: no MPI here: apt-get install openmpi-bin libopenmpi-dev"
        return
    fi
    local run=(timeout 120 mpirun --oversubscribe)
    [ "$(id -u)" -ne 0 ] || run+=(--allow-run-as-root)
    (
        export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
        runs 'matmul of all ranks: 1440 numbers' "${run[@]}" -n 3 "$1/ranks" cpu:1
        # The drivers without a GPU have two devices each.
        TILEC_CUDA_LIBRARY=$build/tests/libfake_cuda.so \
            runs 'rank 1 of 2 on cuda:1' "${run[@]}" -n 2 "$1/ranks" cuda
        [ "$problems" -eq 0 ]
    ) || problems=$((problems + 1))
}
export TILEC_CUDA_LIBRARY=none TILEC_HIP_LIBRARY=none

# ---- The library as a package, the programs as another project
generators=()
! has_part 0 || generators+=(Ninja)
! has_part 1 || generators+=('Unix Makefiles')
for generator in "${generators[@]}"; do
    to=$scratch/${generator%% *}
    mkdir -p "$to"
    quietly cmake -G "$generator" -S "$root/examples/aot" -B "$to/ops" "-DCMAKE_C_FLAGS=$flags" \
        "-DCMAKE_PREFIX_PATH=$prefix" "-DOPS_TARGETS=${targets// /;}" || continue
    quietly cmake --build "$to/ops" || continue
    quietly cmake --install "$to/ops" --prefix "$to/installed"
    mv "$to/installed" "$to/package"
    grep -rlI -e "$to/installed" -e "$root" -e "$to/ops" "$to/package" >"$scratch/paths" || true
    [ ! -s "$scratch/paths" ] || problem "paths of the build in: $(cat "$scratch/paths")"
    quietly cmake -G "$generator" -S "$root/examples/aot/programs" -B "$to/programs" \
        "-DCMAKE_C_FLAGS=$warnings $flags" "-DCMAKE_PREFIX_PATH=$prefix;$to/package" || continue
    quietly cmake --build "$to/programs" || continue
    quick=
    [ "$generator" = Ninja ] || quick=quick
    programs "$to/programs" "$(find "$to/package" -name libops_plugin.so)" $quick
    ranks "$to/programs"
    step "find_package, $generator"
done

# ---- With make and pkg-config; the header in C99 and C++11 without warnings
mkdir -p "$scratch/make"
quietly make -C "$scratch/make" -f "$root/examples/aot/Makefile" "TILEC=$prefix/bin/tilec" \
    "TARGETS=${targets// /,}" "CFLAGS=$warnings $flags" || true
if $shared; then programs "$scratch/make" "$scratch/make/libops_plugin.so"; fi
ranks "$scratch/make"
runs 'Nothing to be done' make -C "$scratch/make" -f "$root/examples/aot/Makefile" \
    "TILEC=$prefix/bin/tilec" "TARGETS=${targets// /,}"
cat >"$scratch/use.cpp" <<'CPP'
#include <ops.h>
#include <cstdio>
int main() {
    tilec_library *library = nullptr;
    tilec_stream *none = nullptr;
    tilec_view view = tilec_view2(TILEC_F32, nullptr, 0, 0);
    if (!ops_load(nullptr, &library) || !ops_softmax(none, view, view)) return 1;
    std::puts("refused");
    return 0;
}
CPP
if command -v "${CXX:-g++}" >/dev/null; then
    # shellcheck disable=SC2046,SC2086
    quietly "${CXX:-g++}" -std=c++11 $warnings $flags -I"$scratch/make" "$scratch/use.cpp" \
        $(pkg-config --cflags tilec_rt) "$scratch/make/libops.a" \
        $(pkg-config --static --libs tilec_rt | sed 's/-ltilec_rt/-l:libtilec_rt.a/') \
        -o "$scratch/use" && runs refused "$scratch/use"
else
    echo "aot: skipped C++: no ${CXX:-g++} here"
fi
# The programs of the pages compile as they stand there; that of README.md runs.
blocks() { # blocks PAGE
    awk -v to="$scratch/page" -v page="$1" '
        /^```c( file [a-z.]+)?$/ {
            open = 1
            n++
            print "#line " NR + 1 " \"" page "\"" >(to n ".c")
            next
        }
        /^```/ { open = 0 }
        open { print >(to n ".c") }' "$root/$1"
}
blocks docs/libraries.md
[ -e "$scratch/page2.c" ] || problem "no C in docs/libraries.md"
for page in "$scratch"/page*.c; do
    # shellcheck disable=SC2046
    quietly "${CC:-cc}" -std=c99 -Wall -Wextra -pedantic -Werror -Wno-unused-function \
        -fsyntax-only -I"$scratch/make" $(pkg-config --cflags tilec_rt) "$page" || true
done
rm -f "$scratch"/page*.c
blocks README.md
page=$(grep -l '^#include "hello.h"' "$scratch"/page*.c || echo none)
quietly "$prefix/bin/tilec" build "$root/examples/softmax.tile" --kernels softmax --target native \
    -o "$scratch/libhello.a" --header "$scratch/hello.h" || true
# shellcheck disable=SC2046,SC2086
quietly "${CC:-cc}" -std=c11 $warnings $flags -I"$scratch" $(pkg-config --cflags tilec_rt) \
    "$page" "$scratch/libhello.a" "$libdir/libtilec_rt.a" \
    $(sed -n 's/^Libs.private: //p' "$package") -o "$scratch/hello" &&
    runs '^y\[0\] = 0.001$' "$scratch/hello"
page=$(grep -l 'tilec_kernel_from_file' "$scratch"/page*.c || echo none)
if $shared; then
    sed -n '/^```tile file hello.tile$/,/^```$/{/^```/d;p}' "$root/README.md" >"$scratch/hello.tile"
    # shellcheck disable=SC2046,SC2086
    quietly "${CC:-cc}" -std=c11 $warnings $flags "$page" \
        $(pkg-config --cflags --libs tilec) \
        "-Wl,-rpath,$libdir" -o "$scratch/first" &&
        runs '^y\[0\] = 0.001$' env -C "$scratch" ./first
fi
step 'make and pkg-config'

# Two libraries with the same names in one process.
if $shared; then
    for times in 2 3; do
        echo "kernel scaled(f32 x[N], f32 y[N]) grid(1) { y[0 +: 1] = x[0 +: 1] * $times; }" \
            >"$scratch/scaled.tile"
        quietly "$prefix/bin/tilec" build "$scratch/scaled.tile" --shared "$scratch/twin$times.so" \
            --name twin --target native
    done
    # shellcheck disable=SC2046
    quietly "${CC:-cc}" -std=c11 $flags $(pkg-config --cflags tilec_rt) "$here/twins.c" \
        $(pkg-config --libs tilec_rt) "-Wl,-rpath,$libdir" -ldl -o "$scratch/twins"
    runs '3 times' "$scratch/twins" "$scratch/twin2.so" "$scratch/twin3.so"
fi

finish() {
    [ "$problems" -eq 0 ] || exit 1
    echo "aot: ok"
    exit 0
}
has_part 2 || finish
quietly bash "$here/rebuild.sh" "$prefix" "$scratch" "$flags" || true
grep '^rebuild: skipped' "$scratch/log" || true
step 'rebuilds'

# ---- A root with the C library alone. A runtime with sanitizers needs more: one is made without.
runtime=$libdir/libtilec_rt.a
if [ -n "$flags" ]; then
    plain=$build/plain_runtime
    quietly cmake -S "$root" -B "$plain" -DCMAKE_BUILD_TYPE=Release -DTILEC_SHARED=OFF \
        -DTILEC_TESTS=OFF -DTILEC_LLVM=OFF -DTILEC_FFI=OFF
    quietly cmake --build "$plain" --target tilec_rt_sealed -j "$(nproc)"
    runtime=$plain/sealed/libtilec_rt.a
fi
fresh=$scratch/fresh
mkdir -p "$fresh"
# shellcheck disable=SC2046,SC2086
quietly "${CC:-cc}" -std=c99 -O1 -I"$scratch/make" $(pkg-config --cflags tilec_rt) \
    "$root"/examples/aot/programs/{host,check}.c "$scratch/make/libops.a" "$runtime" \
    $(sed -n 's/^Libs.private: //p' "$package") -Wl,--as-needed -o "$fresh/host"
ldd "$fresh/host" | grep -oE '/[^ ]+' | sort -u >"$scratch/needed"
more=$(grep -vE '/(libc\.so\.6|libm\.so\.6|ld-linux-[^/]*)$' "$scratch/needed" || true)
[ -z "$more" ] || problem "the program needs more than the C library: $more"
while read -r file; do
    mkdir -p "$fresh$(dirname "$file")"
    cp -L "$file" "$fresh$file"
done <"$scratch/needed"
PATH=$PATH:/usr/sbin
enter=("$(command -v chroot)")
[ "$(id -u)" -eq 0 ] || enter=("$(command -v unshare)" -r "${enter[@]}")
if ! "${enter[@]}" / true 2>/dev/null; then
    echo "aot: skipped the fresh root: no right to make one"
else
    runs 'all as expected' env -i "${enter[@]}" "$fresh" /host
    grep -q '^device cpu' "$scratch/output" || problem "the fresh root has another device than cpu"
    echo "aot: ran in a root with $(tr '\n' ' ' <"$scratch/needed")alone"
fi
step 'the fresh root'
finish
