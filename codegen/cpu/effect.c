// Effects that reach the runtime: failed asserts and prints.
#include <stddef.h>

#include "codegen/cpu/gen.h"

// Calls a function of the services, which takes (services, program, …).
static void call_service(Gen *g, size_t field, uint32_t count, LLVMTypeRef *types,
                         LLVMValueRef *args) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(g->context, 0);
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(g->context), types, count, false);
    LLVMBuildCall2(g->b, t, cpu_service(g, field, pointer), args, count, "");
}

static void gen_assert(Gen *g, const IrOp *op) {
    LLVMValueRef lane = gen_operand(g, op, 0);
    LLVMBasicBlockRef failed = gen_block(g, "failed"), holds = gen_block(g, "holds");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntSGE, lane, gen_i64(g, 0), ""), failed, holds);
    LLVMPositionBuilderAtEnd(g->b, failed);
    LLVMValueRef site = gen_i32(g, (int32_t)ir_attr_int(op, IR_ATTR_SITE));
    LLVMValueRef args[] = {cpu_gen(g)->services, cpu_gen(g)->linear, lane, site};
    LLVMTypeRef types[] = {LLVMTypeOf(args[0]), LLVMTypeOf(args[1]), LLVMTypeOf(args[2]),
                           LLVMTypeOf(args[3])};
    call_service(g, offsetof(CpuServices, assert_failed), 4, types, args);
    LLVMBuildBr(g->b, cpu_gen(g)->next_program);
    LLVMPositionBuilderAtEnd(g->b, holds);
}

// The array of addresses is allocated at the entry, so the frame does not grow with iterations.
static LLVMValueRef addresses(Gen *g, const IrOp *op) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(g->context, 0);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilder(g->b, cpu_gen(g)->entry, LLVMGetFirstInstruction(cpu_gen(g)->entry));
    LLVMTypeRef array = LLVMArrayType2(pointer, op->operand_count ? op->operand_count : 1);
    LLVMValueRef all = LLVMBuildAlloca(g->b, array, "");
    LLVMPositionBuilderAtEnd(g->b, here);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        LLVMValueRef at = gen_i64(g, i);
        LLVMValueRef slot = LLVMBuildInBoundsGEP2(g->b, pointer, all, &at, 1, "");
        LLVMBuildStore(g->b, gen_operand(g, op, i), slot);
    }
    return all;
}

static void gen_print(Gen *g, const IrOp *op) {
    LLVMValueRef values = addresses(g, op);
    LLVMValueRef site = gen_i32(g, (int32_t)ir_attr_int(op, IR_ATTR_SITE));
    LLVMValueRef args[] = {cpu_gen(g)->services, cpu_gen(g)->linear, site, values};
    LLVMTypeRef types[] = {LLVMTypeOf(args[0]), LLVMTypeOf(args[1]), LLVMTypeOf(args[2]),
                           LLVMTypeOf(args[3])};
    call_service(g, offsetof(CpuServices, print), 4, types, args);
    cpu_tiles_begin(cpu_gen(g));  // the print may have used the registers
}

void cpu_effect(Gen *g, const IrOp *op) {
    if (op->code == IR_VEC_ASSERT) gen_assert(g, op);
    if (op->code == IR_VEC_PRINT) gen_print(g, op);
}
