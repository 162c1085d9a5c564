"""python3 tests/triton/corpus/run.py FOLDER [--device D]... [CASE]...

Launches the cases with the wheels that scripts/triton-corpus.sh unpacked into FOLDER, on each
device, and compares with the references. On interp the sanitizer is on. Prints a line for each case
that fails, and a summary; the status is 1 if one fails.
"""

import glob
import importlib
import os
import sys
import time
import traceback

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "..", "python")]

import tilec  # noqa: E402
from case import CASES  # noqa: E402

DEVICES = "interp cpu sim:sm_80 sim:sm_90 sim:gfx942".split()


def launch(case, folder, device):
    module = tilec.load(os.path.join(folder, case.project, case.path))
    kernel = module[case.kernel]
    options = {"sanitize": 1} if device == "interp" else {}

    def run(grid, *args, **kwargs):
        kernel[grid](*args, **kwargs, **options)

    tilec.set_device(device)
    with np.errstate(all="ignore"):
        compared = case.body(run, np.random.default_rng(7))
    if not compared:
        raise AssertionError("the case compares nothing")
    for c in compared:
        c.check()


def main(arguments):
    devices, names = [], []
    while arguments:
        a = arguments.pop(0)
        if a == "--device" and arguments:
            devices.append(arguments.pop(0))
        elif a.startswith("-"):
            print(__doc__, end="", file=sys.stderr)
            return 2
        else:
            names.append(a)
    if not names:
        print(__doc__, end="", file=sys.stderr)
        return 2
    folder = names.pop(0)
    for path in sorted(glob.glob(os.path.join(HERE, "cases_*.py"))):
        importlib.import_module(os.path.basename(path)[:-3])
    known = {c.name for c in CASES}
    wrong = [n for n in names if n not in known]
    if wrong or len(known) != len(CASES):
        print(f"run.py: no such case: {wrong}" if wrong else "run.py: two cases have one name")
        return 2
    failed = 0
    begin = time.perf_counter()
    chosen = [c for c in CASES if not names or c.name in names]
    for case in chosen:
        for device in devices or DEVICES:
            try:
                launch(case, folder, device)
            except Exception as e:
                failed += 1
                text = str(e).strip() or repr(e)
                print(f"failed: {case.name} on {device}: {text}")
                if not isinstance(e, (tilec.Error, AssertionError)):
                    traceback.print_exc(limit=-3)
    count = len(chosen) * len(devices or DEVICES)
    seconds = time.perf_counter() - begin
    print(
        f"corpus: {count - failed} of {count} launches are right, {len(chosen)} kernels, {seconds:.0f} s"
    )
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
