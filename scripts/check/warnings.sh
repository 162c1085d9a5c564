#!/usr/bin/env bash
# All C files without a warning by gcc and by clang.
source "$(dirname "$0")/lib/common.sh"

tree_files '*.c' | with_headers >"$scratch/files"
run() { # run COMPILER NAME
    xargs -r -d '\n' -P2 -n 4 "$1" -std=c17 -fsyntax-only "${warnings[@]}" "${test_defines[@]}" \
        -I. -Iinclude "${llvm[@]}" <"$scratch/files" 2>&1 | grep -E 'error|warning' |
        sed "s|^|$2: |" >>"$scratch/found" || true
}
ran=0
gcc=$(gcc_command)
clang=$(clang_command)
if [ -n "$gcc" ]; then
    run "$gcc" gcc
    ran=1
else
    echo "warnings: gcc is missing; not tried with it"
fi
if [ -n "$clang" ]; then
    run "$clang" clang
    ran=1
else
    echo "warnings: clang is missing; not tried with it"
fi
[ $ran -eq 1 ] || skip "no C compiler"
finish warnings
