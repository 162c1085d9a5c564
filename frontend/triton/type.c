// Triton's rules for types: which type two operands have, casts, shapes, truth.
#include <math.h>

#include "frontend/triton/elaborate.h"

// ---- tensors from Python numbers

static bool is_float(Dtype t) { return dtype_is(t, DTYPE_CLASS_ANYFLOAT); }

static Dtype number_type(Val v) {
    if (v.kind == VAL_BOOL) return DTYPE_BOOL;
    if (v.kind == VAL_FLOAT) {
        double size = fabs(v.real);
        bool single =
            size == 0 || isinf(size) || isnan(size) || (size >= 0x1p-126 && size <= 0x1.fffffep127);
        return single ? DTYPE_F32 : DTYPE_F64;
    }
    if (v.integer >= INT32_MIN && v.integer <= INT32_MAX) return DTYPE_I32;
    if (v.integer >= 0 && v.integer <= UINT32_MAX) return DTYPE_U32;
    return v.integer <= INT64_MAX ? DTYPE_I64 : DTYPE_U64;
}

static IrValue *number(Elab *e, Val v, Dtype elem, const Shape *shape, Span span) {
    uint32_t rank = shape ? shape->rank : 0;
    if (elem == DTYPE_BOOL && v.kind != VAL_BOOL)
        v = el_bool(v.kind == VAL_INT ? v.integer != 0 : v.real != 0);
    else if (v.kind == VAL_BOOL && elem != DTYPE_BOOL)
        v = el_int(v.truth);
    if (v.kind == VAL_INT && is_float(elem))
        v = (Val){.kind = VAL_FLOAT, .real = (double)v.integer};
    if (v.kind == VAL_FLOAT && is_float(elem) && isfinite(v.real)) {
        // A number beyond the type's range becomes an infinity, as Python's conversion does.
        const IrType *type =
            rank ? ir_tile(e->module, elem, rank, shape->dims) : ir_scalar(e->module, elem);
        return ir_const_bits(&e->b, type, dtype_from_double(elem, v.real, false));
    }
    return el_adopt(e, v, elem, rank, shape ? shape->dims : NULL, span);
}

IrValue *tr_tensor(Elab *e, Val v, Span span) {
    if (v.kind == VAL_POISON) return NULL;
    if (v.kind == VAL_IR) return v.ir;
    if (el_is_const(v)) return number(e, v, number_type(v), NULL, span);
    el_error(e, span, DIAG_TYPE, "expected a tensor, found %s", tr_text(e, v));
    return NULL;
}

IrValue *tr_numbers(Elab *e, Val v, Span span) {
    IrValue *tensor = tr_tensor(e, v, span);
    if (!tensor || !el_is_ptr(tensor)) return tensor;
    el_error(e, span, DIAG_TYPE, "expected a tensor of numbers, found %s", tr_text(e, v));
    el_help(e, "tl.load reads what a pointer points to");
    return NULL;
}

// ---- the common type

static Dtype promote_integers(Dtype a, Dtype b) {
    if (a == DTYPE_BOOL) return b;
    if (b == DTYPE_BOOL) return a;
    unsigned wa = dtype_bits(a), wb = dtype_bits(b);
    if (dtype_signed(a) == dtype_signed(b)) return wa > wb ? a : b;
    if (!dtype_signed(a)) return wa >= wb ? a : b;
    return wb >= wa ? b : a;
}

// The type of an operation on two tensors; DTYPES: there is none.
static Dtype promote_tensors(Dtype a, Dtype b, bool divides) {
    if (a == DTYPE_F64 || b == DTYPE_F64) return DTYPE_F64;
    if (divides && (is_float(a) || is_float(b))) return DTYPE_F32;
    if (a == DTYPE_F32 || b == DTYPE_F32) return DTYPE_F32;
    if (a == DTYPE_F16 || b == DTYPE_F16) return DTYPE_F16;
    if (a == DTYPE_BF16 || b == DTYPE_BF16) return a == b ? a : DTYPE_F32;
    if (is_float(a) && is_float(b)) return a == b ? a : DTYPE_F16;
    if (is_float(a) || is_float(b)) return DTYPES;
    return promote_integers(a, b);
}

static int kind_rank(Dtype t) { return t == DTYPE_BOOL ? 0 : is_float(t) ? 2 : 1; }

