#!/usr/bin/env bash
# The tests of a release: every preset, whole matrices, mutants, fuzzing, AArch64, a bare root.
#   scripts/test-all.sh                       all parts, some hours
#   scripts/test-all.sh --list                their names, and the minutes that each takes
#   scripts/test-all.sh 'release/*' fuzz      only these; patterns are the shell's
#   scripts/test-all.sh --resume              those that have not passed on this commit
# Long parts are divided into portions (release/code-3 of 20), each of which is a separate part. A
# line says when a part begins, which one it is, and about how long the rest will take.
# build/test-all/ has the output of each part and table.md, the results of this commit;
# scripts/release-results.sh stores the table.
#   FUZZ_SECONDS   seconds for each fuzz target (default 600)
#   FUZZ_SEED      see scripts/fuzz.sh (default 0: a new one each time)
#   TEST_JOBS      tests at a time (default: one for each processor)
set -u
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
export FUZZ_SECONDS=${FUZZ_SECONDS:-600} FUZZ_SEED=${FUZZ_SEED:-0}
# Check all files, not only those that changed since scripts/check/base.
export CHECK_ALL=1

# part | portions | minutes of one portion on two processors | preset | environment | what to run
# `whole`: all of the matrix, 20 choices of warps and their order, 100,000 kernels; without it a
# part that is small enough for debug builds and thread checkers. The last column is arguments of
# ctest, or a script of ours.
parts='
debug/quick       | 1  | 25 | debug    |       | -L ^quick$
debug/long        | 1  | 60 | debug    |       | -L ^long$ -E ^(passes/long_expand_math|matrix/)
debug/variants    | 20 | 8  | debug    | whole | -R ^variants/
fuzz              | 1  | 65 |          |       | scripts/fuzz.sh
clang/quick       | 1  | 30 | clang    |       | -L ^quick$ -LE ^check$
tsan/quick        | 1  | 40 | tsan     |       | -L ^quick$ -LE ^check$
release/quick     | 1  | 8  | release  |       | -L ^quick$
release/bundle    | 1  | 2  | release  | whole | -R ^bundle$
release/aot       | 1  | 1  | release  | whole | -R ^aot/aot$
release/examples  | 1  | 15 | release  |       | -R ^(examples_long|docs/test_language-|examples/)
release/new-chip  | 1  | 2  |          |       | tests/target/new_chip.sh
release/legalize  | 1  | 1  | release  |       | -R ^passes/long_legalize$
release/foreign   | 1  | 2  | release  | whole | -R ^gen/test_foreign$
release/memory    | 1  | 10 | release  | whole | -R ^(memory|compile)/test_no_memory$
release/chains    | 1  | 4  | release  | whole | -R ^matrix/test_chains$
release/long-code | 1  | 5  | release  | whole | -R ^compile/test_long_code$
release/views     | 1  | 60 | release  | whole | -R ^matrix/test_views$
release/random    | 4  | 10 | release  | whole | -R ^gen/(test|long)_random$
release/code      | 20 | 2  | release  | whole | -R ^gen/long_code$
release/special   | 40 | 6  | release  | whole | -R ^gen/test_special$
release/math      | 16 | 1  | release  | whole | -R ^passes/long_expand_math$
release/ptxas     | 1  | 10 | release  | whole | -R ^examples/ptxas$
release/amdgpu    | 1  | 15 | release  | whole | -R ^examples/amdgpu$
release/mutants   | 4  | 10 | release  | whole | -R ^mutate/long_mutants$
release/amdmutants| 4  | 15 | release  | whole | -R ^mutate/long_mutants_gfx942$
release/matrix    | 20 | 5  | release  | whole | -R ^matrix/long_matrix$
release/gpu       | 40 | 5  | release  | whole | -R ^matrix/long_gpu$
wheel             | 1  | 3  |          |       | tests/python/wheel.sh
aarch64           | 1  | 25 |          |       | scripts/test-aarch64.sh
bare-root         | 1  | 15 |          |       | scripts/test-bare-root.sh --test
coverage          | 1  | 20 |          |       | scripts/coverage.sh
'

out=build/test-all
mkdir -p "$out"
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || commit=$commit-changed
# A line for each part that ended on this commit: name, result, seconds. The last line of a part
# counts.
results=$out/results-$commit
touch "$results" "$out/seconds"

