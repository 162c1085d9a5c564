# Helpers of the checks; sourced. A check takes the root of a tree (default: this repository) and a
# build folder as arguments, prints one line per violation, and exits 0, 1 or 77 (skipped, with the
# reason). The data of ninja's builds is read from that folder and its siblings (build/debug,
# build/release). A file that no build has compiled in its current state is compiled by the check.
#
# A compiler or a formatter must read each file, so those checks read only files that changed since
# the commit in scripts/check/base: at that commit all files passed. CHECK_ALL=1 makes them read all
# files; this also happens if the tree does not have that commit in its history. scripts/test-all.sh
# sets the variable. scripts/check-base.sh moves the commit, after all files have passed.
set -eu
export LC_ALL=C.UTF-8
check_lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "${1:-$check_lib/../../..}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build=${2:+$(cd "$2" && pwd)}
cd "$root"

warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    -Wcast-qual -Wundef -Wvla -Wformat=2 -Werror)
test_defines=(-DTEST_SOURCE_DIR='"."' -DTEST_BINARY_DIR='"."' -DTEST_TOOL='"tilec"'
    -DTEST_FAKE_PLUGIN='"."' -DTEST_FAKE_KERNEL='"."' -DTEST_FAKE_CUDA='"."'
    -DTEST_FAKE_HIP='"."' -DTEST_FAKE_CUDA11='"."' -DTEST_FAKE_HIP5='"."' -DTEST_FAKE_OLD='"."'
    -DTEST_LIBDIR_BESIDE='"../lib"')
ccache=$(command -v ccache || true)

# The files of the tree, one on a line, with those not yet committed. A file that is deleted but
# still in git's index is not listed. Without git, or if git refuses the tree: all files except
# build/ and out/.
if [ -e .git ] && git ls-files -co --exclude-standard -z >"$scratch/tree.z" 2>/dev/null; then
    sed -z 's|^|./|' "$scratch/tree.z" |
        xargs -0 -r sh -c 'find -L "$@" -maxdepth 0 -type f' find 2>/dev/null || true
else
    find . \( -path ./.git -o -path ./build -o -path ./out \) -prune -o -xtype f -print
fi | sed 's|^\./||' | LC_ALL=C sort -u >"$scratch/tree"
if [ ! -s "$scratch/tree" ]; then
    echo "check: no files found in $root" # a check of nothing would always pass
    exit 1
fi

