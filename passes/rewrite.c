#include "passes/rewrite.h"

#include <string.h>

#include "base/os/os.h"

bool rewrite_constant(const IrValue *value, uint64_t *bits) {
    if (!value || !value->def || value->def->code != IR_CONST) return false;
    *bits = ir_attr(value->def, IR_ATTR_VALUE)->u.bits;
    return true;
}

bool rewrite_constant_int(const IrValue *value, int64_t *number) {
    uint64_t bits;
    if (!rewrite_constant(value, &bits) || !dtype_is(value->type->elem, DTYPE_CLASS_INT)) {
        return false;
    }
    *number = dtype_to_i64(value->type->elem, bits);
    return true;
}

bool rewrite_is_bool(const IrValue *value, bool wanted) {
    uint64_t bits;
    return rewrite_constant(value, &bits) && value->type->elem == DTYPE_BOOL &&
           (bits != 0) == wanted;
}

bool rewrite_is_zero(const IrValue *value) {
    uint64_t bits;
    return rewrite_constant(value, &bits) && bits == 0;
}

bool rewrite_trip_count(const IrOp *loop, uint64_t *trips) {
    int64_t lo, hi, step;
    bool down = ir_attr_int(loop, IR_ATTR_DOWN) != 0;
    if (rewrite_constant_int(ir_operand(loop, 2), &step) && (down ? step >= 0 : step <= 0)) {
        *trips = 0;
        return true;
    }
    if (ir_operand(loop, 0) == ir_operand(loop, 1)) {
        *trips = 0;
        return true;
    }
    if (!rewrite_constant_int(ir_operand(loop, 0), &lo) ||
        !rewrite_constant_int(ir_operand(loop, 1), &hi)) {
        return false;
    }
    if (down ? lo <= hi : lo >= hi) {
        *trips = 0;
        return true;
    }
    if (!rewrite_constant_int(ir_operand(loop, 2), &step)) return false;
    // Both differences fit in 64 bits without sign.
    uint64_t distance = down ? (uint64_t)lo - (uint64_t)hi : (uint64_t)hi - (uint64_t)lo;
    uint64_t stride = down ? 0 - (uint64_t)step : (uint64_t)step;
    *trips = (distance - 1) / stride + 1;
    return true;
}

void rewrite_splice(IrOp *op, IrBlock *region, IrValue *const *args, IrValue **yielded) {
    for (uint32_t i = 0; i < region->arg_count; i++) ir_replace_all(region->args[i], args[i]);
    IrOp *end = rewrite_terminator(region);
    while (region->first != end) ir_move_before(region->first, op);
    for (uint32_t i = 0; i < end->operand_count; i++) yielded[i] = ir_operand(end, i);
}

void rewrite_replace_op(IrOp *op, IrValue *const *values) {
    for (uint32_t i = 0; i < op->result_count; i++) ir_replace_all(ir_result(op, i), values[i]);
    ir_erase(op);
}

IrBlock *rewrite_block_of(const IrValue *value) {
    return value->def ? value->def->block : value->block;
}

void rewrite_open_loop(IrOp *loop, Arena *scratch) {
    IrValue **args = arena_new(scratch, IrValue *, loop->result_count + 1u);
    IrValue **values = arena_new(scratch, IrValue *, loop->result_count + 1u);
    args[0] = ir_operand(loop, 0);
    for (uint32_t i = 0; i < loop->result_count; i++) args[i + 1] = ir_operand(loop, 3 + i);
    rewrite_splice(loop, loop->regions[0], args, values);
    rewrite_replace_op(loop, values);
}

bool rewrite_defined_outside(const IrValue *value, const IrOp *op) {
    const IrBlock *block = rewrite_block_of(value);
    while (block && block->parent) {
        if (block->parent == op) return false;
        block = block->parent->block;
    }
    return true;
}

