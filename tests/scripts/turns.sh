#!/usr/bin/env bash
# The tests that scripts/test.sh chooses by the number of the slice (scripts/lib/test-choice.sh):
# of stand-ins, and of the builds, if both are there.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
problems=0
problem() {
    echo "turns: $*"
    problems=$((problems + 1))
}
choose() { # choose SLICE turns|all FILE…: writes $scratch/chosen and $scratch/said
    local slice=$1 which=$2
    shift 2
    "$root/scripts/lib/test-choice.sh" "$slice" "$which" "$scratch/chosen" "$@" >"$scratch/said"
}
names() { sed -n 's/^add_test(\(\[=*\[\)\?\([^] ]*\).*/\2/p' "$scratch/chosen" | sort; }

test_of() { # test_of NAME LABELS
    echo "add_test([=[$1]=] \"program\")"
    echo "set_tests_properties([=[$1]=] PROPERTIES  ENVIRONMENT \"A=1\" LABELS \"$2\")"
}
{
    test_of a/short 'quick;commit'
    test_of a/long 'quick;turn1;commit'
    test_of a/other 'quick;turn1'
} >"$scratch/one.cmake"
{
    test_of a/other 'quick;turn2;commit'
    test_of a/short quick
    test_of committed/b 'quick;turn0'
} >"$scratch/two.cmake"
both=("$scratch/one.cmake" "$scratch/two.cmake")
choose 7 turns "${both[@]}"
diff - "$scratch/said" <<'EXPECTED' || problem 'the line about turns is another one'
test: 2 long tests run in one of three slices: 1 now, 1 in 8, 0 in 9
EXPECTED
sed 's/TILEC_TEST_//' "$scratch/chosen" >"$scratch/short"
diff - "$scratch/short" <<'EXPECTED' || problem 'slice 7 has other tests'
add_test([=[a/short]=] "program")
set_tests_properties([=[a/short]=] PROPERTIES  ENVIRONMENT "A=1" LABELS "quick;commit")
add_test([=[a/long]=] "program")
set_tests_properties([=[a/long]=] PROPERTIES  ENVIRONMENT "SLICE=2;A=1" LABELS "quick;turn1;commit")
EXPECTED
choose 6 all "${both[@]}"
[ "$(names | tr '\n' ' ')" = 'a/long a/other a/short ' ] ||
    problem "with a pattern there are only: $(names)"
[ ! -s "$scratch/said" ] || problem "with a pattern it says: $(cat "$scratch/said")"
# Consecutive turns do consecutive slices.
for slice in 7 10 13; do
    choose $slice turns "${both[@]}"
    grep -o 'TILEC_TEST_SLICE=[0-9]*' "$scratch/chosen"
done | tr '\n' ' ' >"$scratch/numbers"
[ "$(cat "$scratch/numbers")" = 'TILEC_TEST_SLICE=2 TILEC_TEST_SLICE=3 TILEC_TEST_SLICE=4 ' ] ||
    problem "three turns do these slices: $(cat "$scratch/numbers")"

# Is the preset built, as cmake/turns.cmake is now, and with code generation?
is_built() {
    [ "$root/build/$1/CTestTestfile.cmake" -nt "$root/cmake/turns.cmake" ] &&
        [ -e "$root/build/$1/libtilec_llvm.so" ]
}
real=("$root"/build/{debug,release}/CTestTestfile.cmake)
if ! is_built debug || ! is_built release; then
    echo "skipped: the builds debug and release are not both there, with code generation"
else
    choose 0 all "${real[@]}"
    names >"$scratch/all"
    grep -q '^examples/' "$scratch/all" || problem 'the builds have no examples'
    folders() { sed 's|/.*||' "$1" | sort -u; }
    for slice in 300 301 302; do
        choose $slice turns "${real[@]}"
        names >"$scratch/$slice"
        diff <(folders "$scratch/all") <(folders "$scratch/$slice") >"$scratch/missing" ||
            problem "slice $slice has no test of: $(sed -n 's/^< //p' "$scratch/missing")"
    done
    sort "$scratch"/30[0-2] | uniq -c >"$scratch/times"
    diff "$scratch/all" <(awk '{ print $2 }' "$scratch/times") ||
        problem 'three consecutive slices do not run every test'
    awk '$1 == 2 { exit 1 }' "$scratch/times" || problem 'a test has two turns of three'
    # Every row of the tables is a test, so that a test with another name does not lose its turn.
    sed -n 's/^ \{4\}"[0-9]/&/p' "$root/cmake/turns.cmake" | grep -oE '"[0-9]+ [^"]+"' |
        sed 's/^"[0-9]* //; s/"$//' | sort >"$scratch/rows"
    comm -23 "$scratch/rows" "$scratch/all" >"$scratch/unknown"
    [ ! -s "$scratch/unknown" ] ||
        problem "cmake/turns.cmake has rows without a test: $(cat "$scratch/unknown")"
fi

[ $problems -eq 0 ] || exit 1
echo "turns: ok"
