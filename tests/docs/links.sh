#!/usr/bin/env bash
# Every relative link of README.md and docs/ leads to a file, and its #anchor to a heading of that
# page. Links in code do not count.
#
#     links.sh               in the root of the repository
set -eu
export LC_ALL=C.UTF-8
pages=(README.md docs/*.md)
for page in docs/*/*.md CONTRIBUTING.md CHANGELOG.md SECURITY.md; do
    [ ! -e "$page" ] || pages+=("$page")
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# PAGE#anchor of each heading, as GitHub makes them.
awk '
    FNR == 1 { fence = 0; delete times }
    /^ *```/ { fence = !fence }
    fence || !/^#+ / { next }
    {
        text = tolower($0)
        sub(/^#+ +/, "", text)
        while (match(text, /\[[^]]*\]\([^)]*\)/)) {
            link = substr(text, RSTART, RLENGTH)
            sub(/^\[/, "", link)
            sub(/\].*/, "", link)
            text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
        }
        gsub(/[^[:alnum:] _-]/, "", text)
        gsub(/ /, "-", text)
        print FILENAME "#" text (times[text] ? "-" times[text] : "")
        times[text]++
    }' "${pages[@]}" >"$scratch/anchors"

# PAGE LINE LINK of each link.
awk '
    FNR == 1 { fence = 0 }
    /^ *```/ { fence = !fence }
    fence || /^    / { next }
    {
        gsub(/`[^`]*`/, "")
        while (match($0, /\]\([^) ]*\)/)) {
            print FILENAME, FNR, substr($0, RSTART + 2, RLENGTH - 3)
            $0 = substr($0, RSTART + RLENGTH)
        }
    }' "${pages[@]}" >"$scratch/links"

failed=0
checked=0
while read -r page line link; do
    case $link in https://* | http://* | mailto:*) continue ;; esac
    checked=$((checked + 1))
    file=${link%%#*}
    if [ -z "$file" ]; then
        target=$page
    else
        target=$(realpath -m --relative-to=. "$(dirname "$page")/$file")
    fi
    if [ ! -e "$target" ]; then
        echo "$page:$line: there is no $target"
        failed=1
    elif [ "$link" != "$file" ] && ! grep -qxF "$target#${link#*#}" "$scratch/anchors"; then
        echo "$page:$line: $target has no heading #${link#*#}"
        failed=1
    fi
done <"$scratch/links"
[ "$checked" -ge 50 ] || { echo "links: only $checked were found" && failed=1; }
[ "$failed" -eq 0 ] && echo "links: $checked"
exit "$failed"