bool rewrite_clobbers_memory(const IrOp *op) {
    switch (ir_op_info(op->code)->effect) {
    case IR_EFFECT_PURE:
    case IR_EFFECT_READ:
    case IR_EFFECT_END: return false;
    case IR_EFFECT_WRITE: return true;
    case IR_EFFECT_KEEP:
        return op->code != IR_ASSERT && op->code != IR_ASSUME && op->code != IR_PRINT &&
               op->code != IR_CPU_PREFETCH;
    case IR_EFFECT_NEST: break;
    }
    for (uint32_t i = 0; i < op->region_count; i++) {
        IR_EACH_OP(inner, op->regions[i]) {
            if (rewrite_clobbers_memory(inner)) return true;
        }
    }
    return false;
}

static bool same_attr(IrAttrName name, const IrAttr *a, const IrAttr *b) {
    switch (ir_attr_kind(name)) {
    case IR_KIND_INT:
    case IR_KIND_BOOL:
    case IR_KIND_REDUCE:
    case IR_KIND_RMW:
    case IR_KIND_ORDER:
    case IR_KIND_SCOPE:
    case IR_KIND_PRECISION:
    case IR_KIND_CACHE:
    case IR_KIND_PLAN:
    case IR_KIND_DTYPE: return a->u.i == b->u.i;
    case IR_KIND_CONST: return a->u.bits == b->u.bits;
    case IR_KIND_NAME: return a->u.name == b->u.name;
    case IR_KIND_TEXT: return str_equal(a->u.text, b->u.text);
    case IR_KIND_INTS:
    case IR_KIND_DTYPES:
        if (a->u.ints.count != b->u.ints.count) return false;
        for (uint32_t i = 0; i < a->u.ints.count; i++) {
            if (a->u.ints.items[i] != b->u.ints.items[i]) return false;
        }
        return true;
    case IR_KIND_CONSTS:
        return a->u.consts.count == b->u.consts.count &&
               memcmp(a->u.consts.items, b->u.consts.items,
                      a->u.consts.count * sizeof *a->u.consts.items) == 0;
    case IR_KIND_TEXTS:
        if (a->u.texts.count != b->u.texts.count) return false;
        for (uint32_t i = 0; i < a->u.texts.count; i++) {
            if (!str_equal(a->u.texts.items[i], b->u.texts.items[i])) return false;
        }
        return true;
    }
    return false;
}

bool rewrite_same_attrs(const IrOp *a, const IrOp *b) {
    const IrOpInfo *info = ir_op_info(a->code);
    for (int i = 0; i < info->attr_count; i++) {
        if (!same_attr(info->attrs[i], &a->attrs[i], &b->attrs[i])) return false;
    }
    return true;
}

// The index of the first initial value of a loop's carried values among its operands, and the
// number of arguments of its body before the carried ones.
static uint32_t carried_operand(const IrOp *loop) { return loop->code == IR_FOR ? 3 : 0; }
static uint32_t carried_arg(const IrOp *loop) { return loop->code == IR_FOR ? 1 : 0; }

IrOp *rewrite_drop_carried(IrOp *loop, uint32_t i, Arena *scratch) {
    CHECK(loop->code == IR_FOR || loop->code == IR_WHILE, "no loop: '%s'",
          ir_op_info(loop->code)->text);
    uint32_t operands = 0, results = 0;
    IrValue **kept = arena_new(scratch, IrValue *, loop->operand_count);
    const IrType **types = arena_new(scratch, const IrType *, loop->result_count);
    for (uint32_t k = 0; k < loop->operand_count; k++) {
        if (k != carried_operand(loop) + i) kept[operands++] = ir_operand(loop, k);
    }
    for (uint32_t k = 0; k < loop->result_count; k++) {
        if (k != i) types[results++] = ir_result(loop, k)->type;
    }
    for (uint32_t k = 0; k < loop->region_count; k++) {
        ir_remove_block_arg(loop->regions[k], carried_arg(loop) + i);
    }
    ir_remove_operand(rewrite_terminator(loop->regions[loop->region_count - 1]), i);
    IrOp *made = ir_remake(loop, operands, kept, results, types);
    for (uint32_t k = 0; k < results; k++) {
        IrValue *old = ir_result(loop, k < i ? k : k + 1);
        ir_result(made, k)->name = old->name;
        ir_replace_all(old, ir_result(made, k));
    }
    return made;
}
