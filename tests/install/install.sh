#!/usr/bin/env bash
# Installs a build into a folder, moves the folder, and then does what its users do: builds C and
# C++ programs with find_package and with pkg-config, shared and static, runs them on every device
# that tests run on, and compares what they print with expected/*.txt.
#
#     install.sh BUILD [FLAGS]        FLAGS: what the build was compiled with, "-fsanitize=…"
set -eu
build=$1
flags=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
problems=0
problem() {
    echo "install: $*"
    problems=$((problems + 1))
}
quietly() { # prints what a command said only when it fails
    "$@" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        problem "failed: $*"
    }
}
export TILEC_TUNE_FILE= # the user's table is left alone
programs='hello_add matmul streams_events layers function_pointer custom_allocator'
devices=$(sed -n 's/.*test_devices\[\] = {\(.*\)};.*/\1/p' "$root/tests/support/devices.h" |
    tr -d '",')
[ -n "$devices" ] || problem "no device in tests/support/devices.h"

# expect NAME PROGRAM [ARGUMENT]…
expect() {
    local name=$1
    shift
    if ! "$@" >"$scratch/output" 2>"$scratch/errors"; then
        if grep -q 'built without libffi' "$scratch/errors"; then
            echo "install: skipped $name: $(cat "$scratch/errors")"
            return
        fi
        cat "$scratch/errors"
        problem "$* failed"
    elif ! diff -u "$here/expected/$name.txt" "$scratch/output"; then
        problem "$* prints something else"
    fi
}
run_all() { # run_all FOLDER
    for device in $devices; do
        for name in $programs; do expect "$name" "$1/$name" "$device"; done
    done
}
configure() { # configure SOURCE TO [OPTION]…
    local source=$1 to=$2
    shift 2
    quietly cmake -S "$source" -B "$to" "-DCMAKE_PREFIX_PATH=$prefix" \
        "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags -Wall -Wextra -Wpedantic -Werror" "$@"
    quietly cmake --build "$to"
}

# Installed files must not name the folder that they were installed into.
quietly cmake --install "$build" --prefix "$scratch/first"
prefix=$scratch/moved
mv "$scratch/first" "$prefix"
grep -rlI -e "$scratch/first" -e "$root" "$prefix/lib" "$prefix/include" >"$scratch/paths" || true
[ ! -s "$scratch/paths" ] || problem "paths of the build in: $(cat "$scratch/paths")"
version=$("$prefix/bin/tilec" --version) || problem "the installed command does not run"

# The licences, of others' code, too: NOTICE names each text, and each is there.
notice=$(find "$prefix" -name NOTICE)
[ -n "$notice" ] && [ -s "$(dirname "$notice")/LICENSE" ] || problem "no NOTICE and LICENSE"
for text in llvm zlib zstd liblzma libffi; do
    grep -qw "$text.txt" "$notice" || problem "NOTICE does not name $text.txt"
    [ -s "$(dirname "$notice")/licenses/$text.txt" ] || problem "licenses/$text.txt is not there"
done

# The licence of liblzma depends on the version that is linked.
grep -q "5.4 is in the public domain" "$(dirname "$notice")/licenses/liblzma.txt" &&
    grep -q "0BSD" "$(dirname "$notice")/licenses/liblzma.txt" ||
    problem "licenses/liblzma.txt lacks one of liblzma's two licences"

pkgconfig=$(dirname "$(find "$prefix" -name tilec.pc)")
export PKG_CONFIG_PATH=$pkgconfig
libdir=$(pkg-config --variable=libdir tilec)
[ "tilec $(pkg-config --modversion tilec)" = "$version" ] || problem "versions differ: $version"
# A program that has libtilec.a in it does not know where the compiler is: see at the end.
if [ -e "$libdir/libtilec_llvm.so" ]; then
    export TILEC_LLVM_LIBRARY=$libdir/libtilec_llvm.so
else
    echo "install: skipped cpu: this build has no libtilec_llvm"
    devices=$(echo "$devices" | sed 's/\<cpu\>//')
fi
export TILEC_CACHE=off

shared=false
if [ -e "$libdir/libtilec.so" ]; then shared=true; else
    echo "install: skipped shared libraries: this build has none (TILEC_SHARED)"
fi

