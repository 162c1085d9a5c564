#include "codegen/amdgpu/check.h"

#include "codegen/gpu/check.h"
#include "ir/spread.h"

static bool is_ocp(Dtype t) { return t == DTYPE_F8E4M3 || t == DTYPE_F8E5M2; }

static bool mfma_exists(uint32_t number, LayoutProduct p, Dtype a, Dtype b) {
    uint32_t area = p.m * p.k;
    bool cdna3 = number >= 0x940 && number <= 0x950, cdna4 = number == 0x950;
    if (number != 0x90a && !cdna3) return false;
    switch ((unsigned)a) {
    case DTYPE_F16:
    case DTYPE_BF16: return a == b && (area == 256 || (area == 512 && cdna4));
    case DTYPE_F32: return a == b && (area == 64 || (area == 128 && number == 0x942));
    case DTYPE_F64: return a == b;
    case DTYPE_I8:
        if (area == 256) return a == b && number == 0x90a;
        return a == b && (area == 512 ? cdna3 : cdna4);
    }
    bool fp8 = dtype_is(a, DTYPE_CLASS_FP8) && dtype_is(b, DTYPE_CLASS_FP8);
    return fp8 && area == 512 && number >= 0x942 && is_ocp(a) == cdna4 && is_ocp(b) == cdna4;
}

static bool wmma_exists(uint32_t number, LayoutProduct p, Dtype a, Dtype b) {
    bool rdna4 = number == 0x1200 || number == 0x1201;
    if (p.unit == LAYOUT_UNIT_WMMA3 ? number >> 8 != 0x11 : !rdna4) return false;
    if (p.k != 16) return false;
    if (a == DTYPE_F16 || a == DTYPE_BF16) return a == b;
    if (a == DTYPE_I8 || a == DTYPE_U8) return b == DTYPE_I8 || b == DTYPE_U8;
    return rdna4 && dtype_is(a, DTYPE_CLASS_FP8) && dtype_is(b, DTYPE_CLASS_FP8) && is_ocp(a) &&
           is_ocp(b);
}

static bool multiplies(const Check *c, const IrOp *op) {
    LayoutProduct p = spread_product(op);
    Dtype a = ir_operand(op, 0)->type->elem, b = ir_operand(op, 1)->type->elem;
    Dtype sum = op->results[0].type->elem;
    bool whole = dtype_is(a, DTYPE_CLASS_INT);
    if (sum != (whole ? DTYPE_I32 : a == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32)) return false;
    if (!layout_fragment_exists(p) || p.unit == LAYOUT_UNIT_MMA) return false;
    uint32_t number = c->machine.gpu.number;
    return p.unit == LAYOUT_UNIT_MFMA ? mfma_exists(number, p, a, b) : wmma_exists(number, p, a, b);
}

bool amdgpu_check(const IrFunc *func, GpuTarget target, Diags *diags) {
    return gpu_check(func, target, multiplies, diags);
}
