#!/usr/bin/env bash
# Writes the tests of one run of scripts/test.sh, as a CTestTestfile.cmake:
#   test-choice.sh SLICE turns|all OUT CTESTTESTFILE…
# These are the tests of the builds' files with the label `commit`. With `turns`, those that have a
# label turn0, turn1 or turn2 are only there if that is the rest of SLICE divided by three; a line
# says how many wait. As such a test runs in every third slice only, it does slice SLICE / 3 of its
# own sweep, so that consecutive turns do consecutive slices.
set -eu
slice=$1 which=$2 out=$3
shift 3
twice=()
for file; do twice+=("$file" "$file"); done
awk -v slice="$slice" -v which="$which" -v out="$out.part" '
    BEGIN { printf "" >out }
    { test = $1; sub(/^[a-z_]+\(/, "", test) }
    FNR == 1 {
        again = !again
        if (again) { delete ours; delete turn }
    }
    again {
        if (!/^set_tests_properties/ || !match($0, / LABELS "[^"]*"/)) next
        labels = substr($0, RSTART, RLENGTH)
        if (labels !~ /[";]commit[";]/) next
        if (match(labels, /[";]turn[0-2][";]/)) {
            turn[test] = substr(labels, RSTART + 5, 1)
            count[(turn[test] - slice % 3 + 3) % 3]++
            if (which == "turns" && turn[test] != slice % 3) next
        }
        ours[test] = 1
        next
    }
    test in ours {
        if (test in turn) sub(/ ENVIRONMENT "/, "&TILEC_TEST_SLICE=" int(slice / 3) ";")
        print >out
    }
    END {
        if (which == "turns" && count[0] + count[1] + count[2] > 0)
            printf "test: %d long tests run in one of three slices: %d now, %d in %d, %d in %d\n",
                   count[0] + count[1] + count[2], count[0], count[1], slice + 1, count[2],
                   slice + 2
    }' "${twice[@]}"
mv "$out.part" "$out"
