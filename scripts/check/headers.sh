#!/usr/bin/env bash
# Every header compiles alone and twice; public headers also as strict C99 and as C++17. Checks all
# public headers, and of the others those that changed since the base commit or include a changed
# one (lib/common.sh).
source "$(dirname "$0")/lib/common.sh"

gcc=$(gcc_command)
[ -n "$gcc" ] || skip "no C compiler"
compile_alone() { # compile_alone HEADER COMMAND…
    local header=$1
    shift
    printf '#include "%s"\n#include "%s"\nextern int one_declaration;\n' "$header" "$header" |
        "$@" -fsyntax-only -I. -Iinclude - 2>&1 | grep -E 'error|warning' |
        sed "s|^|$header alone: |" | head -n 3 || true
}
one_header() {
    compile_alone "$1" "$gcc" -x c -std=c17 "${warnings[@]}" "${test_defines[@]}" \
        "${llvm[@]}"
    case $1 in
    include/*)
        compile_alone "${1#include/}" "$gcc" -x c -std=c99 -pedantic-errors -Wall -Wextra -Werror
        if [ -n "$cxx" ]; then
            compile_alone "${1#include/}" "$cxx" -x c++ -std=c++17 -pedantic-errors \
                -Wall -Wextra -Werror
        fi
        ;;
    esac
}
# A C++ compiler: g++, else clang, whose C++ needs no headers of C++ here.
cxx=$(command -v g++ || clang_command)
[ -n "$cxx" ] || echo "headers: no C++ compiler here; public headers are not tried as C++"
tree_files '*.h' | with_headers >"$scratch/all"
grep -v '^include/' "$scratch/all" >"$scratch/files" || true
if changed_files && same_since_base scripts/check/lib/common.sh '^warnings=(' ')$'; then
    keep_changed 'headers: not public' "$scratch/files" includers
fi
grep '^include/' "$scratch/all" >>"$scratch/files" || true
half() { # every second header from the first or second on, so that two run at once
    awk -v first="$1" 'NR % 2 == first' "$scratch/files" |
        while IFS= read -r header; do one_header "$header"; done
}
half 0 >"$scratch/half0" &
half 1 >"$scratch/half1"
wait
cat "$scratch/half0" "$scratch/half1" >>"$scratch/found"
finish headers
