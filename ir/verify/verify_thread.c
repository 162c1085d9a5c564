// Typing rules of thread.*: scalars, and vectors, which are tiles of rank 1.
#include "ir/analysis/layout_infer.h"
#include "ir/verify/verifier.h"

static bool plain(Verifier *v, const IrOp *op, uint32_t i) {
    const IrType *t = ir_operand(op, i)->type;
    if (t->rank <= 1 && t->kind != IR_VIEW) return true;
    return verifier_fail(v, op, "expected operand %u to be a scalar or a vector, found %s", i,
                         verifier_type(v, t));
}

// A scalar pointer to whole bytes.
static bool pointer(Verifier *v, const IrOp *op, uint32_t i) {
    const IrType *p = ir_operand(op, i)->type;
    if (p->kind == IR_PTR && p->rank == 0 && !dtype_is(p->elem, DTYPE_CLASS_PACKED)) return true;
    return verifier_fail(v, op, "expected a scalar pointer to whole bytes, found %s",
                         verifier_type(v, p));
}

static bool scalar_operand(Verifier *v, const IrOp *op, uint32_t i, Dtype elem) {
    IrType t = verifier_scalar(elem);
    return !ir_operand(op, i) || verifier_operand(v, op, i, &t);
}

static bool result_vector(Verifier *v, const IrOp *op, Dtype elem, uint32_t count) {
    IrType t = verifier_scalar(elem);
    verifier_set_shape(&t, 1, &count);
    return verifier_result(v, op, 0, &t);
}

static bool rule_align(Verifier *v, const IrOp *op) {
    int64_t align = ir_attr_int(op, IR_ATTR_ALIGN);
    if (align >= 0 && align <= 4096 && (align & (align - 1)) == 0) return true;
    return verifier_fail(v, op, "expected an alignment that is a power of two, found %lld",
                         (long long)align);
}

// A value stored at a pointer: it has the type pointed at, and is not a pointer itself.
static bool at_pointer(Verifier *v, const IrOp *op, const IrType *x) {
    TRY(pointer(v, op, 0) && rule_align(v, op));
    IrType expected = verifier_tile_like(x, ir_operand(op, 0)->type->elem);
    if (x->rank > 1) {
        return verifier_fail(v, op, "expected a scalar or a vector, found %s", verifier_type(v, x));
    }
    return verifier_same(v, op, "a value", x, &expected);
}

static bool rule_load(Verifier *v, const IrOp *op) {
    const IrType *x = op->results[0].type;
    TRY(at_pointer(v, op, x) && scalar_operand(v, op, 1, DTYPE_BOOL));
    return !ir_operand(op, 2) || verifier_operand(v, op, 2, x);
}

static bool rule_store(Verifier *v, const IrOp *op) {
    TRY(at_pointer(v, op, ir_operand(op, 1)->type));
    return scalar_operand(v, op, 2, DTYPE_BOOL);
}

static bool rule_shuffle(Verifier *v, const IrOp *op) {
    TRY(plain(v, op, 0) && scalar_operand(v, op, 1, DTYPE_I32));
    int64_t lane = ir_attr_int(op, IR_ATTR_LANE);
    if (lane < 0 || lane > 63)
        return verifier_fail(v, op, "expected a lane from 0 to 63, found %lld", (long long)lane);
    return verifier_result(v, op, 0, ir_operand(op, 0)->type);
}

static bool rule_pack(Verifier *v, const IrOp *op) {
    const IrType *first = ir_operand(op, 0)->type;
    uint64_t count = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrType *t = ir_operand(op, i)->type;
        TRY(plain(v, op, i));
        if (t->kind != first->kind || t->elem != first->elem) {
            return verifier_fail(v, op, "expected operands of one element type, found %s and %s",
                                 verifier_type(v, first), verifier_type(v, t));
        }
        count += t->count;
    }
    const IrType *r = op->results[0].type;
    IrType expected = *first;
    expected.rank = 1;
    expected.count = expected.shape[0] = (uint32_t)count;
    if (count != r->count || r->rank != 1) {
        return verifier_fail(v, op, "expected a vector of %llu, found %s",
                             (unsigned long long)count, verifier_type(v, r));
    }
    return verifier_same(v, op, "a result", r, &expected);
}

