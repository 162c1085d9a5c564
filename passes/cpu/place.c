// cpu_place: assigns the offset of each piece of scratch memory. Pieces with disjoint lifetimes
// share.
#include "base/cpu_abi.h"
#include "passes/passes.h"
#include "passes/places.h"

bool pass_cpu_place(IrFunc *f, PassContext *context) {
    if (!f->is_kernel || f->level != IR_LEVEL_CPU) return false;
    Places p = places_find(f, context->scratch, IR_CPU_SCRATCH, CPU_SCRATCH_ALIGN);
    return places_assign(&p);
}
