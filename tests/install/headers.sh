#!/usr/bin/env bash
# The public headers in every standard of C and C++ that each compiler here knows, without warnings.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
failed=0
tried=0
try() { # try COMPILER STANDARD FILE [FLAG]…
    local compiler=$1 standard=$2 file=$3
    shift 3
    if ! echo 'int x;' | "$compiler" "-std=$standard" "$@" -fsyntax-only - 2>/dev/null; then
        echo "headers: skipped $compiler -std=$standard: not known there"
        return
    fi
    tried=$((tried + 1))
    "$compiler" "-std=$standard" "$@" -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
        -I"$root/include" "$file" || {
        echo "headers: $compiler -std=$standard fails"
        failed=1
    }
}
for compiler in gcc clang-22 clang; do
    command -v "$compiler" >/dev/null || continue
    for standard in c11 c17 c2x; do try "$compiler" "$standard" "$here/use.c" -x c; done
done
for compiler in g++ clang++-22 clang++; do
    command -v "$compiler" >/dev/null || continue
    for standard in c++11 c++14 c++17 c++20 c++23; do
        try "$compiler" "$standard" "$here/cxx/main.cpp" -x c++
    done
done
[ "$tried" -gt 0 ] || {
    echo "skipped: no compiler here"
    exit 77
}
[ "$failed" -eq 0 ] && echo "headers: ok ($tried compilations)"
exit "$failed"
