// Expands math functions and random numbers into plain arithmetic, the same on every target.
//
// Needs: nothing. Keeps: everything except the functions' own bits, which are those of this
// expansion from here on; constants of functions are folded only through it. Bounds of the results
// are in docs/numerics.md. f16, bf16 and fp8 are computed in f32 and rounded once. The expansion
// has only elementwise ops, without control flow, so fusion is not affected.
#include "passes/math/math.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

typedef struct Expand {
    PassContext *context;
    VEC(IrOp *) found;
} Expand;

static void collect(Expand *e, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (ir_op_is(op->code, IR_FAMILY_FUNCTION) || op->code == IR_RANDOM)
            vec_push(e->context->scratch, &e->found, op);
        for (uint32_t i = 0; i < op->region_count; i++) collect(e, op->regions[i]);
    }
}

static IrValue *build(Math *m, IrOpcode code, IrValue *x, IrValue *y) {
    switch (code) {
    case IR_RSQRT: return math_rsqrt(m, x);
    case IR_EXP: return math_exp(m, x);
    case IR_EXP2: return math_exp2(m, x);
    case IR_LOG: return math_log(m, x);
    case IR_LOG2: return math_log2(m, x);
    case IR_SIN: return math_sin(m, x);
    case IR_COS: return math_cos(m, x);
    case IR_TAN: return math_tan(m, x);
    case IR_TANH: return math_tanh(m, x);
    case IR_ERF: return math_erf(m, x);
    case IR_SIGMOID: return math_sigmoid(m, x);
    case IR_LOG1P: return math_log1p(m, x);
    case IR_EXPM1: return math_expm1(m, x);
    case IR_LOG10: return math_log10(m, x);
    case IR_SINH: return math_sinh(m, x);
    case IR_COSH: return math_cosh(m, x);
    case IR_ATAN: return math_atan(m, x);
    case IR_ASIN: return math_asin(m, x);
    case IR_ACOS: return math_acos(m, x);
    case IR_CBRT: return math_cbrt(m, x);
    case IR_ERFC: return math_erfc(m, x);
    case IR_ATAN2: return math_atan2(m, x, y);
    case IR_POW: return math_pow(m, x, y);
    default: break;
    }
    return NULL;
}

static IrValue *widened(IrBuilder *b, IrValue *x) {
    if (!x || x->type->elem == DTYPE_F64 || x->type->elem == DTYPE_F32) return x;
    return ir_cast(b, x, DTYPE_F32, false);
}

static void expand(IrOp *op, unsigned options, bool gpu) {
    IrBuilder b = ir_builder_before(op);
    if (op->code == IR_RANDOM) {
        IrValue *results[4];
        math_random(&b, ir_operand(op, 0), ir_operand(op, 1), results);
        rewrite_replace_op(op, results);
        return;
    }
    if (op->code == IR_COPYSIGN) {
        IrValue *r = math_copysign(&b, ir_operand(op, 0), ir_operand(op, 1));
        rewrite_replace_op(op, &r);
        return;
    }
    IrValue *x = widened(&b, ir_operand(op, 0));
    IrValue *y = widened(&b, op->operand_count > 1 ? ir_operand(op, 1) : NULL);
    Math m = math_begin(&b, x->type, options, gpu);
    IrValue *r = build(&m, op->code, x, y);
    Dtype elem = op->results[0].type->elem;
    if (elem != r->type->elem) r = ir_cast(&b, r, elem, true);
    rewrite_replace_op(op, &r);
}

// ---- math(approx): one division instead of many -------------------------------------------------

// x / stretched(y) = x * stretched(1 / y), within an ulp and a half if 1 / y is not subnormal.
static bool divide_once(IrOp *op) {
    if (op->code != IR_DIV || ir_math_exact(op)) return false;
    IrValue *x = ir_operand(op, 0), *stretched = ir_operand(op, 1);
    if (!dtype_is(x->type->elem, DTYPE_CLASS_FLOAT) || !stretched->def ||
        stretched->def->code != IR_BROADCAST)
        return false;
    IrBuilder b = ir_builder_before(op);
    b.span = op->span;
    IrValue *y = ir_operand(stretched->def, 0);
    IrValue *one = ir_const_bits(&b, y->type, dtype_from_double(y->type->elem, 1, true));
    IrValue *inverse = ir_binary(&b, IR_DIV, one, y);
    inverse = ir_broadcast(&b, inverse, x->type->rank, x->type->shape);
    IrValue *product = ir_binary(&b, IR_MUL, x, inverse);
    rewrite_replace_op(op, &product);
    return true;
}

static bool divide_once_in(const IrBlock *block) {
    bool changed = false;
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++)
            changed = divide_once_in(op->regions[i]) || changed;
        changed = divide_once(op) || changed;
    }
    return changed;
}

bool pass_expand_math(IrFunc *f, PassContext *context) {
    Expand e = {.context = context};
    for (size_t i = 0; i < f->sections.count; i++) {
        if (f->sections.data[i].kind == IR_BODY) collect(&e, f->sections.data[i].block);
    }
    bool gpu = context->machine->gpu.vendor != GPU_NONE;
    for (size_t i = 0; i < e.found.count; i++) expand(e.found.data[i], f->math, gpu);
    bool approx = f->math & IR_MATH_APPROX;
    bool divided = approx && f->is_kernel && ir_body(f) && divide_once_in(ir_body(f));
    return divided || e.found.count > 0;
}
