#!/usr/bin/env bash
# How the programs and libraries of a build, and what is installed of it, are linked: full RELRO
# (tables of addresses read-only from the start), no empty entry in a RUNPATH, which would be the
# folder that the process works in; and compiled, where no sanitizer is: with _FORTIFY_SOURCE.
#
#     hardening.sh BUILD
set -eu
build=$1
command -v readelf >/dev/null || {
    echo "hardening: skipped: no readelf here"
    exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
problems=0
problem() {
    echo "hardening: $*"
    problems=$((problems + 1))
}
looked_at=0
look_at() { # look_at FILE
    local dynamic path
    dynamic=$(readelf -dW "$1" 2>/dev/null) || return 0
    case $dynamic in *NEEDED*) ;; *) return 0 ;; esac
    looked_at=$((looked_at + 1))
    readelf -lW "$1" | grep -q GNU_RELRO || problem "$1 has no RELRO"
    grep -qE 'BIND_NOW|Flags:.* NOW' <<<"$dynamic" || problem "$1: RELRO is not full (-z now)"
    path=$(sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]/\2/p' <<<"$dynamic")
    case $path in :* | *: | *::*) problem "$1 has an empty entry in its path: '$path'" ;; esac
}
cmake --install "$build" --prefix "$scratch/tree" >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    exit 1
}
for file in "$build"/tilec "$build"/*.so "$build"/tests/libtilec*.so \
    $(find "$scratch/tree" -type f); do
    [ ! -f "$file" ] || look_at "$file"
done
[ "$looked_at" -ge 2 ] || problem "only $looked_at programs and libraries were found"
fortified() { # fortified FILE
    nm -D "$1" 2>/dev/null | grep -qE ' U __[a-z]+_chk(@|$)' || problem "$1 is not fortified"
}
if grep -qE '^CMAKE_BUILD_TYPE:.*=Release$' "$build/CMakeCache.txt" &&
    grep -qE '^TILEC_SANITIZE:.*=$' "$build/CMakeCache.txt" &&
    ! grep -qE '^TILEC_COVERAGE:.*=ON$' "$build/CMakeCache.txt"; then
    fortified "$scratch/tree/bin/tilec"
    for file in $(find "$scratch/tree" -name 'libtilec*.so'); do fortified "$file"; done
fi
[ "$problems" -eq 0 ] || exit 1
echo "hardening: $looked_at files are fine"
