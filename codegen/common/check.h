// The part of the capability table in front of LLVM that all targets share.
//
// Purpose: LLVM fails, or calls a library, for much of what its IR can express. An op that has no
// translation for a target is refused before, with op, type, target, and the pass that removes it.
// Invariants: exhaustive over the op table. Ownership: none.
//
//     Check c = {.func = func, .machine = machine, .target = "sm_80",
//                .lower = "the pass gpu_threads removes it", .own = own, .diags = diags};
//     if (!check_function(&c)) return false;
#ifndef TILEC_CODEGEN_COMMON_CHECK_H
#define TILEC_CODEGEN_COMMON_CHECK_H

#include "base/diag.h"
#include "ir/ir.h"
#include "target/machine.h"

typedef struct TargetCheck TargetCheck;
struct TargetCheck {
    const IrFunc *func;
    Machine machine;
    const char *target;  // its name
    const char *lower;   // how tile ops are removed
    uint32_t max_lanes;  // of one vector; 0: any number
    // Asked first. Returns NULL if the op is fine, check_common if the table of all targets
    // decides, else how to remove the op.
    const char *(*own)(const TargetCheck *c, const IrOp *op);
    Diags *diags;
    bool failed;
};

extern const char check_common[], check_legalize[], check_lacks[];

// Does the machine have arithmetic of this type?
bool check_computes(const TargetCheck *c, const IrType *t);
// False after reporting all ops that cannot be compiled.
bool check_function(TargetCheck *c);

#endif
