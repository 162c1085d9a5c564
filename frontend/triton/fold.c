// Compile-time values: Python's arithmetic on numbers, strings, tuples, types and None.
#include <math.h>

#include "frontend/triton/elaborate.h"

static bool is_comparison(PyOp op) { return op >= PY_LT && op <= PY_NE; }

static double real_of(Val v) {
    return v.kind == VAL_FLOAT ? v.real : v.kind == VAL_BOOL ? v.truth : (double)v.integer;
}

static Val real(double value) { return (Val){.kind = VAL_FLOAT, .real = value}; }

static Val as_int(Val v) { return v.kind == VAL_BOOL ? el_int(v.truth) : v; }

// ---- equality

// 1: equal, 0: not, -1: not known at compile time
static int equal(Val a, Val b) {
    if (a.kind == VAL_IR || b.kind == VAL_IR) return -1;
    if (el_is_const(a) && el_is_const(b)) {
        if (a.kind == VAL_FLOAT || b.kind == VAL_FLOAT) return real_of(a) == real_of(b);
        return as_int(a).integer == as_int(b).integer;
    }
    if (a.kind != b.kind) return 0;
    if (a.kind == VAL_STRING) return str_equal(a.text, b.text);
    if (a.kind == VAL_TYPE) return a.type == b.type;
    if (a.kind == VAL_TUPLE) {
        if (a.tuple.count != b.tuple.count) return 0;
        for (uint32_t i = 0; i < a.tuple.count; i++) {
            int same = equal(a.tuple.items[i], b.tuple.items[i]);
            if (same != 1) return same;
        }
        return 1;
    }
    if (a.kind != VAL_FN) return 0;
    const Object *x = tr_object_of(a), *y = tr_object_of(b);
    if (x == y) return 1;
    if (x->kind != y->kind) return 0;
    switch (x->kind) {
    case OBJECT_NONE: return 1;
    case OBJECT_MODULE:
    case OBJECT_PYTHON: return str_equal(x->path, y->path);
    case OBJECT_TL: return x->tl == y->tl;
    case OBJECT_JIT:
    case OBJECT_HOST: return x->func == y->func;
    case OBJECT_POINTER: return x->type == y->type;
    case OBJECT_CONSTEXPR: return 1;
    default: return 0;
    }
}

bool tr_const_truth(Elab *e, Val v, bool *truth) {
    (void)e;
    switch (v.kind) {
    case VAL_INT: *truth = v.integer != 0; return true;
    case VAL_FLOAT: *truth = v.real != 0; return true;
    case VAL_BOOL: *truth = v.truth; return true;
    case VAL_STRING: *truth = v.text.size != 0; return true;
    case VAL_TUPLE: *truth = v.tuple.count != 0; return true;
    case VAL_TYPE: *truth = true; return true;
    case VAL_FN: *truth = !tr_is_none(v); return !tr_is(v, OBJECT_UNKNOWN);
    default: return false;
    }
}

// ---- numbers

static Val fold_power(Elab *e, Val a, Val b, Span span) {
    if (a.kind == VAL_FLOAT || b.kind == VAL_FLOAT || as_int(b).integer < 0)
        return real(pow(real_of(a), real_of(b)));
    Int128 base = as_int(a).integer, value = 1;
    Int128 exponent = as_int(b).integer;
    bool small = base == 0 || base == 1 || base == -1;
    if (small && exponent > 2) exponent = 2 + exponent % 2;
    for (Int128 i = 0; i < exponent; i++)
        if (__builtin_mul_overflow(value, base, &value) || i > 128)
            return el_error(e, span, DIAG_CONSTANT_VALUE, "the integer needs more than 128 bits");
    return el_int(value);
}

static Val floor_divided(Elab *e, PyOp op, Val a, Val b, Span span) {
    if (real_of(b) == 0)
        return el_error(e, span, DIAG_DIVISION_BY_ZERO, "a constant is divided by zero");
    if (op == PY_DIV) return real(real_of(a) / real_of(b));
    if (a.kind == VAL_FLOAT || b.kind == VAL_FLOAT) {
        double x = real_of(a), y = real_of(b), q = floor(x / y);
        if (op == PY_FLOOR_DIV) return real(q);
        double r = fmod(x, y);
        return real(r != 0 && (r < 0) != (y < 0) ? r + y : r);
    }
    Int128 x = as_int(a).integer, y = as_int(b).integer, q = x / y, r = x % y;
    if (r && (r < 0) != (y < 0)) {
        q--;
        r += y;
    }
    return el_int(op == PY_FLOOR_DIV ? q : r);
}

static Operator operator_of(PyOp op) {
    switch (op) {
    case PY_ADD: return OPERATOR_ADD;
    case PY_SUB: return OPERATOR_SUB;
    case PY_MUL: return OPERATOR_MUL;
    case PY_LSHIFT: return OPERATOR_SHL;
    case PY_RSHIFT: return OPERATOR_SHR;
    case PY_BIT_AND: return OPERATOR_AND;
    case PY_BIT_OR: return OPERATOR_OR;
    case PY_BIT_XOR: return OPERATOR_XOR;
    case PY_LT: return OPERATOR_LT;
    case PY_LE: return OPERATOR_LE;
    case PY_GT: return OPERATOR_GT;
    case PY_GE: return OPERATOR_GE;
    case PY_EQ: return OPERATOR_EQ;
    case PY_NE: return OPERATOR_NE;
    default: return OPERATOR_NONE;
    }
}

