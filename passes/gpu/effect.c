// Atomics, asserts, prints.
#include "passes/gpu/threads.h"

void threads_effect(Threads *t, const IrOp *op) {
    threads_unsupported(t, op, "atomics, asserts and prints");
}