// A Python number takes the tensor's type unless its kind is a higher one.
static Dtype promote_number(Val v, Dtype tensor, bool divides) {
    Dtype own = number_type(v);
    if (kind_rank(own) > kind_rank(tensor)) return promote_tensors(own, tensor, divides);
    return promote_tensors(tensor, tensor, divides);
}

static bool number_fits(Elab *e, Val v, Dtype elem, Span span) {
    if (v.kind != VAL_INT || !dtype_is(elem, DTYPE_CLASS_INT)) return true;
    if (v.integer >= (Int128)dtype_int_min(elem) && v.integer <= (Int128)dtype_int_max(elem))
        return true;
    el_error(e, span, DIAG_LITERAL_RANGE, "%s is out of the range of %s",
             el_wide_text(e, v.integer), tr_type_name(elem));
    return false;
}

IrValue *tr_cast(Elab *e, Val v, Dtype to, Span span) {
    if (el_is_const(v)) return number_fits(e, v, to, span) ? number(e, v, to, NULL, span) : NULL;
    IrValue *x = tr_numbers(e, v, span);
    if (!x || el_elem(x) == to) return x;
    if (to == DTYPE_BOOL) return tr_truth(e, el_ir(x), span);
    return el_convert(e, x, to);
}

IrValue *tr_stored(Elab *e, Val v, Dtype to, Span span) {
    IrValue *x = tr_tensor(e, v, span);
    return x ? tr_cast(e, el_ir(x), to, span) : NULL;
}

bool tr_promote(Elab *e, Val a, Val b, bool divides, Span span, const Span *spans, IrValue **out) {
    Val vals[2] = {a, b};
    Dtype elem = DTYPES;
    for (int i = 0; i < 2; i++) {
        if (vals[i].kind == VAL_POISON) return false;
        if (vals[i].kind == VAL_IR ? !tr_numbers(e, vals[i], spans[i])
                                   : !el_is_const(vals[i]) && !tr_tensor(e, vals[i], spans[i]))
            return false;
    }
    if (a.kind == VAL_IR && b.kind == VAL_IR)
        elem = promote_tensors(el_elem(a.ir), el_elem(b.ir), divides);
    else if (a.kind == VAL_IR)
        elem = promote_number(b, el_elem(a.ir), divides);
    else if (b.kind == VAL_IR)
        elem = promote_number(a, el_elem(b.ir), divides);
    else
        elem = promote_tensors(number_type(a), number_type(b), divides);
    if (elem == DTYPES) {
        el_error(e, span, DIAG_TYPE, "no operation takes %s and %s", tr_text(e, a), tr_text(e, b));
        el_help(e, "convert one of them: x.to(tl.float32)");
        return false;
    }
    for (int i = 0; i < 2; i++)
        if (!(out[i] = tr_cast(e, vals[i], elem, spans[i]))) return false;
    return tr_same_shape(e, span, 2, out);
}

// The type of three operands: that of the tensors, unless a number is of a higher kind.
static Dtype promote_three(const Val *vals) {
    Dtype tensors = DTYPES, numbers = DTYPES;
    for (int i = 0; i < 3; i++) {
        bool tensor = vals[i].kind == VAL_IR;
        Dtype own = tensor ? el_elem(vals[i].ir) : number_type(vals[i]);
        Dtype *sum = tensor ? &tensors : &numbers;
        *sum = *sum == DTYPES ? own : promote_tensors(*sum, own, false);
        if (*sum == DTYPES) return DTYPES;
    }
    if (tensors == DTYPES) return numbers;
    bool higher = numbers != DTYPES && kind_rank(numbers) > kind_rank(tensors);
    return higher ? promote_tensors(tensors, numbers, false) : tensors;
}

bool tr_promote_three(Elab *e, const Val *vals, Span span, const Span *spans, IrValue **out) {
    for (int i = 0; i < 3; i++)
        if (el_is_const(vals[i]) ? false : !tr_numbers(e, vals[i], spans[i])) return false;
    Dtype elem = promote_three(vals);
    if (elem == DTYPES) {
        el_error(e, span, DIAG_TYPE, "no operation takes %s, %s and %s", tr_text(e, vals[0]),
                 tr_text(e, vals[1]), tr_text(e, vals[2]));
        return false;
    }
    for (int i = 0; i < 3; i++)
        if (!(out[i] = tr_cast(e, vals[i], elem, spans[i]))) return false;
    return tr_same_shape(e, span, 3, out);
}

// ---- shapes

