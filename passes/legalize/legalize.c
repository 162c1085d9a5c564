// Replaces ops that the machine lacks: arithmetic and casts of f16, bf16 and fp8, fused
// multiply-add.
//
// Needs: cpu-level IR of scalars and vectors (elementwise ops of any shape are handled as well); no
// rules of `simplify` after it, which would merge casts again. Keeps every bit except NaNs'
// payloads (language rule 23): the tests compare with ir_eval and dtype_cast. After it, values of
// bf16 and fp8, and of f16 except for casts and the ops that `machine->f16` allows, are only moved:
// loaded, stored, selected, bitcast, broadcast, shuffled, carried, compared and exchanged by
// atomic_cas; vec.dot2 keeps its operands.
//
// Arithmetic is done in f32 and rounded once more. That is right for + - * / sqrt, as 24 >= 2 * 11
// + 2 (S. Figueroa, "When is double rounding innocuous?", SIGNUM 1995; bf16's subnormals do not
// have more bits than that either). fma, casts of f64 and of wide integers use rounding to odd
// (fma.c).
#include <math.h>

#include "passes/legalize/legal.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

typedef struct Legalize {
    PassContext *context;
    VEC(IrOp *) found;
} Legalize;

static bool is_narrow(Dtype t) {
    return t == DTYPE_F16 || t == DTYPE_BF16 || dtype_is(t, DTYPE_CLASS_FP8);
}

// Does the machine have this arithmetic of f16?
static bool is_native(const Legal *l, IrOpcode code, Dtype t) {
    if (t != DTYPE_F16 || !l->machine->f16) return false;
    switch (code) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_SQRT:
    case IR_FMA:
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE: return true;
    default: break;
    }
    return false;
}

// ---- arithmetic ---------------------------------------------------------------------------------

// The formats without a negative zero use its bits for their one NaN, which has no sign to change.
static IrValue *change_sign(Legal *l, IrOpcode code, IrValue *x) {
    Dtype t = x->type->elem, word = dtype_bits(t) == 8 ? DTYPE_U8 : DTYPE_U16;
    uint64_t sign = UINT64_C(1) << (dtype_bits(t) - 1);
    IrValue *bits = legal_as(l, x, word);
    IrValue *rest = legal_binary(l, IR_AND, bits, legal_const(l, x, word, sign - 1));
    IrValue *r =
        code == IR_ABS ? rest : legal_binary(l, IR_XOR, bits, legal_const(l, x, word, sign));
    if (!dtype_float(t)->has_negative_zero) {
        IrValue *zero = legal_const(l, x, word, 0);
        r = legal_select(l, legal_binary(l, IR_EQ, rest, zero), bits, r);
    }
    return legal_as(l, r, t);
}

static IrValue *narrow_f64(Legal *l, IrValue *x, Dtype to, bool saturate) {
    return legal_narrow(l, legal_odd_f32(l, x), to, saturate);
}

static IrValue *fma_narrow(Legal *l, IrValue *const *x) {
    Dtype t = x[0]->type->elem;
    IrValue *in[3];
    for (int i = 0; i < 3; i++) in[i] = legal_widen(l, x[i]);
    // The product is exact: for bf16 in f64, because of its exponents; else in f32.
    if (t != DTYPE_BF16)
        return legal_narrow(l, legal_odd_sum(l, legal_binary(l, IR_MUL, in[0], in[1]), in[2]), t,
                            true);
    for (int i = 0; i < 3; i++) in[i] = ir_cast(&l->b, in[i], DTYPE_F64, false);
    return narrow_f64(l, legal_odd_sum(l, legal_binary(l, IR_MUL, in[0], in[1]), in[2]), t, true);
}

static IrValue *fma_wide(Legal *l, IrValue *const *x) {
    if (x[0]->type->elem == DTYPE_F64) return legal_fma_f64(l, x[0], x[1], x[2]);
    IrValue *in[3];
    for (int i = 0; i < 3; i++) in[i] = ir_cast(&l->b, x[i], DTYPE_F64, false);
    IrValue *product = legal_binary(l, IR_MUL, in[0], in[1]);
    return ir_cast(&l->b, legal_odd_sum(l, product, in[2]), DTYPE_F32, false);
}

