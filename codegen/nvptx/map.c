// Copies by tensor maps (TMA), and the barriers where they arrive. One thread executes most of
// these, after a branch: ptxas makes a detour through registers of threads for each operand of a
// copy that has a predicate. Copies that follow one another share the branch.
#include <stdio.h>
#include <string.h>

#include "base/gpu_abi.h"
#include "codegen/nvptx/gen.h"

enum { OPERANDS_MAX = 4 + GPU_MAP_RANK };

// An instruction with side effects; the constraint of each operand is a letter.
static void assembly(Gen *g, const char *text, const char *letters, LLVMValueRef *x) {
    char constraints[2 * OPERANDS_MAX + 12] = "";
    LLVMTypeRef types[OPERANDS_MAX];
    unsigned count = (unsigned)strlen(letters);
    size_t at = 0;
    for (unsigned i = 0; i < count; i++) {
        types[i] = LLVMTypeOf(x[i]);
        constraints[at++] = letters[i];
        constraints[at++] = ',';
    }
    strcpy(constraints + at, "~{memory}");
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), types, count, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                         true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(g->b, type, code, x, count, "");
    unsigned convergent = LLVMGetEnumAttributeKindForName("convergent", 10);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(g->context, convergent, 0));
}

// Its operands are a pointer and what is added to it.
static bool is_sum(LLVMValueRef p) {
    bool constant = LLVMIsAConstantExpr(p) && LLVMGetConstOpcode(p) == LLVMGetElementPtr;
    return (constant || LLVMIsAGetElementPtrInst(p)) && LLVMGetNumOperands(p) == 2;
}

// Sums are computed as numbers: LLVM would keep those of generic addresses, with conversions.
LLVMValueRef nvptx_shared_number(Gen *g, LLVMValueRef p, int64_t *more) {
    LLVMTypeRef word = gpu_int(g, 32);
    if (!is_sum(p)) return LLVMBuildPtrToInt(g->b, gpu_in_space(g, p, SPACE_SHARED), word, "");
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(g->module);
    uint64_t size = LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(p));
    LLVMValueRef index = LLVMGetOperand(p, 1);
    LLVMValueRef number = nvptx_shared_number(g, LLVMGetOperand(p, 0), more);
    if (LLVMIsAConstantInt(index)) {
        *more += LLVMConstIntGetSExtValue(index) * (int64_t)size;
        return number;
    }
    index = LLVMBuildIntCast2(g->b, index, word, true, "");
    index = LLVMBuildMul(g->b, index, gen_i32(g, (int32_t)size), "");
    return LLVMBuildAdd(g->b, number, index, "");
}

static LLVMValueRef shared_address(Gen *g, const IrOp *op, uint32_t i) {
    int64_t more = 0;
    LLVMValueRef number = nvptx_shared_number(g, gen_operand(g, op, i), &more);
    return LLVMBuildAdd(g->b, number, gen_i32(g, (int32_t)more), "");
}

// ---- one thread ---------------------------------------------------------------------------------

// May it be executed by all threads, and earlier?
static bool is_arithmetic(LLVMValueRef x) {
    switch (LLVMGetInstructionOpcode(x)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMICmp:
    case LLVMSelect:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMPtrToInt:
    case LLVMAddrSpaceCast:
    case LLVMGetElementPtr: return true;
    default: return false;
    }
}

// Is there nothing but arithmetic since the latest code of one thread?
static bool follows_leader(Gen *g, LLVMValueRef condition) {
    const GpuGen *n = gpu_gen(g);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    if (n->leader != condition || n->leader_after != here) return false;
    for (LLVMValueRef x = LLVMGetFirstInstruction(here); x; x = LLVMGetNextInstruction(x))
        if (!is_arithmetic(x)) return false;
    return true;
}

static void move_before(Gen *g, LLVMBasicBlockRef from, LLVMValueRef to) {
    LLVMPositionBuilderBefore(g->b, to);
    for (LLVMValueRef x; (x = LLVMGetFirstInstruction(from));) {
        LLVMInstructionRemoveFromParent(x);
        LLVMInsertIntoBuilder(g->b, x);
    }
}

// Code that is built until end_leader is executed where the condition holds.
static void begin_leader(Gen *g, LLVMValueRef condition) {
    GpuGen *n = gpu_gen(g);
    if (follows_leader(g, condition)) {
        move_before(g, n->leader_after, LLVMGetBasicBlockTerminator(n->leader_before));
    } else {
        n->leader = condition;
        n->leader_before = LLVMGetInsertBlock(g->b);
        n->leader_code = gen_block(g, "once");
        n->leader_after = gen_block(g, "all");
        LLVMBuildCondBr(g->b, condition, n->leader_code, n->leader_after);
        LLVMPositionBuilderAtEnd(g->b, n->leader_code);
        LLVMBuildBr(g->b, n->leader_after);
    }
    LLVMPositionBuilderBefore(g->b, LLVMGetBasicBlockTerminator(n->leader_code));
}

