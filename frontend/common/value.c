// Values during elaboration: their description in messages, conversion, common types, broadcast.
#include <math.h>
#include <stdarg.h>

#include "frontend/common/elab.h"

// ---- messages

Val el_error(Elab *e, Span span, DiagCode code, const char *format, ...) {
    e->errors++;
    StrBuf text = strbuf(e->scratch);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    diag_error(e->diags, span, code, "%.*s", (int)text.size, text.text);
    e->language->trace(e);
    return EL_POISON;
}

static void shape_text(StrBuf *out, uint32_t rank, const uint32_t *shape) {
    if (!rank) return;
    strbuf_char(out, '[');
    for (uint32_t i = 0; i < rank; i++) strbuf_printf(out, i ? ", %u" : "%u", shape[i]);
    strbuf_char(out, ']');
}

const char *el_shape_text(Elab *e, uint32_t rank, const uint32_t *shape) {
    StrBuf out = strbuf(e->scratch);
    if (!rank) strbuf_add(&out, STR("a scalar"));
    shape_text(&out, rank, shape);
    return out.text;
}

const char *el_dtype_text(const Elab *e, Dtype t) { return e->language->dtype_text(t); }

const char *el_type_text(Elab *e, const IrType *t) {
    StrBuf out = strbuf(e->scratch);
    bool pointer = t->kind == IR_PTR;
    if (pointer) strbuf_add(&out, str(e->language->pointer[0]));
    strbuf_add(&out, str(el_dtype_text(e, t->elem)));
    if (pointer) strbuf_add(&out, str(e->language->pointer[1]));
    shape_text(&out, t->rank, t->shape);
    return out.text;
}

static const char *table_text(Elab *e, const Table *t) {
    if (t->name) return arena_printf(e->scratch, "the table '%s'", t->name);
    StrBuf out = strbuf(e->scratch);
    strbuf_add(&out, str(el_dtype_text(e, t->elem)));
    shape_text(&out, t->rank, t->dims);
    return out.text;
}

const char *el_wide_text(Elab *e, Int128 value) {
    enum { DIGITS = 40 };
    Uint128 rest = (Uint128)value;
    if (value < 0) rest = -rest;
    char *text = arena_new(e->scratch, char, DIGITS + 2);
    char *first = text + DIGITS;
    do {
        *--first = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest);
    if (value < 0) *--first = '-';
    return first;
}

const char *el_val_text(Elab *e, Val v) {
    const char *own = e->language->val_text ? e->language->val_text(e, v) : NULL;
    if (own) return own;
    switch (v.kind) {
    case VAL_POISON: return "a wrong value";
    case VAL_NONE: return "nothing";
    case VAL_INT: return arena_printf(e->scratch, "the integer %s", el_wide_text(e, v.integer));
    case VAL_FLOAT: {
        StrBuf out = strbuf(e->scratch);
        strbuf_add(&out, STR("the float "));
        strbuf_double(&out, v.real, false);
        return out.text;
    }
    case VAL_BOOL: return "a bool";
    case VAL_IR: return el_type_text(e, v.ir->type);
    case VAL_TYPE: return arena_printf(e->scratch, "the type %s", el_dtype_text(e, v.type));
    case VAL_TUPLE: return arena_printf(e->scratch, "a tuple of %u values", v.tuple.count);
    case VAL_VIEW: return arena_printf(e->scratch, "the view '%s'", v.view->name);
    case VAL_FN: return arena_printf(e->scratch, "the function '%s'", v.fn.name);
    case VAL_STRING: return "a string";
    case VAL_ARRAY: return arena_printf(e->scratch, "the array '%s'", v.array->name);
    case VAL_TABLE: return table_text(e, v.table);
    }
    return "";
}

const char *el_cast_text(Elab *e, Dtype to) { return e->language->cast_text(e->scratch, to); }

const char *el_operator_text(const Elab *e, Operator op) { return e->language->operator_text(op); }

// ---- small makers and questions

Val el_ir(IrValue *v) { return v ? (Val){.kind = VAL_IR, .ir = v} : EL_POISON; }
Val el_int(Int128 value) { return (Val){.kind = VAL_INT, .integer = value}; }
Val el_bool(bool value) { return (Val){.kind = VAL_BOOL, .truth = value}; }

Val el_tuple(Elab *e, uint32_t count, const Val *items) {
    Val v = {.kind = VAL_TUPLE};
    v.tuple.count = count;
    v.tuple.items = arena_new(e->scratch, Val, count);
    for (uint32_t i = 0; i < count; i++) v.tuple.items[i] = items[i];
    return v;
}

