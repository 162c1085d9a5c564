#include "codegen/nvptx/version.h"

#include "target/chip.h"

static uint32_t version_of(const IrOp *op) {
    if (op->code == IR_THREAD_MATRIX_LOAD) return 65;
    if (op->code == IR_THREAD_TMA_LOAD || op->code == IR_THREAD_MBARRIER_INIT) return 80;
    if (op->code == IR_THREAD_LOAD || op->code == IR_THREAD_STORE || op->code == IR_LOAD ||
        op->code == IR_STORE) {
        int64_t cache = ir_attr_int(op, IR_ATTR_CACHE);
        return cache == IR_CACHE_FIRST || cache == IR_CACHE_LAST ? 74 : 0;
    }
    if (op->code != IR_THREAD_MMA && op->code != IR_THREAD_WGMMA) return 0;
    Dtype a = ir_operand(op, 0)->type->elem, b = ir_operand(op, 1)->type->elem;
    if (op->code == IR_THREAD_MMA) return dtype_is(a, DTYPE_CLASS_FP8) ? 84 : 65;
    // Integers of two signs came later than the other products.
    return dtype_is(a, DTYPE_CLASS_INT) && a != b ? 84 : 80;
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
    uint32_t needed = block_version(ir_body(func)),
             least = target.own ? chip_of(target)->ptx_own : chip_of(target)->ptx;
    return needed > least ? needed : least;
}
