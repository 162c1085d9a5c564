// The elements of i4 and u4 at a place: two in a byte, the first one in the low half.
#include "passes/cpu/emit/access.h"

// ---- loads --------------------------------------------------------------------------------------

// Every second lane of a vector, from `first` on.
static IrValue *alternate(Lower *l, IrBuilder *b, IrValue *x, uint32_t first) {
    uint32_t half = x->type->count / 2;
    int64_t *lanes = arena_new(l->scratch, int64_t, half);
    for (uint32_t i = 0; i < half; i++) lanes[i] = 2 * i + first;
    const IrType *t = ir_with_shape(l->module, x->type, 1, &half);
    IrValue *operands[2] = {x, NULL};
    IrOp *op = ir_op(b, IR_VEC_SHUFFLE, 2, operands, 1, &t, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_LANES, half, lanes);
    return ir_result(op, 0);
}

static IrValue *interleave(Lower *l, IrBuilder *b, IrValue *even, IrValue *odd) {
    uint32_t half = even->type->count, whole = 2 * half;
    int64_t *lanes = arena_new(l->scratch, int64_t, whole);
    for (uint32_t i = 0; i < half; i++) {
        lanes[2 * i] = i;
        lanes[2 * i + 1] = half + i;
    }
    const IrType *t = ir_with_shape(l->module, even->type, 1, &whole);
    IrValue *operands[2] = {even, odd};
    IrOp *op = ir_op(b, IR_VEC_SHUFFLE, 2, operands, 1, &t, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_LANES, whole, lanes);
    return ir_result(op, 0);
}

static IrValue *like(IrBuilder *b, const IrValue *x, uint64_t bits) {
    return ir_const_bits(b, x->type, bits);
}

// The low four bits of u8 elements as i8 or u8.
static IrValue *widen_nibble(IrBuilder *b, IrValue *x, Dtype packed) {
    if (packed == DTYPE_U4) return ir_binary(b, IR_AND, x, like(b, x, 15));
    IrValue *s = ir_bitcast(b, x, ir_with_elem(b->module, x->type, DTYPE_I8));
    s = ir_binary(b, IR_SHL, s, like(b, s, 4));
    return ir_binary(b, IR_SHR, s, like(b, s, 4));
}

static IrValue *load_pairs(Lower *l, Nest *nest, IrBuilder *b, IrValue *data,
                           const AccessLanes *lanes, Dtype packed) {
    IrValue *byte = ir_binary(b, IR_SHR, lanes->linear, lower_i64(b, 1));
    IrValue *mask = lanes->mask ? alternate(l, b, lanes->mask, 0) : NULL;
    IrValue *x = access_load_op(l, nest, b, lanes, ir_ptr_add(b, data, byte), DTYPE_U8,
                                nest->lanes / 2, mask, NULL);
    IrValue *high = ir_binary(b, IR_SHR, x, like(b, x, 4));
    return interleave(l, b, widen_nibble(b, x, packed), widen_nibble(b, high, packed));
}

static IrValue *load_nibbles(Lower *l, Nest *nest, IrBuilder *b, IrValue *data,
                             const AccessLanes *lanes, Dtype packed) {
    IrValue *n = lanes->linear;
    IrValue *byte = ir_binary(b, IR_SHR, n, like(b, n, 1));
    IrValue *pointer = access_element_pointer(nest, b, data, byte);
    IrValue *x =
        access_load_op(l, nest, b, lanes, pointer, DTYPE_U8, nest->lanes, lanes->mask, NULL);
    IrValue *odd = ir_cast(b, ir_binary(b, IR_AND, n, like(b, n, 1)), DTYPE_U8, true);
    IrValue *shift = ir_binary(b, IR_SHL, odd, like(b, odd, 2));
    return widen_nibble(b, ir_binary(b, IR_SHR, x, shift), packed);
}

IrValue *packed_load(Lower *l, Nest *nest, const IrOp *op, const AccessLanes *lanes, IrValue *pad) {
    IrValue *view = ir_operand(op, 0);
    Dtype packed = view->type->elem;
    IrBuilder *b = nest_builder(nest, lanes->depth);
    IrValue *data = access_view_data(nest_builder(nest, 0), view);
    IrValue *x = lanes->neighbours ? load_pairs(l, nest, b, data, lanes, packed)
                                   : load_nibbles(l, nest, b, data, lanes, packed);
    if (!lanes->mask) return x;
    return ir_ternary(b, IR_SELECT, lanes->mask, x, pad ? pad : like(b, x, 0));
}

// ---- stores -------------------------------------------------------------------------------------

static IrValue *low_nibble(IrBuilder *b, IrValue *x) {
    if (x->type->elem == DTYPE_I8) x = ir_bitcast(b, x, ir_with_elem(b->module, x->type, DTYPE_U8));
    return ir_binary(b, IR_AND, x, like(b, x, 15));
}

// Stores two neighbouring elements as one byte.
static void store_pairs(Lower *l, IrBuilder *b, IrValue *data, const AccessLanes *lanes,
                        IrValue *x) {
    IrValue *low = low_nibble(b, alternate(l, b, x, 0));
    IrValue *high = low_nibble(b, alternate(l, b, x, 1));
    high = ir_binary(b, IR_SHL, high, like(b, high, 4));
    IrValue *byte = ir_binary(b, IR_SHR, lanes->linear, lower_i64(b, 1));
    IrValue *mask = lanes->mask ? alternate(l, b, lanes->mask, 0) : NULL;
    access_store_op(b, lanes, ir_ptr_add(b, data, byte), ir_binary(b, IR_OR, low, high), mask,
                    false);
}

// Stores one element into its half of a byte.
static void store_nibble(Lower *l, Nest *nest, IrBuilder *b, IrValue *data,
                         const AccessLanes *lanes, IrValue *x) {
    CHECK(!lanes->vector, "a packed store of scattered elements");
    IrValue *n = lanes->linear;
    IrValue *pointer = ir_ptr_add(b, data, ir_binary(b, IR_SHR, n, lower_i64(b, 1)));
    IrValue *odd = ir_cast(b, ir_binary(b, IR_AND, n, lower_i64(b, 1)), DTYPE_U8, true);
    IrValue *shift = ir_binary(b, IR_SHL, odd, like(b, odd, 2));
    x = ir_binary(b, IR_SHL, low_nibble(b, x), shift);
    IrValue *other = access_load_op(l, nest, b, lanes, pointer, DTYPE_U8, 1, lanes->mask, NULL);
    IrValue *kept = ir_binary(b, IR_SHR, like(b, x, 0xf0), shift);
    access_store_op(b, lanes, pointer, ir_binary(b, IR_OR, ir_binary(b, IR_AND, other, kept), x),
                    lanes->mask, false);
}

void packed_store(Lower *l, Nest *nest, const IrOp *op, const AccessLanes *lanes, IrValue *x) {
    IrBuilder *b = nest_builder(nest, nest->depth);
    IrValue *data = access_view_data(nest_builder(nest, 0), ir_operand(op, 0));
    if (lanes->neighbours)
        store_pairs(l, b, data, lanes, x);
    else
        store_nibble(l, nest, b, data, lanes, x);
}
