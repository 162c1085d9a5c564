#!/usr/bin/env bash
# Measured tables on the pages, and the plot, are those of bench/results; and scripts/gen/results.sh
# notices where they are not.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
bash "$root/scripts/gen/results.sh" --check
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/scripts/gen" "$scratch/bench"
cp "$root/scripts/gen/results.sh" "$scratch/scripts/gen/"
cp -r "$root/bench/results" "$scratch/bench/"
mkdir "$scratch/docs"
failed=0
expect() { # STATUS TEXT ARGUMENT…
    local status=0 wanted=$1 text=$2
    shift 2
    bash "$scratch/scripts/gen/results.sh" "$@" >"$scratch/log" 2>&1 || status=$?
    if [ "$status" -ne "$wanted" ] || [[ $(<"$scratch/log") != *"$text"* ]]; then
        echo "results: status $status, expected $wanted and '$text':"
        cat "$scratch/log"
        failed=1
    fi
}
restore() { cp "$root"/docs/{performance.md,hopper.md,ratios.svg} "$scratch/docs/"; }

restore
sed -i 's/| vadd | sm_75 | 43 |/| vadd | sm_75 | 44 |/' "$scratch/docs/performance.md"
expect 1 'docs/performance.md is not what bench/results says' --check
restore
sed -i 's/width="[0-9]*\.[0-9]"/width="1.0"/' "$scratch/docs/ratios.svg"
expect 1 'docs/ratios.svg is not what bench/results says' --check
restore
sed -i 's/<!-- result front -->/<!-- result none -->/' "$scratch/docs/performance.md"
expect 1 'no bench/results/none.json' --check
restore
sed -i 's/^\["30,551 lines", /[/' "$scratch/bench/results/front.json"
expect 1 '1 cells, 2 columns' --check

# A table that is kept comes back as it was.
printf '%s\n' '| case | a \| b |' '|---|---|' '| "x" | 1.50 |' '| y |  |' >"$scratch/table"
expect 0 '' keep front 'a machine' 'a command' <"$scratch/table"
expect 0 'wrote docs/performance.md'
sed -n '/<!-- result front -->/,/<!-- end/p' "$scratch/docs/performance.md" |
    grep '^|' >"$scratch/found"
printf '%s\n' '| case | a \| b |' '|---|---|' '| "x" | 1.50 |' '| y | |' >"$scratch/wanted"
cmp -s "$scratch/found" "$scratch/wanted" || {
    echo "results: a table came back as"
    cat "$scratch/found"
    failed=1
}
[ "$failed" -eq 0 ] && echo "results: ok"
exit "$failed"
