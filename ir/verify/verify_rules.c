#include <stdarg.h>

#include "ir/verify/verifier.h"

// ---- messages -----------------------------------------------------------------------------------

bool verifier_fail(Verifier *v, const IrOp *op, const char *format, ...) {
    v->ok = false;
    if (!v->numbers) v->numbers = ir_numbers(v->scratch, v->func);
    ArenaMark mark = arena_mark(v->scratch);
    StrBuf text = strbuf(v->scratch);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    strbuf_add(&text, STR(", in '"));
    ir_print_op_with(v->numbers, op, &text);
    strbuf_char(&text, '\'');
    diag_error(v->diags, op->span, DIAG_IR_INVALID, "%s", text.text);
    arena_reset(v->scratch, mark);
    return false;
}

const char *verifier_type(Verifier *v, const IrType *t) {
    StrBuf text = strbuf(v->scratch);
    ir_type_text(t, &text);
    return text.text ? text.text : "";
}

static const char *class_text(Verifier *v, unsigned classes) {
    static const struct {
        unsigned bits;
        const char *text;
    } names[] = {
        {DTYPE_CLASS_BOOL, "bool"}, {DTYPE_CLASS_INT, "integers"},  {DTYPE_CLASS_FLOAT, "floats"},
        {DTYPE_CLASS_FP8, "fp8"},   {IR_CLASS_POINTER, "pointers"},
    };
    StrBuf text = strbuf(v->scratch);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!(classes & names[i].bits)) continue;
        strbuf_printf(&text, "%s%s", text.size ? ", " : "", names[i].text);
    }
    return text.text ? text.text : "";
}

// ---- expectations -------------------------------------------------------------------------------

IrType verifier_scalar(Dtype elem) { return (IrType){.kind = IR_TILE, .elem = elem, .count = 1}; }

void verifier_set_shape(IrType *t, uint32_t rank, const uint32_t *shape) {
    t->rank = rank;
    t->count = 1;
    for (uint32_t i = 0; i < rank; i++) {
        t->shape[i] = shape[i];
        t->count *= shape[i];
    }
}

IrType verifier_tile_like(const IrType *t, Dtype elem) {
    IrType made = *t;
    made.kind = IR_TILE;
    made.elem = elem;
    return made;
}

static bool types_agree(const IrType *a, const IrType *b) {
    if (a->kind != b->kind || a->elem != b->elem || a->rank != b->rank) return false;
    return a->kind == IR_VIEW || ir_same_shape(a, b);
}

bool verifier_same(Verifier *v, const IrOp *op, const char *what, const IrType *found,
                   const IrType *expected) {
    if (types_agree(found, expected)) return true;
    return verifier_fail(v, op, "expected %s of type %s, found %s", what,
                         verifier_type(v, expected), verifier_type(v, found));
}

bool verifier_operand(Verifier *v, const IrOp *op, uint32_t i, const IrType *expected) {
    if (types_agree(ir_operand(op, i)->type, expected)) return true;
    return verifier_same(v, op, arena_printf(v->scratch, "operand %u", i), ir_operand(op, i)->type,
                         expected);
}

bool verifier_result(Verifier *v, const IrOp *op, uint32_t i, const IrType *expected) {
    if (types_agree(op->results[i].type, expected)) return true;
    return verifier_same(v, op, arena_printf(v->scratch, "result %u", i), op->results[i].type,
                         expected);
}

static unsigned class_of(const IrType *t) {
    switch (t->kind) {
    case IR_TILE: return dtype_class(t->elem);
    case IR_PTR: return IR_CLASS_POINTER;
    case IR_VIEW: break;
    }
    return 0;
}

bool verifier_class(Verifier *v, const IrOp *op, uint32_t i, unsigned classes) {
    const IrType *t = ir_operand(op, i)->type;
    if (class_of(t) & classes) return true;
    return verifier_fail(v, op, "expected operand %u of %s, found %s", i, class_text(v, classes),
                         verifier_type(v, t));
}

