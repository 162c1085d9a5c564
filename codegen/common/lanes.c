// Lanes of vectors: broadcast, iota, shuffles; for whole vectors, and for separate lanes.
#include "base/os/os.h"
#include "codegen/common/gen.h"

LLVMValueRef gen_broadcast(Gen *g, LLVMValueRef scalar, uint32_t count) {
    LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(scalar), count);
    if (LLVMIsConstant(scalar)) return gen_splat_of(t, scalar);
    LLVMValueRef none = LLVMGetPoison(t);
    LLVMValueRef one = LLVMBuildInsertElement(g->b, none, scalar, gen_i32(g, 0), "");
    if (count == 1) return one;
    LLVMTypeRef lanes = LLVMVectorType(LLVMInt32TypeInContext(g->context), count);
    return LLVMBuildShuffleVector(g->b, one, none, LLVMConstNull(lanes), "");
}

void gen_define_lanes(Gen *g, const IrOp *op, LLVMValueRef const *lanes) {
    const IrType *t = op->results[0].type;
    LLVMValueRef *parts = gen_define_parts(g, op);
    bool apart = g->target->splits_vectors || !t->rank;
    if (!apart) parts[0] = LLVMGetPoison(gen_type(g, t));
    for (uint32_t i = 0; i < t->count; i++) {
        if (apart)
            parts[i] = lanes[i];
        else
            parts[0] = LLVMBuildInsertElement(g->b, parts[0], lanes[i], gen_i32(g, (int32_t)i), "");
    }
}

// ---- separate lanes: values are renamed ---------------------------------------------------------

static LLVMValueRef lane_of_two(const Gen *g, const IrOp *op, uint32_t lane) {
    uint32_t first = ir_operand(op, 0)->type->count;
    return lane < first ? gen_parts(g, ir_operand(op, 0))[lane]
                        : gen_parts(g, ir_operand(op, 1))[lane - first];
}

static void apart(Gen *g, const IrOp *op) {
    LLVMValueRef *r = gen_define_parts(g, op);
    uint32_t count = op->results[0].type->count;
    for (uint32_t i = 0; i < count; i++) {
        if (op->code == IR_IOTA) r[i] = gen_i32(g, (int32_t)i);
        if (op->code == IR_BROADCAST || op->code == IR_RESHAPE)
            r[i] = gen_operand_part(g, op, 0, i);
        if (op->code == IR_VEC_LANE)
            r[i] = gen_parts(g, ir_operand(op, 0))[ir_attr_int(op, IR_ATTR_LANE)];
        if (op->code == IR_VEC_SHUFFLE)
            r[i] = lane_of_two(g, op, (uint32_t)ir_attr(op, IR_ATTR_LANES)->u.ints.items[i]);
    }
}

// ---- whole vectors ------------------------------------------------------------------------------

// Between rank 0 and rank 1 of one lane, and to more lanes.
static void broadcast(Gen *g, const IrOp *op) {
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    LLVMValueRef x = gen_operand(g, op, 0);
    if (from->rank && from->count == to->count && to->rank) {
        gen_define(g, op, x);
        return;
    }
    if (from->rank) x = LLVMBuildExtractElement(g->b, x, gen_i32(g, 0), "");
    gen_define(g, op, to->rank ? gen_broadcast(g, x, to->count) : x);
}

static void iota(Gen *g, const IrOp *op) {
    uint32_t count = op->results[0].type->count;
    LLVMValueRef *lanes = arena_new(g->arena, LLVMValueRef, count);
    for (uint32_t i = 0; i < count; i++) lanes[i] = gen_i32(g, (int32_t)i);
    gen_define(g, op, LLVMConstVector(lanes, count));
}

static void shuffle(Gen *g, const IrOp *op) {
    const IrAttr *from = ir_attr(op, IR_ATTR_LANES);
    LLVMValueRef a = gen_operand(g, op, 0), b = gen_operand(g, op, 1);
    LLVMValueRef *lanes = arena_new(g->arena, LLVMValueRef, from->u.ints.count);
    for (uint32_t i = 0; i < from->u.ints.count; i++)
        lanes[i] = gen_i32(g, (int32_t)from->u.ints.items[i]);
    if (!b) b = LLVMGetPoison(LLVMTypeOf(a));
    gen_define(g, op,
               LLVMBuildShuffleVector(g->b, a, b, LLVMConstVector(lanes, from->u.ints.count), ""));
}

void gen_lanes(Gen *g, const IrOp *op) {
    if (g->target->splits_vectors) {
        apart(g, op);
        return;
    }
    if (op->code == IR_IOTA) iota(g, op);
    if (op->code == IR_BROADCAST || op->code == IR_RESHAPE) broadcast(g, op);
    if (op->code == IR_VEC_SHUFFLE) shuffle(g, op);
    if (op->code == IR_VEC_LANE)
        gen_define(g, op,
                   LLVMBuildExtractElement(g->b, gen_operand(g, op, 0),
                                           gen_i32(g, (int32_t)ir_attr_int(op, IR_ATTR_LANE)), ""));
}
