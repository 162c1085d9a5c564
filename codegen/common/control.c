// Loops and branches: structured regions to blocks and phis.
#include "codegen/common/gen.h"

static LLVMValueRef compare(Gen *g, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(g->b, p, a, b, "");
}

// New phis for the parts of `to`, which from this block are those of `from`.
static void phis_begin(Gen *g, const IrValue *to, const IrValue *from, LLVMBasicBlockRef block) {
    LLVMValueRef *parts = gen_parts(g, from);
    LLVMValueRef *phis = arena_new(g->arena, LLVMValueRef, gen_part_count(g, to->type));
    for (uint32_t i = 0; i < gen_part_count(g, to->type); i++) {
        phis[i] = LLVMBuildPhi(g->b, LLVMTypeOf(parts[i]), "");
        LLVMAddIncoming(phis[i], &parts[i], &block, 1);
    }
    g->values[to->id] = phis;
}

static void phis_add(Gen *g, const IrValue *to, const IrValue *from, LLVMBasicBlockRef block) {
    LLVMValueRef *phis = gen_parts(g, to), *parts = gen_parts(g, from);
    for (uint32_t i = 0; i < gen_part_count(g, to->type); i++)
        LLVMAddIncoming(phis[i], &parts[i], &block, 1);
}

// ---- for ----------------------------------------------------------------------------------------

typedef struct Bounds {
    LLVMValueRef lo, hi, step;
    bool down;
    LLVMValueRef enters;  // is there a first iteration?
    LLVMValueRef limit;   // i is before this one: there is a next
} Bounds;

static bool stays_inside(const Gen *g, const IrOp *op) {
    const IrValue *hi = ir_operand(op, 1), *step = ir_operand(op, 2);
    IrRange h = ir_range_of(g->ranges, hi), s = ir_range_of(g->ranges, step);
    bool signed_type = dtype_signed(hi->type->elem);
    if (!h.known || !s.known || !signed_type || ir_attr_int(op, IR_ATTR_DOWN)) return false;
    int64_t least = INT64_MIN >> (64 - dtype_bits(hi->type->elem));
    return s.min >= 0 && h.min >= least + s.max;
}

// `i + step < hi` without overflow is `i < hi - step`, where the difference saturates: beyond the
// least integer there is no i.
static Bounds bounds_of(Gen *g, const IrOp *op) {
    Bounds r = {.lo = gen_operand(g, op, 0),
                .hi = gen_operand(g, op, 1),
                .step = gen_operand(g, op, 2),
                .down = ir_attr_int(op, IR_ATTR_DOWN) != 0};
    LLVMIntPredicate before = r.down ? LLVMIntSGT : LLVMIntSLT;
    LLVMTypeRef type = LLVMTypeOf(r.step);
    LLVMValueRef none = LLVMConstInt(type, 0, false);
    LLVMValueRef right_way = compare(g, r.down ? LLVMIntSLT : LLVMIntSGT, r.step, none);
    r.enters = LLVMBuildAnd(g->b, right_way, compare(g, before, r.lo, r.hi), "");
    if (stays_inside(g, op))
        r.limit = LLVMBuildNSWSub(g->b, r.hi, r.step, "");
    else
        r.limit = gen_intrinsic(g, "llvm.ssub.sat", 1, &type, 2, (LLVMValueRef[]){r.hi, r.step});
    return r;
}

