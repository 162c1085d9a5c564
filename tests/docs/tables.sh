#!/usr/bin/env bash
# Every row of a table in docs/ and README.md has as many cells as the table's head: others are cut
# off or lost where the page is shown.
#
#     tables.sh              in the root of the repository
set -eu
awk '
    function cells(line) {
        gsub(/\\\|/, "", line)
        sub(/[ \t]+$/, "", line)
        return line ~ /\|$/ ? gsub(/\|/, "", line) - 1 : -1
    }
    FNR == 1 { fence = 0; head = -2 }
    /^ *```/ { fence = !fence }
    fence || !/^\|/ { head = -2; next }
    head == -2 { head = cells($0) }
    cells($0) != head {
        printf "%s:%d: a row of %d cells, the table has %d\n", FILENAME, FNR, cells($0), head
        bad++
    }
    { rows++ }
    END {
        if (rows < 100) { print "tables: only " rows " rows were found"; bad++ }
        exit bad > 0
    }' docs/*.md README.md
