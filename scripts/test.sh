#!/usr/bin/env bash
# The test command: sets up, builds the debug preset (sanitizers on), runs the quick tests, the
# rules of the house, a bounded fuzzing, and the bundle for machines with GPUs. Its last lines are
# ctest's summary, its status ctest's.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh debug
exec ctest --preset debug -L '^(quick|fuzz|bundle)$'
