// Casts by language rule 22, and bits as another type.
#include "codegen/common/gen.h"

typedef struct Cast {
    const IrType *from, *to;
    LLVMTypeRef type;  // of the result
    LLVMValueRef x;
} Cast;

static bool is_float(const IrType *t) { return dtype_is(t->elem, DTYPE_CLASS_ANYFLOAT); }

// The operand as an LLVM float: a half for f16.
static LLVMValueRef opened(Gen *g, const Cast *c) {
    if (c->from->elem != DTYPE_F16) return c->x;
    return LLVMBuildBitCast(g->b, c->x, gen_half_type(g, c->from), "");
}

static LLVMTypeRef float_type(const Gen *g, const IrType *t) {
    return t->elem == DTYPE_F16 ? gen_half_type(g, t) : gen_type(g, t);
}

static LLVMValueRef closed(Gen *g, const Cast *c, LLVMValueRef v) {
    return c->to->elem == DTYPE_F16 ? LLVMBuildBitCast(g->b, v, c->type, "") : v;
}

// f16 widens to f64 through f32: exact, and all machines that convert f16 have both steps.
static LLVMValueRef float_to_float(Gen *g, const Cast *c) {
    LLVMValueRef x = opened(g, c);
    LLVMTypeRef single = gen_shaped(LLVMFloatTypeInContext(g->context), c->from);
    if (c->from->elem == DTYPE_F16 && c->to->elem == DTYPE_F64)
        x = LLVMBuildFPExt(g->b, x, single, "");
    LLVMTypeRef type = float_type(g, c->to);
    bool wider = dtype_bits(c->to->elem) > dtype_bits(c->from->elem);
    return closed(g, c,
                  wider ? LLVMBuildFPExt(g->b, x, type, "") : LLVMBuildFPTrunc(g->b, x, type, ""));
}

// f16 is converted through f32, which is exact: with AVX512-FP16, LLVM 22 converts a NaN to a wrong
// i16.
static LLVMValueRef float_to_integer(Gen *g, const Cast *c) {
    LLVMValueRef x = opened(g, c);
    LLVMTypeRef single = gen_shaped(LLVMFloatTypeInContext(g->context), c->from);
    if (c->from->elem == DTYPE_F16) x = LLVMBuildFPExt(g->b, x, single, "");
    bool with_sign = dtype_signed(c->to->elem);
    return gen_intrinsic(g, with_sign ? "llvm.fptosi.sat" : "llvm.fptoui.sat", 2,
                         (LLVMTypeRef[]){c->type, LLVMTypeOf(x)}, 1, &x);
}

static LLVMValueRef to_bool(Gen *g, const Cast *c) {
    LLVMValueRef x = is_float(c->from) ? opened(g, c) : c->x, none = LLVMConstNull(LLVMTypeOf(x));
    if (is_float(c->from)) return LLVMBuildFCmp(g->b, LLVMRealUNE, x, none, "");
    return LLVMBuildICmp(g->b, LLVMIntNE, x, none, "");
}

static LLVMValueRef converted(Gen *g, const Cast *c) {
    if (c->from->elem == c->to->elem) return c->x;
    if (c->to->elem == DTYPE_BOOL) return to_bool(g, c);
    bool with_sign = dtype_signed(c->from->elem);
    if (is_float(c->from)) return is_float(c->to) ? float_to_float(g, c) : float_to_integer(g, c);
    if (!is_float(c->to)) return LLVMBuildIntCast2(g->b, c->x, c->type, with_sign, "");
    LLVMTypeRef type = float_type(g, c->to);
    return closed(
        g, c,
        with_sign ? LLVMBuildSIToFP(g->b, c->x, type, "") : LLVMBuildUIToFP(g->b, c->x, type, ""));
}

static LLVMValueRef same_bits(Gen *g, const Cast *c) {
    if (c->from->kind == IR_PTR && c->to->kind == IR_PTR) return c->x;
    if (c->from->kind == IR_PTR) return LLVMBuildPtrToInt(g->b, c->x, c->type, "");
    if (c->to->kind == IR_PTR) return gen_pointer(g, c->x, c->type);
    return LLVMBuildBitCast(g->b, c->x, c->type, "");
}

void gen_cast(Gen *g, const IrOp *op) {
    IrType from = gen_part_type(g, ir_operand(op, 0)->type);
    IrType to = gen_part_type(g, op->results[0].type);
    LLVMValueRef *r = gen_define_parts(g, op);
    for (uint32_t i = 0; i < gen_part_count(g, op->results[0].type); i++) {
        Cast c = {.from = &from, .to = &to, .type = gen_type(g, &to)};
        c.x = gen_operand_part(g, op, 0, i);
        r[i] = op->code == IR_CAST ? converted(g, &c) : same_bits(g, &c);
    }
}
