#!/usr/bin/env bash
# Length of files and lines, no tabs, no blanks at line ends, POSIX in one place, no casts that hide
# the cases of a switch, no TODOs, no paths of one machine. Tables (.def) are not formatted by
# clang-format, and may be a bit wider. Exceptions are listed in style.allow in this folder: RULE
# FILE REASON.
source "$(dirname "$0")/lib/common.sh"

allow="$root/scripts/check/style.allow"
[ -f "$allow" ] || allow=/dev/null
# filter RULE: drops "file:…" lines whose file the allow-list names with a reason.
filter() {
    awk -v rule="$1" '
        FILENAME != "-" {
            if ($0 !~ /^#/ && $1 == rule && NF >= 3) ok[$2] = 1
            next
        }
        { file = $0; sub(/:.*/, "", file); if (!(file in ok)) print }' "$allow" - >>"$scratch/found"
}

tree_files '*.c' '*.h' '*.def' >"$scratch/c"
tree_files '*.def' >"$scratch/tables"
tree_files '*.c' '*.h' '*.sh' '*.cmake' 'CMakeLists.txt' >"$scratch/code"
tree_files '*' | grep -vE '^(LICENSE|tests/fuzz/corpus/.*|.*\.(npy|bin|png))$' \
    >"$scratch/all" || true

on() { xargs -r -d '\n' "${@:2}" /dev/null <"$scratch/$1" || true; }
on c awk 'FNR == 901 { print FILENAME ":901: more than 900 lines" }' | filter long-file
on code grep -nE '^.{101,}' | sed -E 's/^([^:]*:[0-9]+):.*/\1: a line of more than 100 columns/' |
    filter long-line
on tables grep -nE '^.{121,}' | sed -E 's/^([^:]*:[0-9]+):.*/\1: a line of more than 120 columns/' |
    filter long-line
on c grep -nP '\t' | sed -E 's/^([^:]*:[0-9]+):.*/\1: a tab/' | filter tab
on c grep -nE '[[:space:]]$' | sed -E 's/^([^:]*:[0-9]+):.*/\1: blanks at the end of the line/' |
    filter blanks
posix='unistd|fcntl|pthread|dirent|dlfcn|spawn|poll|semaphore|strings|regex|glob|ftw|libgen|termios'
posix="$posix|sched|pwd|grp|netdb|syslog|utime|wordexp|sys/[a-z_]+|netinet/[a-z]+|arpa/[a-z]+"
on c grep -nE "^[ \t]*#[ \t]*include[ \t]*<($posix)\.h>" |
    grep -vE '^base/os/os(_[a-z]+)?\.c:' |
    sed -E 's/^([^:]*:[0-9]+):.*(<.*>).*/\1: \2 is POSIX, which lives in base\/os\//' |
    filter posix
# A cast hides from the compiler which cases an enum has: `default` says that all others are alike.
on c grep -nE '\<switch \(\((unsigned|int)( int)?\)' |
    sed -E 's/^([^:]*:[0-9]+):.*/\1: a cast in a switch; name all cases, or say default/' |
    filter cast
on all grep -nIwE 'TO''DO|FIX''ME' | sed -E 's/^([^:]*:[0-9]+):.*/\1: an open end (TO''DO)/' |
    filter todo
on all grep -nIE "(^|[^A-Za-z0-9_.}~/-])/(home|root|tmp|work|mnt|Users)/[A-Za-z0-9_]" |
    sed -E 's/^([^:]*:[0-9]+):.*/\1: a path of one machine/' | filter path
finish style