bool el_is_const(Val v) { return v.kind == VAL_INT || v.kind == VAL_FLOAT || v.kind == VAL_BOOL; }
bool el_is_value(Val v) { return v.kind == VAL_IR || el_is_const(v); }

bool el_is_poison(Val v) {
    if (v.kind != VAL_TUPLE) return v.kind == VAL_POISON;
    for (uint32_t i = 0; i < v.tuple.count; i++)
        if (v.tuple.items[i].kind == VAL_POISON) return true;
    return false;
}

Dtype el_elem(IrValue *v) { return v->type->elem; }
bool el_is_ptr(IrValue *v) { return v->type->kind == IR_PTR; }

Shape el_shape_of(const IrType *t) {
    Shape shape = {.rank = t->rank};
    for (uint32_t i = 0; i < t->rank; i++) shape.dims[i] = t->shape[i];
    return shape;
}

uint64_t el_next_power(uint64_t n) {
    uint64_t power = 1;
    while (power < n && power < (1ull << 63)) power *= 2;
    return power;
}

Dtype el_default_dtype(Val v) {
    if (v.kind == VAL_FLOAT) return DTYPE_F32;
    if (v.kind == VAL_BOOL) return DTYPE_BOOL;
    if (v.integer >= INT32_MIN && v.integer <= INT32_MAX) return DTYPE_I32;
    return v.integer <= INT64_MAX ? DTYPE_I64 : DTYPE_U64;
}

IrAttr *el_attr(IrOp *op, IrAttrName name) {
    const IrOpInfo *info = ir_op_info(op->code);
    int i = 0;
    while (i + 1 < info->attr_count && info->attrs[i] != name) i++;
    return &op->attrs[i];
}

IrValue *el_op1(Elab *e, IrOpcode code, uint32_t count, IrValue *const *operands,
                const IrType *result) {
    return ir_result(ir_op(&e->b, code, count, operands, 1, &result, 0, NULL), 0);
}

// ---- untyped values become typed

static bool integer_fits(Int128 value, Dtype t) {
    return value >= (Int128)dtype_int_min(t) && value <= (Int128)dtype_int_max(t);
}

static uint64_t integer_to_float(Int128 value, Dtype t) {
    if (value < 0) return dtype_cast(t, DTYPE_I64, (uint64_t)(int64_t)value, true);
    return dtype_cast(t, DTYPE_U64, (uint64_t)value, true);
}

static bool adopt_float(Elab *e, Val v, Dtype elem, Span span, uint64_t *bits) {
    double value = v.kind == VAL_INT ? (double)v.integer : v.real;
    *bits = v.kind == VAL_INT ? integer_to_float(v.integer, elem)
                              : dtype_from_double(elem, v.real, true);
    // Rounding is accepted, overflow is not. fp8 saturates, so we compare with the midpoint above
    // the greatest value.
    const DtypeFloat *format = dtype_float(elem);
    double ulp = ldexp(1.0, format->max_exponent - format->precision + 1);
    bool over = isfinite(value) && elem != DTYPE_F64 && fabs(value) >= format->greatest + ulp / 2;
    if (!over) return true;
    StrBuf greatest = strbuf(e->scratch);
    strbuf_double(&greatest, format->greatest, false);
    el_error(e, span, DIAG_LITERAL_RANGE, "%s does not fit %s, whose greatest value is %s",
             el_val_text(e, v), el_dtype_text(e, elem), greatest.text);
    return false;
}

static bool adopt_integer(Elab *e, Val v, Dtype elem, Span span, uint64_t *bits) {
    if (v.kind == VAL_FLOAT) {
        el_error(e, span, DIAG_TYPE, "expected %s, found %s", el_dtype_text(e, elem),
                 el_val_text(e, v));
        el_help(e, "a float never becomes an integer by itself: cast one of the two");
        return false;
    }
    if (!integer_fits(v.integer, elem)) {
        el_error(e, span, DIAG_LITERAL_RANGE, "%s does not fit %s (%s to %s)",
                 el_wide_text(e, v.integer), el_dtype_text(e, elem),
                 el_wide_text(e, dtype_int_min(elem)),
                 el_wide_text(e, (Int128)dtype_int_max(elem)));
        return false;
    }
    *bits = dtype_wrap(elem, (uint64_t)v.integer);
    return true;
}

