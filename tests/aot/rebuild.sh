#!/usr/bin/env bash
# Checks what tilec_add_library rebuilds, with Ninja and with make; its messages on wrong calls; and
# what it does for another kind of machine. Helper of aot.sh, which has installed tilec.
#
#     rebuild.sh PREFIX SCRATCH [FLAGS]
set -eu
prefix=$1
scratch=$2
flags=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
package=$(dirname "$(find "$prefix" -name tilec-build.cmake)")
problems=0
problem() {
    echo "rebuild: $*"
    problems=$((problems + 1))
}

kernels=$scratch/kernels
mkdir -p "$kernels"
write_kernels() {
    echo 'const FACTOR = 2;' >"$kernels/imported.tile"
    echo 'const OTHER = 7;' >"$kernels/not_imported.tile"
    cat >"$kernels/one.tile" <<'TILE'
import "imported.tile";
kernel grow(type T, T x[N], T y[N]) grid(cdiv(N, 16))
{
    let i = program(0) * 16;
    y[i +: 16] = x[i +: 16] * T(FACTOR);
}
TILE
    cat >"$kernels/two.tile" <<'TILE'
kernel half(f32 x[N], f32 y[N]) grid(cdiv(N, 16))
{
    let i = program(0) * 16;
    y[i +: 16] = x[i +: 16] * 0.5;
}
TILE
}
# built FOLDER yes|no WHY: builds, and compares whether kernels were.
built() {
    cmake --build "$1" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        problem "$3: the build fails"
        return
    }
    local found=no
    ! grep -q 'Building kernels' "$scratch/log" || found=yes
    [ "$found" = "$2" ] || problem "$1: $3: kernels are built: $found"
}
prints() { # prints FOLDER TEXT
    "$1/program" >"$scratch/output" 2>&1 || true
    [ "$(cat "$scratch/output")" = "$2" ] || problem "$1 prints $(cat "$scratch/output"), not $2"
}
for generator in Ninja 'Unix Makefiles'; do
    to=$scratch/rebuild_${generator%% *}
    write_kernels
    cmake -G "$generator" -S "$here/rebuild" -B "$to" "-DCMAKE_PREFIX_PATH=$prefix" \
        "-DCMAKE_C_FLAGS=$flags" "-DKERNELS=$kernels" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        problem "configuring for $generator fails"
        continue
    }
    built "$to" yes 'the first build'
    prints "$to" '2 0.5 0.25'
    built "$to" no 'nothing was touched'
    touch "$kernels/not_imported.tile"
    built "$to" no 'a file that is not imported was touched'
    sleep 0.01
    echo 'const FACTOR = 3;' >"$kernels/imported.tile"
    built "$to" yes 'an import was changed'
    prints "$to" '3 0.5 0.25'
    touch "$kernels/two.tile"
    built "$to" yes 'a source was touched'
    built "$to" no 'nothing was touched since'
    sleep 0.01
    mv "$kernels/imported.tile" "$kernels/renamed.tile"
    sed -i 's/imported.tile/renamed.tile/' "$kernels/one.tile"
    built "$to" yes 'an import was renamed'
    built "$to" no 'nothing was touched since the renaming'
    sleep 0.01
    echo 'const FACTOR = 5;' >"$kernels/renamed.tile"
    built "$to" yes 'the renamed import was changed'
    prints "$to" '5 0.5 0.25'
    built "$to" no 'nothing was touched since that'
    rm "$kernels/renamed.tile"
done

# Wrong calls, each with what it must say. They end before there is anything to build.
says() { # says TEXT [-DNAME=VALUE]… : what stands on standard input is run
    local text=$1
    shift
    {
        echo 'set(CMAKE_SYSTEM_PROCESSOR x86_64)'
        echo "include($package/tilec-build.cmake)"
        cat
    } >"$scratch/wrong.cmake"
    if cmake "$@" -P "$scratch/wrong.cmake" >"$scratch/log" 2>&1; then
        problem "this is taken: $(cat "$scratch/wrong.cmake")"
    elif ! tr -s ' \n' ' ' <"$scratch/log" | grep -qF -e "$text"; then
        cat "$scratch/log"
        problem "the message does not say: $text"
    fi
}
tile=$kernels/two.tile
says 'SOURCES are missing' <<<'tilec_add_library(k TARGETS sm_80)'
says 'TARGETS are missing' <<<"tilec_add_library(k SOURCES $tile)"
says 'nothing follows TARGETS' <<<"tilec_add_library(k SOURCES $tile TARGETS)"
says "'a.tile' follows no keyword" <<<"tilec_add_library(k a.tile TARGETS sm_80)"
says "there is no file $kernels/three.tile" \
    <<<"tilec_add_library(k SOURCES $kernels/three.tile TARGETS sm_80)"
says "'tilec_two' is a name of tilec's own" \
    <<<"tilec_add_library(tilec_two SOURCES $tile TARGETS sm_80)"
says 'HEADER is a name without a folder' \
    <<<"tilec_add_library(k SOURCES $tile TARGETS sm_80 HEADER a/b.h)"
says 'the command tilec is not found' <<<"tilec_add_library(k SOURCES $tile TARGETS sm_80)"
says 'there is no /nowhere/tilec' -DTILEC_EXECUTABLE=/nowhere/tilec \
    <<<"tilec_add_library(k SOURCES $tile TARGETS sm_80)"
says 'does not run here' "-DTILEC_EXECUTABLE=$tile" \
    <<<"tilec_add_library(k SOURCES $tile TARGETS sm_80)"