bool verifier_mask(Verifier *v, const IrOp *op, uint32_t i, const IrType *shape) {
    if (!ir_operand(op, i)) return true;
    IrType mask = verifier_tile_like(shape, DTYPE_BOOL);
    return verifier_operand(v, op, i, &mask);
}

bool verifier_axis(Verifier *v, const IrOp *op, const IrType *t, uint32_t *axis) {
    int64_t value = ir_attr_int(op, IR_ATTR_AXIS);
    if (t->rank == 0)
        return verifier_fail(v, op, "expected a tile with dimensions, found a scalar");
    if (value < 0 || value >= t->rank) {
        return verifier_fail(v, op, "expected an axis from 0 to %u, found %lld", t->rank - 1,
                             (long long)value);
    }
    *axis = (uint32_t)value;
    return true;
}

// ---- values out of nothing ----------------------------------------------------------------------

static bool rule_const(Verifier *v, const IrOp *op) {
    const IrType *t = op->results[0].type;
    if (t->kind != IR_TILE || !dtype_is(t->elem, DTYPE_CLASS_ANY)) {
        return verifier_fail(v, op, "expected a tile of numbers or bool, found %s",
                             verifier_type(v, t));
    }
    uint64_t bits = ir_attr(op, IR_ATTR_VALUE)->u.bits;
    unsigned width = t->elem == DTYPE_BOOL ? 1 : dtype_bits(t->elem);
    if (width >= 64 || bits >> width == 0) return true;
    return verifier_fail(v, op, "expected %u bits, found 0x%llx", width, (unsigned long long)bits);
}

static bool rule_scalar_i64(Verifier *v, const IrOp *op) {
    IrType i64 = verifier_scalar(DTYPE_I64);
    return verifier_result(v, op, 0, &i64);
}

static bool rule_units(Verifier *v, const IrOp *op) {
    if (!v->section || v->section->kind != IR_GRID)
        return verifier_fail(v, op, "expected units in grid only");
    return rule_scalar_i64(v, op);
}

static bool rule_extent(Verifier *v, const IrOp *op) {
    Symbol name = ir_attr(op, IR_ATTR_EXTENT)->u.name;
    TRY(rule_scalar_i64(v, op));
    if (ir_extent_find(v->func, name)) return true;
    return verifier_fail(v, op, "expected an extent of the kernel, found '%s'", name);
}

static bool rule_iota(Verifier *v, const IrOp *op) {
    const IrType *t = op->results[0].type;
    if (ir_is_tile(t, DTYPE_I32) && t->rank == 1) return true;
    return verifier_fail(v, op, "expected an i32 tile of rank 1, found %s", verifier_type(v, t));
}

// ---- elementwise --------------------------------------------------------------------------------

// All operands and the result have the first operand's type.
static bool rule_uniform(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, ir_op_info(op->code)->classes));
    const IrType *t = ir_operand(op, 0)->type;
    for (uint32_t i = 1; i < op->operand_count; i++) TRY(verifier_operand(v, op, i, t));
    return verifier_result(v, op, 0, t);
}

static bool want_shape(Verifier *v, const IrOp *op, uint32_t i, const IrType *as) {
    if (ir_same_shape(ir_operand(op, i)->type, as)) return true;
    return verifier_fail(v, op, "expected operand %u of the shape of %s, found %s", i,
                         verifier_type(v, as), verifier_type(v, ir_operand(op, i)->type));
}

static bool rule_shift(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, DTYPE_CLASS_INT));
    TRY(verifier_class(v, op, 1, DTYPE_CLASS_INT));
    TRY(want_shape(v, op, 1, ir_operand(op, 0)->type));
    return verifier_result(v, op, 0, ir_operand(op, 0)->type);
}

