#include "compile/pipeline/wants_maps.h"

// No pass makes maps yet.
uint64_t code_wants_maps(const IrFunc *func) {
    (void)func;
    return 0;
}
