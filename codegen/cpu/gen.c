// Ops whose translation is specific to CPUs.
#include "codegen/cpu/gen.h"

#include "base/os/os.h"

LLVMValueRef cpu_service(Gen *g, size_t offset, LLVMTypeRef type) {
    LLVMValueRef place = gen_i64(g, (int64_t)offset);
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMValueRef p = LLVMBuildInBoundsGEP2(g->b, byte, cpu_gen(g)->services, &place, 1, "");
    LLVMValueRef v = LLVMBuildLoad2(g->b, type, p, "");
    LLVMMetadataRef none = LLVMMDNodeInContext2(g->context, NULL, 0);
    LLVMSetMetadata(v, g->kinds.invariant, LLVMMetadataAsValue(g->context, none));
    return v;
}

static void cpu_op(Gen *g, const IrOp *op) {
    switch (op->code) {
    case IR_CPU_SPAN: gen_define(g, op, cpu_gen(g)->span[ir_attr_int(op, IR_ATTR_DIM)]); return;
    case IR_VEC_REDUCE:
    case IR_VEC_DOT2:
    case IR_CPU_DOT4: cpu_vector(g, op); return;
    case IR_CPU_TILES: cpu_tiles(g, op); return;
    case IR_PTR_ADD:
    case IR_LOAD:
    case IR_STORE:
    case IR_CPU_SCRATCH:
    case IR_CPU_LOAD:
    case IR_CPU_PREFETCH:
    case IR_CPU_STORE: cpu_memory(g, op); return;
    case IR_VEC_ASSERT:
    case IR_VEC_PRINT: cpu_effect(g, op); return;
    default: UNREACHABLE("%s has no translation, and was not refused", ir_op_info(op->code)->text);
    }
}

static bool has_streams(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_CPU_STORE && ir_attr_int(op, IR_ATTR_STREAM)) return true;
        for (uint32_t r = 0; r < op->region_count; r++)
            if (has_streams(op->regions[r])) return true;
    }
    return false;
}

// x86 orders all stores but non-temporal ones. A release must follow those as well.
static void cpu_fence(Gen *g, bool release, IrScope scope) {
    bool x86 = cpu_gen(g)->machine.cpu.level != CPU_AARCH64;
    if (release && x86 && has_streams(ir_body(g->func)))
        gen_intrinsic(g, "llvm.x86.sse.sfence", 0, NULL, 0, NULL);
    LLVMBuildFence(g->b, release ? LLVMAtomicOrderingRelease : LLVMAtomicOrderingAcquire,
                   scope == IR_SCOPE_PROGRAM, "");
}

enum { CPU_TABLE_ZEROS = 64 };  // the lanes of most vectors

const GenTarget cpu_gen_target = {.table_zeros = CPU_TABLE_ZEROS,
                                  .lookup = cpu_lookup,
                                  .fence = cpu_fence,
                                  .op = cpu_op,
                                  .min_max = cpu_min_max,
                                  .min_max_number = cpu_min_max_number,
                                  .remainder = cpu_remainder};
