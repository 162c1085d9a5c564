#!/usr/bin/env bash
# Compares what the installed libraries export with libtilec.txt and libtilec_rt.txt in this folder:
# every public function, and nothing else.
#
#     symbols.sh BUILD [--bless]
#
# A name may be added (then --bless). A name that goes, or changes what it takes, needs a new
# version in include/tilec/version.h first: docs/c-api.md, "Versions".
set -eu
export LC_ALL=C
build=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
# Names that begin with two underscores are the implementation's: sanitizers leave some.
exported() { nm --defined-only "$@" | awk 'NF == 3 && $3 !~ /^__/ { print $3 }' | sort -u; }
compare() { # compare LIST NM-ARGUMENT…
    local list=$1
    shift
    exported "$@" >"$scratch/found"
    [ -s "$scratch/found" ] || {
        echo "symbols: nothing is exported: $*"
        failed=1
    }
    if ! diff -u "$here/$list" "$scratch/found" >"$scratch/difference"; then
        echo "symbols: ${*: -1} exports something else than tests/abi/$list says"
        grep '^[-+][^-+]' "$scratch/difference"
        failed=1
    fi
}
for name in libtilec libtilec_rt; do
    if [ "${2:-}" = --bless ]; then exported -g "$build/sealed/$name.a" >"$here/$name.txt"; fi
    [ ! -e "$build/$name.so" ] || compare "$name.txt" -D "$build/$name.so"
    compare "$name.txt" -g "$build/sealed/$name.a"
done
grep -hv '^tilec_' "$here"/libtilec*.txt && {
    echo "symbols: only names that begin with tilec_ are public"
    failed=1
}
# The headers declare exactly what the library has.
cat "$here"/../../include/tilec/{tilec,dlpack,library}.h | tr '\n' ' ' | sed 's/TILEC_API/\n&/g' |
    sed -n 's/^TILEC_API [^(]*[ *]\(tilec_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$scratch/declared"
if ! diff "$scratch/declared" "$here/libtilec.txt" >"$scratch/difference"; then
    echo "symbols: the headers declare (<) and libtilec exports (>)"
    cat "$scratch/difference"
    failed=1
fi
[ "$failed" -eq 0 ] && echo "symbols: ok"
exit "$failed"