static Val fold_numbers(Elab *e, PyOp op, Val a, Val b, Span span) {
    if (op == PY_POW) return fold_power(e, a, b, span);
    if (op == PY_DIV || op == PY_FLOOR_DIV || op == PY_MOD) return floor_divided(e, op, a, b, span);
    bool bits = op == PY_BIT_AND || op == PY_BIT_OR || op == PY_BIT_XOR;
    bool bools = a.kind == VAL_BOOL && b.kind == VAL_BOOL && (bits || is_comparison(op));
    if (!bools || (op >= PY_LT && op <= PY_GE)) {
        a = as_int(a);
        b = as_int(b);
    }
    return el_fold_binary(e, operator_of(op), a, b, span, span);
}

// ---- strings and tuples

static Val joined(Elab *e, Val a, Val b) {
    if (a.kind == VAL_STRING) {
        StrBuf text = strbuf(e->scratch);
        strbuf_add(&text, a.text);
        strbuf_add(&text, b.text);
        return (Val){.kind = VAL_STRING, .text = strbuf_str(&text)};
    }
    uint32_t left = a.tuple.count, count = left + b.tuple.count;
    Val *items = arena_new(e->scratch, Val, count + 1);
    for (uint32_t i = 0; i < count; i++)
        items[i] = i < left ? a.tuple.items[i] : b.tuple.items[i - left];
    return el_tuple(e, count, items);
}

static Val repeated(Elab *e, Val list, Int128 times, Span span) {
    enum { MOST = 4096 };
    if (times < 0) times = 0;
    if (times * list.tuple.count > MOST)
        return el_error(e, span, DIAG_LIMIT, "a tuple has at most %d items", MOST);
    uint32_t n = list.tuple.count, count = (uint32_t)times * n;
    Val *items = arena_new(e->scratch, Val, count + 1);
    for (uint32_t i = 0; i < count; i++) items[i] = list.tuple.items[i % n];
    return el_tuple(e, count, items);
}

static Val contains(Elab *e, Val item, Val list, bool negated, Span span) {
    if (item.kind == VAL_STRING && list.kind == VAL_STRING) {
        bool found = !item.text.size;
        for (size_t i = 0; !found && i + item.text.size <= list.text.size; i++)
            found = str_starts((Str){list.text.text + i, list.text.size - i}, item.text);
        return el_bool(found != negated);
    }
    if (item.kind == VAL_IR)
        return el_error(e, span, DIAG_NOT_CONSTANT,
                        "'in' needs a value known at compile time, found %s", tr_text(e, item));
    if (list.kind != VAL_TUPLE)
        return el_error(e, span, DIAG_TYPE, "'in' needs a tuple or list, found %s",
                        tr_text(e, list));
    for (uint32_t i = 0; i < list.tuple.count; i++)
        if (equal(item, list.tuple.items[i]) == 1) return el_bool(!negated);
    return el_bool(negated);
}

static Val not_folded(Elab *e, PyOp op, Val a, Val b, Span span) {
    return el_error(e, span, DIAG_TYPE, "'%s' does not take %s and %s", py_op_text(op),
                    tr_text(e, a), tr_text(e, b));
}

static Val ordered(Elab *e, PyOp op, Val a, Val b, Span span) {
    int order = a.kind == VAL_STRING && b.kind == VAL_STRING ? str_compare(a.text, b.text) : 0;
    if (a.kind != VAL_STRING || b.kind != VAL_STRING) return not_folded(e, op, a, b, span);
    return el_bool(op == PY_LT   ? order < 0
                   : op == PY_LE ? order <= 0
                   : op == PY_GT ? order > 0
                                 : order >= 0);
}

Val tr_fold(Elab *e, PyOp op, Val a, Val b, Span span) {
    if (op == PY_IN || op == PY_NOT_IN) return contains(e, a, b, op == PY_NOT_IN, span);
    if (op == PY_IS || op == PY_IS_NOT) {
        // A tensor is never None, True or a type.
        int same = equal(a, b) == 1;
        if (el_is_const(a) && el_is_const(b) && a.kind != b.kind) same = 0;
        return el_bool(same == (op == PY_IS));
    }
    if (el_is_const(a) && el_is_const(b)) return fold_numbers(e, op, a, b, span);
    if (op == PY_EQ || op == PY_NE) return el_bool((equal(a, b) == 1) == (op == PY_EQ));
    if (is_comparison(op)) return ordered(e, op, a, b, span);
    bool same = a.kind == b.kind && (a.kind == VAL_STRING || a.kind == VAL_TUPLE);
    if (op == PY_ADD && same) return joined(e, a, b);
    if (op == PY_MUL && a.kind == VAL_TUPLE && b.kind == VAL_INT)
        return repeated(e, a, b.integer, span);
    if (op == PY_MUL && b.kind == VAL_TUPLE && a.kind == VAL_INT)
        return repeated(e, b, a.integer, span);
    return not_folded(e, op, a, b, span);
}
