#include "runtime/launch_code.h"

#include <math.h>
#include <stddef.h>

static const struct {
    const char *text;
    int operands;
} ops[] = {
#define LAUNCH_OP(name, text, operands) {text, operands},
#include "runtime/launch_code.def"
#undef LAUNCH_OP
};

const char *launch_op_text(LaunchOp op) { return ops[op].text; }
int launch_op_operands(LaunchOp op) { return ops[op].operands; }

bool launch_code_valid(const LaunchCode *code, uint32_t input_count) {
    if (code->count > LAUNCH_CODE_MAX) return false;
    for (uint32_t i = 0; i < code->count; i++) {
        const LaunchInstr *x = &code->code[i];
        if (x->op >= LAUNCH_OPS || x->dtype >= DTYPE_I4 || x->result >= DTYPE_I4) return false;
        int n = ops[x->op].operands;
        const uint32_t operands[3] = {x->a, x->b, x->c};
        for (int k = 0; k < (n == 1 ? 2 : n); k++)  // run_plain reads two operands of all
            if (operands[k] >= i) return false;
        if (x->op == LAUNCH_CONST || x->op == LAUNCH_UNITS || n > 0) continue;
        if (x->a >= input_count) return false;
        if ((x->op == LAUNCH_ARG_EXTENT || x->op == LAUNCH_ARG_STRIDE) && x->b >= 5) return false;
        if (x->op == LAUNCH_ARG_DISJOINT && x->b >= input_count) return false;
    }
    return true;
}

static uint64_t divide_signed(Dtype t, int64_t a, int64_t b, bool remainder) {
    if (b == 0) return remainder ? dtype_wrap(t, (uint64_t)a) : 0;
    // MIN / -1 wraps to MIN; this avoids the division in C, where it is undefined.
    if (b == -1) return remainder ? 0 : dtype_wrap(t, 0 - (uint64_t)a);
    return dtype_wrap(t, (uint64_t)(remainder ? a % b : a / b));
}

static uint64_t shift(Dtype t, uint64_t a, uint64_t count, bool left) {
    unsigned bits = dtype_bits(t);
    bool over = count >= bits;
    if (left) return over ? 0 : dtype_wrap(t, a << count);
    if (dtype_signed(t))
        return dtype_wrap(t, (uint64_t)(dtype_to_i64(t, a) >> (over ? 63 : count)));
    return over ? 0 : a >> count;
}

static uint64_t integer_op(const LaunchInstr *x, uint64_t a, uint64_t b) {
    Dtype t = (Dtype)x->dtype;
    bool is_signed = dtype_signed(t);
    int64_t sa = is_signed ? dtype_to_i64(t, a) : 0, sb = is_signed ? dtype_to_i64(t, b) : 0;
    bool less = is_signed ? sa < sb : a < b;
    switch ((LaunchOp)x->op) {
    case LAUNCH_NEG: return dtype_wrap(t, 0 - a);
    case LAUNCH_NOT: return t == DTYPE_BOOL ? !a : dtype_wrap(t, ~a);
    case LAUNCH_ABS: return is_signed && sa < 0 ? dtype_wrap(t, 0 - a) : a;
    case LAUNCH_ADD: return dtype_wrap(t, a + b);
    case LAUNCH_SUB: return dtype_wrap(t, a - b);
    case LAUNCH_MUL: return dtype_wrap(t, a * b);
    case LAUNCH_DIV: return is_signed ? divide_signed(t, sa, sb, false) : b == 0 ? 0 : a / b;
    case LAUNCH_REM: return is_signed ? divide_signed(t, sa, sb, true) : b == 0 ? a : a % b;
    case LAUNCH_MIN: return less ? a : b;
    case LAUNCH_MAX: return less ? b : a;
    case LAUNCH_AND: return a & b;
    case LAUNCH_OR: return a | b;
    case LAUNCH_XOR: return a ^ b;
    case LAUNCH_SHL: return shift(t, a, b, true);
    case LAUNCH_SHR: return shift(t, a, b, false);
    case LAUNCH_EQ: return a == b;
    case LAUNCH_NE: return a != b;
    case LAUNCH_LT: return less;
    case LAUNCH_LE: return less || a == b;
    case LAUNCH_GT: return !less && a != b;
    case LAUNCH_GE: return !less;
    case LAUNCH_CONST:
    case LAUNCH_ARG_SCALAR:
    case LAUNCH_ARG_EXTENT:
    case LAUNCH_ARG_STRIDE:
    case LAUNCH_ARG_ADDRESS:
    case LAUNCH_ARG_BYTES:
    case LAUNCH_ARG_DISJOINT:
    case LAUNCH_FLOOR:
    case LAUNCH_CEIL:
    case LAUNCH_ROUND:
    case LAUNCH_SQRT:
    case LAUNCH_SELECT:
    case LAUNCH_CAST:
    case LAUNCH_BITCAST:
    case LAUNCH_UNITS:
    case LAUNCH_OPS: break;
    }
    return 0;
}

