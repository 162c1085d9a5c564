#!/usr/bin/env bash
# Everything: all presets, long tests, whole matrices, longer fuzzing. Hours; not for every commit.
#   scripts/test-all.sh                       all parts
#   scripts/test-all.sh --list                their names
#   scripts/test-all.sh 'release/*' fuzz      these alone; patterns are the shell's
#   scripts/test-all.sh --resume              those that have not passed on this commit
# Long parts come in portions, release/code-3 of 10 and so on: each is a part of its own. A line
# says when each begins and how it ended, with seconds; they are kept in build/test-all/log, beside
# the output of each part.
#   FUZZ_SECONDS   seconds for each fuzz target (default 600)
#   FUZZ_SEED      see scripts/fuzz.sh (default 0: another each time)
#   TEST_JOBS      tests at a time (default: one for each processor)
set -u
cd "$(dirname "$0")/.."
export FUZZ_SECONDS=${FUZZ_SECONDS:-600} FUZZ_SEED=${FUZZ_SEED:-0}

# part | portions | preset | environment | what ctest is to run
# `whole`: all of the matrix, 20 choices of warps and their order, 100,000 kernels; without it what
# debug and thread checkers can bear.
parts='
debug/quick       | 1  | debug    |       | -L ^quick$
debug/long        | 1  | debug    |       | -L ^long$ -E ^(passes/long_expand_math|matrix/)
fuzz              | 1  | debug    |       | -L ^fuzz$
bundle            | 1  | debug    |       | -L ^bundle$
clang/quick       | 1  | clang    |       | -L ^quick$ -LE ^check$
tsan/quick        | 1  | tsan     |       | -L ^quick$ -LE ^check$
release/quick     | 1  | release  |       | -L ^quick$ -LE ^check$
release/examples  | 1  | release  |       | -R ^(examples_long|docs/test_language-|examples/)
release/legalize  | 1  | release  |       | -R ^passes/long_legalize$
release/foreign   | 1  | release  | whole | -R ^gen/test_foreign$
release/views     | 1  | release  | whole | -R ^matrix/test_views$
release/random    | 4  | release  | whole | -R ^gen/long_random$
release/code      | 20 | release  | whole | -R ^gen/long_code$
release/math      | 16 | release  | whole | -R ^passes/long_expand_math$
release/ptxas     | 1  | release  | whole | -R ^examples/ptxas$
release/amdgpu    | 1  | release  | whole | -R ^examples/amdgpu$
release/mutants   | 4  | release  | whole | -R ^mutate/long_mutants$
release/amdmutants| 4  | release  | whole | -R ^mutate/long_mutants_gfx942$
release/matrix    | 20 | release  | whole | -R ^matrix/long_matrix$
release/gpu       | 40 | release  | whole | -R ^matrix/long_gpu$
coverage          | 1  | coverage |       |
'

rows() {
    awk -F'|' 'NF >= 4 { what = $5; for (i = 6; i <= NF; i++) what = what "|" $i
        for (i = 1; i <= 4; i++) gsub(/ /, "", $i)
        sub(/^ +/, "", what); sub(/ +$/, "", what)
        for (p = 1; p <= $2 + 0; p++)
            print ($2 + 0 > 1 ? $1 "-" p : $1) ";" p "/" $2 ";" $3 ";" $4 ";" what }' <<<"$parts"
}

resume=0
wanted=()
for argument in "$@"; do
    case $argument in
    --list)
        rows | cut -d';' -f1
        exit 0
        ;;
    --resume) resume=1 ;;
    -*)
        echo "test-all: unknown option '$argument'; see the head of this file" >&2
        exit 2
        ;;
    *) wanted+=("$argument") ;;
    esac
done
is_wanted() {
    [ ${#wanted[@]} -gt 0 ] || return 0
    for pattern in "${wanted[@]}"; do
        # shellcheck disable=SC2053
        [[ $1 == $pattern || ${1%-*} == $pattern ]] && return 0
    done
    return 1
}

out=build/test-all
passed=$out/passed-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || passed=$passed-changed
mkdir -p "$out"
touch "$passed"
say() { echo "$(date +%H:%M:%S) $1" | tee -a "$out/log"; }

# run_part PRESET PORTION WHOLE WHAT
run_part() {
    if [ "$1" = coverage ]; then
        scripts/coverage.sh
        return
    fi
    # Time limits are of whole runs; what is configured so is not what a developer has.
    TILEC_TEST_WHOLE=1 scripts/build.sh "$1" || return 1
    unset TILEC_TEST_WHOLE TILEC_TEST_TARGETS
    export TILEC_TEST_PORTION=$2
    [ -z "$3" ] || export TILEC_TEST_WHOLE=1 TILEC_TEST_TARGETS=all TILEC_TEST_CHOICES=20
    # shellcheck disable=SC2086
    ctest --preset "$1" $4 --no-tests=error -j "${TEST_JOBS:-$(nproc)}"
}

scripts/setup.sh || exit 1
failed=()
ran=0
while IFS=';' read -r name portion preset whole what <&3; do
    is_wanted "$name" || continue
    if [ $resume -eq 1 ] && grep -qx "$name" "$passed"; then
        say "$name: passed before"
        continue
    fi
    ran=$((ran + 1))
    begin=$SECONDS
    log=$out/${name//\//-}.log
    say "$name: begins"
    if (run_part "$preset" "$portion" "$whole" "$what") >"$log" 2>&1; then
        say "$name: passed, $((SECONDS - begin)) s"
        echo "$name" >>"$passed"
    else
        failed+=("$name")
        tail -n 40 "$log"
        say "$name: FAILED, $((SECONDS - begin)) s; see $log"
    fi
done 3< <(rows)
if [ $ran -eq 0 ] && [ $resume -eq 0 ]; then
    echo "test-all: no part is called so; --list names them" >&2
    exit 2
fi
if [ ${#failed[@]} -gt 0 ]; then
    say "test-all: failed: ${failed[*]}"
    exit 1
fi
say "test-all: everything passed"