static bool rule_matrix_load(Verifier *v, const IrOp *op) {
    TRY(pointer(v, op, 0));
    Dtype elem = ir_operand(op, 0)->type->elem;
    int64_t count = ir_attr_int(op, IR_ATTR_COUNT);
    uint32_t bits = dtype_bits(elem);
    bool turned = ir_attr_int(op, IR_ATTR_TURNED) != 0;
    if (bits != 16 && (turned || (bits != 8 && bits != 32)))
        return verifier_fail(v, op, "expected elements of %s bits, found %s",
                             turned ? "16" : "8, 16 or 32", dtype_name(elem));
    if (count != 1 && count != 2 && count != 4)
        return verifier_fail(v, op, "expected 1, 2 or 4 matrices, found %lld", (long long)count);
    return result_vector(v, op, elem, (uint32_t)count * 32 / bits);
}

// The part of a matrix that a lane holds.
static bool fragment(Verifier *v, const IrOp *op, uint32_t i, MatrixShape product) {
    const IrType *t = ir_operand(op, i)->type;
    Layout l = layout_fragment(product, (LayoutOperand)i);
    uint32_t count = layout_size(&l, LAYOUT_REG), lanes = layout_size(&l, LAYOUT_LANE);
    if (lanes != ir_lane_count(v->func))
        return verifier_fail(v, op, "expected a warp of %u lanes, found %u", lanes,
                             ir_lane_count(v->func));
    if (t->kind == IR_TILE && t->rank == 1 && t->count == count) return true;
    return verifier_fail(v, op, "expected operand %u to be a vector of %u, found %s", i, count,
                         verifier_type(v, t));
}

static bool rule_mma(Verifier *v, const IrOp *op) {
    const IrAttr *shape = ir_attr(op, IR_ATTR_SELECT);
    if (shape->u.ints.count != 3 && shape->u.ints.count != 4)
        return verifier_fail(v, op, "expected select to hold m, n, k and the unit");
    const int64_t *s = shape->u.ints.items;
    for (size_t i = 0; i < shape->u.ints.count; i++) {
        if (s[i] >= (i < 3) && s[i] <= 256) continue;
        return verifier_fail(v, op, "expected extents from 1 to 256, found %lld", (long long)s[i]);
    }
    MatrixShape product = ir_mma_shape(op);
    if (!matrix_shape_exists(product))
        return verifier_fail(v, op, "no matrix unit multiplies %lld by %lld by %lld of %s",
                             (long long)s[0], (long long)s[1], (long long)s[2],
                             dtype_name(ir_operand(op, 0)->type->elem));
    for (uint32_t i = 0; i < 3; i++) TRY(fragment(v, op, i, product));
    return verifier_result(v, op, 0, ir_operand(op, 2)->type);
}

// ---- wgmma --------------------------------------------------------------------------------------

enum { WGMMA_FIELDS = 5 };

static bool stays_in_flight(const IrValue *v);

// A loop carries it to the next step's products, and out of the loop.
static bool is_carried_in_flight(const IrUse *use) {
    const IrOp *yield = use->user, *loop = yield->block->parent;
    uint32_t i = (uint32_t)(use - yield->operands);
    return loop && loop->code == IR_FOR && stays_in_flight(loop->regions[0]->args[1 + i]) &&
           stays_in_flight(&loop->results[i]);
}

// A loop begins with it.
static bool begins_in_flight(const IrUse *use) {
    enum { FIRST = 3 };
    const IrOp *loop = use->user;
    uint32_t i = (uint32_t)(use - loop->operands) - FIRST;
    return i < loop->result_count && stays_in_flight(loop->regions[0]->args[1 + i]) &&
           stays_in_flight(&loop->results[i]);
}