// min and max: NaN wins, and -0 is below +0 (rule 23).
static double float_pick(double a, double b, bool least) {
    if (isnan(a) || isnan(b)) return NAN;
    if (a == b) return (signbit(a) != 0) == least ? a : b;
    return (a < b) == least ? a : b;
}

static uint64_t float_result(Dtype t, double value) {
    return dtype_from_double(t, isnan(value) ? NAN : value, true);
}

// Double is wide enough that rounding f32 and narrower results twice equals rounding once (53 >=
// 2*24+2).
static uint64_t float_op(const LaunchInstr *x, uint64_t bits_a, uint64_t bits_b) {
    Dtype t = (Dtype)x->dtype;
    double a = dtype_to_double(t, bits_a), b = dtype_to_double(t, bits_b);
    uint64_t sign = 1ull << (dtype_bits(t) - 1);
    switch ((LaunchOp)x->op) {
    case LAUNCH_NEG: {
        const DtypeFloat *facts = dtype_float(t);
        bool keeps_sign = !facts->has_negative_zero && (bits_a & (sign - 1)) == 0;
        return keeps_sign ? bits_a : bits_a ^ sign;
    }
    case LAUNCH_ABS:
        return !dtype_float(t)->has_negative_zero && bits_a == sign ? bits_a : bits_a & ~sign;
    case LAUNCH_FLOOR: return float_result(t, floor(a));
    case LAUNCH_CEIL: return float_result(t, ceil(a));
    case LAUNCH_ROUND: return float_result(t, nearbyint(a));
    case LAUNCH_SQRT: return float_result(t, sqrt(a));
    case LAUNCH_ADD: return float_result(t, a + b);
    case LAUNCH_SUB: return float_result(t, a - b);
    case LAUNCH_MUL: return float_result(t, a * b);
    case LAUNCH_DIV: return float_result(t, a / b);
    case LAUNCH_REM: return float_result(t, fmod(a, b));
    case LAUNCH_MIN: return float_result(t, float_pick(a, b, true));
    case LAUNCH_MAX: return float_result(t, float_pick(a, b, false));
    case LAUNCH_EQ: return a == b;
    case LAUNCH_NE: return a != b;
    case LAUNCH_LT: return a < b;
    case LAUNCH_LE: return a <= b;
    case LAUNCH_GT: return a > b;
    case LAUNCH_GE: return a >= b;
    case LAUNCH_AND:
    case LAUNCH_OR:
    case LAUNCH_XOR:
    case LAUNCH_SHL:
    case LAUNCH_SHR:
    case LAUNCH_NOT:
    case LAUNCH_CONST:
    case LAUNCH_ARG_SCALAR:
    case LAUNCH_ARG_EXTENT:
    case LAUNCH_ARG_STRIDE:
    case LAUNCH_ARG_ADDRESS:
    case LAUNCH_ARG_BYTES:
    case LAUNCH_ARG_DISJOINT:
    case LAUNCH_SELECT:
    case LAUNCH_CAST:
    case LAUNCH_BITCAST:
    case LAUNCH_UNITS:
    case LAUNCH_OPS: break;
    }
    return 0;
}

// The operations that run_plain leaves.
static uint64_t run_instr(const LaunchInstr *x, const uint64_t *values) {
    switch ((LaunchOp)x->op) {
    case LAUNCH_UNITS: return 1;
    case LAUNCH_SELECT: return values[x->a] ? values[x->b] : values[x->c];
    case LAUNCH_CAST:
        return dtype_cast((Dtype)x->result, (Dtype)x->dtype, values[x->a], x->imm != 0);
    case LAUNCH_BITCAST: return values[x->a];
    default: break;
    }
    int n = ops[x->op].operands;
    uint64_t a = values[x->a], b = n > 1 ? values[x->b] : 0;
    if (dtype_is((Dtype)x->dtype, DTYPE_CLASS_ANYFLOAT)) return float_op(x, a, b);
    return integer_op(x, a, b);
}

