#!/usr/bin/env bash
# The pictures of the pages are those that scripts/gen/pictures.sh draws, each is on a page, and the
# script notices where they are not: after a change of a picture, a pipeline, a pass or an observer.
#
#     pictures.sh TILEC
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
tilec=$(realpath "$1")
bash "$root/scripts/gen/pictures.sh" --check "$tilec"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
for picture in "$root"/docs/pictures/*.svg; do
    grep -qF "](pictures/${picture##*/})" "$root"/docs/*.md || {
        echo "pictures: no page shows docs/pictures/${picture##*/}"
        failed=1
    }
done

mkdir -p "$scratch/scripts/gen" "$scratch/docs"
cp "$root/scripts/gen/pictures.sh" "$scratch/scripts/gen/"
for room in codegen compile examples frontend ir runtime; do
    ln -s "$root/$room" "$scratch/$room"
done
restore() {
    local room
    rm -rf "$scratch/docs/pictures"
    cp -r "$root/docs/pictures" "$scratch/docs/"
    for room in passes sim; do
        rm -rf "${scratch:?}/$room"
        cp -r "$root/$room" "$scratch/$room"
    done
}
expect() { # STATUS TEXT
    local status=0
    bash "$scratch/scripts/gen/pictures.sh" --check "$tilec" >"$scratch/log" 2>&1 || status=$?
    if [ "$status" -ne "$1" ] || [[ $(<"$scratch/log") != *"$2"* ]]; then
        echo "pictures: status $status, expected $1 and '$2':"
        cat "$scratch/log"
        failed=1
    fi
}
restore
expect 0 ''
sed -i '0,/#444/s//#445/' "$scratch/docs/pictures/loop.svg"
expect 1 'docs/pictures/loop.svg is not what would be drawn'
restore
sed -i '/^    {PASS_GPU_PLACE,/i\    {PASS_DCE, "a new step"},' "$scratch/passes/pipelines.c"
expect 1 'docs/pictures/passes.svg is not what would be drawn'
expect 1 'docs/pictures/rooms.svg is not what would be drawn'
restore
sed -i 's/^PASS(SPLIT, split, PLAIN,/PASS(SPLIT, split, ALL,/' "$scratch/passes/passes.def"
expect 1 'docs/pictures/passes.svg is not what would be drawn'
restore
sed -i 's/IR_LEVEL_CPU_NEST/IR_LEVEL_OTHER/' "$scratch/passes/cpu/plan/plan.c"
expect 1 'level other has no color'
restore
sed -i 's/sim_observe_banks/sim_observe_lanes/' "$scratch/sim/observe/observe.h"
expect 1 'docs/pictures/machine.svg is not what would be drawn'
restore
rm -r "$scratch/sim/amd"
expect 1 'there is no room sim/amd'
[ "$failed" -eq 0 ] && echo "pictures: ok"
exit "$failed"
