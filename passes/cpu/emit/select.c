// Selects of vectors whose conditions usually hold for all lanes: masks for elements inside of a
// view, which are mixed only in the last blocks of a loop or in those on a diagonal.
//
//     whole = condition of the first lane & of the last
//     s = if whole { x } else { select(condition, x, y) }
//
// Invariants: a condition qualifies if it is made of comparisons between numbers that are equal in
// all lanes or grow by one from lane to lane. If it holds at both ends it holds between them,
// unless an addition overflows (then the last lane is below the first). Ownership: as lower.h.
#include "passes/cpu/emit/lower.h"

// How a number changes along the lanes.
typedef enum LanePattern {
    LANE_PATTERN_UNIFORM,
    LANE_PATTERN_IOTA,    // 0, 1, 2, … of an iota
    LANE_PATTERN_AFFINE,  // an iota and an equal number, whose sum may overflow
    LANE_PATTERN_UNKNOWN
} LanePattern;

static bool varies_along_lanes(const Nest *nest, const IrType *t, const LanePlace *place) {
    for (uint32_t d = 0; d < t->rank; d++)
        if (t->shape[d] > 1 && nest_is_lane(nest, place->at[d])) return true;
    return false;
}

static LanePattern pattern_of(Lower *l, Nest *nest, const IrValue *tile, LanePlace place);

static LanePattern operand_pattern(Lower *l, Nest *nest, const IrValue *tile, uint32_t i,
                                   LanePlace place) {
    LanePlace at;
    const IrOp *op = tile->def;
    if (!value_operand_place(op, tile, i, place, &at)) return LANE_PATTERN_UNKNOWN;
    return pattern_of(l, nest, ir_operand(op, i), at);
}

static LanePattern sum_pattern(Lower *l, Nest *nest, const IrValue *tile, LanePlace place) {
    LanePattern x = operand_pattern(l, nest, tile, 0, place);
    LanePattern y = operand_pattern(l, nest, tile, 1, place);
    if (x == LANE_PATTERN_IOTA && y == LANE_PATTERN_UNIFORM) return LANE_PATTERN_AFFINE;
    bool swapped = x == LANE_PATTERN_UNIFORM && y == LANE_PATTERN_IOTA && tile->def->code == IR_ADD;
    return swapped ? LANE_PATTERN_AFFINE : LANE_PATTERN_UNKNOWN;
}

static LanePattern cast_pattern(Lower *l, Nest *nest, const IrValue *tile, LanePlace place) {
    Dtype from = ir_operand(tile->def, 0)->type->elem, to = tile->type->elem;
    bool widens = dtype_is(from, DTYPE_CLASS_INT) && dtype_is(to, DTYPE_CLASS_INT) &&
                  dtype_size(to) > dtype_size(from);
    LanePattern x = operand_pattern(l, nest, tile, 0, place);
    return widens && x == LANE_PATTERN_IOTA ? x : LANE_PATTERN_UNKNOWN;
}

static LanePattern pattern_of(Lower *l, Nest *nest, const IrValue *tile, LanePlace place) {
    if (!varies_along_lanes(nest, tile->type, &place)) return LANE_PATTERN_UNIFORM;
    const IrOp *op = tile->def;
    if (!op || lower_tile(l, tile)->in_memory) return LANE_PATTERN_UNKNOWN;
    switch (op->code) {
    case IR_IOTA: return LANE_PATTERN_IOTA;
    case IR_ADD:
    case IR_SUB: return sum_pattern(l, nest, tile, place);
    case IR_CAST: return cast_pattern(l, nest, tile, place);
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_PERMUTE: return operand_pattern(l, nest, tile, 0, place);
    default: return LANE_PATTERN_UNKNOWN;
    }
}

// ---- the ends of a vector -----------------------------------------------------------------------

// The value of one lane, `by` lanes after the first.
static IrValue *at_lane(Lower *l, Nest *nest, IrValue *tile, LanePlace place, uint32_t by) {
    IrBuilder *b = nest_builder(nest, nest->depth);
    for (uint32_t d = 0; d < place.rank; d++) {
        if (!nest_is_lane(nest, place.at[d])) continue;
        IrValue *lane = lower_add(b, nest->variable[nest->lane], lower_i64(b, by));
        place.at[d] = (Coord){COORD_VALUE, 0, nest->depth, lane};
    }
    return value_at(l, nest, tile, place).value;
}

static bool is_signed_integer(const IrValue *v) {
    return dtype_is(v->type->elem, DTYPE_CLASS_INT) && !dtype_is(v->type->elem, DTYPE_CLASS_UINT);
}

static IrValue *no_overflow(Lower *l, Nest *nest, IrValue *side, LanePlace place) {
    if (pattern_of(l, nest, side, place) != LANE_PATTERN_AFFINE) return NULL;
    IrValue *first = at_lane(l, nest, side, place, 0);
    IrValue *last = at_lane(l, nest, side, place, nest->lanes - 1);
    return ir_binary(nest_builder(nest, nest->depth), IR_LE, first, last);
}

