// gpu_sink_waits: waits for products move down to where their sums are used.
//
// Meanwhile the threads do what does not depend on the sums: they begin copies, and compute
// addresses. A wait stays before the next barrier, after which others may write to the memory that
// the products read, and before the next product, which would be waited for, too.
//
// Needs: level thread, after gpu_barriers. Keeps: every value.
#include "ir/edit.h"
#include "passes/passes.h"

static bool uses(const IrOp *op, const IrOp *wait) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (ir_operand(op, i) && ir_operand(op, i)->def == wait) return true;
    return false;
}

static bool stops(const IrOp *op, const IrOp *wait) {
    switch (op->code) {
    case IR_THREAD_BARRIER:
    case IR_THREAD_WAIT:
    case IR_THREAD_MBARRIER_ARRIVE:
    case IR_THREAD_MBARRIER_WAIT:
    case IR_THREAD_MBARRIER_END:
    case IR_THREAD_WGMMA:
    case IR_THREAD_WGMMA_COMMIT:
    case IR_THREAD_WGMMA_WAIT: return true;
    default: return !op->next || op->region_count || uses(op, wait);
    }
}

static bool sink_in(IrBlock *block) {
    bool changed = false;
    for (IrOp *op = block->last, *before; op; op = before) {
        before = op->prev;
        for (uint32_t r = 0; r < op->region_count; r++) changed |= sink_in(op->regions[r]);
        if (op->code != IR_THREAD_WGMMA_WAIT) continue;
        IrOp *at = op->next;
        while (!stops(at, op)) at = at->next;
        if (at == op->next) continue;
        ir_move_before(op, at);
        changed = true;
    }
    return changed;
}

bool pass_gpu_sink_waits(IrFunc *f, PassContext *context) {
    (void)context;
    if (!f->is_kernel || !ir_body(f) || f->level != IR_LEVEL_THREAD) return false;
    return sink_in(ir_body(f));
}
