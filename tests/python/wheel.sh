#!/usr/bin/env bash
# Builds a wheel, installs it into a fresh virtual environment, and runs the package's tests there:
# the installed package has to find its own libraries.  bash tests/python/wheel.sh
# Status 77: skipped, with the reason.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
skip() {
    echo "wheel: skipped: $1"
    exit 77
}
command -v "$python" >/dev/null || skip "no python3; apt-get install python3 python3-venv"
"$python" -c 'import ensurepip, venv' 2>/dev/null || skip "no venv; apt-get install python3-venv"
"$python" -c 'import numpy' 2>/dev/null || skip "no NumPy; apt-get install python3-numpy"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv --system-site-packages "$scratch/venv"
PYTHON=$python scripts/wheel.sh "$scratch/out"
"$scratch/venv/bin/python" -m pip install --quiet --no-index --no-deps "$scratch"/out/*.whl
unset TILEC_LIBRARY PYTHONPATH
cd "$scratch"
found=$("$scratch/venv/bin/python" -c 'import tilec; print(tilec.__file__)')
case $found in
"$scratch"/venv/*) ;;
*)
    echo "wheel: failed: the package comes from $found" >&2
    exit 1
    ;;
esac
PYTHONDONTWRITEBYTECODE=1 "$scratch/venv/bin/python" "$OLDPWD/tests/python/test_tilec.py"