if $shared; then
    configure "$root/examples/c" "$scratch/shared"
    run_all "$scratch/shared"
    soname=$(readelf -d "$libdir/libtilec.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
    [ "$soname" = libtilec.so.0 ] || problem "the soname is $soname"
    needed=$(readelf -d "$libdir/libtilec_rt.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libpthread|libdl|libasan|libubsan|libtsan|ld-linux.*)\.so' || true)
    if [ "$needed" = liblzma.so.5 ] && grep -q -e -llzma "$pkgconfig/tilec_rt.pc"; then
        echo "install: skipped what the runtime needs: this build has no liblzma.a"
        needed=
    fi
    [ -z "$needed" ] || problem "the runtime needs more than the C library: $needed"
fi
configure "$root/examples/c" "$scratch/static" -DEXAMPLES_STATIC=ON
run_all "$scratch/static"

# ... unless it is in the same folder, the loader finds it, or the program names what the package
# says.
if [ -e "$libdir/libtilec_llvm.so" ]; then
    package=$(pkg-config --variable=compiler tilec)
    [ "$package" -ef "$libdir/libtilec_llvm.so" ] || problem "pkg-config says compiler=$package"
    static=$scratch/static/hello_add
    if (unset TILEC_LLVM_LIBRARY; "$static" cpu >"$scratch/output" 2>&1); then
        echo "install: skipped a program that finds no compiler: one is installed here"
    elif ! grep -q "$scratch/static/libtilec_llvm.so: no such file" "$scratch/output"; then
        cat "$scratch/output"
        problem "the message does not list where the compiler was looked for"
    fi
    cp "$static" "$prefix/bin/hello_add"
    (unset TILEC_LLVM_LIBRARY; "$prefix/bin/hello_add" cpu >"$scratch/output" 2>&1) ||
        problem "a static program in the installed bin: $(cat "$scratch/output")"
    (unset TILEC_LLVM_LIBRARY; LD_LIBRARY_PATH=$libdir "$static" cpu >"$scratch/output" 2>&1) ||
        problem "a static program with LD_LIBRARY_PATH: $(cat "$scratch/output")"
fi

for static in $($shared && echo 0) 1; do
    cp -r "$root/examples/c" "$scratch/make$static"
    quietly make -C "$scratch/make$static" CFLAGS="-O1 -Wall -Wextra -Werror $flags" \
        $([ "$static" = 0 ] || echo STATIC=1)
    run_all "$scratch/make$static"
done

# Kernels in Python files; their library is built by the installed command.
python_kernels() { # python_kernels FOLDER
    local program
    for program in "matmul_jit cpu" "moe_jit cpu" "ahead cpu" "ahead sim:sm_80"; do
        # shellcheck disable=SC2086
        quietly env -C "$root/examples/triton" "$1"/$program
    done
}
if $shared && [ -e "$libdir/libtilec_llvm.so" ]; then
    cpu=x86-64-v2
    [ "$(uname -m)" != aarch64 ] || cpu=aarch64
    configure "$root/examples/triton" "$scratch/triton" "-DOPS_TARGETS=sm_80;$cpu"
    python_kernels "$scratch/triton"
    cp -r "$root/examples/triton" "$scratch/make_triton"
    quietly make -C "$scratch/make_triton" CFLAGS="-O1 -Wall -Wextra -Werror $flags" \
        "TILEC=$prefix/bin/tilec" "TARGETS=sm_80,$cpu"
    python_kernels "$scratch/make_triton"
fi

if command -v "${CXX:-g++}" >/dev/null; then
    configure "$here/cxx" "$scratch/cxx"
    for device in $devices; do expect cxx "$scratch/cxx/cxx" "$device"; done
else
    echo "install: skipped C++: no ${CXX:-g++} here"
fi
configure "$here/rt" "$scratch/rt"
for kind in rt rt_static; do
    "$scratch/rt/$kind" >"$scratch/output" || problem "$kind fails"
    grep -q 'bf16 of 16 bits, strides 4 and 1$' "$scratch/output" || problem "$kind prints nonsense"
done
# A program that asks for a version this is not compatible with gets none.
sed 's/find_package(tilec 0.1/find_package(tilec 9.9/' "$root/examples/c/CMakeLists.txt" \
    >"$scratch/CMakeLists.txt"
if cmake -S "$scratch" -B "$scratch/newer" "-DCMAKE_PREFIX_PATH=$prefix" >"$scratch/log" 2>&1; then
    problem "find_package(tilec 9.9) succeeds"
fi
[ "$problems" -eq 0 ] || exit 1
echo "install: ok"
