// Loops and branches: structured regions to blocks and phis.
#include "codegen/common/gen.h"

static LLVMValueRef compare(Gen *g, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(g->b, p, a, b, "");
}

// ---- phis ---------------------------------------------------------------------------------------

// Where blocks join, each part has a phi. If the target says so, narrow parts share a phi of up to
// four words of 32 bits, so that parts joined by an access stay joined.
typedef struct PhiGroup {
    const IrValue *to;
    uint32_t count, per;  // phis, and parts in each
    LLVMTypeRef type;     // of several parts, else NULL
    LLVMValueRef *phis;
} PhiGroup;

static LLVMTypeRef narrow_type(const Gen *g, const IrType *t) {
    bool wide = t->kind == IR_PTR || t->elem == DTYPE_BOOL || dtype_bits(t->elem) > 16;
    return wide ? NULL : LLVMIntTypeInContext(g->context, dtype_bits(t->elem));
}

static uint32_t parts_in_one(const Gen *g, const IrType *t) {
    enum { WORD = 32, MOST = 128 };
    uint32_t count = gen_part_count(g, t);
    if (!g->target->joins_narrow || !narrow_type(g, t)) return 1;
    for (uint32_t bits = MOST; bits >= WORD; bits /= 2)
        if (count % (bits / dtype_bits(t->elem)) == 0) return bits / dtype_bits(t->elem);
    return 1;
}

static LLVMTypeRef words_type(const Gen *g, const IrType *t, uint32_t per) {
    LLVMTypeRef word = LLVMInt32TypeInContext(g->context);
    uint32_t count = per * dtype_bits(t->elem) / 32;
    return count == 1 ? word : LLVMVectorType(word, count);
}

// Joins parts at the end of a block that has its branch already.
static LLVMValueRef joined(Gen *g, const PhiGroup *m, LLVMValueRef const *parts,
                           LLVMBasicBlockRef block) {
    if (m->per == 1) return parts[0];
    GenInsertPoint here = gen_insert_before(g, LLVMGetBasicBlockTerminator(block));
    LLVMValueRef all = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(parts[0]), m->per));
    for (uint32_t i = 0; i < m->per; i++)
        all = LLVMBuildInsertElement(g->b, all, parts[i], gen_i32(g, (int32_t)i), "");
    all = LLVMBuildBitCast(g->b, all, m->type, "");
    gen_restore_position(g, here);
    return all;
}

static void phi_add(Gen *g, const PhiGroup *m, const IrValue *from, LLVMBasicBlockRef block) {
    LLVMValueRef *parts = gen_parts(g, from);
    for (uint32_t i = 0; i < m->count; i++) {
        LLVMValueRef x = joined(g, m, parts + (size_t)i * m->per, block);
        LLVMAddIncoming(m->phis[i], &x, &block, 1);
    }
}

// New phis for `to`; their value from this block is `from`. All phis of a block are made before any
// of them is split into parts.
static PhiGroup phi_begin(Gen *g, const IrValue *to, const IrValue *from, LLVMBasicBlockRef block) {
    PhiGroup m = {.to = to, .per = parts_in_one(g, to->type)};
    m.count = gen_part_count(g, to->type) / m.per;
    m.phis = arena_new(g->arena, LLVMValueRef, m.count);
    if (m.per > 1) m.type = words_type(g, to->type, m.per);
    for (uint32_t i = 0; i < m.count; i++)
        m.phis[i] = LLVMBuildPhi(g->b, m.type ? m.type : LLVMTypeOf(gen_parts(g, from)[i]), "");
    phi_add(g, &m, from, block);
    return m;
}

static void phi_open(Gen *g, const PhiGroup *m) {
    g->values[m->to->id] = m->phis;
    if (m->per == 1) return;
    LLVMTypeRef type = LLVMVectorType(narrow_type(g, m->to->type), m->per);
    LLVMValueRef *parts = arena_new(g->arena, LLVMValueRef, (size_t)m->count * m->per);
    for (uint32_t i = 0; i < m->count * m->per; i++) {
        LLVMValueRef all = LLVMBuildBitCast(g->b, m->phis[i / m->per], type, "");
        parts[i] = LLVMBuildExtractElement(g->b, all, gen_i32(g, (int32_t)(i % m->per)), "");
    }
    g->values[m->to->id] = parts;
}

static void phis_open(Gen *g, const PhiGroup *m, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) phi_open(g, &m[i]);
}

// ---- for ----------------------------------------------------------------------------------------

typedef struct LoopBounds {
    LLVMValueRef lo, hi, step;
    bool down;
    LLVMValueRef enters;  // is there a first iteration?
    LLVMValueRef limit;   // if i is before the limit, there is a next iteration
} LoopBounds;

static bool stays_inside(const Gen *g, const IrOp *op) {
    const IrValue *hi = ir_operand(op, 1), *step = ir_operand(op, 2);
    IrRange h = ir_range_of(g->ranges, hi), s = ir_range_of(g->ranges, step);
    bool signed_type = dtype_signed(hi->type->elem);
    if (!h.known || !s.known || !signed_type || ir_attr_int(op, IR_ATTR_DOWN)) return false;
    int64_t least = INT64_MIN >> (64 - dtype_bits(hi->type->elem));
    return s.min >= 0 && h.min >= least + s.max;
}

// Is it proven that there is a first iteration?
static bool first_step_certain(const Gen *g, const IrOp *op) {
    IrRange step = ir_range_of(g->ranges, ir_operand(op, 2));
    return !ir_attr_int(op, IR_ATTR_DOWN) && step.known && step.min > 0 &&
           ir_provably_le(g->ranges, op, ir_operand(op, 0), 1, ir_operand(op, 1));
}

