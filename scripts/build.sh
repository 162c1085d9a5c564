#!/usr/bin/env bash
# Configures and builds one preset: scripts/build.sh PRESET [TARGET…]
# Presets: debug, release, tsan, clang, fuzz, coverage. Quiet unless it fails.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
preset=${1:-debug}
[ $# -eq 0 ] || shift
targets=()
[ $# -eq 0 ] || targets=(--target "$@")
mkdir -p "build/$preset"
log="build/$preset/configure.log"
if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
echo "build: $preset"
exec cmake --build --preset "$preset" -j "$(nproc)" "${targets[@]}" -- --quiet
