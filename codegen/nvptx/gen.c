// Ops that only GPUs have, or have their own way.
#include "codegen/nvptx/gen.h"

#include <string.h>

#include "base/os.h"

LLVMTypeRef nvptx_pointer(const Gen *g, unsigned space) {
    return LLVMPointerTypeInContext(g->context, space);
}

LLVMValueRef nvptx_in_space(Gen *g, LLVMValueRef p, unsigned space) {
    return LLVMBuildAddrSpaceCast(g->b, p, nvptx_pointer(g, space), "");
}

// Halves are combined until one register is left: the order the op is defined by.
static void reduce(Gen *g, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0);
    IrType t = gen_part_type(g, x->type);
    IrOpcode code = gen_reduce_opcode((IrReduce)ir_attr_int(op, IR_ATTR_REDUCE), t.elem);
    LLVMValueRef *parts = arena_new(g->arena, LLVMValueRef, x->type->count);
    memcpy(parts, gen_parts(g, x), x->type->count * sizeof *parts);
    for (uint32_t n = x->type->count / 2; n; n /= 2)
        for (uint32_t i = 0; i < n; i++) parts[i] = gen_binary(g, code, &t, parts[i], parts[i + n]);
    gen_define(g, op, parts[0]);
}

static void thread_id(Gen *g, const IrOp *op) {
    LLVMValueRef v = gen_intrinsic(g, "llvm.nvvm.read.ptx.sreg.tid.x", 0, NULL, 0, NULL);
    unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
    uint64_t from = 0, to = ir_thread_count(g->func);
    LLVMAddCallSiteAttribute(v, 0,
                             LLVMCreateConstantRangeAttribute(g->context, kind, 32, &from, &to));
    gen_define(g, op, v);
}

// The hardware's own functions, which math(approx) leaves as they are.
static void approximate(Gen *g, const IrOp *op, const char *name) {
    LLVMValueRef *r = gen_define_parts(g, op);
    for (uint32_t i = 0; i < gen_part_count(g, op->results[0].type); i++) {
        LLVMValueRef x = gen_operand_part(g, op, 0, i);
        LLVMTypeRef type = LLVMTypeOf(x);
        bool of_any = LLVMIntrinsicIsOverloaded(LLVMLookupIntrinsicID(name, strlen(name)));
        r[i] = gen_intrinsic(g, name, of_any, &type, 1, &x);
    }
}

static void nvptx_op(Gen *g, const IrOp *op) {
    switch ((unsigned)op->code) {
    case IR_THREAD_ID: thread_id(g, op); return;
    case IR_PTR_ADD:
    case IR_LOAD:
    case IR_STORE:
    case IR_THREAD_SHARED:
    case IR_THREAD_LOAD:
    case IR_THREAD_STORE: nvptx_memory(g, op); return;
    case IR_THREAD_PACK:
    case IR_THREAD_BARRIER:
    case IR_THREAD_SHUFFLE:
    case IR_THREAD_MATRIX_LOAD:
    case IR_THREAD_COPY:
    case IR_THREAD_COMMIT:
    case IR_THREAD_WAIT: nvptx_warp(g, op); return;
    case IR_THREAD_MMA: nvptx_mma(g, op); return;
    case IR_EXP2: approximate(g, op, "llvm.nvvm.ex2.approx.ftz"); return;
    case IR_RSQRT: approximate(g, op, "llvm.nvvm.rsqrt.approx.ftz.f"); return;
    case IR_SIN: approximate(g, op, "llvm.nvvm.sin.approx.ftz.f"); return;
    case IR_COS: approximate(g, op, "llvm.nvvm.cos.approx.ftz.f"); return;
    case IR_CPU_REDUCE: reduce(g, op); return;
    case IR_CPU_ASSERT:
    case IR_CPU_PRINT: nvptx_effect(g, op); return;
    default: UNREACHABLE("%s has no translation, and was not refused", ir_op_info(op->code)->text);
    }
}

static LLVMValueRef nvptx_extreme(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b,
                                  bool greatest) {
    (void)t;
    LLVMTypeRef type = LLVMTypeOf(a);
    return gen_intrinsic(g, greatest ? "llvm.maximum" : "llvm.minimum", 1, &type, 2,
                         (LLVMValueRef[]){a, b});
}

// By the reciprocal: 1 ulp and a rounding, where 1 / b is a normal number.
static LLVMValueRef nvptx_quotient(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b) {
    if (t->elem != DTYPE_F32) return NULL;
    LLVMValueRef r = gen_intrinsic(g, "llvm.nvvm.rcp.approx.ftz.f", 0, NULL, 1, &b);
    return LLVMBuildFMul(g->b, a, r, "");
}

static void nvptx_fence(Gen *g, bool release, IrScope scope) {
    static const char *const scopes[] = {"block", "device", ""};
    const char *name = scopes[scope];
    unsigned id = LLVMGetSyncScopeID(g->context, name, strlen(name));
    LLVMBuildFenceSyncScope(g->b, release ? LLVMAtomicOrderingRelease : LLVMAtomicOrderingAcquire,
                            id, "");
}

// LLVM 22 makes a read and an exchange of the whole word of an exchange of 16 bits, and reads past
// the end of an array; the hardware has it since sm_70.
static LLVMValueRef nvptx_swap(Gen *g, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef x,
                               IrScope scope) {
    static const char *const texts[] = {"atom.relaxed.cta.cas.b16 $0, [$1], $2, $3;",
                                        "atom.relaxed.gpu.cas.b16 $0, [$1], $2, $3;",
                                        "atom.relaxed.sys.cas.b16 $0, [$1], $2, $3;"};
    static const char constraints[] = "=h,l,h,h,~{memory}";
    LLVMTypeRef type = LLVMTypeOf(x);
    if (LLVMGetIntTypeWidth(type) != 16) return NULL;
    LLVMTypeRef params[] = {nvptx_pointer(g, 0), type, type};
    LLVMTypeRef function = LLVMFunctionType(type, params, 3, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(function, texts[scope], strlen(texts[scope]), constraints,
                         sizeof constraints - 1, true, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(g->b, function, code, (LLVMValueRef[]){p, expected, x}, 3, "");
}

const GenTarget nvptx_gen_target = {.swap = nvptx_swap,
                                    .lanes_apart = true,
                                    .op = nvptx_op,
                                    .extreme = nvptx_extreme,
                                    .quotient = nvptx_quotient,
                                    .remainder = gen_remainder,
                                    .fence = nvptx_fence};
