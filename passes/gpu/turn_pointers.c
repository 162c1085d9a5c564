// gpu_turn_pointers: where pointers are neighbours along another axis than the last one, a load or
// store is done on the turned tiles.
//
//     x = load p, mask, other      becomes     t = load p', mask', other'     x = permute t
//
// where p' is p with that axis exchanged with the last one. Accesses then move neighbours along the
// last axis, as all later passes expect; a product takes a turned factor as it is.
// Needs: level tile. Keeps: every value.
#include "ir/build.h"
#include "ir/edit.h"
#include "passes/gpu/gpu.h"
#include "passes/pass.h"
#include "passes/passes.h"

static bool find_axis(const GpuFuncFacts *known, const IrOp *op, uint32_t *axis) {
    const IrValue *p = ir_operand(op, 0);
    uint32_t rank = p->type->rank, best = 1;
    if (rank < 2 || p->type->shape[rank - 1] == 1) return false;
    if (gpu_pointer_neighbours(known, p, rank - 1) > 1) return false;
    for (uint32_t d = 0; d + 1 < rank; d++) {
        uint32_t run = gpu_pointer_neighbours(known, p, d);
        if (run <= best) continue;
        best = run;
        *axis = d;
    }
    return best > 1;
}

static void turn(IrOp *op, uint32_t axis) {
    uint32_t last = ir_operand(op, 0)->type->rank - 1;
    int64_t perm[IR_MAX_RANK];
    for (uint32_t i = 0; i <= last; i++) perm[i] = i;
    perm[axis] = last;
    perm[last] = axis;
    IrBuilder b = ir_builder_before(op);
    b.span = op->span;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IrValue *x = ir_operand(op, i);
        if (x && x->type->rank) ir_set_operand(op, i, ir_permute(&b, x, perm));
    }
    if (op->code != IR_LOAD) return;
    // The load again, with the turned type.
    IrValue *operands[3] = {ir_operand(op, 0), ir_operand(op, 1), ir_operand(op, 2)};
    const IrType *p = operands[0]->type;
    const IrType *type = ir_tile(b.module, p->elem, p->rank, p->shape);
    IrOp *made = ir_op(&b, IR_LOAD, 3, operands, 1, &type, 0, NULL);
    ir_attr_set_int(made, IR_ATTR_CACHE, ir_attr_int(op, IR_ATTR_CACHE));
    ir_replace_all(ir_result(op, 0), ir_permute(&b, ir_result(made, 0), perm));
    ir_erase(op);
}

static bool walk(const GpuFuncFacts *known, IrBlock *block) {
    bool changed = false;
    IR_EACH_OP(op, block) {
        uint32_t axis;
        for (uint32_t i = 0; i < op->region_count; i++) changed |= walk(known, op->regions[i]);
        bool access = op->code == IR_LOAD || op->code == IR_STORE;
        if (!access || !find_axis(known, op, &axis)) continue;
        turn(op, axis);
        changed = true;
    }
    return changed;
}

bool pass_gpu_turn_pointers(IrFunc *f, PassContext *context) {
    if (f->level != IR_LEVEL_TILE) return false;
    GpuFuncFacts known = {f, pass_ranges(context, f), context->facts};
    return walk(&known, ir_body(f));
}
