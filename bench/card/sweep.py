#!/usr/bin/env python3
"""Measures kernels of examples/ with `tilec bench`: sweep.py OUT.json LIST

Runs in the folder of a bundle (scripts/gpu-bundle.sh). Each line of LIST is a file of examples/, a
kernel of it, and the arguments of `tilec bench`. A row that cannot be measured gives the reason.
"""

import json
import subprocess
import sys

LIMIT = 25  # seconds of one kernel


def measure(words):
    command = ["bin/tilec", "bench", "examples/" + words[0], *words[1:]]
    command += ["--device", "cuda:0", "--math", "contract,approx", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        return json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        return {"notMeasured": str(error)[:300]}


def main():
    out, lines = sys.argv[1:]
    rows = []
    with open(lines, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            found = measure(words)
            rows.append({"line": line.strip(), "bench": found})
            with open(out, "w", encoding="utf-8") as kept:
                json.dump(rows, kept, indent=0)
            text = f"{' '.join(w for w in words[1:] if w != '--set'):<88}"
            if found.get("seconds"):
                text += f" {found['seconds'] * 1e6:10.1f} us"
                text += f" {found['bytesPerSecond'] * 1e-9:8.1f} GB/s"
                text += f" {found['flopsPerSecond'] * 1e-12:8.2f} TFLOP/s"
            else:
                text += f" not measured: {found.get('notMeasured') or found.get('diagnostics')}"
            print(text, flush=True)


main()
