#!/usr/bin/env bash
# Checks the Triton kernels of public projects, each as `tilec check` does.
#   scripts/triton-corpus.sh FOLDER [PROJECT]...    all projects, or some: liger-kernel fla-core …
#   scripts/triton-corpus.sh FOLDER --keep          renews the list of refused kernels
#   scripts/triton-corpus.sh FOLDER --launch [ARGUMENT]...
#       launches the cases of tests/triton/corpus instead, which have references in NumPy, on
#       interp, cpu, sim:sm_80, sim:sm_90 and sim:gfx942 (ARGUMENT: --device D, or names of cases)
# Their wheels, 400 MB, come from PyPI into FOLDER, by the hashes of scripts/lib/triton-corpus.txt.
# FOLDER/PROJECT.out has a line for each kernel, with its error. A kernel that is refused but not in
# tests/frontend/triton/corpus.txt fails the check, as does one that is in the list and accepted.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
list=tests/frontend/triton/corpus.txt
wheels=scripts/lib/triton-corpus.txt
fail() {
    echo "triton-corpus: error: $1" >&2
    exit "${2:-1}"
}
[ $# -gt 0 ] || fail "a folder for the wheels is missing; see --help" 2
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
keep= launch=
if [ "${1:-}" = --launch ]; then
    launch=1
    shift
    arguments=("$@")
    set --
elif [ "${1:-}" = --keep ]; then
    [ $# -eq 1 ] || fail "--keep takes no projects: the list is of all of them" 2
    keep=1
    shift
fi
projects=("$@")
if [ $# -eq 0 ]; then
    mapfile -t projects < <(sed -n 's/^\([a-z][^=]*\)==.*/\1/p' "$wheels")
fi

fetch() { # PROJECT
    local entry
    entry=$(grep "^$1==" "$wheels") || fail "there is no project '$1' in $wheels" 2
    [ ! -d "$folder/$1" ] || return 0
    echo "$entry" >"$folder/$1.txt"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --require-hashes \
        --python-version 3.11 --platform manylinux_2_34_x86_64 --platform manylinux_2_28_x86_64 \
        --dest "$folder/$1.wheel" -r "$folder/$1.txt" || fail "the wheel of $1 cannot be fetched"
    python3 -m zipfile -e "$folder/$1.wheel"/*.whl "$folder/$1.part"
    mv "$folder/$1.part" "$folder/$1"
}

# Lines of `corpus` as they are in the list: code, file, kernel.
listed() { # FILE…
    sed -nE 's/^([a-z-]+) +([^ ]+\.py):[0-9]+ ([^ ]+): .*/\1 \2 \3/p' "$@" | LC_ALL=C sort
}

for project in "${projects[@]}"; do fetch "$project"; done
if [ -n "$launch" ]; then
    python3 -c 'import numpy' || fail "python3 has no NumPy; apt-get install python3-numpy"
    scripts/build.sh release
    TILEC_LIBRARY=$PWD/build/release/libtilec.so exec python3 tests/triton/corpus/run.py "$folder" \
        "${arguments[@]}"
fi
scripts/build.sh release triton_corpus
corpus=$PWD/build/release/tests/triton_corpus
failed=0
for project in "${projects[@]}"; do
    out=$folder/$project.out
    # A file with a defect must not keep others from being checked, so each process has few.
    (cd "$folder" && grep -rlE 'triton\.jit|@jit' "$project" --include='*.py' | LC_ALL=C sort |
        xargs -n 4 -P "$(nproc)" "$corpus") >"$out" 2>&1 || {
        echo "triton-corpus: $project: the check itself failed:"
        grep -vE '^[a-z-]+ +[^ ]+\.py|files, ' "$out" || true
        failed=1
    }
    awk -v name="$project" '
        /files, .* kernels accepted/ {
            files += $1; broken += $3; good += $(NF - 4); all += $(NF - 2)
        }
        END {
            printf "triton-corpus: %s: %d of %d kernels accepted (%.1f %%); ", name, good, all,
                all ? 100 * good / all : 0
            printf "%d of %d files have errors of grammar\n", broken, files
            exit !all
        }' "$out" || failed=1
done
outs=("${projects[@]/%/.out}")
outs=("${outs[@]/#/$folder/}")
if [ -n "$keep" ]; then
    listed "${outs[@]}" >"$list"
    echo "triton-corpus: wrote $list, $(wc -l <"$list") kernels"
    exit $failed
fi
expected=$(mktemp)
trap 'rm -f "$expected"' EXIT
for project in "${projects[@]}"; do grep " $project/" "$list" || true; done |
    LC_ALL=C sort >"$expected"
if ! changes=$(diff <(listed "${outs[@]}") "$expected"); then
    echo "triton-corpus: $list differs ('<': refused, not in it; '>': in it, not refused):"
    grep '^[<>]' <<<"$changes"
    failed=1
fi
exit $failed
