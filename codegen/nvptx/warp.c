// Operations of threads together: shuffles, matrices from shared memory, copies, barriers.
#include <stdio.h>
#include <string.h>

#include "codegen/nvptx/gen.h"

enum { WARP_MASK = 31 };

// Where there are producers, one of their warps executes the barriers that are marked for them.
// The barrier is the same for both memories. A fence orders this thread's accesses with those of
// the asynchronous units.
void nvptx_barrier(Gen *g, const IrOp *op) {
    enum { ALL, PROGRAM };  // the hardware's barriers
    bool roles = g->func->producers > 0, both = ir_attr_int(op, IR_ATTR_PRODUCER) != 0;
    uint32_t threads = ir_thread_count(g->func) + (both ? WARP_MASK + 1 : 0);
    if (ir_attr_int(op, IR_ATTR_ASYNC))
        gen_intrinsic(g, "llvm.nvvm.fence.proxy.async.shared_cta", 0, NULL, 0, NULL);
    LLVMValueRef x[] = {gen_i32(g, roles && !both ? PROGRAM : ALL), gen_i32(g, (int32_t)threads)};
    gen_intrinsic(g,
                  roles ? "llvm.nvvm.barrier.cta.sync.aligned.count"
                        : "llvm.nvvm.barrier.cta.sync.aligned.all",
                  0, NULL, roles ? 2 : 1, x);
    if (op == gpu_gen(g)->leader_only_after) nvptx_continue_as_leader(g);
}

// ---- shuffles: words of 32 bits -----------------------------------------------------------------

LLVMValueRef nvptx_shuffle(Gen *g, LLVMValueRef word, LLVMValueRef lane, uint32_t by) {
    LLVMValueRef all = gen_i32(g, -1), clamp = gen_i32(g, WARP_MASK);
    if (lane)
        return gen_intrinsic(g, "llvm.nvvm.shfl.sync.idx.i32", 0, NULL, 4,
                             (LLVMValueRef[]){all, word, lane, clamp});
    return gen_intrinsic(g, "llvm.nvvm.shfl.sync.bfly.i32", 0, NULL, 4,
                         (LLVMValueRef[]){all, word, gen_i32(g, (int32_t)by), clamp});
}

LLVMValueRef nvptx_exchanged(LLVMValueRef call, uint32_t *by) {
    static const char name[] = "llvm.nvvm.shfl.sync.bfly.i32";
    LLVMValueRef called = LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;
    if (!called || !LLVMIsAFunction(called)) return NULL;
    if (LLVMGetIntrinsicID(called) != LLVMLookupIntrinsicID(name, sizeof name - 1)) return NULL;
    *by = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(call, 2));
    return LLVMGetOperand(call, 1);
}

LLVMValueRef nvptx_any_lane(Gen *g, LLVMValueRef bit) {
    return gen_intrinsic(g, "llvm.nvvm.vote.any.sync", 0, NULL, 2,
                         (LLVMValueRef[]){gen_i32(g, -1), bit});
}

// ---- shared memory ------------------------------------------------------------------------------

// The elements of a 32-bit word; how many they are.
static uint32_t word_parts(Gen *g, LLVMValueRef word, const IrValue *v, LLVMValueRef *parts) {
    IrType part = gen_part_type(g, v->type);
    LLVMTypeRef type = gen_type(g, &part);
    uint32_t count = 32 / dtype_bits(v->type->elem);
    if (count == 1) {
        parts[0] = LLVMBuildBitCast(g->b, word, type, "");
        return 1;
    }
    word = LLVMBuildBitCast(g->b, word, LLVMVectorType(type, count), "");
    for (uint32_t k = 0; k < count; k++)
        parts[k] = LLVMBuildExtractElement(g->b, word, gen_i32(g, (int32_t)k), "");
    return count;
}

static void matrix_load(Gen *g, const IrOp *op) {
    static const char *const names[2][3] = {{"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16",
                                             "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16",
                                             "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"},
                                            {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16",
                                             "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16",
                                             "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"}};
    uint32_t count = (uint32_t)ir_attr_int(op, IR_ATTR_COUNT);
    bool turned = ir_attr_int(op, IR_ATTR_TURNED) != 0;
    LLVMValueRef p = gpu_in_space(g, gen_operand(g, op, 0), SPACE_SHARED);
    LLVMTypeRef type = LLVMTypeOf(p);
    LLVMValueRef all = gen_intrinsic(g, names[turned ? 1 : 0][count / 2], 1, &type, 1, &p);
    LLVMValueRef *r = gen_define_parts(g, op);
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef word = count == 1 ? all : LLVMBuildExtractValue(g->b, all, i, "");
        r += word_parts(g, word, &op->results[0], r);
    }
}

// This is assembly because LLVM turns a conjunction into a chain of selects, and ptxas does not see
// that the instruction only needs a predicate.
static LLVMValueRef size_where(Gen *g, LLVMValueRef mask, uint32_t bytes) {
    char text[40];
    int n = snprintf(text, sizeof text, "selp.b32 $0, %u, 0, $1;", bytes);
    static const char constraints[] = "=r,b";
    LLVMTypeRef bit = LLVMTypeOf(mask);
    LLVMTypeRef function = LLVMFunctionType(LLVMInt32TypeInContext(g->context), &bit, 1, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(function, text, (size_t)n, constraints, sizeof constraints - 1, false,
                         false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(g->b, function, code, &mask, 1, "");
}

// cp.async with size 0 does not read the source and writes zeros.
static void copy(Gen *g, const IrOp *op) {
    static const char *const names[2][3] = {
        {"llvm.nvvm.cp.async.ca.shared.global.4", "llvm.nvvm.cp.async.ca.shared.global.8",
         "llvm.nvvm.cp.async.cg.shared.global.16"},
        {"llvm.nvvm.cp.async.ca.shared.global.4.s", "llvm.nvvm.cp.async.ca.shared.global.8.s",
         "llvm.nvvm.cp.async.cg.shared.global.16.s"}};
    Dtype elem = ir_operand(op, 0)->type->elem;
    uint32_t bytes = (uint32_t)ir_attr_int(op, IR_ATTR_COUNT) * (uint32_t)dtype_size(elem);
    LLVMValueRef x[3] = {gpu_in_space(g, gen_operand(g, op, 0), SPACE_SHARED),
                         gpu_in_space(g, gen_operand(g, op, 1), SPACE_GLOBAL), NULL};
    LLVMValueRef mask = gen_operand(g, op, 2);
    if (mask) x[2] = size_where(g, mask, bytes);
    gen_intrinsic(g,
                  names[mask ? 1 : 0][bytes == 4   ? 0
                                      : bytes == 8 ? 1
                                                   : 2],
                  0, NULL, mask ? 3 : 2, x);
}

void nvptx_warp(Gen *g, const IrOp *op) {
    LLVMValueRef n;
    switch (op->code) {
    case IR_THREAD_MATRIX_LOAD: matrix_load(g, op); return;
    case IR_THREAD_COPY: copy(g, op); return;
    case IR_THREAD_COMMIT:
        gen_intrinsic(g, "llvm.nvvm.cp.async.commit.group", 0, NULL, 0, NULL);
        return;
    case IR_THREAD_WAIT:
        n = gen_i32(g, (int32_t)ir_attr_int(op, IR_ATTR_COUNT));
        gen_intrinsic(g, "llvm.nvvm.cp.async.wait.group", 0, NULL, 1, &n);
        return;
    default: break;
    }
}