static bool rule_compare(Verifier *v, const IrOp *op) {
    const IrType *t = ir_operand(op, 0)->type;
    TRY(verifier_class(v, op, 0, ir_op_info(op->code)->classes));
    TRY(verifier_operand(v, op, 1, t));
    IrType truth = verifier_tile_like(t, DTYPE_BOOL);
    return verifier_result(v, op, 0, &truth);
}

static bool rule_select(Verifier *v, const IrOp *op) {
    const IrType *t = ir_operand(op, 1)->type;
    TRY(verifier_class(v, op, 0, DTYPE_CLASS_BOOL));
    TRY(verifier_class(v, op, 1, ir_op_info(op->code)->classes));
    TRY(verifier_operand(v, op, 2, t));
    if (ir_operand(op, 0)->type->rank != 0) TRY(want_shape(v, op, 0, t));
    return verifier_result(v, op, 0, t);
}

static bool rule_cast(Verifier *v, const IrOp *op) {
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    TRY(verifier_class(v, op, 0, DTYPE_CLASS_ANY));
    IrType expected = verifier_tile_like(from, to->elem);
    return verifier_result(v, op, 0, &expected);
}

static bool rule_lookup(Verifier *v, const IrOp *op) {
    const IrType *index = ir_operand(op, 0)->type, *r = op->results[0].type;
    TRY(verifier_class(v, op, 0, DTYPE_CLASS_INT));
    IrType expected = verifier_tile_like(index, r->elem);
    TRY(verifier_result(v, op, 0, &expected));
    const IrAttr *values = ir_attr(op, IR_ATTR_VALUES);
    uint32_t count = values->u.consts.count;
    if (count == 0 || (uint64_t)count * dtype_size(r->elem) > IR_TABLE_BYTES)
        return verifier_fail(v, op, "expected 1 to %u values of %s, found %u",
                             (unsigned)(IR_TABLE_BYTES / dtype_size(r->elem)), dtype_name(r->elem),
                             count);
    unsigned bits = r->elem == DTYPE_BOOL ? 1 : dtype_bits(r->elem);
    for (uint32_t i = 0; i < count; i++)
        if (bits < 64 && values->u.consts.items[i] >> bits)
            return verifier_fail(v, op, "value %u does not fit %s", i, dtype_name(r->elem));
    return true;
}

static unsigned bits_of(const IrType *t) {
    if (t->kind == IR_PTR) return 64;
    return t->kind == IR_TILE && t->elem != DTYPE_BOOL ? dtype_bits(t->elem) : 0;
}

static bool rule_bitcast(Verifier *v, const IrOp *op) {
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    if (bits_of(from) != 0 && bits_of(from) == bits_of(to) && ir_same_shape(from, to)) return true;
    return verifier_fail(v, op, "expected types of one shape and width, none bool, found %s and %s",
                         verifier_type(v, from), verifier_type(v, to));
}

// ---- shapes -------------------------------------------------------------------------------------

// The result has the operand's kind and element, in any shape.
static bool same_elem(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, ir_op_info(op->code)->classes));
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    if (from->kind == to->kind && from->elem == to->elem) return true;
    IrType expected = *from;
    verifier_set_shape(&expected, to->rank, to->shape);
    return verifier_result(v, op, 0, &expected);
}

static bool rule_broadcast(Verifier *v, const IrOp *op) {
    TRY(same_elem(v, op));
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    bool fits = from->rank == 0 || from->rank == to->rank;
    for (uint32_t i = 0; fits && i < from->rank; i++) {
        fits = from->shape[i] == to->shape[i] || from->shape[i] == 1;
    }
    return fits || verifier_fail(v, op, "expected a shape that stretches to %s, found %s",
                                 verifier_type(v, to), verifier_type(v, from));
}

static bool rule_reshape(Verifier *v, const IrOp *op) {
    TRY(same_elem(v, op));
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    if (from->count == to->count) return true;
    return verifier_fail(v, op, "expected %u elements, found %u", from->count, to->count);
}

