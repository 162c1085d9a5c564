#!/usr/bin/env bash
# The output of the scripts: --help of each, wherever it is called from, and what scripts/test.sh
# prints when it is interrupted.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
problems=0
problem() {
    echo "scripts: $*"
    problems=$((problems + 1))
}

for script in "$root"/scripts/*.sh; do
    name=$(basename "$script")
    for option in --help -h; do
        (cd "$root/scripts" && timeout 10 bash "./$name" $option) >"$scratch/said" 2>&1 ||
            problem "$name $option fails: $(tail -n 1 "$scratch/said")"
        # All of the head comment, and nothing else.
        first=$(sed -n '2s/^# //p' "$script")
        lines=$(sed -n '2,${/^[^#]/q;/^$/q;p;}' "$script" | wc -l)
        if [ "$(head -n 1 "$scratch/said")" != "$first" ] ||
            [ "$(wc -l <"$scratch/said")" -ne "$lines" ]; then
            problem "$name $option does not print its head comment"
        fi
    done
done
[ -s "$scratch/said" ] || problem "no script has a head comment"

cat >"$scratch/output" <<'SAID'
Test project /somewhere/build/commit
      Start  5: aot/aot
      Start 12: base/test_os
 1/250 Test  #12: base/test_os .....................   Passed    1.86 sec
 2/250 Test   #5: aot/aot ..........................***Failed   34.02 sec
what it said
 3/250 Test  #77: gen/c++.x ........................***Exception: SegFault  0.10 sec
 4/250 Test  #78: examples/ptxas ...................***Skipped   0.10 sec
 5/250 Test   #9: base/test_ar .....................***Timeout  60.00 sec
SAID
"$root/scripts/lib/test-interrupted.sh" "$scratch/output" 527 . >"$scratch/said"
diff - "$scratch/said" <<'EXPECTED' || problem "an interrupted run says something else"

test: interrupted after 5 of 250 tests, 3 of which failed

To repeat what failed, alone:
  scripts/test.sh --slice 527 '^aot/aot$'
  scripts/test.sh --slice 527 '^gen/c\+\+\.x$'
  scripts/test.sh --slice 527 '^base/test_ar$'

To run all of them again:
  scripts/test.sh --slice 527
EXPECTED
"$root/scripts/lib/test-interrupted.sh" "$scratch/none" 3 '^base/' >"$scratch/said"
diff - "$scratch/said" <<'EXPECTED' || problem "a run that is interrupted early says something else"

test: interrupted before a test had ended

To run all of them again:
  scripts/test.sh --slice 3 '^base/'
EXPECTED
[ $problems -eq 0 ] || exit 1
echo "scripts: ok"
