// Ops whose translation is specific to NVIDIA's GPUs.
#include "codegen/nvptx/gen.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"

// The launch sets the size of all shared memory: static arrays may have 48 KiB at most.
static LLVMValueRef shared_memory(Gen *g) {
    enum { ALIGN = 1024 };  // the widest swizzles need it
    GpuGen *n = gpu_gen(g);
    if (n->shared) return n->shared;
    LLVMTypeRef none = LLVMArrayType2(LLVMInt8TypeInContext(g->context), 0);
    n->shared = LLVMAddGlobalInAddressSpace(g->module, none, "tilec_shared", SPACE_SHARED);
    LLVMSetLinkage(n->shared, LLVMExternalLinkage);
    LLVMSetAlignment(n->shared, ALIGN);
    return n->shared;
}

static LLVMValueRef thread_id(Gen *g) {
    return gen_intrinsic(g, "llvm.nvvm.read.ptx.sreg.tid.x", 0, NULL, 0, NULL);
}

const GpuOps nvptx_ops = {.shared_memory = shared_memory,
                          .thread_id = thread_id,
                          .program_ids = nvptx_program_ids,
                          .body = nvptx_specialize_warps,
                          .shuffle = nvptx_shuffle,
                          .exchanged = nvptx_exchanged,
                          .any_lane = nvptx_any_lane,
                          .can_mask = nvptx_can_mask,
                          .hinted = nvptx_hinted,
                          .masked_load = nvptx_masked_load,
                          .masked_store = nvptx_masked_store,
                          .separate_parts = nvptx_separate_parts,
                          .word = nvptx_word};

// The hardware's functions, which math(approx) leaves in the IR.
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
    switch (op->code) {
    case IR_THREAD_ID: gpu_thread_id(g, op); return;
    case IR_PTR_ADD:
    case IR_LOAD:
    case IR_STORE:
    case IR_THREAD_SHARED:
    case IR_THREAD_LOAD:
    case IR_THREAD_STORE: gpu_memory(g, op); return;
    case IR_THREAD_PACK: gpu_pack(g, op); return;
    case IR_THREAD_SHUFFLE: gpu_shuffle(g, op); return;
    case IR_THREAD_BARRIER: nvptx_barrier(g, op); return;
    case IR_THREAD_MATRIX_LOAD:
    case IR_THREAD_COPY:
    case IR_THREAD_COMMIT:
    case IR_THREAD_WAIT: nvptx_warp(g, op); return;
    case IR_THREAD_MBARRIER_INIT:
    case IR_THREAD_MBARRIER_EXPECT:
    case IR_THREAD_MBARRIER_ARRIVE:
    case IR_THREAD_MBARRIER_WAIT:
    case IR_THREAD_MBARRIER_END:
    case IR_THREAD_TMA_LOAD: nvptx_map(g, op); return;
    case IR_THREAD_MMA: nvptx_mma(g, op); return;
    case IR_THREAD_WGMMA: nvptx_wgmma(g, op); return;
    case IR_THREAD_WGMMA_BEGIN: nvptx_wgmma_begin(g, op); return;
    case IR_THREAD_WGMMA_COMMIT: nvptx_wgmma_commit(g); return;
    case IR_THREAD_WGMMA_WAIT: nvptx_wgmma_wait(g, op); return;
    case IR_EXP2: approximate(g, op, "llvm.nvvm.ex2.approx.ftz"); return;
    case IR_RSQRT: approximate(g, op, "llvm.nvvm.rsqrt.approx.ftz.f"); return;
    case IR_SIN: approximate(g, op, "llvm.nvvm.sin.approx.ftz.f"); return;
    case IR_COS: approximate(g, op, "llvm.nvvm.cos.approx.ftz.f"); return;
    case IR_VEC_REDUCE: gpu_reduce(g, op); return;
    case IR_VEC_ASSERT:
    case IR_VEC_PRINT: gpu_effect(g, op); return;
    default: UNREACHABLE("%s has no translation, and was not refused", ir_op_info(op->code)->text);
    }
}

static bool is_number_but_zero(LLVMValueRef v) {
    LLVMBool inexact;
    if (!LLVMIsAConstantFP(v)) return false;
    double x = LLVMConstRealGetDouble(v, &inexact);
    return x < 0 || x > 0;
}

// If one operand is a known number other than 0, a comparison and a select keep NaN, because the
// comparison is false for it. This costs less if no instruction keeps NaN (codegen/gpu/min_max.c).
static LLVMValueRef nvptx_min_max(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b,
                                  bool greatest) {
    LLVMTypeRef type = LLVMTypeOf(a);
    const bool *keeps_nan = gpu_gen(g)->machine.nan_extremes;
    bool expensive = t->elem == DTYPE_F64 ? !keeps_nan[1] : t->elem == DTYPE_F32 && !keeps_nan[0];
    if (expensive && (is_number_but_zero(a) || is_number_but_zero(b))) {
        LLVMValueRef bound = is_number_but_zero(a) ? a : b, x = bound == a ? b : a;
        LLVMRealPredicate beyond = greatest ? LLVMRealOLT : LLVMRealOGT;
        return LLVMBuildSelect(g->b, LLVMBuildFCmp(g->b, beyond, x, bound, ""), bound, x, "");
    }
    return gen_intrinsic(g, greatest ? "llvm.maximum" : "llvm.minimum", 1, &type, 2,
                         (LLVMValueRef[]){a, b});
}