// `i + step < hi` without overflow is `i < hi - step` with a saturating difference: no i is below
// the least integer.
static LoopBounds bounds_of(Gen *g, const IrOp *op) {
    LoopBounds r = {.lo = gen_operand(g, op, 0),
                    .hi = gen_operand(g, op, 1),
                    .step = gen_operand(g, op, 2),
                    .down = ir_attr_int(op, IR_ATTR_DOWN) != 0};
    LLVMIntPredicate before = r.down ? LLVMIntSGT : LLVMIntSLT;
    LLVMTypeRef type = LLVMTypeOf(r.step);
    LLVMValueRef none = LLVMConstInt(type, 0, false);
    LLVMValueRef right_way = compare(g, r.down ? LLVMIntSLT : LLVMIntSGT, r.step, none);
    r.enters = LLVMBuildAnd(g->b, right_way, compare(g, before, r.lo, r.hi), "");
    if (first_step_certain(g, op)) r.enters = LLVMConstInt(LLVMTypeOf(r.enters), 1, false);
    if (stays_inside(g, op))
        r.limit = LLVMBuildNSWSub(g->b, r.hi, r.step, "");
    else
        r.limit = gen_intrinsic(g, "llvm.ssub.sat", 1, &type, 2, (LLVMValueRef[]){r.hi, r.step});
    return r;
}

// The block from which the code after the loop is reached.
static LLVMBasicBlockRef left_loop(Gen *g, const IrOp *op, LLVMBasicBlockRef last,
                                   LLVMBasicBlockRef after) {
    if (!g->target->leave_loop) return last;
    LLVMBasicBlockRef left = gen_block(g, "left");
    LLVMSetSuccessor(LLVMGetBasicBlockTerminator(last), 1, left);
    LLVMPositionBuilderAtEnd(g->b, left);
    g->target->leave_loop(g, op);
    left = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, after);
    return left;
}

static void gen_for(Gen *g, const IrOp *op) {
    const IrBlock *body = op->regions[0];
    bool exits = ir_attr_int(op, IR_ATTR_EXIT) != 0;
    uint32_t count = op->operand_count - 3;
    LoopBounds bounds = bounds_of(g, op);
    LLVMValueRef go = bounds.enters;
    if (exits) go = LLVMBuildAnd(g->b, go, gen_operand(g, op, 3), "");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef loop = gen_block(g, "for"), after = gen_block(g, "end");
    LLVMBuildCondBr(g->b, go, loop, after);
    LLVMPositionBuilderAtEnd(g->b, loop);
    const IrOp *yield = body->last;
    PhiGroup *each = arena_new(g->arena, PhiGroup, count + 1), *results = each;
    for (uint32_t i = 0; i <= count; i++)
        each[i] = phi_begin(g, body->args[i], ir_operand(op, i ? i + 2 : 0), before);
    phis_open(g, each, count + 1);
    gen_ops(g, body);
    LLVMValueRef counter = gen_value(g, body->args[0]);
    LLVMValueRef more = compare(g, bounds.down ? LLVMIntSGT : LLVMIntSLT, counter, bounds.limit);
    if (exits) more = LLVMBuildAnd(g->b, more, gen_operand(g, yield, 0), "");
    // If there is no next iteration, the sum may have overflowed, but it is not used.
    LLVMValueRef stepped = LLVMBuildNSWAdd(g->b, counter, bounds.step, "");
    LLVMBasicBlockRef last = LLVMGetInsertBlock(g->b);
    LLVMBuildCondBr(g->b, more, loop, after);
    LLVMAddIncoming(counter, &stepped, &last, 1);
    for (uint32_t i = 0; i < count; i++) phi_add(g, &each[i + 1], ir_operand(yield, i), last);
    LLVMBasicBlockRef left = left_loop(g, op, last, after);
    LLVMPositionBuilderAtEnd(g->b, after);
    for (uint32_t i = 0; i < count; i++) {
        results[i] = phi_begin(g, &op->results[i], ir_operand(op, i + 3), before);
        phi_add(g, &results[i], ir_operand(yield, i), left);
    }
    phis_open(g, results, count);
}

// ---- while, if ----------------------------------------------------------------------------------

static void gen_while(Gen *g, const IrOp *op) {
    const IrBlock *test = op->regions[0], *body = op->regions[1];
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef loop = gen_block(g, "while"), inside = gen_block(g, "do");
    LLVMBasicBlockRef after = gen_block(g, "end");
    LLVMBuildBr(g->b, loop);
    LLVMPositionBuilderAtEnd(g->b, loop);
    PhiGroup *each = arena_new(g->arena, PhiGroup, op->operand_count + 1);
    for (uint32_t i = 0; i < op->operand_count; i++)
        each[i] = phi_begin(g, test->args[i], ir_operand(op, i), before);
    phis_open(g, each, op->operand_count);
    for (uint32_t i = 0; i < op->operand_count; i++) {
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
        phi_add(g, &each[i], ir_operand(body->last, i), last);
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
    PhiGroup *each = arena_new(g->arena, PhiGroup, op->result_count + 1);
    for (uint32_t i = 0; i < op->result_count; i++) {
        each[i] = phi_begin(g, &op->results[i], ir_operand(op->regions[0]->last, i), last[0]);
        phi_add(g, &each[i], ir_operand(op->regions[1]->last, i), last[1]);
    }
    phis_open(g, each, op->result_count);
}

void gen_control(Gen *g, const IrOp *op) {
    if (op->code == IR_FOR) gen_for(g, op);
    if (op->code == IR_WHILE) gen_while(g, op);
    if (op->code == IR_IF) gen_if(g, op);
}