static bool shape_add(Shape *shape, const IrType *t) {
    Shape other = el_shape_of(t);
    uint32_t rank = shape->rank > other.rank ? shape->rank : other.rank;
    Shape both[2] = {*shape, other}, grown[2];
    for (int s = 0; s < 2; s++) {
        uint32_t front = rank - both[s].rank;
        grown[s].rank = rank;
        for (uint32_t i = 0; i < rank; i++)
            grown[s].dims[i] = i < front ? 1 : both[s].dims[i - front];
    }
    shape->rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t x = grown[0].dims[i], y = grown[1].dims[i];
        if (x != y && x != 1 && y != 1) return false;
        shape->dims[i] = x == 1 ? y : x;
    }
    return true;
}

bool tr_shapes(Elab *e, Span span, uint32_t count, IrValue *const *values, Shape *shape) {
    *shape = (Shape){0};
    IrValue *only = NULL;  // the only tensor with dimensions so far
    uint32_t tensors = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!values[i]) continue;
        Shape before = *shape;
        if (shape_add(shape, values[i]->type)) {
            if (values[i]->type->rank && ++tensors == 1) only = values[i];
            continue;
        }
        el_error(
            e, span, DIAG_SHAPE, "shapes do not go together: %s and %s",
            tensors == 1 ? tr_text(e, el_ir(only)) : el_shape_text(e, before.rank, before.dims),
            tr_text(e, el_ir(values[i])));
        el_help(e, "each dimension is equal in both, or 1 in one of them; x[:, None] adds one");
        return false;
    }
    return el_shape_limits(e, span, shape->rank, shape->dims);
}

IrValue *tr_stretch(Elab *e, IrValue *v, const Shape *shape, Span span) {
    uint32_t rank = v->type->rank;
    if (rank && rank < shape->rank) {
        Shape grown = {.rank = shape->rank};
        for (uint32_t i = 0; i < grown.rank; i++)
            grown.dims[i] = i < grown.rank - rank ? 1 : v->type->shape[i - (grown.rank - rank)];
        v = ir_reshape(&e->b, v, grown.rank, grown.dims);
    }
    if (!el_stretches(v->type, shape->rank, shape->dims)) {
        el_error(e, span, DIAG_SHAPE, "%s does not stretch to %s", tr_text(e, el_ir(v)),
                 el_shape_text(e, shape->rank, shape->dims));
        return NULL;
    }
    return el_broadcast(e, v, shape->rank, shape->dims);
}

