#!/usr/bin/env bash
# docs/c-api.md against the headers: every public function and type is named there, nothing is named
# that does not exist, and every block of C compiles (of README.md and docs/triton.md, too).
set -eu
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
page=docs/c-api.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
problem() {
    echo "c_api: $*"
    failed=1
}

# Names: functions, types and macros of the headers, without those that end in an underscore.
# The environment's variables have their page, docs/cli.md.
{
    cat include/tilec/*.h
    grep '^| `TILEC_' docs/cli.md
} | grep -oE '\b(tilec|TILEC)_[A-Za-z0-9_]+' | grep -v '_$' | sort -u >"$scratch/known"
{
    cat tests/abi/libtilec.txt
    grep -hoE '^} tilec_[a-z0-9_]+;|^typedef struct tilec_[a-z]+ tilec_[a-z]+;' include/tilec/*.h |
        grep -oE 'tilec_[a-z0-9_]+;' | tr -d ';'
    echo tilec_function_pointer
} | sort -u >"$scratch/public"
[ "$(wc -l <"$scratch/public")" -gt 80 ] || problem "only $(wc -l <"$scratch/public") public names"
grep -oE '\b(tilec|TILEC)_[A-Za-z0-9_]+' "$page" | sort -u >"$scratch/named"
comm -23 "$scratch/public" "$scratch/named" | while read -r name; do
    echo "$name is not in $page"
done >"$scratch/missing"
# Options of the build and other files may be named.
others='TILEC_(SHARED|FFI|SPEC|TYPE|CONST|OPTION|CACHE(_DIR|_SIZE)?)'
others="$others|tilec_(rt|static|COMPILER_LIBRARY)"
comm -13 "$scratch/known" "$scratch/named" | grep -vxE "$others" |
    while read -r name; do echo "$page names $name, which no header has"; done >>"$scratch/missing"
[ ! -s "$scratch/missing" ] || {
    cat "$scratch/missing"
    failed=1
}

# Each block is a file of its own; those that include nothing get the headers first. One with the
# header of a built library is compiled by tests/aot/aot.sh.
for file in "$page" README.md docs/triton.md; do
    awk -v to="$scratch/block" -v page="$file" '
        /^```c( file [a-z.]+)?$/ {
            open = 1
            n++
            out = to n ".c"
            print "#line " NR + 1 " \"" page "\"" >out
            next
        }
        /^```/ { open = 0 }
        open { print >out }' "$file"
    for block in "$scratch"/block*.c; do
        ! grep -q '^#include "hello.h"' "$block" || continue
        gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -Wno-unused-function -fsyntax-only \
            -Iinclude -include stdlib.h -include include/tilec/tilec.h "$block" ||
            problem "a block of $file does not compile"
    done
    [ -e "$scratch/block1.c" ] || problem "no C in $file"
    rm -f "$scratch"/block*.c
done
[ "$failed" -eq 0 ] && echo "c_api: ok"
exit "$failed"
