// Folding: ops over constants, and elementwise ops under broadcasts.
#include "ir/interp/interp.h"
#include "passes/simplify.h"

static bool is_elementwise(const IrOp *op) {
    return ir_op_is(op->code, IR_FAMILY_ARITHMETIC | IR_FAMILY_FUNCTION | IR_FAMILY_COMPARE |
                                  IR_FAMILY_CAST | IR_FAMILY_TABLE);
}

// Ops that only move elements: applied to a splat, they give the same splat in their own shape.
static bool is_move(const IrOp *op) {
    switch (op->code) {
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_PERMUTE:
    case IR_JOIN:
    case IR_CAT: return true;
    default: break;
    }
    return false;
}

// A shift's count has its own type. Any count outside [0, width] shifts as the width does, and the
// width is a small number in every type.
static uint64_t shift_count(const IrValue *count, uint64_t bits, unsigned width) {
    Dtype type = count->type->elem;
    int64_t number = dtype_to_i64(type, bits);
    return number < 0 || number > (int64_t)width ? width : (uint64_t)number;
}

static bool constant_operands(const IrOp *op, uint64_t *bits) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!rewrite_constant(ir_operand(op, i), &bits[i])) return false;
    }
    return true;
}

static uint64_t looked_up(const IrOp *op, Dtype index, uint64_t bits) {
    const IrAttr *values = ir_attr(op, IR_ATTR_VALUES);
    int64_t at = dtype_to_i64(index, bits);
    return at >= 0 && at < values->u.consts.count ? values->u.consts.items[at] : 0;
}

static bool evaluate(const IrOp *op, uint64_t *bits, uint64_t *result) {
    Dtype elem = simplify_elem(op), to = op->results[0].type->elem;
    switch (op->code) {
    case IR_CAST:
        *result = dtype_cast(to, elem, bits[0], ir_attr_int(op, IR_ATTR_SATURATE) != 0);
        return true;
    case IR_LOOKUP: *result = looked_up(op, elem, bits[0]); return true;
    case IR_BITCAST: *result = bits[0]; return op->results[0].type->kind == IR_TILE;
    case IR_SHL:
    case IR_SHR: bits[1] = shift_count(ir_operand(op, 1), bits[1], dtype_bits(elem)); break;
    default: break;
    }
    return ir_eval(op->code, elem, bits, result);
}

IrValue *fold_constants(Simplify *s, IrOp *op) {
    if (op->operand_count == 0 || op->operand_count > 3) return NULL;
    uint64_t bits[3], result;
    if (is_elementwise(op)) {
        if (ir_op_is(op->code, IR_FAMILY_FUNCTION) || !constant_operands(op, bits)) return NULL;
        return evaluate(op, bits, &result) ? simplify_constant(s, op, result) : NULL;
    }
    if (!is_move(op) || !constant_operands(op, bits)) return NULL;
    if (op->operand_count == 2 && bits[0] != bits[1]) return NULL;
    return simplify_constant(s, op, bits[0]);
}

// ---- broadcasts ---------------------------------------------------------------------------------

// The shape that all operands are stretched from; constants match any shape.
static const IrType *common_source(const IrOp *op) {
    const IrType *source = NULL;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrOp *def = ir_operand(op, i)->def;
        if (!def || (def->code != IR_BROADCAST && def->code != IR_CONST)) return NULL;
        if (def->code == IR_CONST) continue;
        const IrType *type = ir_operand(def, 0)->type;
        if (source && !ir_same_shape(source, type)) return NULL;
        source = type;
    }
    return source;
}

IrValue *sink_broadcast(Simplify *s, IrOp *op) {
    if (!is_elementwise(op) || op->operand_count > 3) return NULL;
    const IrType *source = common_source(op);
    if (!source) return NULL;
    IrValue *operands[3];
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IrOp *def = ir_operand(op, i)->def;
        operands[i] = ir_operand(op, i);
        if (def->code == IR_BROADCAST) {
            operands[i] = ir_operand(def, 0);
        } else {
            const IrType *type =
                ir_with_shape(s->module, operands[i]->type, source->rank, source->shape);
            operands[i] = ir_const_bits(&s->b, type, ir_attr(def, IR_ATTR_VALUE)->u.bits);
        }
    }
    const IrType *result = op->results[0].type;
    const IrType *small = ir_with_shape(s->module, result, source->rank, source->shape);
    IrOp *made = ir_op(&s->b, op->code, op->operand_count, operands, 1, &small, 0, NULL);
    for (int i = 0; i < ir_op_info(op->code)->attr_count; i++) made->attrs[i] = op->attrs[i];
    return ir_broadcast(&s->b, ir_result(made, 0), result->rank, result->shape);
}
