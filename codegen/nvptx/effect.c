// What reaches the host: failed asserts.
#include "codegen/nvptx/gen.h"

// The report begins with one word: 0, or 1 + the number of the site that failed first; then the
// program's place and the lane, 8 bytes each (runtime/failure.h).
static void put(Gen *g, int64_t offset, LLVMValueRef value) {
    LLVMValueRef at = gen_i64(g, offset), report = nvptx_gen(g)->report;
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMSetAlignment(
        LLVMBuildStore(g->b, value, LLVMBuildInBoundsGEP2(g->b, byte, report, &at, 1, "")), 8);
}

// The lane is the same in all threads: the program ends as one.
void nvptx_effect(Gen *g, const IrOp *op) {
    LLVMValueRef lane = gen_operand(g, op, 0), zero = gen_i32(g, 0);
    LLVMBasicBlockRef failed = gen_block(g, "failed"), holds = gen_block(g, "holds");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntSGE, lane, gen_i64(g, 0), ""), failed, holds);
    LLVMPositionBuilderAtEnd(g->b, failed);
    LLVMBasicBlockRef first = gen_block(g, "first");
    LLVMValueRef thread = gen_intrinsic(g, "llvm.nvvm.read.ptx.sreg.tid.x", 0, NULL, 0, NULL);
    LLVMBasicBlockRef claim = gen_block(g, "claim");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, thread, zero, ""), claim,
                    nvptx_gen(g)->done);
    LLVMPositionBuilderAtEnd(g->b, claim);
    LLVMValueRef site = gen_i32(g, (int32_t)ir_attr_int(op, IR_ATTR_SITE) + 1);
    LLVMValueRef pair =
        LLVMBuildAtomicCmpXchg(g->b, nvptx_gen(g)->report, zero, site, LLVMAtomicOrderingMonotonic,
                               LLVMAtomicOrderingMonotonic, false);
    LLVMBuildCondBr(g->b, LLVMBuildExtractValue(g->b, pair, 1, ""), first, nvptx_gen(g)->done);
    LLVMPositionBuilderAtEnd(g->b, first);
    for (int d = 0; d < 3; d++) put(g, 8 + 8 * d, g->place[d]);
    put(g, 32, lane);
    LLVMBuildBr(g->b, nvptx_gen(g)->done);
    LLVMPositionBuilderAtEnd(g->b, holds);
}
