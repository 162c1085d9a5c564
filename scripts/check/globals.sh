#!/usr/bin/env bash
# No mutable globals: the objects of the library and the command have nothing in .data and .bss.
# Exceptions stand in globals.allow beside this script, each with its reason.
source "$(dirname "$0")/lib/common.sh"

gcc=$(gcc_command)
[ -n "$gcc" ] || skip "no C compiler"
command -v nm >/dev/null || skip "no nm"
# Without -fPIC, constant tables of pointers are plain .rodata; what is left is truly writable.
one_source() {
    local object="$scratch/${1//\//_}.o"
    if ! $ccache "$gcc" -std=c17 -O1 -fno-pic -w -I. -Iinclude "${llvm[@]}" -c "$1" -o "$object" \
        2>"$object.log"; then
        echo "$1: does not compile: $(grep -m1 error "$object.log")"
        return
    fi
    # Symbols of writable sections: d, D, b, B, s, S, g, G, C. Local statics carry a number.
    nm -f posix "$object" | awk -v file="$1" '$2 ~ /^[dDbBsSgGC]$/ {
        sub(/\.[0-9]+$/, "", $1); print file " " $1 }'
}
half() {
    tree_files 'base/*.c' 'ir/*.c' 'frontend/*.c' 'passes/*.c' 'codegen/*.c' 'sim/*.c' \
        'runtime/*.c' 'compile/*.c' 'tools/*.c' | with_headers |
        awk -v first="$1" 'NR % 2 == first' |
        while IFS= read -r source; do one_source "$source"; done
}
half 0 >"$scratch/half0" &
half 1 >"$scratch/half1"
wait
allow="$root/scripts/check/globals.allow"
[ -f "$allow" ] || allow=/dev/null
cat "$scratch/half0" "$scratch/half1" | awk '
    FILENAME != "-" { if ($0 !~ /^#/ && NF >= 3) ok[$1 " " $2] = 1; next }
    $0 in ok { next }
    { print $1 ": mutable global: " substr($0, length($1) + 2) }' "$allow" - >>"$scratch/found"
finish globals