static LLVMValueRef widened_half(LLVMValueRef v) {
    if (!LLVMIsAFPExtInst(v)) return NULL;
    LLVMValueRef x = LLVMGetOperand(v, 0);
    return LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMHalfTypeKind ? x : NULL;
}

// Two halves that were widened are compared as halves where there is an instruction for them; for
// `maximum` LLVM 22 does that itself.
static LLVMValueRef nvptx_min_max_number(Gen *g, LLVMValueRef a, LLVMValueRef b, bool greatest) {
    LLVMTypeRef type = LLVMTypeOf(a);
    bool narrow = gpu_gen(g)->machine.nan_extremes[0] && widened_half(a) && widened_half(b);
    LLVMValueRef x[] = {narrow ? widened_half(a) : a, narrow ? widened_half(b) : b};
    LLVMTypeRef within = LLVMTypeOf(x[0]);
    LLVMValueRef r =
        gen_intrinsic(g, greatest ? "llvm.maximumnum" : "llvm.minimumnum", 1, &within, 2, x);
    return narrow ? LLVMBuildFPExt(g->b, r, type, "") : r;
}

// Multiplies by the reciprocal. The error is below 2.5 ulp if 1 / b is a normal number: one of the
// reciprocal, which a product with a larger significand doubles, and a rounding.
static LLVMValueRef nvptx_fast_quotient(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b) {
    if (t->elem != DTYPE_F32) return NULL;
    LLVMValueRef r = gen_intrinsic(g, "llvm.nvvm.rcp.approx.ftz.f", 0, NULL, 1, &b);
    return LLVMBuildFMul(g->b, a, r, "");
}

static const char *const scopes[] = {"block", "device", ""};

static void nvptx_fence(Gen *g, bool release, IrScope scope) {
    const char *name = scopes[scope];
    unsigned id = LLVMGetSyncScopeID(g->context, name, strlen(name));
    LLVMBuildFenceSyncScope(g->b, release ? LLVMAtomicOrderingRelease : LLVMAtomicOrderingAcquire,
                            id, "");
}

static LLVMValueRef swap_half(Gen *g, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef x,
                              IrScope scope) {
    static const char *const texts[] = {"atom.relaxed.cta.cas.b16 $0, [$1], $2, $3;",
                                        "atom.relaxed.gpu.cas.b16 $0, [$1], $2, $3;",
                                        "atom.relaxed.sys.cas.b16 $0, [$1], $2, $3;"};
    static const char constraints[] = "=h,l,h,h,~{memory}";
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMTypeRef params[] = {gpu_pointer(g, 0), type, type};
    LLVMTypeRef function = LLVMFunctionType(type, params, 3, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(function, texts[scope], strlen(texts[scope]), constraints,
                         sizeof constraints - 1, true, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(g->b, function, code, (LLVMValueRef[]){p, expected, x}, 3, "");
}

// For an exchange of 8 or 16 bits, LLVM 22 reads and exchanges the whole word: the read may go past
// the end of an array, and is not atomic. The hardware has 16-bit exchanges since sm_70, and memory
// is allocated in whole pairs of bytes.
static LLVMValueRef nvptx_swap(Gen *g, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef x,
                               IrScope scope) {
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(x));
    if (width == 16) return swap_half(g, p, expected, x, scope);
    return width == 8 ? gpu_swap_within(g, 16, swap_half, p, expected, x, scope) : NULL;
}

// The hardware's atomic sums of f32 flush subnormals: they are allowed under math(approx) only.
static LLVMValueRef nvptx_add(Gen *g, LLVMValueRef p, Dtype elem, LLVMValueRef x, IrScope scope) {
    static const char *const texts[] = {"cta", "gpu", "sys"};
    bool loose = (g->func->math & IR_MATH_APPROX) != 0;
    if (elem != DTYPE_F64 && elem != DTYPE_F16 && !(elem == DTYPE_F32 && loose)) return NULL;
    const char *type = elem == DTYPE_F64 ? "f64" : elem == DTYPE_F16 ? "noftz.f16" : "f32";
    const char *constraints = elem == DTYPE_F64   ? "=d,l,d,~{memory}"
                              : elem == DTYPE_F16 ? "=h,l,h,~{memory}"
                                                  : "=f,l,f,~{memory}";
    char text[64];
    snprintf(text, sizeof text, "atom.relaxed.%s.add.%s $0, [$1], $2;", texts[scope], type);
    LLVMTypeRef params[] = {gpu_pointer(g, 0), LLVMTypeOf(x)};
    LLVMTypeRef function = LLVMFunctionType(LLVMTypeOf(x), params, 2, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(function, text, strlen(text), constraints, strlen(constraints), true,
                         false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(g->b, function, code, (LLVMValueRef[]){p, x}, 2, "");
}

const GenTarget nvptx_gen_target = {.global_space = SPACE_GLOBAL,
                                    .table_space = SPACE_GLOBAL,
                                    .table_zeros = 1,
                                    .add = nvptx_add,
                                    .swap = nvptx_swap,
                                    .splits_vectors = true,
                                    .op = nvptx_op,
                                    .min_max = nvptx_min_max,
                                    .min_max_number = nvptx_min_max_number,
                                    .fast_quotient = nvptx_fast_quotient,
                                    .remainder = gen_remainder,
                                    .plain_scopes = scopes,
                                    .leave_loop = nvptx_leave_loop,
                                    .fence = nvptx_fence,
                                    .exact_double = true};