// Arithmetic of narrow floats; NULL if there is nothing to do.
static IrValue *arithmetic(Legal *l, IrOpcode code, IrValue *const *x) {
    Dtype t = x[0]->type->elem;
    if (is_native(l, code, t)) return NULL;
    switch (code) {
    case IR_NEG:
    case IR_ABS: return change_sign(l, code, x[0]);
    case IR_FLOOR:
    case IR_CEIL:
    case IR_ROUND: return legal_narrow(l, ir_unary(&l->b, code, legal_widen(l, x[0])), t, false);
    case IR_SQRT: return legal_narrow(l, ir_unary(&l->b, code, legal_widen(l, x[0])), t, true);
    case IR_FMA: return fma_narrow(l, x);
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_REM:
    case IR_MIN:
    case IR_MAX:
    case IR_MINNUM:
    case IR_MAXNUM: {
        bool picks = code == IR_REM || (code >= IR_MIN && code <= IR_MAXNUM);
        IrValue *r = legal_binary(l, code, legal_widen(l, x[0]), legal_widen(l, x[1]));
        return legal_narrow(l, r, t, !picks);
    default: break;
    }
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE: return legal_binary(l, code, legal_widen(l, x[0]), legal_widen(l, x[1]));
    }
    return NULL;  // a move
}

// ---- casts --------------------------------------------------------------------------------------

// bf16 from 64-bit integers: bits that do not fit in 53 are recorded in the last of them.
static IrValue *odd_double(Legal *l, IrValue *x) {
    bool is_signed = dtype_signed(x->type->elem);
    IrValue *m = is_signed ? ir_unary(&l->b, IR_ABS, x) : x;
    m = is_signed ? legal_as(l, m, DTYPE_U64) : m;
    IrValue *cut = legal_binary(l, IR_AND, m, legal_const(l, m, DTYPE_U64, 0x7ff));
    IrValue *zero = legal_const(l, m, DTYPE_U64, 0), *one = legal_const(l, m, DTYPE_U64, 1);
    IrValue *trace = legal_select(l, legal_binary(l, IR_NE, cut, zero), one, zero);
    IrValue *kept = legal_binary(l, IR_OR, legal_shift(l, IR_SHR, m, 11), trace);
    IrValue *limit = legal_const(l, m, DTYPE_U64, UINT64_C(1) << 53);
    IrValue *large = legal_binary(l, IR_GE, m, limit);
    IrValue *whole = legal_as(l, legal_select(l, large, kept, m), DTYPE_I64);
    IrValue *r = ir_cast(&l->b, whole, DTYPE_F64, false);
    r = legal_binary(l, IR_MUL, r,
                     legal_select(l, large, legal_real(l, r, 2048), legal_real(l, r, 1)));
    if (!is_signed) return r;
    IrValue *negative = legal_binary(l, IR_LT, x, legal_const(l, x, DTYPE_I64, 0));
    return legal_select(l, negative, ir_unary(&l->b, IR_NEG, r), r);
}

static IrValue *from_integer(Legal *l, IrValue *x, Dtype to, bool saturate) {
    Dtype from = x->type->elem;
    if (dtype_bits(from) <= 16)
        return legal_narrow(l, ir_cast(&l->b, x, DTYPE_F32, false), to, saturate);
    if (to == DTYPE_BF16 && dtype_bits(from) == 64)
        return narrow_f64(l, odd_double(l, x), to, saturate);
    if (to == DTYPE_BF16) return narrow_f64(l, ir_cast(&l->b, x, DTYPE_F64, false), to, saturate);
    // Values beyond 2^17 give the same result as 2^17: more than the greatest.
    x = legal_binary(l, IR_MIN, x, legal_const(l, x, from, 1 << 17));
    if (dtype_signed(from))
        x = legal_binary(l, IR_MAX, x, legal_const(l, x, from, (uint64_t) - (1 << 17)));
    if (from != DTYPE_I32) x = ir_cast(&l->b, x, DTYPE_I32, false);
    return legal_narrow(l, ir_cast(&l->b, x, DTYPE_F32, false), to, saturate);
}

