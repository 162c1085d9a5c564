#!/usr/bin/env bash
# The output of the scripts: --help of each, wherever it is called from, what scripts/test.sh prints
# when it is interrupted, and what scripts/test-all.sh runs, resumes and prints.
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
"$root/scripts/lib/test-interrupted.sh" "$scratch/output" 527 >"$scratch/said"
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
# scripts/test-all.sh, where builds and tests are stand-ins: `ctest` fails on what the file `bad`
# names.
all=$scratch/all
mkdir -p "$all/scripts/lib" "$all/tests/target" "$all/bin"
cp "$root/scripts/test-all.sh" "$all/scripts/"
cp "$root/scripts/lib/help.sh" "$all/scripts/lib/"
for script in scripts/{setup,bochs,build,fuzz}.sh tests/target/new_chip.sh bin/ctest; do
    cat >"$all/$script" <<'STAND_IN'
#!/bin/sh
echo "$(basename "$0") $*, portion ${TILEC_TEST_PORTION:-}, whole ${TILEC_TEST_WHOLE:-}" >>"$LOG"
! { [ -f "$LOG.bad" ] && echo "$*" | grep -qF -f "$LOG.bad"; }
STAND_IN
    chmod +x "$all/$script"
done
run_all() { # STATUS ARGUMENT…
    local status=0 expected=$1
    shift
    : >"$scratch/log"
    (cd "$all" && PATH=$all/bin:$PATH LOG=$scratch/log TEST_JOBS=1 scripts/test-all.sh "$@") \
        >"$scratch/said" 2>&1 || status=$?
    [ $status -eq "$expected" ] ||
        problem "test-all $*: status $status, expected $expected: $(tail -n 3 "$scratch/said")"
}
said() { grep -qE -- "$1" "$scratch/said" || problem "test-all does not say '$1'"; }
logged() { grep -qE -- "$1" "$scratch/log" || problem "test-all does not run '$1'"; }
parts=('release/random*' debug/long fuzz release/new-chip)
echo '^gen/(test|long)_random$' >"$scratch/log.bad"
run_all 1 "${parts[@]}"
said '1 of 7, about [0-9]+ min left: debug/long$'
said 'release/random-3: FAILED, [0-9]+ s; failed so far: release/random-1'
said '^\| release/new-chip \| passed \| [0-9]+ \|$'
said '^\| release/matrix-20 \| not run \|  \|$'
logged '^new_chip.sh , portion , whole $'
logged '^fuzz.sh , portion , whole $'
logged '^build.sh debug, portion , whole 1$'
logged '^ctest --preset debug -L \^long\$ .*, portion 1/1, whole $'
logged '^ctest --preset release -R .*_random\$ .*, portion 4/4, whole 1$'
rm "$scratch/log.bad"
run_all 0 --resume "${parts[@]}"
said 'fuzz: passed before$'
said '4 of 4, about [0-9]+ min left: release/random-4$'
said '^\| release/random-4 \| passed \| [0-9]+ \|$'
if grep -q '^fuzz' "$scratch/log"; then problem "test-all --resume repeats what passed"; fi
run_all 2 no-such-part

[ $problems -eq 0 ] || exit 1
echo "scripts: ok"
