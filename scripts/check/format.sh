#!/usr/bin/env bash
# Every C file is formatted as by clang-format 14. Checks the files that changed since the base
# commit (lib/common.sh).
source "$(dirname "$0")/lib/common.sh"

formatter=$(command -v clang-format-14 || command -v clang-format || true)
[ -n "$formatter" ] || skip "no clang-format (scripts/setup.sh installs it)"
case $("$formatter" --version) in
*"version 14."*) ;;
*) skip "$("$formatter" --version): other versions format otherwise; 14 is needed" ;;
esac
tree_files '*.c' '*.h' >"$scratch/files"
if changed_files && ! grep -qxF .clang-format "$scratch/changed"; then
    keep_changed format "$scratch/files"
fi
xargs -r -d '\n' -P2 -n 12 "$formatter" --dry-run -Werror <"$scratch/files" 2>&1 |
    grep -E 'error:' >"$scratch/raw" || true
# One line for each file, with the first place.
awk -F: '!seen[$1]++ { print $1 ":" $2 ": not formatted; run clang-format -i " $1 }' \
    "$scratch/raw" >>"$scratch/found"
finish format
