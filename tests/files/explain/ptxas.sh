#!/bin/sh
# Stands for ptxas: says that a kernel takes $REGISTERS registers and spills $SPILLS bytes.
if [ "$1" = --version ]; then
    echo "Cuda compilation tools, release 13.0, V13.0.88"
    exit 0
fi
cat >/dev/null
cat >&2 <<LOG
ptxas info    : 0 bytes gmem
ptxas info    : Function properties for k
    $SPILLS bytes stack frame, $SPILLS bytes spill stores, $SPILLS bytes spill loads
ptxas info    : Used $REGISTERS registers, 400 bytes cmem[0]
LOG
printf '\177ELF'
