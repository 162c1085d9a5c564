// cpu_peel_rows: a kernel with several loops over a row gets a second version for rows of one step.
//
//     for c in 0 .. C step 64 { … }        if (0 < C && C <= 64) { the bodies, c = 0 }
//     for c in 0 .. C step 64 { … }        else { the loops }
//
// The first branch has no loops: values that one body loads or computes stay in registers for the
// next, and the CPU works on several rows at a time. Needs: tile IR after its pipeline. Keeps:
// effects, their number and order. Invariants: this is done only if a step fits in few registers,
// so that it costs nothing, and only if two loops would share something; otherwise the kernel stays
// unchanged.
#include "ir/edit.h"
#include "passes/cpu/tuning.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

enum { OPS_MAX = 256 };

typedef VEC(IrOp *) Loops;

static bool starts_at_zero(const IrOp *loop) {
    int64_t lo, hi, step;
    return !ir_attr_int(loop, IR_ATTR_EXIT) && rewrite_constant_int(ir_operand(loop, 0), &lo) &&
           lo == 0 && !rewrite_constant_int(ir_operand(loop, 1), &hi) &&
           rewrite_constant_int(ir_operand(loop, 2), &step) && step > 1;
}

static bool same_bounds(const IrOp *a, const IrOp *b) {
    int64_t x, y;
    return ir_operand(a, 1) == ir_operand(b, 1) && rewrite_constant_int(ir_operand(a, 2), &x) &&
           rewrite_constant_int(ir_operand(b, 2), &y) && x == y;
}

// The loops of the outermost block that have the same bounds and step as its first one.
static Loops loops_of(const IrBlock *body, Arena *scratch) {
    Loops loops = {0};
    for (IrOp *op = body->first; op; op = op->next) {
        if (op->code != IR_FOR || !starts_at_zero(op)) continue;
        if (!loops.count || same_bounds(loops.data[0], op)) vec_push(scratch, &loops, op);
    }
    return loops;
}

static bool fits_registers(const Machine *m, const IrType *t) {
    enum { BYTES_MIN = 4 };  // narrow numbers are computed in f32, masks select among them
    if (t->kind != IR_TILE) return true;
    uint64_t size = ir_elem_size(t) > BYTES_MIN ? ir_elem_size(t) : BYTES_MIN;
    return t->count * size <= (uint64_t)m->vector_bytes * TUNE_ROW_REGISTERS;
}

// Are all tiles from `op` on, nested ones included, small, and the ops few?
static bool is_short(const Machine *m, const IrOp *op, int *budget) {
    for (; op; op = op->next) {
        if (--*budget < 0) return false;
        for (uint32_t i = 0; i < op->result_count; i++)
            if (!fits_registers(m, op->results[i].type)) return false;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (!is_short(m, op->regions[i]->first, budget)) return false;
    }
    return true;
}

static IrValue *is_one_step(IrBuilder *b, const IrOp *loop) {
    IrValue *end = ir_operand(loop, 1);
    IrValue *some = ir_binary(b, IR_LT, ir_operand(loop, 0), end);
    return ir_binary(b, IR_AND, some, ir_binary(b, IR_LE, end, ir_operand(loop, 2)));
}

// Moves everything from the first loop to the end of the block into the `if`, and copies it without
// loops.
static void split(IrFunc *f, Loops loops, Arena *scratch) {
    IrOp *first = loops.data[0];
    IrBuilder b = ir_builder_before(first);
    b.span = first->span;
    IrBlock *regions[2] = {ir_block_create(f), ir_block_create(f)};
    IrValue *condition = is_one_step(&b, first);
    IrOp *op = ir_op(&b, IR_IF, 1, &condition, 0, NULL, 2, regions);
    IrBuilder once = ir_builder_at_end(regions[0]), many = ir_builder_at_end(regions[1]);
    once.span = many.span = first->span;
    Map names = {0};
    Loops copies = {0};
    for (size_t at = 0; op->next != rewrite_terminator(op->block);) {
        IrOp *original = op->next, *copy = ir_clone(&once, original, &names, scratch);
        ir_move_to_end(original, regions[1]);
        if (at == loops.count || loops.data[at] != original) continue;
        vec_push(scratch, &copies, copy);
        at++;
    }
    ir_yield(&once, 0, NULL);
    ir_yield(&many, 0, NULL);
    for (size_t i = 0; i < copies.count; i++) rewrite_open_loop(copies.data[i], scratch);
}

bool pass_cpu_peel_rows(IrFunc *f, PassContext *context) {
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_TILE || !context->machine->masks) return false;
    Loops loops = loops_of(body, context->scratch);
    int budget = OPS_MAX;
    if (loops.count < TUNE_ROW_LOOPS || !is_short(context->machine, loops.data[0], &budget))
        return false;
    split(f, loops, context->scratch);
    return true;
}