static bool rule_permute(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, ir_op_info(op->code)->classes));
    const IrType *from = ir_operand(op, 0)->type;
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    IrType to = *from;
    unsigned used = 0;
    bool fits = perm->u.ints.count == from->rank;
    for (uint32_t i = 0; fits && i < from->rank; i++) {
        int64_t at = perm->u.ints.items[i];
        fits = at >= 0 && at < from->rank && !(used & 1u << at);
        if (!fits) break;
        used |= 1u << at;
        to.shape[i] = from->shape[at];
    }
    if (!fits) {
        return verifier_fail(v, op, "expected a permutation of %u dimensions", from->rank);
    }
    return verifier_result(v, op, 0, &to);
}

static bool rule_join(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, ir_op_info(op->code)->classes));
    const IrType *t = ir_operand(op, 0)->type;
    TRY(verifier_operand(v, op, 1, t));
    if (t->rank == IR_MAX_RANK) {
        return verifier_fail(v, op, "expected at most %d dimensions, found %u more",
                             IR_MAX_RANK - 1, t->rank - IR_MAX_RANK + 1);
    }
    IrType to = *t;
    to.shape[to.rank++] = 2;
    return verifier_result(v, op, 0, &to);
}

static bool rule_split(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, ir_op_info(op->code)->classes));
    IrType to = *ir_operand(op, 0)->type;
    if (to.rank == 0 || to.shape[to.rank - 1] != 2) {
        return verifier_fail(v, op, "expected a last dimension of 2, found %s",
                             verifier_type(v, &to));
    }
    to.rank--;
    return verifier_result(v, op, 0, &to) && verifier_result(v, op, 1, &to);
}

static bool rule_cat(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, ir_op_info(op->code)->classes));
    IrType to = *ir_operand(op, 0)->type;
    uint32_t axis;
    TRY(verifier_operand(v, op, 1, &to));
    TRY(verifier_axis(v, op, &to, &axis));
    to.shape[axis] *= 2;
    return verifier_result(v, op, 0, &to);
}

static bool rule_gather(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, ir_op_info(op->code)->classes));
    TRY(verifier_class(v, op, 1, DTYPE_CLASS_INT));
    const IrType *x = ir_operand(op, 0)->type, *index = ir_operand(op, 1)->type;
    uint32_t axis;
    TRY(verifier_axis(v, op, x, &axis));
    IrType expected = *index;
    verifier_set_shape(&expected, x->rank, x->shape);
    if (index->rank == x->rank) expected.shape[axis] = index->shape[axis];
    TRY(verifier_operand(v, op, 1, &expected));
    IrType to = verifier_tile_like(index, x->elem);
    return verifier_result(v, op, 0, &to);
}

// ---- dispatch -----------------------------------------------------------------------------------

