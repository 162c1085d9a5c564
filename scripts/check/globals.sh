#!/usr/bin/env bash
# No mutable globals: the objects of the library and the command have nothing in .data and .bss. The
# objects are those of the build folder, which must be up to date; a source that is in none of its
# targets is compiled here. Exceptions are listed in globals.allow in this folder, each with its
# reason.
source "$(dirname "$0")/lib/common.sh"

gcc=$(gcc_command)
[ -n "$gcc" ] || skip "no C compiler"
command -v nm >/dev/null || skip "no nm"
targets='tilec_rt_objects|tilec_rt_alone|tilec_objects|tilec_llvm|tilec_tool'

tree_files 'base/*.c' 'target/*.c' 'ir/*.c' 'frontend/*.c' 'passes/*.c' 'codegen/*.c' 'sim/*.c' \
    'runtime/*.c' 'compile/*.c' 'tools/*.c' | with_headers >"$scratch/sources"
# OBJECT and source: the objects that the build should have made; only those that exist and are not
# stale.
make_commands ${build:+"$build"}
make_built ${build:+"$build"}
awk -F'\t' -v sources="$scratch/sources" -v targets="/CMakeFiles/($targets)\\.dir/" '
    BEGIN { while ((getline file < sources) > 0) ours[file] = 1 }
    $1 ~ targets && ($2 in ours) { print $1 "\t" $2 }' "$scratch/commands" >"$scratch/wanted"
awk -F'\t' '$1 != last { last = $1; print $1 "\t" $2 }' "$scratch/built" >"$scratch/fresh"
both "$scratch/wanted" "$scratch/fresh" >"$scratch/objects"
without "$scratch/wanted" "$scratch/fresh" | awk -F'\t' -v build="$build/" '
    { print $2 ": " substr($1, length(build) + 1) " is missing or older than what it is made of; " \
        "build first" }' >>"$scratch/found"
cut -f2 "$scratch/wanted" | LC_ALL=C sort -u >"$scratch/known"
without "$scratch/sources" "$scratch/known" >"$scratch/unknown"

compile_one() { # compile_one FILE OBJECT
    # Without -fPIC, constant tables of pointers are in plain .rodata.
    $ccache "$gcc" -std=c17 -O1 -fno-pic -w -I. -Iinclude "${llvm[@]}" -c "$1" -o "$2" \
        2>"$2.log" || echo "$1: does not compile: $(grep -m1 error "$2.log")"
}
number=0
while IFS= read -r source; do
    number=$((number + 1))
    compile_one "$source" "$scratch/$number.o" >>"$scratch/found" &
    [ $((number % 2)) -eq 1 ] || wait
    printf '%s\t%s\n' "$scratch/$number.o" "$source" >>"$scratch/objects"
done <"$scratch/unknown"
wait
[ -s "$scratch/objects" ] || [ -s "$scratch/found" ] || [ ! -s "$scratch/sources" ] || {
    echo "globals: no objects to read"
    exit 1
}

# Writable symbols have the classes d, b, s, g and C; a weak one is allowed. Only the loader writes
# to .data.rel.ro. With -fdata-sections a variable's name ends the name of its section, so a
# variable `ro` that holds an address is in .data.rel.ro as well: its name shows this. Local statics
# carry a number. __gcov0.f comes from --coverage, __odr_asan.x from the address sanitizer: both are
# the compiler's own.
while IFS= read -r line; do
    [ ! -f "${line%%$'\t'*}" ] || printf '%s\n' "$line"
done <"$scratch/objects" >"$scratch/readable"
cut -f1 "$scratch/readable" | tr '\n' '\0' | xargs -0 -r nm -f sysv >"$scratch/symbols" \
    2>"$scratch/nm.log" || sed 's/^/globals: /' "$scratch/nm.log" >>"$scratch/found"
allow="$root/scripts/check/globals.allow"
[ -f "$allow" ] || allow=/dev/null
awk -v allow="$allow" -v objects="$scratch/readable" '
    BEGIN {
        while ((getline row < allow) > 0) {
            n = split(row, word, " ")
            if (row !~ /^#/ && n >= 3) ok[word[1] " " word[2]] = 1
        }
        while ((getline row < objects) > 0) {
            split(row, word, "\t")
            source[word[1]] = word[2]
            wanted++
        }
    }
    /^Symbols from .*:$/ {
        object = substr($0, 14, length($0) - 14)
        if (object in source) read++
        next
    }
    split($0, field, "|") < 7 { next }
    {
        name = field[1]; class = field[3]; section = field[7]
        gsub(/ /, "", name)
        gsub(/ /, "", class)
        gsub(/ /, "", section)
        if (class !~ /^[dDbBsSgGCVv]$/) next
        if (class ~ /^[Vv]$/ && section ~ /^(\.rodata.*|\*UND\*|)$/) next
        plain = name
        sub(/\.[0-9]+$/, "", plain)
        if (section ~ /^\.data\.rel\.ro($|\.)/ &&
            !(plain == "ro" && section == ".data.rel." name)) next
        if (plain ~ /^(__gcov[0-9_]|__odr_asan\.)/) next
        if ((source[object] " " plain) in ok) next
        print source[object] ": mutable global: " plain
    }
    END { if (read != wanted) print "globals: nm read " read + 0 " of " wanted " objects" }
    ' "$scratch/symbols" >>"$scratch/found"
finish globals