static bool casts(const Legal *l, Dtype to, Dtype from) {
    if (to == DTYPE_F16 && l->machine->f16 && from == DTYPE_F64) return true;
    if (from == DTYPE_F16 && l->machine->f16) return to == DTYPE_F32 || to == DTYPE_F64;
    if (!l->machine->f16_convert) return false;
    if (from == DTYPE_F16) return to == DTYPE_F32 || to == DTYPE_F64;
    return to == DTYPE_F16 && from == DTYPE_F32;
}

static IrValue *cast(Legal *l, IrValue *x, Dtype to, bool saturate) {
    Dtype from = x->type->elem;
    bool fp8 = dtype_is(to, DTYPE_CLASS_FP8);
    if (from == to && !(saturate && fp8 && dtype_float(to)->has_inf)) return x;
    if (casts(l, to, from)) return NULL;
    if (is_narrow(from)) {
        IrValue *wide = legal_widen(l, x);
        if (is_narrow(to)) return legal_narrow(l, wide, to, saturate);
        return to == DTYPE_F32 ? wide : ir_cast(&l->b, wide, to, saturate);
    }
    if (from == DTYPE_F32) return legal_narrow(l, x, to, saturate);
    if (from == DTYPE_F64) return narrow_f64(l, x, to, saturate);
    return from_integer(l, x, to, saturate);
}

// ---- ops of the level ---------------------------------------------------------------------------

static IrOpcode reduce_code(IrReduce kind) {
    switch (kind) {
    case IR_REDUCE_SUM: return IR_ADD;
    case IR_REDUCE_PROD: return IR_MUL;
    case IR_REDUCE_MIN: return IR_MIN;
    case IR_REDUCE_MAX: return IR_MAX;
    case IR_REDUCE_MINNUM: return IR_MINNUM;
    case IR_REDUCE_MAXNUM: return IR_MAXNUM;
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX:
    case IR_REDUCE_ANY:
    case IR_REDUCE_ALL:
    case IR_REDUCE_CUSTOM: break;
    }
    return IR_OPCODES;  // not for floats
}

static IrValue *computed(Legal *l, IrOpcode code, IrValue *x, IrValue *y) {
    IrValue *in[] = {x, y}, *r = arithmetic(l, code, in);
    return r ? r : legal_binary(l, code, x, y);
}

static IrValue *lanes_from(Legal *l, IrValue *x, uint32_t first, uint32_t count) {
    int64_t *lanes = arena_new(l->b.module->arena, int64_t, count);
    for (uint32_t i = 0; i < count; i++) lanes[i] = first + i;
    const IrType *t = ir_tile(l->b.module, x->type->elem, 1, &count);
    IrOp *op = ir_op(&l->b, IR_VEC_SHUFFLE, 2, (IrValue *[]){x, NULL}, 1, &t, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_LANES, count, lanes);
    return ir_result(op, 0);
}

// Halves are combined, as the op's definition says.
static IrValue *reduce(Legal *l, const IrOp *op) {
    IrValue *x = ir_operand(op, 0);
    IrOpcode code = reduce_code((IrReduce)ir_attr_int(op, IR_ATTR_REDUCE));
    if (code == IR_OPCODES) return NULL;
    for (uint32_t half = x->type->shape[0] / 2; half; half /= 2)
        x = computed(l, code, lanes_from(l, x, 0, half), lanes_from(l, x, half, half));
    const IrType *t = ir_scalar(l->b.module, x->type->elem);
    IrOp *lane = ir_op(&l->b, IR_VEC_LANE, 1, &x, 1, &t, 0, NULL);
    return ir_result(lane, 0);
}

