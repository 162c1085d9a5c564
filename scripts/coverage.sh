#!/usr/bin/env bash
# Line coverage of the library's files by the quick tests, least covered first.
#   scripts/coverage.sh [PATTERN]     only files whose path matches, e.g. frontend/tile
# With --lines the lines never executed are listed, too.
set -eu
cd "$(dirname "$0")/.."
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
cd build/coverage
rm -rf gcov && mkdir gcov && cd gcov
find ../CMakeFiles/tilec_objects.dir ../CMakeFiles/tilec_rt_objects.dir -name '*.gcda' -print0 |
    xargs -0 -r gcov -p >/dev/null 2>&1
for file in *.gcov; do
    [ -e "$file" ] || continue
    awk -F: -v root="$(cd ../../.. && pwd)/" -v pattern="$pattern" -v lines=$lines '
        NR == 1 { path = $0; sub(/.*Source:/, "", path); sub(root, "", path) }
        /^ *#####:|^ *=====:/ { missed++; total++; if (lines) text = text "  " $0 "\n" }
        /^ *[0-9]+\*?:/ { total++ }
        END { if (total && path !~ /^\// && path ~ pattern)
                  printf "%6.2f%%  %5d of %5d lines  %s\n%s", 100 * (total - missed) / total,
                         total - missed, total, path, text }' "$file"
done | if [ $lines -eq 1 ]; then cat; else sort -n; fi