// The fast path for most guards and grids: 64-bit numbers without wrapping, and bools. False: use
// the general path.
static inline bool run_plain(const LaunchInstr *x, const LaunchInput *in, const uint64_t *values,
                             uint64_t *to) {
    switch ((LaunchOp)x->op) {
    case LAUNCH_CONST: return *to = x->imm, true;
    case LAUNCH_ARG_EXTENT: return *to = (uint64_t)in[x->a].extent[x->b], true;
    case LAUNCH_ARG_STRIDE: return *to = (uint64_t)in[x->a].stride[x->b], true;
    case LAUNCH_ARG_SCALAR: return *to = in[x->a].scalar, true;
    case LAUNCH_ARG_BYTES: return *to = in[x->a].last - in[x->a].first, true;
    case LAUNCH_ARG_ADDRESS: return *to = in[x->a].address, true;
    case LAUNCH_ARG_DISJOINT: return *to = launch_disjoint(&in[x->a], &in[x->b]), true;
    default: break;
    }
    if (x->dtype != DTYPE_I64 && x->dtype != DTYPE_BOOL) return false;
    bool number = x->dtype == DTYPE_I64;
    uint64_t a = values[x->a], b = values[x->b];  // with one operand, the other is the first value
    switch ((LaunchOp)x->op) {
    case LAUNCH_AND: return *to = a & b, true;
    case LAUNCH_OR: return *to = a | b, true;
    case LAUNCH_EQ: return *to = a == b, true;
    case LAUNCH_LE: return *to = (int64_t)a <= (int64_t)b, number;
    case LAUNCH_GE: return *to = (int64_t)a >= (int64_t)b, number;
    case LAUNCH_GT: return *to = (int64_t)a > (int64_t)b, number;
    case LAUNCH_ADD: return *to = a + b, number;
    case LAUNCH_MUL: return *to = a * b, number;
    case LAUNCH_CAST: return *to = a, !number && x->result == DTYPE_I64;
    default: break;
    }
    if (!number || (x->op != LAUNCH_DIV && x->op != LAUNCH_REM) || (int64_t)b <= 0) return false;
    int64_t quotient = (int64_t)a / (int64_t)b;
    *to = x->op == LAUNCH_DIV ? (uint64_t)quotient : a - (uint64_t)quotient * b;
    return true;
}

void launch_code_run(const LaunchCode *code, const LaunchInput *inputs, uint64_t *values) {
    for (uint32_t i = 0; i < code->count; i++)
        if (!run_plain(&code->code[i], inputs, values, &values[i]))
            values[i] = run_instr(&code->code[i], values);
}

bool launch_code_asks_units(const LaunchCode *code) {
    for (uint32_t i = 0; i < code->count; i++)
        if (code->code[i].op == LAUNCH_UNITS) return true;
    return false;
}

void launch_code_run_with(const LaunchCode *code, const LaunchInput *inputs, uint64_t units,
                          uint64_t *values) {
    for (uint32_t i = 0; i < code->count; i++)
        if (code->code[i].op == LAUNCH_UNITS)
            values[i] = units;
        else if (!run_plain(&code->code[i], inputs, values, &values[i]))
            values[i] = run_instr(&code->code[i], values);
}

// ---- Did it wrap? ----

static bool may_wrap(const LaunchInstr *x) {
    switch ((LaunchOp)x->op) {
    case LAUNCH_ADD:
    case LAUNCH_SUB:
    case LAUNCH_MUL:
    case LAUNCH_NEG:
    case LAUNCH_SHL: return dtype_signed((Dtype)x->dtype);
    default: return false;
    }
}

// Signed only: an unsigned difference may have been rewritten as a sum that wraps.
static bool instr_wraps(const LaunchInstr *x, const uint64_t *values, uint64_t result) {
    Dtype t = (Dtype)x->dtype;
    if (!may_wrap(x)) return false;
    int64_t a = dtype_to_i64(t, values[x->a]), exact = 0, found = dtype_to_i64(t, result);
    if (x->op == LAUNCH_SHL) {
        uint64_t count = values[x->b];
        return count >= dtype_bits(t) ? a != 0 : found >> count != a;
    }
    int64_t b = x->op == LAUNCH_NEG ? 0 : dtype_to_i64(t, values[x->b]);
    bool over = x->op == LAUNCH_ADD   ? __builtin_add_overflow(a, b, &exact)
                : x->op == LAUNCH_MUL ? __builtin_mul_overflow(a, b, &exact)
                : x->op == LAUNCH_SUB ? __builtin_sub_overflow(a, b, &exact)
                                      : __builtin_sub_overflow(b, a, &exact);
    return over || exact != found;
}

// One bit for each value, since this is on the launching thread's stack.
typedef struct Needed {
    uint64_t bits[LAUNCH_CODE_MAX / 64];
} Needed;

static void need(Needed *n, uint32_t value) { n->bits[value / 64] |= UINT64_C(1) << value % 64; }

static bool is_needed(const Needed *n, uint32_t value) {
    return n->bits[value / 64] >> value % 64 & 1;
}

static void need_operands(const LaunchInstr *x, const uint64_t *values, Needed *needed) {
    if (x->op == LAUNCH_SELECT) {
        need(needed, x->a);
        need(needed, values[x->a] ? x->b : x->c);
        return;
    }
    const uint32_t operands[3] = {x->a, x->b, x->c};
    for (int k = 0; k < ops[x->op].operands; k++) need(needed, operands[k]);
}

bool launch_code_wraps(const LaunchCode *code, const uint64_t *values, uint32_t value) {
    uint32_t first = 0;
    while (first <= value && !instr_wraps(&code->code[first], values, values[first])) first++;
    if (first > value) return false;  // almost always
    Needed needed = {{0}};
    need(&needed, value);
    for (uint32_t i = value + 1; i-- > first;) {
        if (!is_needed(&needed, i)) continue;
        if (instr_wraps(&code->code[i], values, values[i])) return true;
        need_operands(&code->code[i], values, &needed);
    }
    return false;
}