static IrOpcode rmw_code(IrRmw kind) {
    switch (kind) {
    case IR_RMW_ADD: return IR_ADD;
    case IR_RMW_SUB: return IR_SUB;
    case IR_RMW_MIN: return IR_MIN;
    case IR_RMW_MAX: return IR_MAX;
    case IR_RMW_AND:
    case IR_RMW_OR:
    case IR_RMW_XOR:
    case IR_RMW_XCHG:
    case IR_RMW_LOAD:
    case IR_RMWS: break;
    }
    return IR_OPCODES;  // the bits decide
}

static IrValue *exchange(IrBuilder *b, const IrOp *op, IrValue *expected, IrValue *x,
                         IrOrder order) {
    IrValue *operands[] = {ir_operand(op, 0), expected, x, ir_operand(op, 2)};
    const IrType *t = op->results[0].type;
    IrOp *made = ir_op(b, IR_ATOMIC_CAS, 4, operands, 1, &t, 0, NULL);
    ir_attr_set_int(made, IR_ATTR_ORDER, order);
    ir_attr_set_int(made, IR_ATTR_SCOPE, ir_attr_int(op, IR_ATTR_SCOPE));
    return ir_result(made, 0);
}

// Threads run in step: the loop that repeats until the exchange succeeds is one op.
static IrValue *update(Legal *l, const IrOp *op, IrOpcode code) {
    IrValue *operands[] = {ir_operand(op, 0), ir_operand(op, 1), ir_operand(op, 2)};
    const IrType *t = op->results[0].type, *scalar = ir_scalar(l->b.module, t->elem);
    IrBlock *region = ir_block_create(l->b.func);
    IrValue *old = ir_block_add_arg(region, scalar), *x = ir_block_add_arg(region, scalar);
    IrOp *made = ir_op(&l->b, IR_THREAD_UPDATE, 3, operands, 1, &t, 1, &region);
    ir_attr_set_int(made, IR_ATTR_ORDER, ir_attr_int(op, IR_ATTR_ORDER));
    ir_attr_set_int(made, IR_ATTR_SCOPE, ir_attr_int(op, IR_ATTR_SCOPE));
    Legal inner = {ir_builder_at_end(region), l->machine};
    inner.b.span = op->span;
    ir_yield(&inner.b, 1, (IrValue *[]){computed(&inner, code, old, x)});
    return ir_result(made, 0);
}

// The old value is read by an exchange that changes nothing; then exchanges are repeated until one
// finds the value that the one before it read. A masked one gives 0 each time, which ends the loop.
static IrValue *atomic(Legal *l, const IrOp *op) {
    IrOpcode code = rmw_code((IrRmw)ir_attr_int(op, IR_ATTR_RMW));
    IrValue *x = ir_operand(op, 1);
    if (code == IR_OPCODES) return NULL;
    // The hardware has sums of f16.
    bool native = is_native(l, code, x->type->elem) && (code == IR_ADD || code == IR_SUB);
    if (l->b.func->level == IR_LEVEL_THREAD) return native ? NULL : update(l, op, code);
    if (x->type->rank) return NULL;
    const IrType *t = x->type, *flag = ir_scalar(l->b.module, DTYPE_BOOL);
    IrValue *zero = ir_const_bits(&l->b, t, 0);
    IrValue *init[] = {exchange(&l->b, op, zero, zero, IR_ORDER_RELAXED),
                       ir_const_bool(&l->b, true)};
    IrBlock *regions[2];
    for (int i = 0; i < 2; i++) {
        regions[i] = ir_block_create(l->b.func);
        ir_block_add_arg(regions[i], t), ir_block_add_arg(regions[i], flag);
    }
    const IrType *types[] = {t, flag};
    IrOp *loop = ir_op(&l->b, IR_WHILE, 2, init, 2, types, 2, regions);
    IrBuilder test = ir_builder_at_end(regions[0]);
    test.span = op->span;
    ir_yield(&test, 1, &regions[0]->args[1]);
    Legal inner = {ir_builder_at_end(regions[1]), l->machine};
    inner.b.span = op->span;
    IrValue *seen = regions[1]->args[0], *next = computed(&inner, code, seen, x);
    IrValue *found = exchange(&inner.b, op, seen, next, (IrOrder)ir_attr_int(op, IR_ATTR_ORDER));
    Dtype word = dtype_bits(t->elem) == 8 ? DTYPE_U8 : DTYPE_U16;
    IrValue *again =
        legal_binary(&inner, IR_NE, legal_as(&inner, found, word), legal_as(&inner, seen, word));
    ir_yield(&inner.b, 2, (IrValue *[]){found, again});
    return ir_result(loop, 0);
}

