#!/usr/bin/env bash
# Installs the missing Debian packages that building and testing tilec needs. It asks nothing and
# may be repeated; if nothing is missing, it ends quickly and changes nothing.
set -eu
source "$(dirname "$0")/lib/help.sh" "$@"

# package | needed or optional | why. Without an optional package the build works, and the part that
# needs it reports that it is left out. Not listed, because few users need them:
# gcc-aarch64-linux-gnu and libc6-dev-arm64-cross (42 MB to fetch, 152 MB installed), for
# scripts/test-aarch64.sh.
packages='
gcc                | needed   | the C compiler
libc6-dev          | needed   | headers of the C library
cmake              | needed   | the build system
ninja-build        | needed   | runs the build
pkg-config         | needed   | finds libraries
libcmocka-dev      | needed   | unit tests
liblzma-dev        | needed   | packed code in ahead-of-time libraries
ccache             | optional | rebuilds faster
g++                | optional | linking LLVM; the tests of C++ programs
libffi-dev         | optional | kernels as plain C functions
clang-format       | optional | the check of formatting
clang-22           | optional | second compiler for warnings, fuzzing
libclang-rt-22-dev | optional | sanitizers and libFuzzer for clang
lld-22             | optional | links AMD code objects; what runs AArch64 code in tests
llvm-22-dev        | optional | code generation
liblld-22-dev      | optional | code generation
libamdhip64-5      | optional | a real HIP, if without a GPU, for the tests of the device hip
libamdhip64-dev    | optional | headers of HIP, against which our prototypes are compared
libopenmpi-dev     | optional | examples/aot with ranks, and its test
make               | optional | the test of libraries ahead of time
libmpfr-dev        | optional | exact references for the tests of mathematical functions
openmpi-bin        | optional | runs them
python3-numpy      | optional | the test of the Python package
qemu-user          | optional | runs AArch64 code in tests
debootstrap        | optional | scripts/test-bare-root.sh
valgrind           | optional | counts what a launch costs
zlib1g-dev         | optional | linking LLVM statically
libzstd-dev        | optional | linking LLVM statically
'

names() { awk -F'|' 'NF == 3 { gsub(/ /, "", $1); print $1 }' <<<"$packages"; }
row() {
    awk -F'|' -v p="$1" 'NF == 3 { n = $1; gsub(/ /, "", n); if (n == p) print }' <<<"$packages"
}
why() { row "$1" | sed 's/.*| //'; }
is_needed() { row "$1" | grep -q '| needed '; }
fail() {
    echo "setup: error: $1" >&2
    echo "setup: help: $2" >&2
    exit 1
}

# The hook that checks commit messages, unless there are hooks already.
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(cd "$(dirname "$0")/.." && pwd)" ] &&
    ! git config core.hooksPath >/dev/null; then
    git config core.hooksPath .githooks || true # a tree of somebody else
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    # Not Debian: the tools may be installed all the same.
    for tool in gcc cmake ninja pkg-config; do
        command -v "$tool" >/dev/null || fail "'$tool' is missing and this system has no apt-get" \
            "install gcc, cmake (3.21 or newer), ninja, pkg-config and cmocka by hand"
    done
    echo "setup: no apt-get here; the tools found are used as they are"
    exit 0
fi

# One query for all; a name may stand for several architectures, any installed one will do.
# shellcheck disable=SC2046
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $(names) 2>/dev/null |
    awk '$2 == "installed" { print $1 }' || true)
missing=()
for package in $(names); do
    grep -qx "$package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

has_candidate() { apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [0-9]'; }
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null; then
        as_root=(sudo)
    fi
fi
may_install() { [ "$(id -u)" -eq 0 ] || [ ${#as_root[@]} -gt 0 ]; }
missing_needed=()
for package in "${missing[@]}"; do
    if is_needed "$package"; then
        missing_needed+=("$package")
    fi
done
if ! may_install; then
    if [ ${#missing_needed[@]} -gt 0 ]; then
        fail "missing: ${missing_needed[*]}; not root, and there is no sudo" \
            "as root: apt-get install --no-install-recommends ${missing[*]}"
    fi
    echo "setup: not root and no sudo; left out (optional): ${missing[*]}"
    exit 0
fi

update_lists() {
    echo "setup: reading the package lists (apt-get update)"
    "${as_root[@]}" apt-get update -qq || echo "setup: apt-get update failed; going on" >&2
}
# Package lists that were read within a day are trusted when they lack a package, unless a source
# was added since: a newly installed system has lists for only a part of its sources.
lists_are_fresh() {
    local lists=/var/lib/apt/lists newest
    newest=$(find $lists -maxdepth 1 -name '*Packages*' -ctime -1 -printf '%C@ %p\n' 2>/dev/null |
        sort -rn | sed -n '1s/^[^ ]* //p')
    [ -n "$newest" ] && [ -z "$(find /etc/apt/sources.list /etc/apt/sources.list.d \
        -newercc "$newest" 2>/dev/null | head -n 1)" ]
}
for package in "${missing[@]}"; do
    if ! has_candidate "$package"; then
        lists_are_fresh || update_lists
        break
    fi
done

install=()
for package in "${missing[@]}"; do
    if has_candidate "$package"; then
        install+=("$package")
        printf 'setup: installing %-18s (%s)\n' "$package" "$(why "$package")"
    elif is_needed "$package"; then
        fail "apt knows no package '$package' ($(why "$package"))" \
            "check the sources of apt; tilec is developed on Debian 12"
    else
        printf 'setup: left out   %-18s (%s; apt knows no such package)\n' \
            "$package" "$(why "$package")"
    fi
done
if [ ${#install[@]} -eq 0 ]; then
    exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install_all() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends "${install[@]}" >"$log" 2>&1
}
# Old lists may name files that the mirror does not have any more.
if ! install_all && ! { update_lists && install_all; }; then
    tail -n 20 "$log" >&2
    fail "apt-get could not install: ${install[*]}" "the last lines of its output stand above"
fi
echo "setup: done"
