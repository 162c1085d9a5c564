#include "ir/analysis/layout_infer.h"

LayoutRule layout_rule(const IrOp *op) {
    bool same = false;
    switch (ir_op_family(op->code)) {
    case IR_FAMILY_ARITHMETIC:
    case IR_FAMILY_FUNCTION:
    case IR_FAMILY_COMPARE:
    case IR_FAMILY_SELECT:
    case IR_FAMILY_CAST:
    case IR_FAMILY_TABLE:
    case IR_FAMILY_POINTER:
    case IR_FAMILY_RANDOM: return LAYOUT_RULE_SAME;
    case IR_FAMILY_SHAPE: return LAYOUT_RULE_SHAPE;
    case IR_FAMILY_DOT: return LAYOUT_RULE_DOT;
    case IR_FAMILY_CONTROL: return LAYOUT_RULE_CONTROL;
    case IR_FAMILY_REDUCTION: return op->code == IR_REDUCE ? LAYOUT_RULE_REDUCE : LAYOUT_RULE_NONE;
    case IR_FAMILY_CONSTANT: same = op->code == IR_CONST; break;
    case IR_FAMILY_MEMORY: same = op->code == IR_LOAD || op->code == IR_STORE; break;
    case IR_FAMILY_ATOMIC: same = op->code == IR_ATOMIC || op->code == IR_ATOMIC_CAS; break;
    case IR_FAMILY_STAGE: same = op->code == IR_GPU_SLOT || op->code == IR_GPU_SETTLE; break;
    case IR_FAMILY_LAUNCH:
    case IR_FAMILY_ORDER:
    case IR_FAMILY_EFFECT:
    case IR_FAMILY_END:
    case IR_FAMILY_CALL:
    case IR_FAMILY_CONVERT:
    case IR_FAMILY_THREAD:
    case IR_FAMILY_VECTOR:
    case IR_FAMILY_CPU: break;
    }
    return same ? LAYOUT_RULE_SAME : LAYOUT_RULE_NONE;
}

// ---- forward ------------------------------------------------------------------------------------

static Layout without_free(const Layout *l) { return layout_without_free(l, LAYOUT_REG, NULL); }

// One more register, above all others, that selects one of two halves along an axis.
static Layout doubled(const Layout *l, uint32_t axis) {
    uint32_t shape[IR_MAX_RANK];
    for (uint32_t d = 0; d < l->rank; d++) shape[d] = d == axis ? 2 : 1;
    Layout pair = layout_empty(l->rank, shape);
    layout_add_step(&pair, LAYOUT_REG, axis, 1);
    return layout_product(l, &pair);
}

static Layout broadcast(const IrOp *op, const Layout *l) {
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    Layout r = *l;
    for (uint32_t d = 0; d < to->rank; d++)
        if (from->shape[d] != to->shape[d]) r = layout_broadcast(&r, d, to->shape[d]);
    return r;
}

static Layout permute(const IrOp *op, const Layout *l) {
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    uint32_t order[IR_MAX_RANK];
    for (uint32_t d = 0; d < l->rank; d++) order[d] = (uint32_t)perm->u.ints.items[d];
    return layout_permute(l, order);
}

bool layout_infer_result(const IrOp *op, uint32_t result, const Layout *operand, Layout *out) {
    const IrType *to = op->results[result].type;
    uint32_t bit;
    if (!to->rank) return false;
    switch (op->code) {
    case IR_BROADCAST: *out = broadcast(op, operand); return true;
    case IR_RESHAPE: *out = layout_reshape(operand, to->rank, to->shape); return true;
    case IR_PERMUTE: *out = permute(op, operand); return true;
    case IR_JOIN: *out = layout_join(operand); return true;
    case IR_SPLIT: return layout_split(operand, out, &bit);
    case IR_CAT: *out = doubled(operand, (uint32_t)ir_attr_int(op, IR_ATTR_AXIS)); return true;
    case IR_REDUCE: {
        Layout slice = layout_slice(operand, (uint32_t)ir_attr_int(op, IR_ATTR_AXIS));
        *out = without_free(&slice);
        return true;
    default: break;
    }
    }
    return false;
}