bool tr_same_shape(Elab *e, Span span, uint32_t count, IrValue **values) {
    Shape shape;
    if (!tr_shapes(e, span, count, values, &shape)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (values[i] && !(values[i] = tr_stretch(e, values[i], &shape, span))) return false;
    return true;
}

IrValue *tr_truth(Elab *e, Val v, Span span) {
    if (el_is_const(v)) return number(e, v, DTYPE_BOOL, NULL, span);
    IrValue *x = tr_tensor(e, v, span);
    if (!x || (!el_is_ptr(x) && el_elem(x) == DTYPE_BOOL)) return x;
    if (el_is_ptr(x)) {
        IrType like = *x->type;
        x = ir_bitcast(&e->b, x, ir_tile(e->module, DTYPE_I64, like.rank, like.shape));
    }
    return ir_binary(&e->b, IR_NE, x, ir_const_bits(&e->b, x->type, 0));
}

IrValue *tr_condition(Elab *e, Val v, Span span) {
    IrValue *cond = tr_truth(e, v, span);
    if (!cond || !cond->type->rank) return cond;
    uint32_t count = 1;
    for (uint32_t i = 0; i < cond->type->rank; i++) count *= cond->type->shape[i];
    if (count == 1) return ir_reshape(&e->b, cond, 0, NULL);
    el_error(e, span, DIAG_CONDITION, "a condition must be a scalar, found %s", tr_text(e, v));
    el_help(e, "tl.where chooses element by element; a mask keeps lanes out of a store");
    return NULL;
}

// ---- operators

static IrOpcode opcode_of(PyOp op) {
    switch (op) {
    case PY_ADD: return IR_ADD;
    case PY_SUB: return IR_SUB;
    case PY_MUL: return IR_MUL;
    case PY_DIV:
    case PY_FLOOR_DIV: return IR_DIV;
    case PY_MOD: return IR_REM;
    case PY_LSHIFT: return IR_SHL;
    case PY_RSHIFT: return IR_SHR;
    case PY_BIT_AND: return IR_AND;
    case PY_BIT_OR: return IR_OR;
    case PY_BIT_XOR: return IR_XOR;
    case PY_LT: return IR_LT;
    case PY_LE: return IR_LE;
    case PY_GT: return IR_GT;
    case PY_GE: return IR_GE;
    case PY_EQ: return IR_EQ;
    case PY_NE: return IR_NE;
    default: return IR_ADD;
    }
}

static bool is_pointer(Val v) { return v.kind == VAL_IR && el_is_ptr(v.ir); }

// p + n, n + p, p - n
static Val pointer_moved(Elab *e, PyOp op, Val a, Val b, Span span, const Span *spans) {
    bool left = is_pointer(a);
    Val p = left ? a : b, n = left ? b : a;
    Span place = spans[left];
    if ((op != PY_ADD && (op != PY_SUB || !left)) || is_pointer(n)) {
        el_error(e, span, DIAG_TYPE, "'%s' does not take %s and %s", py_op_text(op), tr_text(e, a),
                 tr_text(e, b));
        el_help(e, "the operations of pointers are p + n, p - n and comparisons");
        return EL_POISON;
    }
    IrValue *offset = tr_numbers(e, n, place);
    if (!offset) return EL_POISON;
    if (is_float(el_elem(offset)))
        return el_error(e, place, DIAG_TYPE, "a pointer moves by an integer, found %s",
                        tr_text(e, n));
    offset = tr_cast(e, el_ir(offset), DTYPE_I64, place);
    if (op == PY_SUB) offset = ir_unary(&e->b, IR_NEG, offset);
    IrValue *both[2] = {p.ir, offset};
    if (!tr_same_shape(e, span, 2, both)) return EL_POISON;
    return el_ir(ir_ptr_add(&e->b, both[0], both[1]));
}

static Val pointers_compared(Elab *e, PyOp op, Val a, Val b, Span span, const Span *spans) {
    IrValue *both[2];
    Val vals[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        both[i] = tr_tensor(e, vals[i], spans[i]);
        if (!both[i]) return EL_POISON;
        const IrType *t = both[i]->type;
        if (t->kind == IR_PTR)
            both[i] = ir_bitcast(&e->b, both[i], ir_tile(e->module, DTYPE_I64, t->rank, t->shape));
        else
            both[i] = el_convert(e, both[i], DTYPE_I64);
    }
    if (!tr_same_shape(e, span, 2, both)) return EL_POISON;
    return el_ir(ir_binary(&e->b, opcode_of(op), both[0], both[1]));
}

static bool is_comparison(PyOp op) { return op >= PY_LT && op <= PY_NE; }
static bool is_bitwise(PyOp op) { return op >= PY_LSHIFT && op <= PY_BIT_XOR; }

// int1 has the arithmetic of one bit.
static IrOpcode bit_opcode(PyOp op) {
    if (op == PY_ADD || op == PY_SUB) return IR_XOR;
    return op == PY_MUL ? IR_AND : opcode_of(op);
}

static bool takes_types(Elab *e, PyOp op, Val a, Val b, Dtype elem, Span span) {
    if (!(op == PY_FLOOR_DIV || is_bitwise(op)) || !is_float(elem)) return true;
    el_error(e, span, DIAG_TYPE, "invalid operands of types %s and %s: '%s' takes integers",
             tr_text(e, a), tr_text(e, b), py_op_text(op));
    if (op == PY_FLOOR_DIV) el_help(e, "tl.floor(x / y) divides floats and rounds down");
    return false;
}

// Signed and unsigned integers are not divided by each other.
static bool signs_agree(Elab *e, PyOp op, Val a, Val b, Span span) {
    if (a.kind != VAL_IR || b.kind != VAL_IR) return true;
    Dtype x = el_elem(a.ir), y = el_elem(b.ir);
    bool divides = op == PY_FLOOR_DIV || op == PY_MOD || op == PY_DIV;
    if (!divides || !dtype_is(x, DTYPE_CLASS_INT) || !dtype_is(y, DTYPE_CLASS_INT) ||
        dtype_signed(x) == dtype_signed(y))
        return true;
    el_error(e, span, DIAG_TYPE, "'%s' does not take %s and %s: their signs differ", py_op_text(op),
             tr_text(e, a), tr_text(e, b));
    el_help(e, "convert one of them: x.to(tl.int32)");
    return false;
}

static bool is_integer(Val v) {
    return v.kind == VAL_INT || v.kind == VAL_BOOL ||
           (v.kind == VAL_IR && !is_float(el_elem(v.ir)));
}

// An operand of a division of integers, which are divided as fp32.
static Val as_divided(Elab *e, Val v, Span span) {
    if (v.kind == VAL_IR) return el_ir(tr_cast(e, v, DTYPE_F32, span));
    return (Val){.kind = VAL_FLOAT, .real = v.kind == VAL_INT ? (double)v.integer : v.truth};
}

// x >> n, where the sign of x decides how it is shifted, also when n makes the result unsigned.
static Val shifted_right(Elab *e, IrValue *const *both, bool is_signed) {
    Dtype elem = el_elem(both[0]), to = elem;
    for (Dtype t = 0; t < DTYPES; t++)
        if (is_signed && dtype_is(t, DTYPE_CLASS_SINT) && dtype_bits(t) == dtype_bits(elem)) to = t;
    IrValue *x = el_convert(e, both[0], to), *n = el_convert(e, both[1], to);
    return el_ir(el_convert(e, ir_binary(&e->b, IR_SHR, x, n), elem));
}

Val tr_binary(Elab *e, PyOp op, Val a, Val b, Span span, const Span *spans) {
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return EL_POISON;
    if (a.kind != VAL_IR && b.kind != VAL_IR) return tr_fold(e, op, a, b, span);
    if (is_pointer(a) || is_pointer(b))
        return is_comparison(op) ? pointers_compared(e, op, a, b, span, spans)
                                 : pointer_moved(e, op, a, b, span, spans);
    if (op == PY_POW || op == PY_MATMUL) {
        el_error(e, span, DIAG_TYPE, "'%s' does not take tensors", py_op_text(op));
        el_help(e, op == PY_POW ? "use libdevice.pow(x, y), or x * x" : "use tl.dot(a, b)");
        return EL_POISON;
    }
    if (!signs_agree(e, op, a, b, span)) return EL_POISON;
    bool sign_left = a.kind == VAL_IR && dtype_signed(el_elem(a.ir));
    if (op == PY_DIV && is_integer(a) && is_integer(b)) {
        a = as_divided(e, a, spans[0]);
        b = as_divided(e, b, spans[1]);
    }
    IrValue *both[2];
    bool divides = op == PY_DIV || op == PY_MOD;
    if (!tr_promote(e, a, b, divides, span, spans, both)) return EL_POISON;
    Dtype elem = el_elem(both[0]);
    if (!takes_types(e, op, a, b, elem, span)) return EL_POISON;
    if (elem == DTYPE_BOOL && (op == PY_FLOOR_DIV || op == PY_MOD || is_comparison(op) ||
                               op == PY_LSHIFT || op == PY_RSHIFT)) {
        for (int i = 0; i < 2; i++) both[i] = el_convert(e, both[i], DTYPE_I32);
        Val v = el_ir(ir_binary(&e->b, opcode_of(op), both[0], both[1]));
        return is_comparison(op) ? v : el_ir(tr_truth(e, v, span));
    }
    if (op == PY_RSHIFT && sign_left && !dtype_signed(elem)) return shifted_right(e, both, true);
    return el_ir(
        ir_binary(&e->b, elem == DTYPE_BOOL ? bit_opcode(op) : opcode_of(op), both[0], both[1]));
}

Val tr_unary(Elab *e, PyOp op, Val v, Span span) {
    if (v.kind == VAL_POISON) return v;
    if (op == PY_NOT) {
        bool truth;
        if (tr_const_truth(e, v, &truth)) return el_bool(!truth);
        IrValue *x = tr_truth(e, v, span);
        return x ? el_ir(ir_unary(&e->b, IR_NOT, x)) : EL_POISON;
    }
    if (v.kind == VAL_BOOL) v = el_int(v.truth);
    if (el_is_const(v)) {
        if (op == PY_POS) return v;
        return el_fold_unary(e, op == PY_NEG ? OPERATOR_NEG : OPERATOR_BITNOT, v, span);
    }
    IrValue *x = tr_numbers(e, v, span);
    if (!x || op == PY_POS) return el_ir(x);
    if (op == PY_NEG && el_elem(x) == DTYPE_BOOL) return el_ir(x);  // 0 - x, of one bit
    if (op == PY_NEG) return el_ir(ir_unary(&e->b, IR_NEG, x));
    if (op == PY_INVERT && !is_float(el_elem(x))) return el_ir(ir_unary(&e->b, IR_NOT, x));
    return el_error(e, span, DIAG_TYPE, "'%s' does not take %s", py_op_text(op), tr_text(e, v));
}
