#!/usr/bin/env bash
# The cost of a launch of a built function without the driver's calls: instructions, counted by
# callgrind on a driver that does nothing (driver.c), and allocations, which must be 0; and the
# processor time to the first launch on the CPU. Wall-clock times are printed, not judged.
#     cost.sh TOOL [BUILD]      BUILD: has the runtime as users have it; else that is built here
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tool=$1
build=${2:-}
calls=1000
# Instructions of a launch, at most; each about a tenth above what gcc 12 needs.
budget='
views    1450
moving   1450
buffers  1600
pointers 1500
kernel   1700
shapes   5500
'
first_limit=2.0 # milliseconds

command -v valgrind >/dev/null || {
    echo "cost: skipped: valgrind is missing: apt-get install valgrind"
    exit 77
}
[ "$(uname -m)" = x86_64 ] || {
    echo "cost: skipped: the budget is of instructions of x86-64"
    exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cc=${CC:-cc}
quietly() {
    "$@" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        echo "cost: failed: $*"
        exit 1
    }
}
if [ -z "$build" ]; then
    build=$scratch/build
    quietly cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DTILEC_SHARED=OFF \
        -DTILEC_TESTS=OFF -DTILEC_LLVM=OFF -DTILEC_FFI=OFF
    quietly cmake --build "$build" --target tilec_rt_sealed -j "$(nproc)"
fi
quietly "$tool" build "$root/examples/vector_add.tile" -o "$scratch/libva.a" \
    --header "$scratch/va.h" --target native,sm_80 --set T=f32
read -ra needed < <(sed -n 's/^Libs.private: //p' "$build/tilec_rt.pc")
quietly "$cc" -std=c17 -O2 -fPIC -shared -I"$root" "$here/driver.c" -o "$scratch/driver.so"
wrap=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc
quietly "$cc" -std=gnu17 -O2 -I"$root/include" -I"$scratch" "$here/launch.c" "$scratch/libva.a" \
    "$build/sealed/libtilec_rt.a" "${needed[@]}" "$wrap" -o "$scratch/launch"
export TILEC_CUDA_LIBRARY=$scratch/driver.so

failed=0
while read -r row limit; do
    [ -n "$row" ] || continue
    quietly valgrind --tool=callgrind --toggle-collect=steady \
        --callgrind-out-file="$scratch/out" "$scratch/launch" "$row" $calls
    found=$(awk -v n=$calls '/^(summary|totals):/ { print int($2 / n); exit }' "$scratch/out")
    echo "cost: $row: $found instructions a launch; at most $limit"
    [ "$found" -gt 0 ] && [ "$found" -le "$limit" ] || failed=1
done <<<"$budget"
quietly "$scratch/launch"
sed 's/^/cost: /' "$scratch/log"

for _ in 1 2 3 4 5 6 7 8 9 10; do "$scratch/launch" first; done | sort -n >"$scratch/first"
best=$(head -1 "$scratch/first")
echo "cost: the first launch on the CPU is done after $best ms; at most $first_limit"
awk -v a="$best" -v b=$first_limit 'BEGIN { exit !(a > 0 && a <= b) }' || failed=1
[ $failed -eq 0 ] || echo "cost: over the budget"
exit $failed
