#!/usr/bin/env bash
# Installs the processor of Bochs into build/bochs, from PyPI (2 MB). Tests run code of x86-64-v4 on
# it where the machine has no AVX-512; without it they leave that out and say so.
#   scripts/bochs.sh
# Status: 0 it is there or not needed, 77 left out, with the reason.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"

# x86_64.py looks into this version.
version=0.4.0
leave_out() {
    echo "bochs: skipped: $1"
    exit 77
}

if [ "$(uname -m)" != x86_64 ]; then
    leave_out "there are wheels for x86-64 only"
fi
if grep -qw avx512vl /proc/cpuinfo; then
    echo "bochs: not needed: this processor has AVX-512"
    exit 0
fi
[ ! -e "build/bochs/has-$version" ] || exit 0
python3 -c 'import ensurepip, venv' 2>/dev/null ||
    leave_out "no python3 with venv: apt-get install python3-venv"
rm -rf build/bochs
mkdir -p build
python3 -m venv build/bochs
build/bochs/bin/python -m pip install --quiet --retries 0 --timeout 10 \
    --no-deps --only-binary=:all: "bochscpu-python==$version" ||
    leave_out "pip has no bochscpu-python $version for $(python3 --version)"
touch "build/bochs/has-$version"
echo "bochs: installed in build/bochs"
