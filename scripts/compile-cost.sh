#!/usr/bin/env bash
# Compares the instructions that this tree and another commit execute to compile the examples.
#   scripts/compile-cost.sh BASE                     all examples × devices
#   scripts/compile-cost.sh BASE REGEX [DEVICE…]     the jobs that match, as 'attention .*T=f16'
#   scripts/compile-cost.sh --profile JOB DEVICE     where the instructions of one job go, this tree
# A job is a kernel and its types; a device is cpu:x86-64-v3, sim:sm_80 and so on. Its instructions
# are those in the process, with LLVM mapped, from the source to the code that a driver takes (an
# image is not loaded), on one processor. callgrind counts them, so other work on the machine
# changes nothing. The examples are those of BASE, which is built in build/compile-cost/base. Prints
# a row for each job × device, with the ratio; status 1 where a ratio is above 1.01.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
source scripts/lib/base-tree.sh
root=$PWD
work=$root/build/compile-cost
devices="cpu:x86-64-v3 sim:sm_80 sim:sm_90a sim:gfx942 sim:gfx1100"
limit=1.01

fail() {
    echo "compile-cost: error: $1" >&2
    exit 2
}

command -v valgrind >/dev/null || fail "valgrind is missing: apt-get install valgrind"

# Builds a tree, and the program that compiles jobs with its library.
build() { # build TREE NAME
    local lib=$1/build/release
    base_build "$1" "$work/build.log" tilec_shared tilec_llvm || exit 2
    nm "$lib/libtilec.so" | grep -q ' load_image$' || fail "$1 has no function load_image"
    "${CC:-cc}" -std=c17 -O2 -I"$1/include" bench/compile.c -o "$work/compile-$2" \
        -L"$lib" -ltilec -Wl,-rpath,"$lib"
}

# Counts the jobs of $work/jobs on a device: a line "INSTRUCTIONS TAB JOB: done" for each.
count() { # count NAME DEVICE EXAMPLES
    local device=$2 out=$work/$1-${2##*:} dump
    rm -f "$out".*
    [[ $2 != cpu:* ]] || export TILEC_CPU_TARGET=${2#cpu:} device=cpu
    (cd "$3" && taskset -c "$(taskset -cp $$ | sed 's/.*[:,-] *//')" \
        valgrind --tool=callgrind --toggle-collect=compile_job --toggle-collect=load_image \
        --dump-after=compile_job \
        --callgrind-out-file="$out.out" "$work/compile-$1" "$device" \
        <"$work/jobs" >"$out.said" 2>"$out.log") || {
        tail -5 "$out.log" >&2
        fail "$1 on $2 ended early"
    }
    # The first dump is of the call that maps LLVM.
    for ((dump = 2; dump <= $(wc -l <"$out.said") + 1; dump++)); do
        sed -n 's/^\(summary\|totals\): //p' "$out.out.$dump" | head -1
    done | paste - "$out.said" >"$out.counts"
}

mkdir -p "$work"
export TILEC_CACHE=off
if [ "${1:-}" = --count ]; then # one process of the whole comparison
    count "$2" "$3" "$4"
    exit 0
fi
if [ "${1:-}" = --profile ]; then
    build "$root" new
    echo "$2" >"$work/jobs"
    count new "$3" "$root"
    exec callgrind_annotate --inclusive=yes "$work/new-${3##*:}.out.2"
fi

base_tree "${1:-}" "$work/base" >/dev/null || exit 2
only=${2:-.}
[ $# -lt 3 ] || devices="${*:3}"
build "$work/base" base
build "$root" new
scripts/check/same-code.sh --list | awk '$2 != "check" && !/ check$/ {
    printf "%s %s", $1, $2
    for (i = 4; i <= NF; i++) printf " %s", $i
    print ""
}' | sort -u | while read -r file rest; do
    [ ! -e "$work/base/$file" ] || echo "$file $rest"
done | grep -E -- "$only" >"$work/jobs" || fail "no job matches '$only'"

for device in $devices; do
    for name in base new; do echo "$name $device $work/base"; done
done | xargs -n 3 -P "$(nproc)" "$root/scripts/compile-cost.sh" --count
for device in $devices; do
    paste "$work/base-${device##*:}.counts" "$work/new-${device##*:}.counts" |
        awk -F '\t' -v device="${device##*:}" '
            $2 ~ /done$/ && $4 ~ /done$/ {
                sub(/: done$/, "", $2)
                print $3 / $1, $1, $3, device, $2
            }'
done >"$work/rows"
sort -rn "$work/rows" | awk -v limit=$limit '
    {
        printf "%6.3f %10.2f %10.2f  %-9s", $1, $2 / 1e6, $3 / 1e6, $4
        for (i = 5; i <= NF; i++) printf " %s", $i
        print ""
        sum[$4] += log($1)
        count[$4]++
        above += $1 > limit
    }
    BEGIN { print "ratio  base       new        in millions of instructions" }
    END {
        for (device in sum)
            printf "geometric mean of %d on %s: %.3f\n", count[device], device,
                exp(sum[device] / count[device])
        printf "%d of %d above %s\n", above, NR, limit
        exit above > 0
    }'
