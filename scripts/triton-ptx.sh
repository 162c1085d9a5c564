#!/usr/bin/env bash
# Makes Triton's PTX and code objects for the kernels of ../shared/triton-baseline, for
# tests/sim/test_triton and bench/.
#   scripts/triton-ptx.sh OUT [TARGET]...
# TARGET: 75 80 89 90 120 gfx90a gfx942 gfx950 gfx1100 gfx1201 (default: all)
# Triton is installed with pip into OUT/venv unless $PYTHON has it already. Then
#   TILEC_TRITON_PTX=OUT ctest --preset debug -R sim/test_triton
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
baseline=${TILEC_TRITON_BASELINE:-../shared/triton-baseline}
if [ $# -eq 0 ]; then
    echo "triton-ptx: a folder for the texts is missing; see the head of this file" >&2
    exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- 75 80 89 90 120 gfx90a gfx942 gfx950 gfx1100 gfx1201
if [ ! -f "$baseline/compile.py" ]; then
    echo "triton-ptx: no compile.py in $baseline; TILEC_TRITON_BASELINE says where it is" >&2
    exit 1
fi
python=${PYTHON:-python3}
if ! "$python" -c 'import triton' 2>/dev/null; then
    python=$out/venv/bin/python
    if ! "$python" -c 'import triton' 2>/dev/null; then
        python3 -m venv "$out/venv"
        "$out/venv/bin/pip" install --quiet triton==3.9.0
    fi
fi
"$python" "$baseline/compile.py" "$out" "$@"
