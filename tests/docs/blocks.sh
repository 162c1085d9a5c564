#!/usr/bin/env bash
# Every block of code on the pages is one that a test executes, or has a reason why none does. The
# first words after ``` say which:
#
#   console, … file NAME      tests/docs/console.sh executes it
#   c                         tests/docs/c_api.sh or tests/aot/aot.sh compiles it
#   tile …, output            on docs/language.md: tests/docs/test_language.c executes it
#   layout                    on docs/layouts.md: tests/ir/layout/test_text.c compares it
#   text, ebnf                a figure, a format or a formula: nothing to execute
#   … unrun REASON            no test executes it; docs/testing.md has a row for REASON, which names
#                             the pages with such blocks
#
# Blocks without ``` are not allowed.
#
#     blocks.sh [--list]     in the root of the repository; --list prints the blocks that do not run
set -eu
export LC_ALL=C.UTF-8
list=no
[ "${1-}" != --list ] || list=yes
pages=(README.md)
for page in CONTRIBUTING.md SECURITY.md CHANGELOG.md docs/*.md docs/*/*.md; do
    [ ! -e "$page" ] || pages+=("$page")
done
awk -v list="$list" '
    function problem(line, text) {
        printf "%s:%d: %s\n", FILENAME, line, text
        bad++
    }
    FNR == 1 { fence = 0; item = 0; blank = 1; table = 0 }
    /^ *```/ {
        if (fence) { fence = 0; next }
        fence = 1
        blocks++
        text = 0
        tag = $0
        sub(/^ *```/, "", tag)
        words = split(tag, word, " ")
        if (words == 3 && word[2] == "unrun") {
            unrun++
            used[word[3], FILENAME] = FILENAME ":" FNR
            if (list == "yes") printf "%s:%d: %s\n", FILENAME, FNR, word[3]
        }
        else if (tag == "text" || tag == "ebnf") text = 1
        else if (tag == "console" || tag == "c" || words == 3 && word[2] == "file") next
        else if (FILENAME == "docs/language.md" && (word[1] == "tile" || tag == "output")) next
        else if (FILENAME == "docs/layouts.md" && tag == "layout") next
        else problem(FNR, "the tag \"" tag "\" of a block is none that tests/docs/blocks.sh knows")
        next
    }
    fence {
        if (text && /^\$ /) problem(FNR, "a command in a block that is not executed")
        next
    }
    # Lines of a list are indented, too.
    /^ *([-*]|[0-9]+\.) / { item = 1 }
    /^[^ ]/ && !/^([-*]|[0-9]+\.) / { item = 0 }
    /^    / && blank && !item { problem(FNR, "a block without ```, which no test executes") }
    { blank = /^$/ }
    # The table of reasons: | `gpu` | why | `docs/a.md`, `docs/b.md` |
    FILENAME == "docs/testing.md" && /^\| reason \|/ { table = 1; next }
    table && !/^\|/ { table = 0 }
    table && !/^\|-/ {
        split($0, cell, "|")
        reason = cell[2]
        gsub(/[ `]/, "", reason)
        reasons[reason] = FNR
        names = split(cell[4], name, ",")
        for (i = 1; i <= names; i++) {
            gsub(/[ `]/, "", name[i])
            said[reason, name[i]] = FNR
        }
    }
    END {
        for (key in used) {
            split(key, part, SUBSEP)
            if (!(part[1] in reasons)) what = "no row for the reason \"" part[1] "\""
            else if (!(key in said)) what = "the row of \"" part[1] "\" does not name " part[2]
            else continue
            printf "%s: docs/testing.md has %s\n", used[key], what
            bad++
        }
        for (key in said) {
            if (key in used) continue
            split(key, part, SUBSEP)
            printf "docs/testing.md:%d: %s has no block \"unrun %s\"\n", said[key], part[2], part[1]
            bad++
        }
        if (blocks < 50) { print "blocks: only " blocks " were found"; bad++ }
        if (bad) exit 1
        printf "blocks: %d, %d of them are not executed\n", blocks, unrun
    }' "${pages[@]}"
