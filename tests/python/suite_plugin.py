"""For scripts/triton-suite.sh: selects a part of the tests, and writes what became of each.

TILEC_SUITE_PART=10: every tenth test, chosen by a checksum of its name. TILEC_SUITE_RESULTS: a file
that gets a line for each test that did not pass: its name, the outcome, the last line of its error.
"""

import os
import zlib

PART = int(os.environ.get("TILEC_SUITE_PART", "1"))
RESULTS = os.environ.get("TILEC_SUITE_RESULTS")


def pytest_collection_modifyitems(config, items):
    if PART > 1:
        kept = [i for i in items if zlib.crc32(i.nodeid.encode()) % PART == 0]
        config.hook.pytest_deselected(items=[i for i in items if i not in set(kept)])
        items[:] = kept


def pytest_runtest_logreport(report):
    if not RESULTS or os.environ.get("PYTEST_XDIST_WORKER"):
        return
    outcome = report.outcome
    if report.when == "call" or outcome != "passed":
        path, test = report.nodeid.split("::", 1)
        name = f"{os.path.basename(path)}::{test}"
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash else str(report.longrepr or "")
        lines = [t for t in text.splitlines() if t.strip()]
        with open(RESULTS, "a") as f:
            f.write("\t".join((outcome, name, lines[0][:300] if lines else "")) + "\n")
