#!/usr/bin/env bash
# Makes a wheel of the Python package that contains the C libraries: what it is installed with needs
# no compiler and no other file.
#   scripts/wheel.sh [--build FOLDER] [OUTPUT]     default: build/release, build/wheel
# Needs python3 with pip. The tag says the oldest C library of the system that the wheel runs with:
# that of this machine.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
build=
if [ "${1-}" = --build ]; then
    build=${2:?wheel: --build needs a folder}
    shift 2
fi
output=${1:-build/wheel}
fail() {
    echo "wheel: error: $1" >&2
    echo "wheel: help: $2" >&2
    exit 1
}
python=${PYTHON:-python3}
"$python" -m pip --version >/dev/null 2>&1 ||
    fail "'$python' has no pip" "apt-get install python3-pip, or set PYTHON to another Python"
if [ -z "$build" ]; then
    scripts/build.sh release
    build=build/release
fi
for library in libtilec.so.0 libtilec_llvm.so; do
    [ -e "$build/$library" ] || fail "there is no $build/$library" "run scripts/build.sh release"
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r python "$scratch/python"
find "$scratch/python" -name __pycache__ -prune -exec rm -r {} +
# The installed libraries, without debugging information and paths of the build.
cmake --install "$build" --strip --prefix "$scratch/installed" >"$scratch/log" ||
    fail "the build cannot be installed" "see: cmake --install $build"
lib=$(dirname "$(find "$scratch/installed" -name libtilec.so.0)")
cp -L "$lib/libtilec.so.0" "$lib/libtilec_llvm.so" "$scratch/python/tilec/"
mkdir "$scratch/python/tilec/licenses"
cp -r LICENSE NOTICE licenses/. "$scratch/python/tilec/licenses/"
# Libraries that other machines may lack; the package loads them before its own.
ldd "$scratch"/python/tilec/*.so* | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u |
    { grep -vE '^(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)\.so' || true; } |
    while read -r _ path; do cp -L "$path" "$scratch/python/tilec/"; done
glibc=$(ldd --version | awk 'NR == 1 { print $NF }')
platform=manylinux_${glibc/./_}_$(uname -m)
mkdir -p "$output"
# pip fetches setuptools and wheel where they are not installed.
isolation=
! "$python" -c 'import setuptools, wheel' 2>/dev/null || isolation=--no-build-isolation
"$python" -m pip wheel --no-deps $isolation --quiet --wheel-dir "$scratch/out" \
    --config-settings="--build-option=--plat-name=$platform" "$scratch/python" ||
    fail "pip cannot build the wheel" "$python -m pip install setuptools wheel"
cp "$scratch"/out/*.whl "$output/"
for wheel in "$scratch"/out/*.whl; do
    echo "wheel: $output/${wheel##*/} ($(($(stat -c %s "$wheel") / 1048576)) MB)"
done