says 'the runtime that is linked of 99.0' "-DTILEC_EXECUTABLE=$prefix/bin/tilec" <<CMAKE
set_property(GLOBAL PROPERTY tilec_version 99.0.1)
tilec_add_library(k SOURCES $tile TARGETS sm_80)
CMAKE
says "CMAKE_SYSTEM_PROCESSOR is 'riscv64'" "-DTILEC_EXECUTABLE=$prefix/bin/tilec" <<CMAKE
set(CMAKE_SYSTEM_PROCESSOR riscv64)
tilec_add_library(k SOURCES $tile TARGETS sm_80)
CMAKE
says 'which libraries?' <<<'tilec_install_library(PACKAGE k)'
says "'k' is no target" <<<'tilec_install_library(k)'

# Two runtimes in one program.
mkdir -p "$scratch/mixed_source"
echo 'int main(void) { return 0; }' >"$scratch/mixed_source/main.c"
cat >"$scratch/mixed_source/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(mixed LANGUAGES C)
find_package(tilec 0.1 REQUIRED)
tilec_add_library(one SOURCES "${KERNELS}/two.tile" TARGETS sm_80)
tilec_add_library(two SOURCES "${KERNELS}/two.tile" TARGETS sm_80 PREFIX two_ SHARED)
add_executable(program main.c)
target_link_libraries(program PRIVATE one two)
CMAKE
if ! find "$prefix" -name 'libtilec_rt.so' | grep -q .; then
    echo 'rebuild: skipped two runtimes in one program: there is no shared one'
elif cmake -S "$scratch/mixed_source" -B "$scratch/mixed" "-DCMAKE_PREFIX_PATH=$prefix" \
    "-DKERNELS=$kernels" >"$scratch/log" 2>&1; then
    problem 'a program with two runtimes is configured'
elif ! grep -q TILEC_RUNTIME "$scratch/log"; then
    cat "$scratch/log"
    problem 'the message does not say TILEC_RUNTIME'
fi

# One source as two targets under one name: static for a program in C, shared for one in C++.
mkdir -p "$scratch/named_source"
cat >"$scratch/named_source/main.c" <<'C'
#include "ops.h"
int main(void) { return &ops_archive ? 0 : 1; }
C
cp "$scratch/named_source/main.c" "$scratch/named_source/main.cpp"
cat >"$scratch/named_source/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(named LANGUAGES C CXX)
find_package(tilec 0.1 REQUIRED)
tilec_add_library(ops_c NAME ops SOURCES "${KERNELS}/two.tile" TARGETS sm_80)
add_executable(in_c main.c)
target_link_libraries(in_c PRIVATE ops_c)
if(TARGET tilec::rt)
    tilec_add_library(ops_cxx NAME ops SOURCES "${KERNELS}/two.tile" TARGETS sm_80 SHARED)
    add_executable(in_cxx main.cpp)
    target_link_libraries(in_cxx PRIVATE ops_cxx)
endif()
CMAKE
if ! command -v "${CXX:-g++}" >/dev/null; then
    echo 'rebuild: skipped libraries of one name: no C++ compiler here'
elif cmake -S "$scratch/named_source" -B "$scratch/named" "-DCMAKE_PREFIX_PATH=$prefix" \
    "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags" "-DKERNELS=$kernels" \
    >"$scratch/log" 2>&1 && cmake --build "$scratch/named" >>"$scratch/log" 2>&1; then
    for program in in_c in_cxx; do
        [ ! -e "$scratch/named/$program" ] || "$scratch/named/$program" ||
            problem "$program, of a library with a NAME, fails"
    done
else
    cat "$scratch/log"
    problem 'two targets of one NAME are not built'
fi
says "NAME is a name of C" <<<"tilec_add_library(k NAME a-b SOURCES $tile TARGETS sm_80)"

# For a machine of another kind: no C library is needed to make a static one.
cross=aarch64
[ "$(uname -m)" != aarch64 ] || cross=x86_64
clang=$(command -v clang-22 || command -v clang || true)
if [ -z "$clang" ]; then
    echo "rebuild: skipped libraries for $cross: no clang here"
else
    mkdir -p "$scratch/cross_source"
    cat >"$scratch/cross_source/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(cross LANGUAGES C)
find_package(tilec 0.1 REQUIRED)
tilec_add_library(cross SOURCES "${KERNELS}/two.tile" TARGETS sm_80)
CMAKE
    if cmake -G Ninja -S "$scratch/cross_source" -B "$scratch/cross" \
        -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$cross" "-DCMAKE_C_COMPILER=$clang" \
        "-DCMAKE_C_COMPILER_TARGET=$cross-linux-gnu" -DCMAKE_C_COMPILER_WORKS=ON \
        -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY "-DCMAKE_PREFIX_PATH=$prefix" \
        "-DTILEC_EXECUTABLE=$prefix/bin/tilec" "-DKERNELS=$kernels" >"$scratch/log" 2>&1 &&
        cmake --build "$scratch/cross" >>"$scratch/log" 2>&1; then
        machine=$(readelf -h "$scratch/cross/libcross.a" | sed -n 's/ *Machine: *//p' | sort -u)
        case $cross:$machine in
        aarch64:AArch64 | x86_64:*X86-64*) ;;
        *) problem "the library for $cross is of machine $machine" ;;
        esac
    else
        cat "$scratch/log"
        problem "a library for $cross is not built"
    fi
fi
[ "$problems" -eq 0 ] || exit 1
echo "rebuild: ok"
