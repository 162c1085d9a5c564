// Values: one element, or one vector of elements, of a tile at a place of a nest.
#include "passes/cpu/emit/lower.h"

static uint8_t max_depth(uint8_t a, uint8_t b) { return a > b ? a : b; }

static bool is_vector(const IrValue *v) { return v->type->rank > 0; }

// ---- ops that are more than elementwise ---------------------------------------------------------

static NestValue at_iota(Nest *nest, const IrValue *tile, LanePlace place) {
    NestValue c = nest_coord(nest, place.at[0]);
    IrBuilder *b = nest_builder(nest, c.depth);
    NestValue x = {ir_cast(b, c.value, tile->type->elem, true), c.depth};
    if (!nest_is_lane(nest, place.at[0])) return x;
    IrValue *lanes = ir_iota(nest_builder(nest, 0), nest->lanes);
    x = value_splat(nest, x);
    return (NestValue){ir_binary(nest_builder(nest, x.depth), IR_ADD, x.value, lanes), x.depth};
}

// ---- elementwise --------------------------------------------------------------------------------

static void copy_attrs(IrOp *to, const IrOp *from) {
    int count = ir_op_info(from->code)->attr_count;
    for (int i = 0; i < count; i++) to->attrs[i] = from->attrs[i];
}

// Emits the op on lanes or on one number. An op with several results (`random`) gets all of them
// again, and its scalars stay scalars.
static IrValue *again(Lower *l, Nest *nest, IrBuilder *b, const IrOp *op, const IrValue *tile,
                      bool vector, IrValue **operands) {
    const IrType *types[4];
    CHECK(op->result_count <= 4, "'%s' at a place", ir_op_info(op->code)->text);
    for (uint32_t i = 0; i < op->result_count; i++)
        types[i] = value_type(l, nest, op->results[i].type, vector);
    IrOp *made = ir_op(b, op->code, op->operand_count, operands, op->result_count, types, 0, NULL);
    copy_attrs(made, op);
    return ir_result(made, (uint32_t)(tile - op->results));
}

static NestValue at_elementwise(Lower *l, Nest *nest, const IrOp *op, const IrValue *tile,
                                LanePlace place) {
    enum { OPERANDS = 4 };
    CHECK(op->operand_count <= OPERANDS, "'%s' at a place", ir_op_info(op->code)->text);
    NestValue x[OPERANDS];
    IrValue *operands[OPERANDS];
    uint8_t depth = 0;
    bool vector = false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        LanePlace at;
        CHECK(value_operand_place(op, tile, i, place, &at), "no place of an operand");
        x[i] = value_at(l, nest, ir_operand(op, i), at);
        depth = max_depth(depth, x[i].depth);
        vector = vector || is_vector(x[i].value);
    }
    bool moves = op->code == IR_BROADCAST || op->code == IR_PERMUTE || op->code == IR_SPLIT;
    if (moves) return x[0];
    if (op->code == IR_DIV && quotient_pays(l, nest, x[0], x[1])) {
        nest_builder(nest, depth)->span = op->span;
        return (NestValue){quotient_of(l, nest, x[0], x[1]), depth};
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        bool scalar = op->result_count > 1 && !ir_operand(op, i)->type->rank;
        operands[i] = vector && !scalar ? value_splat(nest, x[i]).value : x[i].value;
    }
    IrBuilder *b = nest_builder(nest, depth);
    b->span = op->span;
    return (NestValue){again(l, nest, b, op, tile, vector, operands), depth};
}

// Rows of another length are read from a buffer, which stores them one after the other.
static NestValue at_reshape(Lower *l, Nest *nest, const IrOp *op, const IrValue *tile,
                            LanePlace place) {
    LanePlace at;
    IrValue *x = ir_operand(op, 0);
    if (value_reshape_place(x->type, tile->type, place, &at)) return value_at(l, nest, x, at);
    return access_buffer_load(l, nest, buffer_as(lower_buffer_of(l, x), tile->type), place);
}

static NestValue at_const(Lower *l, Nest *nest, const IrOp *op, const IrValue *tile) {
    IrBuilder *b = nest_builder(nest, 0);
    const IrType *t = value_type(l, nest, tile->type, false);
    return (NestValue){ir_const_bits(b, t, ir_attr(op, IR_ATTR_VALUE)->u.bits), 0};
}

static NestValue compute(Lower *l, Nest *nest, IrValue *tile, LanePlace place) {
    IrOp *op = tile->def;
    NestValue chosen;
    CHECK(op, "a carried tile has no buffer");
    nest->emitted++;
    if (op->code == IR_SELECT && select_at(l, nest, op, tile, place, &chosen)) return chosen;
    switch (op->code) {
    case IR_CONST: return at_const(l, nest, op, tile);
    case IR_IOTA: return at_iota(nest, tile, place);
    case IR_RESHAPE: return at_reshape(l, nest, op, tile, place);
    case IR_GATHER: return access_gather(l, nest, op, place);
    case IR_VIEW_LOAD:
    case IR_LOAD: return access_load(l, nest, op, place);
    case IR_VIEW_INSIDE: return access_inside(l, nest, op, place);
    default: return at_elementwise(l, nest, op, tile, place);
    }
}

NestValue value_at(Lower *l, Nest *nest, IrValue *tile, LanePlace place) {
    if (tile->type->rank == 0) return (NestValue){tile, 0};
    const ValueMemo *known = value_memo(l, nest, tile, place);
    if (known) return known->val;
    const TileState *t = lower_tile(l, tile);
    bool stored = t->in_memory && !t->pending;
    IrValue *vector = stored ? value_in_register(l, nest, tile, place) : NULL;
    if (vector) return (NestValue){vector, 0};
    NestValue val =
        stored ? access_buffer_load(l, nest, t->buffer, place) : compute(l, nest, tile, place);
    value_remember(l, nest, (ValueMemo){.tile = tile, .place = place, .val = val});
    return val;
}
