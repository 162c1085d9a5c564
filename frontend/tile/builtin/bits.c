// Built-ins about the bits of numbers: kinds of floats; counts, order and products of integers.
#include <math.h>

#include "frontend/tile/elaborate.h"

// ---- isnan, isinf, isfinite

// Comparisons of magnitudes with infinity. Unlike x == x, they are decided for a value whose error
// bound is not 0 (docs/numerics.md). fp8 goes through f32, which has all its values and infinity.
Val el_float_kind(Elab *e, TileBuiltin which, IrValue *x) {
    if (dtype_is(el_elem(x), DTYPE_CLASS_FP8)) x = ir_cast(&e->b, x, DTYPE_F32, false);
    uint64_t bits = dtype_from_double(el_elem(x), (double)INFINITY, false);
    IrValue *size = ir_unary(&e->b, IR_ABS, x), *infinite = ir_const_bits(&e->b, x->type, bits);
    if (which == TILE_ISINF) return el_ir(ir_binary(&e->b, IR_EQ, size, infinite));
    if (which == TILE_ISFINITE) return el_ir(ir_binary(&e->b, IR_LT, size, infinite));
    return el_ir(ir_unary(&e->b, IR_NOT, ir_binary(&e->b, IR_LE, size, infinite)));
}

// ---- popcount, clz, ctz, brev, mulhi

static bool takes(Elab *e, const Args *a, uint32_t i, Val v) {
    bool typed = v.kind == VAL_IR && !el_is_ptr(v.ir);
    if (v.kind == VAL_INT || (typed && dtype_is(el_elem(v.ir), DTYPE_CLASS_INT))) return true;
    el_error(e, a->at[i]->span, DIAG_TYPE, "'%s' takes integers, found %s", a->name,
             el_val_text(e, v));
    if (typed && dtype_is(el_elem(v.ir), DTYPE_CLASS_ANYFLOAT))
        el_help(e, "bitcast(u%u, …) has the bits of a float", dtype_bits(el_elem(v.ir)));
    return false;
}

// The upper half depends on the width, so operands are not converted to a common type.
static bool same_type(Elab *e, const Args *a, const Val *v) {
    if (v[0].kind != VAL_IR || v[1].kind != VAL_IR || el_elem(v[0].ir) == el_elem(v[1].ir))
        return true;
    el_error(e, a->call->span, DIAG_TYPE, "'%s' needs operands of one type, found %s and %s",
             a->name, dtype_name(el_elem(v[0].ir)), dtype_name(el_elem(v[1].ir)));
    el_help(e, "cast one of them: %s(…)", dtype_name(el_elem(v[0].ir)));
    return false;
}

static IrOpcode bits_opcode(TileBuiltin which) {
    if (which == TILE_POPCOUNT) return IR_POPCOUNT;
    if (which == TILE_CLZ) return IR_CLZ;
    if (which == TILE_CTZ) return IR_CTZ;
    return which == TILE_BREV ? IR_BREV : IR_MULHI;
}

Val el_builtin_bits(Elab *e, const Args *a) {
    Val vals[2] = {EL_POISON, EL_POISON};
    Span spans[2] = {{0}};
    bool good = true;
    for (uint32_t i = 0; i < a->count; i++) {
        vals[i] = el_operand(e, a->at[i]);
        spans[i] = a->at[i]->span;
        good = good && vals[i].kind != VAL_POISON;
    }
    for (uint32_t i = 0; good && i < a->count; i++) good = takes(e, a, i, vals[i]);
    if (!good || (a->count == 2 && !same_type(e, a, vals))) return EL_POISON;
    IrValue *both[2];
    if (!el_unify(e, a->call->span, a->name, a->count, vals, spans, both)) return EL_POISON;
    IrOpcode code = bits_opcode(a->which);
    if (a->count == 1) return el_ir(ir_unary(&e->b, code, both[0]));
    return el_ir(ir_binary(&e->b, code, both[0], both[1]));
}
