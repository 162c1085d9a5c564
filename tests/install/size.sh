#!/usr/bin/env bash
# The size that libtilec_rt.a adds: a program that uses the runtime (rt/main.c) against one that
# only prints, both stripped. The runtime is built here as users have it, whatever the tests are
# built with; a build with sanitizers or without optimization would measure something else.
set -eu
limit=250000 # bytes
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cc=${CC:-cc}
quietly() {
    "$@" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        echo "size: failed: $*"
        exit 1
    }
}
quietly cmake -S "$root" -B "$scratch/build" -DCMAKE_BUILD_TYPE=Release -DTILEC_SHARED=OFF \
    -DTILEC_TESTS=OFF -DTILEC_LLVM=OFF -DTILEC_FFI=OFF
quietly cmake --build "$scratch/build" --target tilec_rt_sealed -j "$(nproc)"
library=$scratch/build/sealed/libtilec_rt.a

printf '#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n' >"$scratch/hello.c"
quietly "$cc" -O2 "$scratch/hello.c" -o "$scratch/hello"
read -ra needed < <(sed -n 's/^Libs.private: //p' "$scratch/build/tilec_rt.pc")
quietly "$cc" -O2 -I"$root/include" "$here/rt/main.c" "$library" "${needed[@]}" -o "$scratch/rt"
"$scratch/rt" >"$scratch/output" || {
    echo "size: a program with $library alone fails"
    exit 1
}
strip "$scratch/hello" "$scratch/rt"
grown=$(($(stat -c %s "$scratch/rt") - $(stat -c %s "$scratch/hello")))
echo "size: libtilec_rt.a adds $grown bytes to a stripped program; at most $limit are allowed"
[ "$grown" -le "$limit" ]