// ---- the pass -----------------------------------------------------------------------------------

// The replacement of the op; NULL: it stays.
static IrValue *replacement(Legal *l, const IrOp *op) {
    if (op->result_count != 1 || op->operand_count == 0 || !ir_operand(op, 0)) return NULL;
    const IrType *type = ir_operand(op, 0)->type;
    bool narrow = type->kind == IR_TILE && is_narrow(type->elem);
    IrValue *x[3] = {NULL, NULL, NULL};
    for (uint32_t i = 0; i < op->operand_count && i < 3; i++) x[i] = ir_operand(op, i);
    if (op->code == IR_CAST) {
        Dtype to = op->results[0].type->elem;
        if (!narrow && !is_narrow(to)) return NULL;
        return cast(l, x[0], to, ir_attr_int(op, IR_ATTR_SATURATE) != 0);
    }
    if (op->code == IR_ATOMIC && is_narrow(op->results[0].type->elem)) return atomic(l, op);
    if (op->code == IR_ATOMIC) return NULL;
    if (op->code == IR_FMA && !narrow) return l->machine->fma ? NULL : fma_wide(l, x);
    if (!narrow) return NULL;
    if (op->code == IR_VEC_REDUCE) return reduce(l, op);
    if (!ir_op_is(op->code, IR_FAMILIES_ELEMENTWISE)) return NULL;
    const IrOp *before = l->b.before ? l->b.before->prev : l->b.block->last;
    IrValue *v = arithmetic(l, op->code, x);
    if (!v || !ir_math_exact(op)) return v;
    // The op on wider floats is exact, too.
    for (IrOp *made = v->def; made && made != before; made = made->prev)
        if (made->code == op->code) ir_set_math_exact(ir_result(made, 0));
    return v;
}

// Reports ops that are computed in another type than they are written in. Casts do not count as
// arithmetic.
static void add_remark(const Legalize *z, const IrOp *op) {
    Remarks *remarks = z->context->remarks;
    if (!remarks || !op->operand_count || !ir_operand(op, 0)) return;
    const IrType *type = ir_operand(op, 0)->type;
    if (op->code == IR_FMA && !is_narrow(type->elem))
        remark(remarks, op->span, REASON_FMA_EMULATED, dtype_name(type->elem), REMARK(0));
    else if (op->code == IR_VEC_REDUCE ||
             (ir_op_is(op->code, IR_FAMILIES_ELEMENTWISE) && is_narrow(type->elem)))
        remark(remarks, op->span, REASON_ARITHMETIC_WIDENED, dtype_name(type->elem), REMARK(0));
}

static void collect(Legalize *z, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        vec_push(z->context->scratch, &z->found, op);
        for (uint32_t i = 0; i < op->region_count; i++) collect(z, op->regions[i]);
    }
}

bool pass_legalize(IrFunc *f, PassContext *context) {
    Legalize z = {.context = context};
    for (size_t i = 0; i < f->sections.count; i++) {
        if (f->sections.data[i].kind == IR_BODY) collect(&z, f->sections.data[i].block);
    }
    bool changed = false;
    for (size_t i = 0; i < z.found.count; i++) {
        IrOp *op = z.found.data[i];
        Legal l = {ir_builder_before(op), context->machine};
        IrValue *value = replacement(&l, op);
        if (!value) continue;
        add_remark(&z, op);
        rewrite_replace_op(op, &value);
        changed = true;
    }
    return changed;
}