bool el_adopt_bits(Elab *e, Val v, Dtype elem, Span span, uint64_t *bits) {
    if ((v.kind == VAL_BOOL) != (elem == DTYPE_BOOL)) {
        el_error(e, span, DIAG_TYPE, "expected %s, found %s", el_dtype_text(e, elem),
                 el_val_text(e, v));
        if (v.kind == VAL_BOOL)
            el_help(e, "a bool becomes a number only by a cast: %s", el_cast_text(e, elem));
        return false;
    }
    if (elem == DTYPE_BOOL) {
        *bits = v.truth;
        return true;
    }
    bool is_float = dtype_is(elem, DTYPE_CLASS_ANYFLOAT);
    return (is_float ? adopt_float : adopt_integer)(e, v, elem, span, bits);
}

IrValue *el_adopt(Elab *e, Val v, Dtype elem, uint32_t rank, const uint32_t *shape, Span span) {
    uint64_t bits = 0;
    if (!el_adopt_bits(e, v, elem, span, &bits)) return NULL;
    const IrType *type = rank ? ir_tile(e->module, elem, rank, shape) : ir_scalar(e->module, elem);
    return ir_const_bits(&e->b, type, bits);
}

// ---- conversion, broadcasting

IrValue *el_convert(Elab *e, IrValue *v, Dtype elem) {
    return el_elem(v) == elem ? v : ir_cast(&e->b, v, elem, dtype_is(elem, DTYPE_CLASS_FP8));
}

IrValue *el_broadcast(Elab *e, IrValue *v, uint32_t rank, const uint32_t *shape) {
    bool same = v->type->rank == rank;
    for (uint32_t i = 0; same && i < rank; i++) same = v->type->shape[i] == shape[i];
    return same ? v : ir_broadcast(&e->b, v, rank, shape);
}

void el_check_index(Elab *e, IrValue *i, uint32_t extent) {
    IrValue *low = ir_binary(&e->b, IR_GE, i, ir_const_bits(&e->b, i->type, 0));
    IrValue *high = ir_binary(&e->b, IR_LT, i, ir_const_bits(&e->b, i->type, extent));
    IrValue *inside = ir_binary(&e->b, IR_AND, low, high);
    ir_attr_set_int(ir_op(&e->b, IR_ASSUME, 1, &inside, 0, NULL, 0, NULL), IR_ATTR_BOUNDS, true);
}

bool el_stretches(const IrType *from, uint32_t rank, const uint32_t *shape) {
    if (!from->rank) return true;
    if (from->rank != rank) return false;
    for (uint32_t i = 0; i < rank; i++)
        if (from->shape[i] != shape[i] && from->shape[i] != 1) return false;
    return true;
}

bool el_shape_limits(Elab *e, Span span, uint32_t rank, const uint32_t *shape) {
    if (rank > IR_MAX_RANK) {
        el_error(e, span, DIAG_SHAPE, "a %s has at most %d dimensions, this one %u",
                 e->language->tile, IR_MAX_RANK, rank);
        return false;
    }
    Int128 count = 1;
    for (uint32_t i = 0; i < rank && count <= INT64_MAX; i++) count *= shape[i];
    if (count <= IR_MAX_COUNT) return true;
    el_error(e, span, DIAG_SHAPE, "a %s has at most %d elements, %s has %s", e->language->tile,
             IR_MAX_COUNT, el_shape_text(e, rank, shape), el_wide_text(e, count));
    return false;
}

// Stretches `shape` by t; false when the two shapes do not fit each other.
static bool broadcast_into(Shape *shape, const IrType *t) {
    if (!t->rank) return true;
    if (!shape->rank) {
        shape->rank = t->rank;
        for (uint32_t i = 0; i < t->rank; i++) shape->dims[i] = t->shape[i];
        return true;
    }
    if (shape->rank != t->rank) return false;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (shape->dims[i] == 1) shape->dims[i] = t->shape[i];
        if (t->shape[i] != shape->dims[i] && t->shape[i] != 1) return false;
    }
    return true;
}

static bool shapes_differ(Elab *e, Span span, const char *before, uint32_t rank, const IrType *t) {
    el_error(e, span, DIAG_SHAPE, "shapes do not go together: %s and %s", before,
             el_type_text(e, t));
    if (rank != t->rank)
        el_help(e, "operands have equal rank: %s", e->language->rank_help);
    else
        el_help(e, "each dimension is equal in both, or 1 in one of them");
    return false;
}

bool el_common_shape(Elab *e, Span span, uint32_t count, IrValue *const *values, Shape *shape) {
    *shape = (Shape){0};
    const IrType *only = NULL;  // the only tile type that contributed to the shape so far
    uint32_t tiles = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!values[i] || !values[i]->type->rank) continue;
        Shape before = *shape;
        if (!broadcast_into(shape, values[i]->type)) {
            const char *text =
                tiles == 1 ? el_type_text(e, only) : el_shape_text(e, before.rank, before.dims);
            return shapes_differ(e, span, text, before.rank, values[i]->type);
        }
        only = values[i]->type;
        tiles++;
    }
    return el_shape_limits(e, span, shape->rank, shape->dims);
}

