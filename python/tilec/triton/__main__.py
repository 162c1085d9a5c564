"""python -m tilec.triton [--device D] SCRIPT [ARGUMENT…], or -m MODULE [ARGUMENT…]."""

import os
import runpy
import sys

USAGE = """\
usage: python -m tilec.triton [--device D] SCRIPT [ARGUMENT...]
       python -m tilec.triton [--device D] -m MODULE [ARGUMENT...]

Runs a program that imports triton; tilec compiles and launches its kernels.
  --device D   for tensors in the host's memory: cpu, interp, sim:sm_80, ... (default: TILEC_DEVICE, else auto)
"""


def main(arguments):
    while arguments and arguments[0].startswith("--"):
        option = arguments.pop(0)
        name, _, value = option.partition("=")
        if name == "--help":
            print(USAGE, end="")
            return 0
        if name != "--device" or (not value and not arguments):
            print(f"tilec.triton: unknown option '{option}'\n{USAGE}", end="", file=sys.stderr)
            return 2
        os.environ["TILEC_DEVICE"] = value or arguments.pop(0)
    if not arguments or (arguments[0] == "-m" and len(arguments) < 2):
        print(USAGE, end="", file=sys.stderr)
        return 2
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "path")
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # Processes that the program starts find the same triton.
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([path, package] + ([before] if before else []))
    sys.path.insert(0, path)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
