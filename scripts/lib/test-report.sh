#!/usr/bin/env bash
# Prints the summary of scripts/test.sh after ctest, from ctest's JUnit file:
#   test-report.sh RESULTS.xml OUT.json SLICE
# It has the reasons for skipped tests, the ten longest tests, and for each failure a line that
# repeats it alone. OUT gets the result and the seconds of each test, and the seconds of each folder
# of tests.
set -eu
xml=$1 json=$2 slice=$3
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
[ -s "$xml" ] || {
    echo "test: error: there is no $xml; ctest did not end" >&2
    exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# One line for each test: seconds, result, name; and the reasons for skipped tests.
awk -v reasons="$scratch/reasons" '
    function value(key,   text) {
        text = $0
        if (!sub(".* " key "=\"", "", text)) return ""
        sub(/".*/, "", text)
        return text
    }
    /<testcase / {
        name = value("name")
        result = value("status")
        result = result == "run" ? "passed" : result == "fail" ? "failed" : "skipped"
        printf "%s %s %s\n", value("time"), result, name
    }
    /skipped: / && !/<skipped/ {
        text = $0
        sub(/.*skipped: /, "", text)
        sub(/<\/system-out>.*/, "", text)
        gsub(/&apos;/, "\047", text); gsub(/&quot;/, "\"", text); gsub(/&lt;/, "<", text)
        gsub(/&gt;/, ">", text); gsub(/&amp;/, "\\&", text)
        print name ": " text >reasons
    }' "$xml" | sort -rn >"$scratch/tests"
[ -s "$scratch/tests" ] || {
    echo "test: error: no test has a name that matches; names are like matrix/test_matrix" >&2
    exit 1
}

if [ -s "$scratch/reasons" ]; then
    printf '\nSkipped, whole or in part, and why:\n'
    sort -u "$scratch/reasons" | sed 's/^/  /'
fi
printf '\nThe longest:\n'
head -n 10 "$scratch/tests" | awk '{ printf "  %6.1f s  %s\n", $1, $3 }'

# The seconds of a folder of tests: the part of the names before the first slash.
awk -v commit="$commit" -v slice="$slice" '
    { seconds[NR] = $1; result[NR] = $2; name[NR] = $3
      folder = $3; sub(/\/.*/, "", folder)
      if (!(folder in sum)) order[++folders] = folder
      sum[folder] += $1; tests[folder]++ }
    END {
        printf "{\"commit\": \"%s\", \"slice\": %s,\n \"folders\": [", commit, slice
        for (i = 1; i <= folders; i++)
            printf "%s\n  {\"name\": \"%s\", \"tests\": %d, \"seconds\": %.2f}", (i > 1 ? "," : ""),
                   order[i], tests[order[i]], sum[order[i]]
        printf "],\n \"tests\": ["
        for (i = 1; i <= NR; i++)
            printf "%s\n  {\"name\": \"%s\", \"result\": \"%s\", \"seconds\": %.2f}",
                   (i > 1 ? "," : ""), name[i], result[i], seconds[i]
        print "]}"
    }' "$scratch/tests" >"$json.part"
mv "$json.part" "$json"

if grep -q ' failed ' "$scratch/tests"; then
    printf '\nTo repeat what failed, alone:\n'
    awk -v slice="$slice" '$2 == "failed" {
        name = $3
        gsub(/[.+]/, "\\\\&", name)
        printf "  scripts/test.sh --slice %s \047^%s$\047\n", slice, name }' "$scratch/tests"
fi
awk '{ count[$2]++ } END { printf "\n%d passed, %d failed, %d skipped\n",
    count["passed"], count["failed"], count["skipped"] }' "$scratch/tests"
! grep -q ' failed ' "$scratch/tests"