bool verifier_rule(Verifier *v, const IrOp *op) {
    switch (ir_op_info(op->code)->rule) {
    case IR_RULE_CONST: return rule_const(v, op);
    case IR_RULE_SCALAR_I64: return rule_scalar_i64(v, op);
    case IR_RULE_UNITS: return rule_units(v, op);
    case IR_RULE_EXTENT: return rule_extent(v, op);
    case IR_RULE_IOTA: return rule_iota(v, op);
    case IR_RULE_UNARY:
    case IR_RULE_BINARY:
    case IR_RULE_TERNARY: return rule_uniform(v, op);
    case IR_RULE_SHIFT: return rule_shift(v, op);
    case IR_RULE_COMPARE: return rule_compare(v, op);
    case IR_RULE_SELECT: return rule_select(v, op);
    case IR_RULE_CAST: return rule_cast(v, op);
    case IR_RULE_LOOKUP: return rule_lookup(v, op);
    case IR_RULE_BITCAST: return rule_bitcast(v, op);
    case IR_RULE_BROADCAST: return rule_broadcast(v, op);
    case IR_RULE_RESHAPE: return rule_reshape(v, op);
    case IR_RULE_PERMUTE: return rule_permute(v, op);
    case IR_RULE_JOIN: return rule_join(v, op);
    case IR_RULE_SPLIT: return rule_split(v, op);
    case IR_RULE_CAT: return rule_cat(v, op);
    case IR_RULE_GATHER: return rule_gather(v, op);
    case IR_RULE_DOT:
    case IR_RULE_REDUCE:
    case IR_RULE_SCAN:
    case IR_RULE_SORT:
    case IR_RULE_TOPK:
    case IR_RULE_HISTOGRAM:
    case IR_RULE_RANDOM: return verifier_tile_rule(v, op);
    case IR_RULE_PTR_ADD:
    case IR_RULE_LOAD:
    case IR_RULE_STORE:
    case IR_RULE_ATOMIC:
    case IR_RULE_ATOMIC_CAS:
    case IR_RULE_VIEW_LOAD:
    case IR_RULE_VIEW_STORE:
    case IR_RULE_VIEW_ATOMIC:
    case IR_RULE_VIEW_CAS:
    case IR_RULE_VIEW_INSIDE:
    case IR_RULE_SCRATCH: return verifier_memory_rule(v, op);
    case IR_RULE_ASSERT:
    case IR_RULE_PRINT:
    case IR_RULE_NOALIAS:
    case IR_RULE_FOR:
    case IR_RULE_WHILE:
    case IR_RULE_IF:
    case IR_RULE_YIELD:
    case IR_RULE_RETURN:
    case IR_RULE_CALL:
    case IR_RULE_NOTHING: return verifier_control_rule(v, op);
    case IR_RULE_VEC_DATA:
    case IR_RULE_CPU_DIM:
    case IR_RULE_CPU_SPAN:
    case IR_RULE_CPU_LOAD:
    case IR_RULE_CPU_STORE:
    case IR_RULE_CPU_PREFETCH:
    case IR_RULE_VEC_REDUCE:
    case IR_RULE_VEC_SHUFFLE:
    case IR_RULE_VEC_LANE:
    case IR_RULE_CPU_DOT:
    case IR_RULE_CPU_TILES:
    case IR_RULE_VEC_ASSERT:
    case IR_RULE_VEC_PRINT: return verifier_cpu_rule(v, op);
    case IR_RULE_GPU_CONVERT:
    case IR_RULE_GPU_SHARED:
    case IR_RULE_GPU_SLOT:
    case IR_RULE_GPU_COPY:
    case IR_RULE_GPU_MBARRIER:
    case IR_RULE_GPU_MBARRIER_EXPECT:
    case IR_RULE_GPU_MBARRIER_ARRIVE:
    case IR_RULE_GPU_TMA_LOAD:
    case IR_RULE_GPU_MBARRIER_WAIT:
    case IR_RULE_GPU_MBARRIER_END:
    case IR_RULE_GPU_READ: return verifier_gpu_rule(v, op);
    case IR_RULE_THREAD_ID:
    case IR_RULE_THREAD_LOAD:
    case IR_RULE_THREAD_STORE:
    case IR_RULE_THREAD_SHUFFLE:
    case IR_RULE_THREAD_PACK:
    case IR_RULE_THREAD_MATRIX_LOAD:
    case IR_RULE_THREAD_MMA:
    case IR_RULE_THREAD_WGMMA:
    case IR_RULE_THREAD_WGMMA_BEGIN:
    case IR_RULE_THREAD_WGMMA_WAIT:
    case IR_RULE_THREAD_COPY:
    case IR_RULE_THREAD_MBARRIER:
    case IR_RULE_THREAD_MBARRIER_WAIT:
    case IR_RULE_THREAD_TMA_LOAD:
    case IR_RULE_THREAD_UPDATE: return verifier_thread_rule(v, op);
    }
    return true;
}