// A product in flight is touched by the unit only, and waited for.
static bool stays_in_flight(const IrValue *v) {
    for (const IrUse *use = v->uses; use; use = use->next) {
        const IrOp *user = use->user;
        bool parts = user->code == IR_THREAD_PACK || user->code == IR_VEC_SHUFFLE;
        if (user->code == IR_THREAD_WGMMA && use == &user->operands[2]) continue;
        if (user->code == IR_THREAD_WGMMA_WAIT && use == &user->operands[0]) continue;
        if (user->code == IR_YIELD && is_carried_in_flight(use)) continue;
        if (user->code == IR_FOR && begins_in_flight(use)) continue;
        if (!parts || !stays_in_flight(&user->results[0])) return false;
    }
    return true;
}

static bool descriptor(Verifier *v, const IrOp *op, const int64_t *fields) {
    bool width = fields[0] == 32 || fields[0] == 64 || fields[0] == 128, fits = true;
    for (uint32_t i = 1; i < 3; i++)
        fits = fits && fields[i] >= 0 && fields[i] < 1 << 18 && fields[i] % 16 == 0;
    fits = fits && (fields[3] == 0 || fields[3] == 1) && fields[4] >= 0 && fields[4] < 1 << 18;
    if (width && fits) return true;
    return verifier_fail(v, op, "expected factors that tell how the unit reads the memory");
}

static bool rule_wgmma(Verifier *v, const IrOp *op) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT), *factors = ir_attr(op, IR_ATTR_FACTORS);
    if (select->u.ints.count != 4 || factors->u.ints.count != 2 * WGMMA_FIELDS)
        return verifier_fail(v, op, "expected select to hold 4 numbers, and factors %d",
                             2 * WGMMA_FIELDS);
    MatrixShape product = ir_mma_shape(op);
    if (product.unit != MATRIX_UNIT_WGMMA || !matrix_shape_exists(product))
        return verifier_fail(v, op, "no unit of four warps multiplies %u by %u by %u of %s",
                             product.m, product.n, product.k,
                             dtype_name(ir_operand(op, 0)->type->elem));
    if (ir_thread_count(v->func) % 128)
        return verifier_fail(v, op, "expected a multiple of four warps");
    bool in_memory = ir_operand(op, 0)->type->kind == IR_PTR;
    TRY(in_memory ? pointer(v, op, 0) && descriptor(v, op, factors->u.ints.items)
                  : fragment(v, op, 0, product));
    TRY(pointer(v, op, 1) && descriptor(v, op, factors->u.ints.items + WGMMA_FIELDS));
    Layout sum = layout_wgmma(product.n);
    const IrType *r = op->results[0].type;
    TRY(result_vector(v, op, r->elem, layout_size(&sum, LAYOUT_REG)));
    TRY(!ir_operand(op, 2) || verifier_operand(v, op, 2, r));
    if (stays_in_flight(&op->results[0])) return true;
    return verifier_fail(v, op, "the result is used before a thread.wgmma_wait");
}

static bool rule_wgmma_wait(Verifier *v, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) TRY(plain(v, op, i));
    int64_t count = ir_attr_int(op, IR_ATTR_COUNT);
    if (count < 0 || count > 7)
        return verifier_fail(v, op, "expected a count from 0 to 7, found %lld", (long long)count);
    if (count && !stays_in_flight(&op->results[0]))
        return verifier_fail(v, op, "the result is used while products are in flight");
    return verifier_result(v, op, 0, ir_operand(op, 0)->type);
}

static bool rule_copy(Verifier *v, const IrOp *op) {
    TRY(pointer(v, op, 0) && pointer(v, op, 1) && scalar_operand(v, op, 2, DTYPE_BOOL));
    TRY(verifier_operand(v, op, 1, ir_operand(op, 0)->type));
    int64_t count = ir_attr_int(op, IR_ATTR_COUNT);
    int64_t bytes = count * (int64_t)dtype_size(ir_operand(op, 0)->type->elem);
    if (count > 0 && count <= 16 && (bytes == 4 || bytes == 8 || bytes == 16)) return true;
    return verifier_fail(v, op, "expected 4, 8 or 16 bytes, found %lld", (long long)bytes);
}

// ---- copies by maps -----------------------------------------------------------------------------

