# Helpers of the checks; sourced. A check takes the root of a tree (default: this repository) and a
# build folder as arguments, prints one line per violation, and exits 0, 1 or 77 (skipped, with the
# reason). What ninja's builds know is read from that folder and those beside it (build/debug,
# build/release). A file that no build has compiled as it is now is compiled by the check.
#
# Where a compiler or a formatter must read each file, it reads only what changed since the commit
# that scripts/check/base names: all files passed at that commit. CHECK_ALL=1 makes it read all
# files, and so does a tree without that commit in its history. scripts/test-all.sh sets the
# variable, and only it moves the commit, after everything has passed.
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
    -DTEST_FAKE_HIP='"."' -DTEST_FAKE_HIP5='"."' -DTEST_FAKE_OLD='"."'
    -DTEST_LIBDIR_BESIDE='"../lib"')
ccache=$(command -v ccache || true)

# The files of the tree, those not yet committed included, one per line. A file deleted but still in
# git's index is not listed. Without git, or where it refuses the tree, all files but build/, out/.
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

# tree_files PATTERN…: those that match a pattern, in which '*' stands for any text, slashes, too.
tree_files() {
    local pattern expressions=()
    for pattern in "$@"; do
        pattern=${pattern//./\\.}
        expressions+=(-e "^${pattern//\*/.*}\$")
    done
    LC_ALL=C grep "${expressions[@]}" "$scratch/tree" || true
}

# both FILE FILE: the lines that both have, in the order of the first.
both() {
    awk -v other="$2" 'BEGIN { while ((getline line < other) > 0) in_other[line] = 1 }
        $0 in in_other' "$1"
}
# without FILE FILE: the lines of the first that the second has not.
without() {
    awk -v other="$2" 'BEGIN { while ((getline line < other) > 0) in_other[line] = 1 }
        !($0 in in_other)' "$1"
}

# make_edges: $scratch/text, what lib/text.awk reads in all texts; $scratch/edges, see edges.awk.
make_edges() {
    tree_files '*.c' '*.h' '*.cpp' '*.def' '*.inc' >"$scratch/texts"
    xargs -r -d '\n' awk -f "$check_lib/text.awk" <"$scratch/texts" >"$scratch/text"
    awk -v tree="$scratch/tree" -f "$check_lib/edges.awk" "$scratch/text" >"$scratch/edges"
}

# changed_files: writes to $scratch/changed what is not as it was at the base commit. Its status is
# 1 if that cannot be said, or all files are wanted.
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
# same_since_base FILE FROM TO: the lines of a file from one expression to another are as they were.
same_since_base() {
    [ "$(sed -n "/$2/,/$3/p" "$1")" = \
        "$(git show "$(cat scripts/check/base):$1" 2>/dev/null | sed -n "/$2/,/$3/p")" ]
}
# keep_changed NAME LIST [direct|includers]: leaves in the file LIST what changed since the base
# commit, and what includes that: itself, or through other headers, too. Says how many these are.
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

# How the paths of the tree begin in the folder $1 of a build.
roots_of() {
    echo "$root/:$(pwd -P)/:$(realpath --relative-to="$1" .)/"
}
# make_built FOLDER…: $scratch/built, see deps.awk. Of no or another build it is empty.
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
# make_commands FOLDER…: $scratch/commands, see commands.awk.
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
# The build folder, and those beside it if it lies in the tree.
builds=(${build:+"$build"})
if [[ $build == "$root"/* ]]; then
    for folder in "$(dirname "$build")"/*/; do
        [ "$folder" -ef "$build" ] || builds+=("${folder%/}")
    done
fi

# LLVM's headers, which some files of codegen/ include. Where they are missing, those files are not
# compiled: with_headers drops them from a list.
llvm=()
if command -v llvm-config-22 >/dev/null && [ -d "$(llvm-config-22 --includedir)/llvm-c" ]; then
    llvm=(-isystem "$(llvm-config-22 --includedir)")
fi
# Nor is what includes a header that `tilec build` makes; tests/aot and tests/cost compile it.
with_headers() {
    local without='^(tests/aot/|tests/cost/launch\.c$|examples/aot/programs/(host|ranks)\.c$)'
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
# finish NAME: exits 1 if the file $scratch/found has lines, after printing them.
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
