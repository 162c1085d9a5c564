#!/usr/bin/env bash
# Every include of ours against the table of rooms (lib/rooms.awk): who may know whom. The text of
# all files is read, with the parts that a condition leaves out. That it hides nothing is held
# against what the build knows (`ninja -t deps`): every file that the compiler read for an object
# must be reached by includes that stand in the text. Files that no build has read as they are now
# are preprocessed here. In the rooms lie sources and tables only.
source "$(dirname "$0")/lib/common.sh"

compiler=$(gcc_command)
[ -n "$compiler" ] || compiler=$(clang_command)
cxx=$(command -v g++ || clang_command)
make_edges
make_built ${builds[@]+"${builds[@]}"}
awk -v edges="$scratch/edges" -f "$check_lib/explained.awk" "$scratch/built" >>"$scratch/found"
# Those that a header of the build's own belongs to are read here, too.
awk -F'\t' '$1 != object { object = $1; source = $2 }
    $2 == "*made*" { print source }' "$scratch/built" >"$scratch/unknown"
cut -f2 "$scratch/built" | LC_ALL=C sort -u | without - "$scratch/unknown" >"$scratch/seen"
tree_files '*.c' '*.h' '*.cpp' >"$scratch/all"
without "$scratch/all" "$scratch/seen" >"$scratch/units"
echo "includes: $(wc -l <"$scratch/units") of $(wc -l <"$scratch/all") files, which no build" \
    "has read"
[ -n "$cxx" ] || sed -i '/\.cpp$/d' "$scratch/units"

# -dI prints each directive with what its macros stand for, even where a guard skips the file, about
# which -H is silent.
one_unit() {
    local command=("$compiler" -x c -std=c17)
    [[ $1 != *.cpp ]] || command=("$cxx" -x c++ -std=c++17)
    echo "@file $1"
    "${command[@]}" -E -dI -w -I. -Iinclude "${llvm[@]}" "${test_defines[@]}" "$1" 2>"$2.log" ||
        echo "$1: does not preprocess: $(grep -m1 error "$2.log")" >>"$2.failed"
}
half() { # every second file from the first or second on, so that two run at once
    awk -v first="$1" 'NR % 2 == first' "$scratch/units" | while IFS= read -r unit; do
        one_unit "$unit" "$scratch/half$1"
    done | awk -f "$check_lib/directives.awk" >"$scratch/half$1"
}
: >"$scratch/half0.failed"
: >"$scratch/half1.failed"
if [ -n "$compiler" ]; then
    half 0 &
    half 1
    wait
    # A header of another project may be missing here: that file is read as text only.
    cat "$scratch"/half?.failed | awk -v found="$scratch/found" '
        /fatal error: .*([Nn]o such file|not found)/ {
            print "includes: " $0 "; read as text"
            next
        }
        { print >>found }'
else
    : >"$scratch/half0" >"$scratch/half1"
    echo "includes: no compiler here; the text alone is read"
fi
awk -f "$check_lib/tables.awk" "$scratch/edges" >"$scratch/inherited"
cat "$scratch/half0" "$scratch/half1" "$scratch/text" "$scratch/inherited" |
    awk -v tree="$scratch/tree" -f "$check_lib/rooms.awk" >>"$scratch/found"

tree_files 'base/*' 'target/*' 'ir/*' 'runtime/*' 'frontend/*' 'passes/*' 'codegen/*' 'sim/*' \
    'compile/*' 'tools/*' 'include/*' 'bench/*' | while IFS= read -r file; do
    [ ! -L "$file" ] || echo "$file: a symbolic link has no place in a room"
    case $file in
    *.c | *.h | *.def | *.cpp) ;;
    bench/*.py | bench/sass/*.tile) ;; # a measurement of what the tool makes
    bench/cpu/*.cl) ;;                 # what a peer compiles
    bench/results/*.md | bench/results/*.json) ;; # measurements
    *) echo "$file: a room holds .c, .h, .def and .cpp files only" ;;
    esac
done >>"$scratch/found"
finish includes
