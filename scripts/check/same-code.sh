#!/usr/bin/env bash
# Compares the output of this tree with that of another commit, for moves that must change nothing.
#   scripts/check/same-code.sh BASE             all examples × targets × variants, and diagnostics
#   scripts/check/same-code.sh BASE REGEX       jobs whose line matches, as 'attention .* gfx942'
#   scripts/check/same-code.sh --all BASE …     goes on after the first difference
#   scripts/check/same-code.sh --list           the jobs: file, kernel, target, settings
# For a kernel and a target a job compares metadata, the text of `explain`, and of each variant
# assembly (PTX, AMD's, the CPU's) and objects (code objects, CPU objects). A job of a file in
# tests/files/errors compares what `tilec check` says. The files are those of this tree. BASE is
# built in build/same-code/base. Prints the first difference; status 1 where there is one.
set -u
cd "$(dirname "$0")/../.."
source scripts/lib/base-tree.sh
root=$PWD
targets="x86-64-v2 x86-64-v3 x86-64-v4 aarch64 sm_75 sm_80 sm_89 sm_90a sm_120 gfx906 gfx90a gfx942
    gfx950 gfx1030 gfx1100 gfx1201"

jobs_list() {
    local file head kernel settings s t
    while IFS=: read -r file head; do
        kernel=${head#kernel }
        kernel=${kernel%%(*}
        settings=("T=f16" "T=f32")
        [[ $head == *"(type T,"* ]] || settings=("")
        [[ $kernel != fp8_* ]] || settings=("A=f8e4m3 B=f8e5m2 C=f16")
        for s in "${settings[@]}"; do
            for t in $targets; do echo "$file $kernel $t $s"; done
        done
    done < <(grep -H '^kernel ' examples/*.tile)
    for file in tests/files/errors/*.tile; do echo "$file check"; done
}

# Stores the output of one tool for a job in a folder, one file for each thing that is compared.
emit() {
    local tool=$1 out=$2 file=$3 kernel=$4 target=${5:-}
    local sets=() i count
    mkdir -p "$out"
    if [ "$kernel" = check ]; then
        "$tool" check "$file" >"$out/said" 2>&1
        return
    fi
    for s in "${@:6}"; do sets+=(--set "$s"); done
    "$tool" emit "$file" "$kernel" --target "$target" "${sets[@]}" --as metadata \
        >"$out/metadata" 2>&1
    "$tool" explain "$file" "$kernel" --target "$target" "${sets[@]}" >"$out/explain" 2>&1
    count=$(grep -o '"entry":' "$out/metadata" | wc -l)
    for ((i = 0; i < count; i++)); do
        "$tool" emit "$file" "$kernel" --target "$target" "${sets[@]}" --as asm --variant "$i" \
            >"$out/asm-$i" 2>&1
        [[ $target == sm_* ]] && continue # PTX is the code
        "$tool" emit "$file" "$kernel" --target "$target" "${sets[@]}" --as object --variant "$i" \
            -o "$out/object-$i" >"$out/object-$i.said" 2>&1
    done
}

# same-code.sh --job BASE_TOOL NEW_TOOL JOB: status 255 stops xargs.
if [ "${1:-}" = --job ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    # shellcheck disable=SC2086
    emit "$2" "$scratch/base" $4
    # shellcheck disable=SC2086
    emit "$3" "$scratch/new" $4
    for one in "$scratch"/base/* "$scratch"/new/*; do
        name=${one##*/}
        cmp -s "$scratch/base/$name" "$scratch/new/$name" && continue
        {
            echo "same-code: $4: $name differs"
            diff -a "$scratch/base/$name" "$scratch/new/$name" 2>&1 | head -20
        } >>"$SAME_CODE_LOG"
        exit "$([ "$SAME_CODE_ALL" = 1 ] && echo 1 || echo 255)"
    done
    exit 0
fi

all=0
[ "${1:-}" != --all ] || { all=1 && shift; }
case ${1:-} in
--list)
    jobs_list
    exit 0
    ;;
"" | -*)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | sed '/^set /d'
    [ -z "${1:-}" ] && exit 2
    [ "$1" = --help ] || [ "$1" = -h ]
    exit $?
    ;;
esac
base=$1 only=${2:-.}
work=$root/build/same-code
mkdir -p "$work"
commit=$(base_tree "$base" "$work/base") || exit 2
# Both are built with the same settings, and do not share caches of code.
for tree in "$work/base" "$root"; do
    base_build "$tree" "$work/build.log" tilec_tool tilec_llvm || exit 2
done
export TILEC_CACHE=off SAME_CODE_LOG=$work/differences SAME_CODE_ALL=$all
: >"$SAME_CODE_LOG"
jobs_list | grep -E -- "$only" >"$work/jobs"
count=$(wc -l <"$work/jobs")
[ "$count" -gt 0 ] || {
    echo "same-code: error: no job matches '$only'; --list has them all" >&2
    exit 2
}
echo "same-code: $count jobs, ${commit:0:12} and this tree"
tools=("$work/base/build/release/tilec" "$root/build/release/tilec")
xargs -a "$work/jobs" -d '\n' -n 1 -P "$(nproc)" \
    scripts/check/same-code.sh --job "${tools[@]}" 2>/dev/null
status=$?
if [ -s "$SAME_CODE_LOG" ]; then
    cat "$SAME_CODE_LOG"
    [ "$all" = 0 ] || echo "same-code: $(grep -c '^same-code: ' "$SAME_CODE_LOG") jobs differ"
    exit 1
fi
[ "$status" = 0 ] || {
    echo "same-code: error: a job ended early; xargs says $status" >&2
    exit 2
}
echo "same-code: nothing differs"