static void end_leader(Gen *g) { LLVMPositionBuilderAtEnd(g->b, gpu_gen(g)->leader_after); }

static void by_leader(Gen *g, const IrOp *op, uint32_t mask, const char *text, const char *letters,
                      LLVMValueRef *x) {
    LLVMValueRef condition = gen_operand(g, op, mask);
    if (condition) begin_leader(g, condition);
    assembly(g, text, letters, x);
    if (condition) end_leader(g);
}

// ---- barriers -----------------------------------------------------------------------------------

// Copies by maps see the barrier after the fence and the next barrier of the program's threads.
static void init(Gen *g, const IrOp *op) {
    int32_t arrivals = (int32_t)ir_attr_int(op, IR_ATTR_ARRIVALS);
    LLVMValueRef x[] = {shared_address(g, op, 0), gen_i32(g, arrivals)};
    by_leader(g, op, 1,
              "mbarrier.init.shared::cta.b64 [$0], $1;\n\t"
              "fence.mbarrier_init.release.cluster;",
              "rn", x);
}

static void end(Gen *g, const IrOp *op) {
    LLVMValueRef x[] = {shared_address(g, op, 0)};
    by_leader(g, op, 1, "mbarrier.inval.shared::cta.b64 [$0];", "r", x);
}

static void expect(Gen *g, const IrOp *op) {
    LLVMValueRef bytes = gen_i32(g, (int32_t)ir_attr_int(op, IR_ATTR_COUNT));
    LLVMValueRef x[] = {shared_address(g, op, 0), bytes};
    by_leader(g, op, 1, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "rn", x);
}

// Lanes do it under a predicate: a branch would end the warp's straight code.
static void arrive(Gen *g, const IrOp *op) {
    LLVMValueRef x[] = {shared_address(g, op, 0), gen_operand(g, op, 1)};
    assembly(g, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "rb", x);
}

// try_wait may give up, so it is repeated.
static void wait(Gen *g, const IrOp *op) {
    LLVMValueRef x[] = {shared_address(g, op, 0), gen_operand(g, op, 1)};
    assembly(g,
             "{\n\t"
             ".reg .pred done;\n\t"
             "again:\n\t"
             "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n\t"
             "@!done bra.uni again;\n\t"
             "}",
             "rr", x);
}

// ---- copies -------------------------------------------------------------------------------------

// The map is one of the kernel's parameters.
static LLVMValueRef address_of_map(Gen *g, int64_t number) {
    int64_t offset = gpu_maps_offset(gpu_block_size(g->func)) + number * GPU_MAP_BYTES;
    LLVMValueRef at = gen_i64(g, offset);
    return LLVMBuildInBoundsGEP2(g->b, gpu_int(g, 8), g->block, &at, 1, "");
}

// The box's coordinates are listed as the map's dimensions are: innermost first.
static void tma_load(Gen *g, const IrOp *op) {
    enum { HEAD = 3, FIRST = 4 };  // of the instruction, of the op
    int64_t number = ir_attr_int(op, IR_ATTR_MAP);
    const IrMap *map = &g->func->maps.data[number];
    LLVMValueRef x[OPERANDS_MAX] = {shared_address(g, op, 0), shared_address(g, op, 2),
                                    address_of_map(g, number)};
    char text[192], letters[OPERANDS_MAX + 1] = "rrl", coords[GPU_MAP_RANK * 5 + 1] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < map->rank; i++) {
        x[HEAD + i] = gen_operand(g, op, FIRST + map->axes[i]);
        letters[HEAD + i] = 'r';
        at += (size_t)snprintf(coords + at, sizeof coords - at, "%s$%u", i ? ", " : "", HEAD + i);
    }
    snprintf(text, sizeof text,
             "cp.async.bulk.tensor.%ud.shared::cluster.global.mbarrier::complete_tx::bytes "
             "[$0], [$2, {%s}], [$1];",
             map->rank, coords);
    by_leader(g, op, 3, text, letters, x);
}

void nvptx_map(Gen *g, const IrOp *op) {
    switch (op->code) {
    case IR_THREAD_MBARRIER_INIT: init(g, op); return;
    case IR_THREAD_MBARRIER_EXPECT: expect(g, op); return;
    case IR_THREAD_MBARRIER_ARRIVE: arrive(g, op); return;
    case IR_THREAD_MBARRIER_WAIT: wait(g, op); return;
    case IR_THREAD_MBARRIER_END: end(g, op); return;
    case IR_THREAD_TMA_LOAD: tma_load(g, op); return;
    default: break;
    }
}