# tree_files PATTERN…: the files that match a pattern; '*' matches any text, with slashes.
tree_files() {
    local pattern expressions=()
    for pattern in "$@"; do
        pattern=${pattern//./\\.}
        expressions+=(-e "^${pattern//\*/.*}\$")
    done
    LC_ALL=C grep "${expressions[@]}" "$scratch/tree" || true
}

# both FILE FILE: the lines that are in both, in the order of the first.
both() {
    awk -v other="$2" 'BEGIN { while ((getline line < other) > 0) in_other[line] = 1 }
        $0 in in_other' "$1"
}
# without FILE FILE: the lines of the first that are not in the second.
without() {
    awk -v other="$2" 'BEGIN { while ((getline line < other) > 0) in_other[line] = 1 }
        !($0 in in_other)' "$1"
}

# make_edges: writes $scratch/text, the records of lib/text.awk for all texts, and $scratch/edges
# (see edges.awk).
make_edges() {
    tree_files '*.c' '*.h' '*.cpp' '*.def' '*.inc' >"$scratch/texts"
    xargs -r -d '\n' awk -f "$check_lib/text.awk" <"$scratch/texts" >"$scratch/text"
    awk -v tree="$scratch/tree" -f "$check_lib/edges.awk" "$scratch/text" >"$scratch/edges"
}

# changed_files: writes to $scratch/changed the files that differ from the base commit. Its status
# is 1 if this is unknown, or all files are wanted.
changed_files() {
    local base
    [ "${CHECK_ALL:-0}" = 0 ] && [ -e .git ] && [ -f scripts/check/base ] || return 1
    base=$(cat scripts/check/base)
    [[ $base =~ ^[0-9a-f]{40,64}$ ]] || return 1
    git cat-file -e "$base^{commit}" 2>/dev/null || return 1
    git diff --no-ext-diff --no-renames --name-only -z "$base" >"$scratch/changed.z" || return 1
    git ls-files -o --exclude-standard -z >>"$scratch/changed.z" || return 1
    tr '\0' '\n' <"$scratch/changed.z" | LC_ALL=C sort -u >"$scratch/changed"
}
# same_since_base FILE FROM TO: are the lines of a file between two expressions unchanged?
same_since_base() {
    [ "$(sed -n "/$2/,/$3/p" "$1")" = \
        "$(git show "$(cat scripts/check/base):$1" 2>/dev/null | sed -n "/$2/,/$3/p")" ]
}
# keep_changed NAME LIST [direct|includers]: keeps in the file LIST the files that changed since the
# base commit, and those that include them: directly, or through other headers, too. Prints how many
# these are.
keep_changed() {
    local all direct=0
    all=$(wc -l <"$2")
    if [ -n "${3:-}" ]; then
        [ "$3" != direct ] || direct=1
        make_edges
        awk -v changed="$scratch/changed" -v direct=$direct -f "$check_lib/includers.awk" \
            "$scratch/edges" >"$scratch/touched"
    else
        cp "$scratch/changed" "$scratch/touched"
    fi
    both "$2" "$scratch/touched" >"$2.kept"
    mv "$2.kept" "$2"
    echo "$1: $(wc -l <"$2") of $all files, changed since $(cut -c 1-12 scripts/check/base)"
}

# The prefix of the tree's paths in the build folder $1.
roots_of() {
    echo "$root/:$(pwd -P)/:$(realpath --relative-to="$1" .)/"
}
# make_built FOLDER…: writes $scratch/built, see deps.awk. It is empty without a build, or if the
# build is of another tree.
make_built() {
    local folder
    : >"$scratch/built"
    command -v ninja >/dev/null || return 0
    [ -f "$scratch/times" ] || tr '\n' '\0' <"$scratch/tree" |
        xargs -0 -r stat -L -c '%.9Y %n' >"$scratch/times"
    for folder in "$@"; do
        [ -f "$folder/build.ninja" ] && [ -f "$folder/.ninja_deps" ] || continue
        (cd "$folder" && ninja -t deps) 2>/dev/null |
            awk -v times="$scratch/times" -v roots="$(roots_of "$folder")" -v folder="$folder" \
                -f "$check_lib/deps.awk" >>"$scratch/built"
    done
}
# make_commands FOLDER…: writes $scratch/commands, see commands.awk.
make_commands() {
    local folder
    : >"$scratch/commands"
    for folder in "$@"; do
        [ -f "$folder/compile_commands.json" ] || continue
        awk -v roots="$(roots_of "$folder")" -v folder="$folder" -v compiler="$(gcc_command)" \
            -v flags="-std=c17 ${warnings[*]}" -f "$check_lib/commands.awk" \
            "$folder/compile_commands.json" >>"$scratch/commands"
    done
}
# The build folder, and its sibling folders if it is in the tree.
builds=(${build:+"$build"})
if [[ $build == "$root"/* ]]; then
    for folder in "$(dirname "$build")"/*/; do
        [ "$folder" -ef "$build" ] || builds+=("${folder%/}")
    done
fi

# LLVM's headers, which some files of codegen/ include. Where they are missing, those files are not
# compiled: with_headers drops them from a list.
llvm=()
llvm_include=${CHECK_LLVM_INCLUDE-$(llvm-config-22 --includedir 2>/dev/null || true)}
if [ -n "$llvm_include" ] && [ -d "$llvm_include/llvm-c" ]; then
    llvm=(-isystem "$llvm_include")
fi
# Files that include a header generated by `tilec build` are not compiled either; tests/aot,
# tests/cost and the target example_ahead compile them.
with_headers() {
    local without='^(tests/aot/|tests/cost/launch\.c$|examples/triton/ahead\.c$'
    without="$without|examples/aot/programs/(host|ranks)\.c$)"
    [ ${#llvm[@]} -gt 0 ] || without="$without|^codegen/(cpu/|api\.c|llvm_shim)"
    grep -vE "$without" || true
}

gcc_command() { command -v gcc || command -v cc || true; }
clang_command() { command -v clang-22 || command -v clang || true; }

# skip REASON
skip() {
    echo "skipped: $1"
    exit 77
}
# finish NAME: prints the lines of $scratch/found and exits 1 if there are any.
finish() {
    if [ -s "$scratch/found" ]; then
        sort -u "$scratch/found"
        echo "$1: $(sort -u "$scratch/found" | wc -l) violations"
        exit 1
    fi
    echo "$1: ok"
    exit 0
}
: >"$scratch/found"
