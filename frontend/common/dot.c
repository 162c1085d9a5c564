// Matrix products: the allowed operands and accumulators, and the operation.
#include "frontend/common/build.h"

static bool ocp_fp8(Dtype t) { return t == DTYPE_F8E4M3 || t == DTYPE_F8E5M2; }

bool el_dot_operands(Elab *e, IrValue *x, IrValue *y, Span span) {
    Dtype p = el_elem(x), q = el_elem(y);
    bool bytes = dtype_is(p, DTYPE_CLASS_INT) && dtype_is(q, DTYPE_CLASS_INT) &&
                 dtype_bits(p) == 8 && dtype_bits(q) == 8;
    bool same = p == q && !el_is_ptr(x) && !el_is_ptr(y);
    if (!(same || bytes || (ocp_fp8(p) && ocp_fp8(q)))) {
        el_error(e, span, DIAG_TYPE, "'dot' needs operands of one type, found %s and %s",
                 el_type_text(e, x->type), el_type_text(e, y->type));
        el_help(e, "8-bit integers mix, and %s with %s; cast the others",
                el_dtype_text(e, DTYPE_F8E4M3), el_dtype_text(e, DTYPE_F8E5M2));
        return false;
    }
    if (bytes || dtype_is(p, DTYPE_CLASS_ANYFLOAT)) return true;
    el_error(e, span, DIAG_TYPE, "'dot' takes floats and 8-bit integers, found %s",
             el_type_text(e, x->type));
    return false;
}

bool el_dot_shape(Elab *e, const IrType *x, const IrType *y, Span span, Shape *shape) {
    uint32_t r = x->rank;
    bool ranks = r == y->rank && (r == 2 || r == 3);
    if (!ranks || x->shape[r - 1] != y->shape[r - 2] || (r == 3 && x->shape[0] != y->shape[0])) {
        el_error(e, span, DIAG_SHAPE, "'dot' does not multiply %s by %s", el_type_text(e, x),
                 el_type_text(e, y));
        el_help(e, "it multiplies [M, K] by [K, N], or [B, M, K] by [B, K, N]");
        return false;
    }
    *shape = (Shape){.rank = r};
    if (r == 3) shape->dims[0] = x->shape[0];
    shape->dims[r - 2] = x->shape[r - 2];
    shape->dims[r - 1] = y->shape[r - 1];
    return el_shape_limits(e, span, r, shape->dims);
}

// The types that an accumulator of these operands may have; the first is the default.
const Dtype *el_dot_accumulators(Dtype elem) {
    static const Dtype integer[] = {DTYPE_I32, DTYPES}, wide[] = {DTYPE_F64, DTYPES};
    static const Dtype single[] = {DTYPE_F32, DTYPES};
    static const Dtype narrow[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPES};
    if (dtype_is(elem, DTYPE_CLASS_INT)) return integer;
    if (elem == DTYPE_F64) return wide;
    return elem == DTYPE_F32 ? single : narrow;
}

IrValue *el_dot(Elab *e, IrValue *x, IrValue *y, IrValue *acc, const Shape *shape,
                int64_t precision) {
    const IrType *type =
        acc ? acc->type
            : ir_tile(e->module, *el_dot_accumulators(el_elem(x)), shape->rank, shape->dims);
    IrValue *result = el_op1(e, IR_DOT, 3, (IrValue *[]){x, y, acc}, type);
    ir_attr_set_int(result->def, IR_ATTR_PRECISION, precision);
    return result;
}
