#!/usr/bin/env bash
# Line and branch coverage of the library's files by the quick tests, the least covered first, and
# the total.
#   scripts/coverage.sh [PATTERN]     only files whose path matches, e.g. frontend/tile
# With --lines the lines that were never executed are listed, too. TILEC_TEST_SLICE=N: for another
# slice.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
lines=0
if [ "${1:-}" = --lines ]; then
    lines=1
    shift
fi
pattern=${1:-.}
scripts/build.sh coverage
find build/coverage -name '*.gcda' -delete
ctest --preset coverage -L quick -LE check >build/coverage/ctest.log 2>&1 ||
    { tail -n 20 build/coverage/ctest.log; echo "coverage: tests failed; counted all the same"; }
# A branch counts as covered when it was taken, a line when it ran.
cd build/coverage
rm -rf gcov && mkdir gcov && cd gcov
find ../CMakeFiles/tilec_objects.dir ../CMakeFiles/tilec_rt_objects.dir -name '*.gcda' -print0 |
    xargs -0 -r gcov -b -p >/dev/null 2>&1
find . -name '*.gcov' -print0 | xargs -0 -r -n 1 awk -F: -v root="$(cd ../../.. && pwd)/" \
    -v pattern="$pattern" -v lines=$lines '
    NR == 1 { path = $0; sub(/.*Source:/, "", path); sub(root, "", path) }
    /^ *#####:|^ *=====:/ { missed++; total++; if (lines) text = text "  " $0 "\n" }
    /^ *[0-9]+\*?:/ { total++ }
    /^branch / { branches++; if ($0 ~ /never executed|taken 0%/) untaken++ }
    END { if (total && path !~ /^\// && path ~ pattern)
              printf "%6.2f%%  %5d of %5d lines  %5d of %5d branches  %s\n%s",
                     100 * (total - missed) / total, total - missed, total,
                     branches - untaken, branches, path, text }' >../gcov.txt
if [ $lines -eq 1 ]; then cat ../gcov.txt; else sort -n ../gcov.txt; fi
awk '/ lines .* branches / { ran += $2; lines += $4; taken += $6; branches += $8 }
     END { if (lines) printf "all: %.2f%% of %d lines, %.2f%% of %d branches\n",
                             100 * ran / lines, lines, 100 * taken / branches, branches
     }' ../gcov.txt