static bool barrier(Verifier *v, const IrOp *op, uint32_t i) {
    const IrType *p = ir_operand(op, i)->type;
    if (p->kind == IR_PTR && p->rank == 0 && p->elem == DTYPE_U64) return true;
    return verifier_fail(v, op, "expected a pointer to a barrier, *u64, found %s",
                         verifier_type(v, p));
}

static bool rule_mbarrier(Verifier *v, const IrOp *op) {
    TRY(barrier(v, op, 0) && scalar_operand(v, op, 1, DTYPE_BOOL));
    return op->code != IR_THREAD_MBARRIER_INIT || verifier_arrivals(v, op);
}

static bool rule_mbarrier_wait(Verifier *v, const IrOp *op) {
    return barrier(v, op, 0) && scalar_operand(v, op, 1, DTYPE_I32);
}

static bool rule_tma_load(Verifier *v, const IrOp *op) {
    enum { FIRST = 4 };
    const IrValue *view = ir_operand(op, 1);
    TRY(pointer(v, op, 0) && verifier_map(v, op, view));
    TRY(barrier(v, op, 2) && scalar_operand(v, op, 3, DTYPE_BOOL));
    if (op->operand_count != FIRST + view->type->rank)
        return verifier_fail(v, op, "expected %u indices, found %u", view->type->rank,
                             op->operand_count - FIRST);
    for (uint32_t i = FIRST; i < op->operand_count; i++) TRY(scalar_operand(v, op, i, DTYPE_I32));
    if (ir_operand(op, 0)->type->elem == view->type->elem) return true;
    return verifier_fail(v, op, "expected a pointer to %s, found %s", dtype_name(view->type->elem),
                         verifier_type(v, ir_operand(op, 0)->type));
}

// The region takes the value in memory and the operand's element.
static bool rule_update(Verifier *v, const IrOp *op) {
    const IrType *p = ir_operand(op, 0)->type;
    const IrBlock *block = op->regions[0];
    TRY(plain(v, op, 0));
    IrType expected = verifier_tile_like(p, p->elem), scalar = verifier_scalar(p->elem);
    TRY(verifier_operand(v, op, 1, &expected) && verifier_mask(v, op, 2, p));
    if (block->arg_count != 2)
        return verifier_fail(v, op, "expected a region of 2 arguments, found %u", block->arg_count);
    for (uint32_t i = 0; i < 2; i++)
        TRY(verifier_same(v, op, "an argument", block->args[i]->type, &scalar));
    return verifier_combiner_ops(v, block) && verifier_result(v, op, 0, &expected);
}

bool verifier_thread_rule(Verifier *v, const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    IrType number = verifier_scalar(DTYPE_I32);
    if (rule == IR_RULE_THREAD_LOAD) return rule_load(v, op);
    if (rule == IR_RULE_THREAD_STORE) return rule_store(v, op);
    if (rule == IR_RULE_THREAD_SHUFFLE) return rule_shuffle(v, op);
    if (rule == IR_RULE_THREAD_PACK) return rule_pack(v, op);
    if (rule == IR_RULE_THREAD_MATRIX_LOAD) return rule_matrix_load(v, op);
    if (rule == IR_RULE_THREAD_MMA) return rule_mma(v, op);
    if (rule == IR_RULE_THREAD_WGMMA) return rule_wgmma(v, op);
    if (rule == IR_RULE_THREAD_WGMMA_BEGIN)
        return plain(v, op, 0) && verifier_result(v, op, 0, ir_operand(op, 0)->type);
    if (rule == IR_RULE_THREAD_WGMMA_WAIT) return rule_wgmma_wait(v, op);
    if (rule == IR_RULE_THREAD_COPY) return rule_copy(v, op);
    if (rule == IR_RULE_THREAD_UPDATE) return rule_update(v, op);
    if (rule == IR_RULE_THREAD_MBARRIER) return rule_mbarrier(v, op);
    if (rule == IR_RULE_THREAD_MBARRIER_WAIT) return rule_mbarrier_wait(v, op);
    if (rule == IR_RULE_THREAD_TMA_LOAD) return rule_tma_load(v, op);
    return verifier_result(v, op, 0, &number);
}