static void gen_for(Gen *g, const IrOp *op) {
    const IrBlock *body = op->regions[0];
    bool exits = ir_attr_int(op, IR_ATTR_EXIT) != 0;
    uint32_t count = op->operand_count - 3;
    Bounds bounds = bounds_of(g, op);
    LLVMValueRef go = bounds.enters;
    if (exits) go = LLVMBuildAnd(g->b, go, gen_operand(g, op, 3), "");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef loop = gen_block(g, "for"), after = gen_block(g, "end");
    LLVMBuildCondBr(g->b, go, loop, after);
    LLVMPositionBuilderAtEnd(g->b, loop);
    const IrOp *yield = body->last;
    phis_begin(g, body->args[0], ir_operand(op, 0), before);
    for (uint32_t i = 0; i < count; i++)
        phis_begin(g, body->args[i + 1], ir_operand(op, i + 3), before);
    gen_ops(g, body);
    LLVMValueRef counter = gen_value(g, body->args[0]);
    LLVMValueRef more = compare(g, bounds.down ? LLVMIntSGT : LLVMIntSLT, counter, bounds.limit);
    if (exits) more = LLVMBuildAnd(g->b, more, gen_operand(g, yield, 0), "");
    // Where there is no next iteration, nobody looks at what may have overflowed.
    LLVMValueRef stepped = LLVMBuildNSWAdd(g->b, counter, bounds.step, "");
    LLVMBasicBlockRef last = LLVMGetInsertBlock(g->b);
    LLVMBuildCondBr(g->b, more, loop, after);
    LLVMAddIncoming(counter, &stepped, &last, 1);
    for (uint32_t i = 0; i < count; i++) phis_add(g, body->args[i + 1], ir_operand(yield, i), last);
    LLVMPositionBuilderAtEnd(g->b, after);
    for (uint32_t i = 0; i < count; i++) {
        phis_begin(g, &op->results[i], ir_operand(op, i + 3), before);
        phis_add(g, &op->results[i], ir_operand(yield, i), last);
    }
}

// ---- while, if ----------------------------------------------------------------------------------

static void gen_while(Gen *g, const IrOp *op) {
    const IrBlock *test = op->regions[0], *body = op->regions[1];
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef loop = gen_block(g, "while"), inside = gen_block(g, "do");
    LLVMBasicBlockRef after = gen_block(g, "end");
    LLVMBuildBr(g->b, loop);
    LLVMPositionBuilderAtEnd(g->b, loop);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        phis_begin(g, test->args[i], ir_operand(op, i), before);
        g->values[body->args[i]->id] = g->values[test->args[i]->id];
        g->values[op->results[i].id] = g->values[test->args[i]->id];
    }
    gen_ops(g, test);
    LLVMBuildCondBr(g->b, gen_operand(g, test->last, 0), inside, after);
    LLVMPositionBuilderAtEnd(g->b, inside);
    gen_ops(g, body);
    LLVMBasicBlockRef last = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, loop);
    for (uint32_t i = 0; i < op->operand_count; i++)
        phis_add(g, test->args[i], ir_operand(body->last, i), last);
    LLVMPositionBuilderAtEnd(g->b, after);
}

static void gen_if(Gen *g, const IrOp *op) {
    LLVMBasicBlockRef ways[2] = {gen_block(g, "then"), gen_block(g, "else")};
    LLVMBasicBlockRef after = gen_block(g, "end"), last[2];
    LLVMBuildCondBr(g->b, gen_operand(g, op, 0), ways[0], ways[1]);
    for (int i = 0; i < 2; i++) {
        LLVMPositionBuilderAtEnd(g->b, ways[i]);
        gen_ops(g, op->regions[i]);
        last[i] = LLVMGetInsertBlock(g->b);
        LLVMBuildBr(g->b, after);
    }
    LLVMPositionBuilderAtEnd(g->b, after);
    for (uint32_t i = 0; i < op->result_count; i++) {
        phis_begin(g, &op->results[i], ir_operand(op->regions[0]->last, i), last[0]);
        phis_add(g, &op->results[i], ir_operand(op->regions[1]->last, i), last[1]);
    }
}

void gen_control(Gen *g, const IrOp *op) {
    if (op->code == IR_FOR) gen_for(g, op);
    if (op->code == IR_WHILE) gen_while(g, op);
    if (op->code == IR_IF) gen_if(g, op);
}
