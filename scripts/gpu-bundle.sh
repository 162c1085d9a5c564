#!/usr/bin/env bash
# Makes one archive with which tilec is tested and measured on any x86-64 Linux with glibc 2.34 or
# later, with or without an NVIDIA driver. The machine needs no LLVM, no toolkit, no compiler and no
# Python.
#     scripts/gpu-bundle.sh [OUT.tar.gz]        default: build/tilec-gpu-bundle.tar.gz
# Builds its contents in build/release (LLVM linked from archives). docs/testing.md says how to use
# it.
#   BUNDLE_LEVEL   how well gzip packs, 1 to 9 (default 6); 1 is quick, for tests
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
out=${1:-build/tilec-gpu-bundle.tar.gz}
build=build/release
most=$((50 << 20))
name=tilec-gpu-bundle

fail() {
    echo "gpu-bundle: $1" >&2
    exit "${2:-1}"
}

[ "$(uname -sm)" = "Linux x86_64" ] || fail "bundles are made on x86-64 Linux" 77
scripts/build.sh release tilec_tool tilec_shared tilec_rt_shared tilec_rt_sealed test_examples \
    matrix_test_matrix matrix_test_chains gen_test_special bundle_test_device bench_gpu
grep -q '^TILEC_LLVM_SHARED:BOOL=OFF' $build/CMakeCache.txt ||
    fail "$build links the shared libLLVM"
if ! grep -q '^TILEC_LLVM_CONFIG:FILEPATH=/' $build/CMakeCache.txt; then
    fail "LLVM is not installed here" 77
fi
scripts/build.sh release tilec_llvm

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
to=$stage/$name
mkdir -p "$to/bin" "$to/lib" "$to/include"
cp $build/tilec $build/bench_gpu $build/tests/test_examples "$to/bin/"
for test in matrix_test_matrix matrix_test_chains gen_test_special bundle_test_device; do
    cp "$build/tests/$test" "$to/bin/test_${test##*test_}"
done
# A library of examples/aot with its program, compiled here: running it needs nothing of tilec.
library=$stage/library
mkdir "$library"
$build/tilec build examples/softmax.tile examples/rmsnorm.tile examples/matmul.tile \
    examples/attention.tile -o "$library/libops.a" --header "$library/ops.h" --prefix ops_ \
    --kernels softmax --specialize 'add_rmsnorm T=f32' --specialize 'matmul T=f16,f32' \
    --specialize 'attention T=f32' --target sm_80,sm_90a,gfx90a,gfx942,x86-64-v2,x86-64-v3 --quiet
"${CC:-cc}" -std=c99 -O2 -Iinclude -I"$library" examples/aot/programs/{host,check}.c \
    "$library/libops.a" $build/sealed/libtilec_rt.a -pthread -lm -ldl -o "$to/bin/aot_host"
cp -P $build/libtilec.so* $build/libtilec_rt.so* $build/libtilec_llvm.so "$to/lib/"
cp -R include/tilec "$to/include/"
cp -R examples docs licenses LICENSE NOTICE "$to/"
mkdir -p "$to/tests/gen"
cp -R tests/gen/data "$to/tests/gen/"
cp scripts/bundle/run.sh scripts/bundle/peers.py scripts/bundle/triton_kernels.py "$to/"
# The matrix checks that the tests exist that its exceptions name.
grep -oh 'tests/[a-z_/]*\.[a-z]*' tests/matrix/unsupported.def | sort -u |
    xargs -I{} cp --parents {} "$to/"
# The libraries that those need in addition to glibc.
libraries() {
    objdump -p "$to"/bin/* "$to"/lib/*.so.* | awk '$1 == "NEEDED" { print $2 }' | sort -u
}
place() {
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p |
        awk -v name="$1" '$1 == name && /x86-64/ { print $NF; exit }'
}
for library in $(libraries); do
    case $library in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) continue ;;
    esac
    [ -e "$to/lib/$library" ] || cp -L "$(place "$library")" "$to/lib/$library"
done
strip --strip-debug "$to"/bin/* "$to"/lib/*.so*
scripts/bundle/symbols.sh "$to"

mkdir -p "$(dirname "$out")"
tar -C "$stage" --sort=name --owner=0 --group=0 --mtime='2000-01-01 00:00Z' -cf - $name |
    gzip -n "-${BUNDLE_LEVEL:-6}" >"$out.part"
mv "$out.part" "$out"
size=$(stat -c %s "$out")
[ "$size" -le $most ] || fail "$out has $size bytes, at most $most are allowed"
echo "gpu-bundle: $out, $((size >> 20)) MiB"
