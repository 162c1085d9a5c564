#include "codegen/nvptx/check.h"

#include "codegen/gpu/check.h"
#include "ir/layout/build.h"

// Is there such an instruction on this architecture?
static bool multiplies(const Check *c, const IrOp *op) {
    const int64_t *s = ir_attr(op, IR_ATTR_SELECT)->u.ints.items;
    Dtype a = ir_operand(op, 0)->type->elem, b = ir_operand(op, 1)->type->elem;
    Dtype sum = op->results[0].type->elem;
    LayoutMma shape = {(uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2], dtype_bits(a)};
    uint32_t number = c->machine.gpu.number;
    if (!layout_mma_exists(shape)) return false;
    if (a == DTYPE_F16 && b == a && (sum == DTYPE_F32 || sum == DTYPE_F16))
        return number >= 80 || shape.k == 8;
    if (a == DTYPE_I8 || a == DTYPE_U8)
        return (b == DTYPE_I8 || b == DTYPE_U8) && sum == DTYPE_I32 &&
               (number >= 80 || shape.m == 8);
    if (a == DTYPE_BF16 || a == DTYPE_F32) return a == b && sum == DTYPE_F32 && number >= 80;
    if (a == DTYPE_F64) return a == b && sum == a && number >= 80;
    bool fp8 = (a == DTYPE_F8E4M3 || a == DTYPE_F8E5M2) && (b == DTYPE_F8E4M3 || b == DTYPE_F8E5M2);
    return fp8 && sum == DTYPE_F32 && number >= 89;
}

bool nvptx_check(const IrFunc *func, GpuTarget target, Diags *diags) {
    return gpu_check(func, target, multiplies, diags);
}

// ---- versions -----------------------------------------------------------------------------------

static uint32_t least_version(GpuTarget target) {
    switch (target.number) {
    case 75: return 63;
    case 80: return 70;
    case 86: return 71;
    case 87: return 74;
    case 89: return 78;
    case 90: return target.own ? 80 : 78;
    case 100: return 86;
    case 103: return 88;
    case 121: return 88;
    default: return 87;
    }
}

static uint32_t version_of(const IrOp *op) {
    if (op->code == IR_THREAD_MATRIX_LOAD) return 65;
    if (op->code != IR_THREAD_MMA) return 0;
    return dtype_is(ir_operand(op, 0)->type->elem, DTYPE_CLASS_FP8) ? 84 : 65;
}

static uint32_t block_version(const IrBlock *block) {
    uint32_t most = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        uint32_t version = version_of(op);
        if (version > most) most = version;
        for (uint32_t r = 0; r < op->region_count; r++) {
            version = block_version(op->regions[r]);
            if (version > most) most = version;
        }
    }
    return most;
}

uint32_t nvptx_version(const IrFunc *func, GpuTarget target) {
    uint32_t needed = block_version(ir_body(func)), least = least_version(target);
    return needed > least ? needed : least;
}