static bool promote_integers(Dtype a, Dtype b, Dtype *common) {
    bool a_wider = dtype_bits(a) > dtype_bits(b);
    if (dtype_signed(a) != dtype_signed(b)) {
        Dtype with_sign = dtype_signed(a) ? a : b, without = dtype_signed(a) ? b : a;
        *common = with_sign;
        return dtype_bits(with_sign) > dtype_bits(without);
    }
    *common = a_wider ? a : b;
    return true;
}

bool el_promote(Dtype a, Dtype b, Dtype *common) {
    *common = a;
    if (a == b) return true;
    if (a == DTYPE_BOOL || b == DTYPE_BOOL) return false;
    bool a_int = dtype_is(a, DTYPE_CLASS_INT), b_int = dtype_is(b, DTYPE_CLASS_INT);
    if (a_int && b_int) return promote_integers(a, b, common);
    if (a_int || b_int) {
        *common = a_int ? b : a;
        return true;
    }
    if (dtype_bits(a) != dtype_bits(b)) {
        *common = dtype_bits(a) > dtype_bits(b) ? a : b;
        return true;
    }
    *common = DTYPE_F32;  // f16 with bf16
    return dtype_is(a, DTYPE_CLASS_FLOAT);
}

// ---- unification

static bool unify_mismatch(Elab *e, Span span, const char *what, Dtype a, Dtype b) {
    el_error(e, span, DIAG_TYPE, "'%s' needs operands of one type, found %s and %s", what,
             el_dtype_text(e, a), el_dtype_text(e, b));
    if (a == DTYPE_BOOL || b == DTYPE_BOOL)
        el_help(e, "a bool becomes a number only by a cast: %s",
                el_cast_text(e, a == DTYPE_BOOL ? b : a));
    else
        el_help(e, "cast one of them, as %s", el_cast_text(e, a));
    return false;
}

// The element type of the typed values; false after an error, *typed = false when no value has one.
static bool unify_typed(Elab *e, Span span, const char *what, uint32_t count, const Val *vals,
                        const IrType **found, Dtype *elem) {
    *found = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (vals[i].kind != VAL_IR) continue;
        const IrType *t = vals[i].ir->type;
        if (!*found) {
            *found = t;
            *elem = t->elem;
        } else if (t->kind != (*found)->kind || (t->kind == IR_PTR && t->elem != *elem)) {
            el_error(e, span, DIAG_TYPE, "'%s' needs operands of one type, found %s and %s", what,
                     el_type_text(e, *found), el_type_text(e, t));
            return false;
        } else {
            Dtype before = *elem;
            if (!el_promote(before, t->elem, elem))
                return unify_mismatch(e, span, what, before, t->elem);
        }
    }
    return true;
}

// The element type that all untyped values get when no value is typed.
static Dtype unify_untyped(uint32_t count, const Val *vals) {
    Dtype elem = el_default_dtype(vals[0]);
    for (uint32_t i = 1; i < count; i++) {
        Dtype other = el_default_dtype(vals[i]), common;
        if (el_promote(elem, other, &common)) elem = common;
    }
    return elem;
}

bool el_unify(Elab *e, Span span, const char *what, uint32_t count, const Val *vals,
              const Span *spans, IrValue **out) {
    for (uint32_t i = 0; i < count; i++)
        if (vals[i].kind == VAL_POISON) return false;
    const IrType *found = NULL;
    Dtype elem = DTYPE_I32;
    TRY(unify_typed(e, span, what, count, vals, &found, &elem));
    if (!found) elem = unify_untyped(count, vals);
    Shape shape = {0};
    for (uint32_t i = 0; i < count; i++) out[i] = vals[i].kind == VAL_IR ? vals[i].ir : NULL;
    TRY(el_common_shape(e, span, count, out, &shape));
    bool pointers = found && found->kind == IR_PTR;
    for (uint32_t i = 0; i < count; i++) {
        if (out[i]) {
            if (!pointers) out[i] = el_convert(e, out[i], elem);
            out[i] = el_broadcast(e, out[i], shape.rank, shape.dims);
        } else if (pointers) {
            el_error(e, spans[i], DIAG_TYPE, "expected %s, found %s", el_type_text(e, found),
                     el_val_text(e, vals[i]));
            return false;
        } else {
            out[i] = el_adopt(e, vals[i], elem, shape.rank, shape.dims, spans[i]);
        }
        if (!out[i]) return false;
    }
    return true;
}