static bool is_comparison(const IrOp *op) {
    return op->code == IR_LT || op->code == IR_LE || op->code == IR_GT || op->code == IR_GE;
}

static bool may_compare(Lower *l, Nest *nest, const IrValue *tile, LanePlace place) {
    return is_signed_integer(ir_operand(tile->def, 0)) &&
           operand_pattern(l, nest, tile, 0, place) != LANE_PATTERN_UNKNOWN &&
           operand_pattern(l, nest, tile, 1, place) != LANE_PATTERN_UNKNOWN;
}

static IrValue *compare_ends(Lower *l, Nest *nest, IrValue *tile, LanePlace place) {
    IrBuilder *b = nest_builder(nest, nest->depth);
    IrValue *first = at_lane(l, nest, tile, place, 0);
    IrValue *last = at_lane(l, nest, tile, place, nest->lanes - 1);
    IrValue *both = lower_and(b, first, last);
    for (uint32_t i = 0; i < 2; i++) {
        LanePlace at;
        CHECK(value_operand_place(tile->def, tile, i, place, &at), "no place");
        both = lower_and(b, no_overflow(l, nest, ir_operand(tile->def, i), at), both);
    }
    return both;
}

// ---- conditions ---------------------------------------------------------------------------------

static bool qualifies(Lower *l, Nest *nest, const IrValue *tile, LanePlace place) {
    if (!varies_along_lanes(nest, tile->type, &place)) return true;
    const IrOp *op = tile->def;
    if (!op || lower_tile(l, tile)->in_memory) return false;
    if (is_comparison(op)) return may_compare(l, nest, tile, place);
    bool moves = op->code == IR_BROADCAST || op->code == IR_RESHAPE || op->code == IR_PERMUTE;
    if (!moves && op->code != IR_AND) return false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        LanePlace at;
        if (!value_operand_place(op, tile, i, place, &at)) return false;
        if (!qualifies(l, nest, ir_operand(op, i), at)) return false;
    }
    return true;
}

// A bool: the condition certainly holds in all lanes.
static IrValue *holds(Lower *l, Nest *nest, IrValue *tile, LanePlace place) {
    if (!varies_along_lanes(nest, tile->type, &place)) return value_at(l, nest, tile, place).value;
    IrOp *op = tile->def;
    if (is_comparison(op)) return compare_ends(l, nest, tile, place);
    IrValue *all = NULL;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        LanePlace at;
        CHECK(value_operand_place(op, tile, i, place, &at), "no place of an operand");
        IrValue *one = holds(l, nest, ir_operand(op, i), at);
        all = lower_and(nest_builder(nest, nest->depth), one, all);
    }
    return all;
}

// ---- the select ---------------------------------------------------------------------------------

// Emits the block for lanes that differ: the memos of its values hold only inside of it.
static void emit_mixed(Lower *l, Nest *nest, IrBlock *block, IrValue *condition, LanePlace at,
                       IrValue *const x[2]) {
    IrBuilder *b = nest_builder(nest, nest->depth), outside = *b;
    size_t known = nest->memo.count;
    *b = ir_builder_at_end(block);
    b->span = outside.span;
    IrValue *mask = value_splat(nest, value_at(l, nest, condition, at)).value;
    IrValue *mixed = ir_ternary(b, IR_SELECT, mask, x[0], x[1]);
    ir_yield(b, 1, &mixed);
    value_forget_from(l, nest, known);
    *b = outside;
}

bool select_at(Lower *l, Nest *nest, const IrOp *op, const IrValue *tile, LanePlace place,
               NestValue *out) {
    LanePlace at[3];
    if (nest->lanes == 1) return false;
    for (uint32_t i = 0; i < 3; i++)
        if (!value_operand_place(op, tile, i, place, &at[i])) return false;
    IrValue *condition = ir_operand(op, 0), *x[2];
    if (!varies_along_lanes(nest, condition->type, &at[0])) return false;
    if (!qualifies(l, nest, condition, at[0])) return false;
    for (uint32_t i = 0; i < 2; i++)
        x[i] = value_splat(nest, value_at(l, nest, ir_operand(op, i + 1), at[i + 1])).value;
    IrValue *whole = holds(l, nest, condition, at[0]);
    IrBuilder *b = nest_builder(nest, nest->depth);
    IrBlock *regions[2] = {ir_block_create(b->func), ir_block_create(b->func)};
    IrBuilder same = ir_builder_at_end(regions[0]);
    same.span = b->span;
    ir_yield(&same, 1, &x[0]);
    emit_mixed(l, nest, regions[1], condition, at[0], x);
    const IrType *t = value_type(l, nest, tile->type, true);
    *out = (NestValue){ir_result(ir_op(b, IR_IF, 1, &whole, 1, &t, 2, regions), 0), nest->depth};
    return true;
}
