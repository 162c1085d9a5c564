# Helpers of the checks; sourced. A check takes the root of a tree as its argument (default: this
# repository), prints one line per violation, and exits 0, 1 or 77 (skipped, with the reason).
set -eu
export LC_ALL=C.UTF-8
check_lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "${1:-$check_lib/../../..}" && pwd)
cd "$root"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

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
    tr '\0' '\n' <"$scratch/tree.z"
else
    find . \( -path ./.git -o -path ./build -o -path ./out \) -prune -o \
        \( -type f -o -type l \) -print | sed 's|^\./||'
fi | LC_ALL=C sort -u | while IFS= read -r file; do
    [ ! -f "$file" ] || printf '%s\n' "$file"
done >"$scratch/tree"
if [ ! -s "$scratch/tree" ]; then
    echo "check: no files found in $root" # a check of nothing would always pass
    exit 1
fi

# tree_files PATTERN…: those that match a shell pattern, in which '*' stands for slashes, too.
tree_files() {
    while IFS= read -r file; do
        for pattern in "$@"; do
            # shellcheck disable=SC2254
            case $file in
            $pattern)
                printf '%s\n' "$file"
                break
                ;;
            esac
        done
    done <"$scratch/tree"
}

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
