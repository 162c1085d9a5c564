#!/usr/bin/env bash
# The words of pages, comments and messages: none of what words.txt lists (a pattern, and what to
# write instead), and no line of a page that is longer than 100 columns, tables and code excepted.
# Exceptions stand in words.allow: FILE, a part of the text, and a reason, separated by tabs.
source "$(dirname "$0")/lib/common.sh"
command -v perl >/dev/null || skip "no perl; apt-get install perl"

allow="$root/scripts/check/words.allow"
[ -f "$allow" ] || allow=/dev/null
exceptions_most=30
count=$(grep -cvE '^(#|$)' "$allow" || true)
[ "$count" -le "$exceptions_most" ] ||
    echo "scripts/check/words.allow: $count exceptions, expected at most $exceptions_most" \
        >>"$scratch/found"

tree_files '*.c' '*.h' '*.cpp' '*.def' '*.md' '*.sh' '*.cmake' '*.pl' '*.awk' \
    >"$scratch/prose-files"
perl "$check_lib/prose.pl" <"$scratch/prose-files" >"$scratch/prose"
perl "$check_lib/words.pl" "$check_lib/../words.txt" "$allow" <"$scratch/prose" >>"$scratch/found"

tree_files '*.md' | xargs -r -d '\n' perl -CSD -ne '
    $code = 0 if $. == 1;
    if (/^ *(```|~~~)/) { $code = !$code }
    elsif (!$code && length > 101 && !/^ *\|/ && !/^ *(\[[^]]*\]: |<?https?:)[^ ]*$/) {
        print "$ARGV:$.: a line of more than 100 columns\n";
    }
    close ARGV if eof;' >>"$scratch/found"
echo "words: $(wc -l <"$scratch/prose") blocks of prose"
finish words
