// The capability table in front of LLVM: what all targets share of it.
//
// Purpose: LLVM gives up, or calls a library, on much that its IR can say; what a target has no
// translation for is refused before, with op, type, target, and the pass that takes it away.
// Invariants: exhaustive over the op table. Ownership: none.
//
//     Check c = {.func = func, .machine = machine, .target = "sm_80",
//                .lower = "the pass gpu_threads takes it away", .own = own, .diags = diags};
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
    const char *lower;   // what takes tile ops away
    uint32_t max_lanes;  // of one vector; 0: any number
    // Asked first: NULL, the op is fine; check_common, the table of all targets says; else how to
    // be rid of it.
    const char *(*own)(const TargetCheck *c, const IrOp *op);
    Diags *diags;
    bool failed;
};

extern const char check_common[], check_legalize[], check_lacks[];

// Does the machine have arithmetic of this type?
bool check_computes(const TargetCheck *c, const IrType *t);
// False after reporting all that cannot be compiled.
bool check_function(TargetCheck *c);

#endif
