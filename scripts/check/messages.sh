#!/usr/bin/env bash
# Commit messages: `room: what changes`, at most 72 characters, and a body that says why, except for
# docs. Messages up to the commit in messages.base are older than the rule.
#   messages.sh [ROOT]         the commits since then
#   messages.sh --file FILE    one message, as passed to git's hook commit-msg (.githooks/)
one_message() { # one_message NAME: the message is read; prints what is wrong with it
    awk -v name="$1" '
        function complain(text) { print name ": " text; bad = 1 }
        /^#/ { next }
        !subject && /^$/ { next }
        !subject { subject = $0; next }
        !second { second = 1; if ($0 != "") complain("the second line is not empty"); next }
        /[^ ]/ { body++ }
        END {
            if (subject ~ /^(fixup|squash|Merge|Revert)/) exit
            if (length(subject) > 72)
                complain("the subject has " length(subject) " characters, expected at most 72")
            if (subject !~ /^[a-z0-9_.][a-z0-9_.\/,+ -]*: [^ ]/)
                complain("\"" subject "\": expected `room: what changes`")
            what = subject
            sub(/^[^:]*: /, "", what)
            if (tolower(what) ~ /(^|[^a-z])(wip|again)([^a-z]|$)/ || tolower(what) ~ /^format/)
                complain("\"" subject "\": say what changes; no \"wip\", \"format\" or \"again\"")
            if (!body && subject !~ /^docs/) complain("\"" subject "\": the body is to say why")
        }'
}
if [ "${1:-}" = --file ]; then
    found=$(one_message "message" <"$2")
    [ -z "$found" ] || { echo "$found" >&2 && exit 1; }
    exit 0
fi
source "$(dirname "$0")/lib/common.sh"
[ -e .git ] && command -v git >/dev/null || skip "no history"
first=$(sed -n '/^[0-9a-f]/p' scripts/check/messages.base 2>/dev/null | head -1)
git cat-file -e "$first^{commit}" 2>/dev/null || skip "the history does not reach back to the rule"
for commit in $(git rev-list "$first..HEAD"); do
    git log -1 --format=%B "$commit" | one_message "${commit:0:12}"
done >>"$scratch/found"
finish messages
