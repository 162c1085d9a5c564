#!/usr/bin/env bash
# The Python package with the library of a build: bash tests/python/run.sh BUILD [TEST…]
# Status 77: skipped, with the reason.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
shift
python=${PYTHON:-python3}
skip() {
    echo "python: skipped: $1"
    exit 77
}
command -v "$python" >/dev/null || skip "no python3; apt-get install python3 python3-numpy"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
    skip "$("$python" --version) is older than 3.9"
"$python" -c 'import numpy' 2>/dev/null || skip "no NumPy; apt-get install python3-numpy"
export TILEC_LIBRARY=$build/libtilec.so PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1
exec "$python" "$root/tests/python/test_tilec.py" "$@"