// ---- backward -----------------------------------------------------------------------------------

// Stretched axes have one element again: bits along them replicate. Registers that only replicate
// are dropped.
static bool shrunk(const IrOp *op, const Layout *result, Layout *operand) {
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    if (from->rank != to->rank) return false;
    Layout l = *result;
    for (uint32_t d = 0; d < to->rank; d++) {
        if (from->shape[d] == to->shape[d]) continue;
        l = layout_slice(&l, d);
        l = layout_expand(&l, d);
    }
    *operand = without_free(&l);
    return true;
}

static bool unpermuted(const IrOp *op, const Layout *result, Layout *operand) {
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    uint32_t order[IR_MAX_RANK];
    for (uint32_t d = 0; d < result->rank; d++) order[perm->u.ints.items[d]] = d;
    *operand = layout_permute(result, order);
    return true;
}

bool layout_infer_operand(const IrOp *op, const Layout *result, Layout *operand) {
    if (!ir_operand(op, 0)) return false;
    const IrType *from = ir_operand(op, 0)->type;
    uint32_t bit;
    if (!from->rank) return false;
    switch (op->code) {
    case IR_BROADCAST: return shrunk(op, result, operand);
    case IR_RESHAPE: *operand = layout_reshape(result, from->rank, from->shape); return true;
    case IR_PERMUTE: return unpermuted(op, result, operand);
    case IR_JOIN: return layout_split(result, operand, &bit) && bit == 0;
    case IR_SPLIT: *operand = layout_join(result); return true;
    default: break;
    }
    return false;
}

bool layout_infer_allows(const IrOp *op, uint32_t result, const Layout *operand, const Layout *to) {
    Layout l;
    if (op->code == IR_BROADCAST && shrunk(op, to, &l) && layout_equal(&l, operand)) return true;
    return layout_infer_result(op, result, operand, &l) && layout_equal(&l, to);
}

// ---- view ops -----------------------------------------------------------------------------------

// The dimension of the value at which the axis of a view, or that of its index tiles, begins.
static uint32_t first_axis(const IrOp *op, uint32_t rank, uint32_t *tile_rank) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t axis = 0, first = 0;
    bool met = false;
    *tile_rank = 0;
    for (uint32_t d = 0; d < rank; d++) {
        const IrValue *index = ir_operand(op, ir_view_index_start(op->code) + d);
        if (select->u.ints.items[d] > 0) {
            axis++;
        } else if (index->type->rank > 0 && !met) {
            met = true;
            first = axis;
            *tile_rank = index->type->rank;
            axis += index->type->rank;
        }
    }
    return first;
}

bool layout_infer_index(const IrOp *op, uint32_t operand, const Layout *value, Layout *index) {
    const IrValue *v = ir_operand(op, operand);
    uint32_t tile_rank, first = first_axis(op, ir_operand(op, 0)->type->rank, &tile_rank);
    if (!ir_value_is_tile(v) || first + tile_rank > value->rank) return false;
    Layout l = *value;
    for (uint32_t d = value->rank; d-- > 0;)
        if (d < first || d >= first + tile_rank) l = layout_slice(&l, d);
    for (uint32_t d = 0; d < tile_rank; d++) {  // index tiles broadcast together
        if (v->type->shape[d] != 1) continue;
        l = layout_slice(&l, d);
        l = layout_expand(&l, d);
    }
    *index = without_free(&l);
    return true;
}

MatrixShape ir_mma_shape(const IrOp *op) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    const int64_t *s = select->u.ints.items;
    bool own = select->u.ints.count > 3;
    uint32_t bits = dtype_bits(ir_operand(op, 0)->type->elem);
    MatrixUnit unit = !own                  ? MATRIX_UNIT_MMA
                      : s[3] < MATRIX_UNITS ? (MatrixUnit)s[3]
                                            : MATRIX_UNITS;
    return (MatrixShape){unit, (uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2], bits};
}
