// Scans.
#include "passes/gpu/threads.h"

void threads_scan(Threads *t, const IrOp *op) { threads_unsupported(t, op, "scans"); }
