#!/usr/bin/env bash
# Prints the summary of scripts/test.sh when it is interrupted, from ctest's output up to then:
#   test-interrupted.sh OUTPUT SLICE [REGEX]
# It has the number of tests that ended, a line for each that failed, and how to continue.
set -eu
output=$1 slice=$2 match=${3:-}
[ -e "$output" ] || output=/dev/null
awk -v slice="$slice" -v regex="$match" '
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
        split($1, place, "/")
        all = place[2]
        ended++
        name = $0
        sub(/^[^#]*#[0-9]+: /, "", name)
        sub(/ .*/, "", name)
        if ($0 !~ /\*\*\*(Failed|Timeout|Exception|Not Run)/) next
        gsub(/[.+]/, "\\\\&", name)
        failed[++failures] = name
    }
    END {
        if (ended) printf "\ntest: interrupted after %d of %d tests, %d of which failed\n",
                          ended, all, failures
        else print "\ntest: interrupted before a test had ended"
        if (failures) print "\nTo repeat what failed, alone:"
        for (i = 1; i <= failures; i++)
            printf "  scripts/test.sh --slice %s \047^%s$\047\n", slice, failed[i]
        print "\nTo run all of them again:"
        printf "  scripts/test.sh --slice %s%s\n", slice,
               regex == "" ? "" : " \047" regex "\047"
    }' "$output"
