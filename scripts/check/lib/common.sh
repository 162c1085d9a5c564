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
test_defines=(-DTEST_SOURCE_DIR='"."' -DTEST_BINARY_DIR='"."' -DTEST_TOOL='"tilec"')
ccache=$(command -v ccache || true)

# The files of the tree, those not yet committed included, one per line. A file deleted but still in
# git's index is not listed.
tree_files() {
    if [ -e .git ]; then
        git ls-files -co --exclude-standard -- "$@"
    else
        for pattern in "$@"; do
            find . -path ./build -prune -o -type f -path "./$pattern" -print | sed 's|^\./||'
        done
    fi | sort -u | while IFS= read -r file; do
        [ ! -f "$file" ] || printf '%s\n' "$file"
    done
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