# Prints name;portion;seconds;preset;environment;what for each part. The seconds are those of its
# last run, if it had one in this tree.
rows() {
    awk -F'|' '
        FILENAME == ARGV[1] { split($0, words, " "); took[words[1]] = words[2]; next }
        NF >= 6 {
            what = $6
            for (i = 7; i <= NF; i++) what = what "|" $i
            for (i = 1; i <= 5; i++) gsub(/ /, "", $i)
            sub(/^ +/, "", what); sub(/ +$/, "", what)
            for (p = 1; p <= $2 + 0; p++) {
                name = $2 + 0 > 1 ? $1 "-" p : $1
                seconds = name in took ? took[name] : $3 * 60
                print name ";" p "/" $2 ";" seconds ";" $4 ";" $5 ";" what
            }
        }' "$out/seconds" <(echo "$parts")
}

resume=0
wanted=()
for argument in "$@"; do
    case $argument in
    --list)
        rows | awk -F';' '{ printf "%-22s %5.1f min\n", $1, $3 / 60 }'
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
has_passed() { awk -v name="$1" '$1 == name { r = $2 } END { exit r != "passed" }' "$results"; }
say() { echo "$(date +%H:%M:%S) $1" | tee -a "$out/log"; }

# run_part PRESET PORTION WHOLE WHAT
run_part() {
    if [ -z "$1" ]; then # a script
        # shellcheck disable=SC2086
        exec $4
    fi
    # Time limits apply to whole runs; the build is configured differently from a developer's.
    TILEC_TEST_WHOLE=1 scripts/build.sh "$1" || return 1
    unset TILEC_TEST_WHOLE TILEC_TEST_TARGETS
    export TILEC_TEST_PORTION=$2
    [ -z "$3" ] || export TILEC_TEST_WHOLE=1 TILEC_TEST_TARGETS=all TILEC_TEST_CHOICES=20
    # shellcheck disable=SC2086
    ctest --preset "$1" $4 --no-tests=error -j "${TEST_JOBS:-$(nproc)}"
}

# The results of this commit as a table.
write_table() {
    {
        printf '# test-all on %s, %s, %s processors\n\n' "$commit" "$(date +%F)" "$(nproc)"
        printf '| part | result | seconds |\n|---|---|---:|\n'
        rows | cut -d';' -f1 | awk '
            FILENAME == ARGV[1] { result[$1] = $2; seconds[$1] = $3; next }
            { printf "| %s | %s | %s |\n", $1, $1 in result ? result[$1] : "not run",
                     $1 in seconds ? seconds[$1] : "" }' "$results" -
    } >"$out/table.md.part"
    mv "$out/table.md.part" "$out/table.md"
}

scripts/setup.sh || exit 1
scripts/bochs.sh || [ $? -eq 77 ] || exit 1
todo=()
left=0
while IFS= read -r row; do
    name=${row%%;*}
    is_wanted "$name" || continue
    if [ $resume -eq 1 ] && has_passed "$name"; then
        say "$name: passed before"
        continue
    fi
    todo+=("$row")
    seconds=$(cut -d';' -f3 <<<"$row")
    left=$((left + ${seconds%.*}))
done < <(rows)
if [ ${#todo[@]} -eq 0 ] && [ $resume -eq 0 ]; then
    echo "test-all: no part has this name; --list shows them" >&2
    exit 2
fi

failed=()
number=0
for row in "${todo[@]+"${todo[@]}"}"; do
    IFS=';' read -r name portion seconds preset whole what <<<"$row"
    number=$((number + 1))
    begin=$SECONDS
    log=$out/${name//\//-}.log
    say "$number of ${#todo[@]}, about $(((left + 59) / 60)) min left: $name"
    left=$((left - ${seconds%.*}))
    status=0
    (run_part "$preset" "$portion" "$whole" "$what") >"$log" 2>&1 </dev/null || status=$?
    took=$((SECONDS - begin))
    case $status in
    0) result=passed ;;
    77) result=skipped ;;
    *) result=FAILED ;;
    esac
    echo "$name $result $took" >>"$results"
    if [ $result = passed ]; then
        sed -i "\\|^$name |d" "$out/seconds"
        echo "$name $took" >>"$out/seconds"
    elif [ $result = skipped ]; then
        grep -m1 'skipped' "$log"
    else
        failed+=("$name")
        tail -n 40 "$log"
    fi
    say "$name: $result, $took s${failed[*]:+; failed so far: ${failed[*]}}"
    write_table
done
write_table
cat "$out/table.md"
if [ ${#failed[@]} -gt 0 ]; then
    say "test-all: failed: ${failed[*]}; their output is in $out"
    exit 1
fi
say "test-all: nothing failed; scripts/release-results.sh keeps the table"
