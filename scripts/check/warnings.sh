#!/usr/bin/env bash
# All C files compile without warnings, with gcc and with clang. Files that a build has compiled in
# their current state, by gcc with these warnings as errors, are not compiled again. Clang compiles
# the files that changed since the base commit, and those that include them directly
# (lib/common.sh). Indirect includers would soon be nearly all files; they are compiled with
# CHECK_ALL=1.
source "$(dirname "$0")/lib/common.sh"

tree_files '*.c' | with_headers >"$scratch/files"
run() { # run COMPILER NAME LIST
    # One file for each process, so that ccache remembers those that passed.
    xargs -r -d '\n' -P2 -n 1 $ccache "$1" -std=c17 -fsyntax-only "${warnings[@]}" \
        "${test_defines[@]}" -I. -Iinclude "${llvm[@]}" <"$3" >"$scratch/log" 2>&1 ||
        [ -s "$scratch/log" ] || echo "$2: fails without a word" >>"$scratch/found"
    grep -E 'error|warning' "$scratch/log" | sed "s|^|$2: |" >>"$scratch/found" || true
}
ran=0
gcc=$(gcc_command)
clang=$(clang_command)
if [ -n "$gcc" ]; then
    make_commands ${builds[@]+"${builds[@]}"}
    make_built ${builds[@]+"${builds[@]}"}
    awk -F'\t' -v built="$scratch/built" '
        BEGIN { while ((getline row < built) > 0) { sub(/\t.*/, "", row); fresh[row] = 1 } }
        $3 == "strict" && ($1 in fresh) { print $2 }' "$scratch/commands" >"$scratch/compiled"
    without "$scratch/files" "$scratch/compiled" >"$scratch/rest"
    echo "warnings: gcc: $(wc -l <"$scratch/rest") of $(wc -l <"$scratch/files") files, which no" \
        "build has compiled"
    run "$gcc" gcc "$scratch/rest"
    ran=1
else
    echo "warnings: gcc is missing; not tried with it"
fi
if [ -n "$clang" ]; then
    if changed_files && same_since_base scripts/check/lib/common.sh '^warnings=(' ')$'; then
        keep_changed 'warnings: clang' "$scratch/files" direct
    fi
    run "$clang" clang "$scratch/files"
    ran=1
else
    echo "warnings: clang is missing; not tried with it"
fi
[ $ran -eq 1 ] || skip "no C compiler"
finish warnings
