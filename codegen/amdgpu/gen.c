// Ops whose translation is specific to AMD's GPUs.
#include "codegen/amdgpu/gen.h"

#include <string.h>

#include "base/os/os.h"

static LLVMValueRef amdgpu_rematerialized(Gen *g, LLVMValueRef x) {
    return gen_opaque(g->b, "=v,0", false, x);
}

const GpuOps amdgpu_ops = {.shared_memory = amdgpu_shared_memory,
                           .thread_id = amdgpu_thread_id,
                           .rematerialized = amdgpu_rematerialized,
                           .program_ids = amdgpu_program_ids,
                           .shuffle = amdgpu_shuffle,
                           .can_mask = amdgpu_can_mask,
                           .masked_load = amdgpu_masked_load,
                           .masked_store = amdgpu_masked_store};

// The hardware's functions, which math(approx) leaves in the IR. If `turns`, the hardware takes the
// angle in turns of a full circle (sine and cosine).
static void approximate(Gen *g, const IrOp *op, const char *name, bool in_revolutions) {
    LLVMValueRef *r = gen_define_parts(g, op);
    for (uint32_t i = 0; i < gen_part_count(g, op->results[0].type); i++) {
        LLVMValueRef x = gen_operand_part(g, op, 0, i);
        LLVMTypeRef type = LLVMTypeOf(x);
        if (in_revolutions)
            x = LLVMBuildFMul(g->b, x, LLVMConstReal(type, 0.15915494309189535), "");
        r[i] = gen_intrinsic(g, name, 1, &type, 1, &x);
    }
}

static void amdgpu_op(Gen *g, const IrOp *op) {
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
    case IR_THREAD_BARRIER: amdgpu_barrier(g, ir_attr_int(op, IR_ATTR_GLOBAL) != 0); return;
    case IR_THREAD_MMA:
        amdgpu_phase_begins(g, op);
        amdgpu_mma(g, op);
        amdgpu_phase_ends(g, op);
        return;
    case IR_THREAD_COPY: amdgpu_copy(g, op); return;
    case IR_THREAD_COMMIT: amdgpu_commit(g); return;
    case IR_THREAD_WAIT: amdgpu_wait(g, op); return;
    case IR_EXP2: approximate(g, op, "llvm.amdgcn.exp2", false); return;
    case IR_RSQRT: approximate(g, op, "llvm.amdgcn.rsq", false); return;
    case IR_SIN: approximate(g, op, "llvm.amdgcn.sin", true); return;
    case IR_COS: approximate(g, op, "llvm.amdgcn.cos", true); return;
    case IR_VEC_REDUCE: gpu_reduce(g, op); return;
    case IR_VEC_DOT2: amdgpu_dot(g, op); return;
    case IR_VEC_ASSERT:
    case IR_VEC_PRINT: gpu_effect(g, op); return;
    default: UNREACHABLE("%s has no translation, and was not refused", ir_op_info(op->code)->text);
    }
}

static LLVMValueRef amdgpu_min_max(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b,
                                   bool greatest) {
    LLVMTypeRef type = LLVMTypeOf(a);
    (void)t;
    return gen_intrinsic(g, greatest ? "llvm.maximum" : "llvm.minimum", 1, &type, 2,
                         (LLVMValueRef[]){a, b});
}

// Multiplies by the reciprocal. The error is 1 ulp and a rounding if 1 / b is a normal number.
static LLVMValueRef amdgpu_fast_quotient(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(b);
    if (t->elem != DTYPE_F32) return NULL;
    LLVMValueRef r = gen_intrinsic(g, "llvm.amdgcn.rcp", 1, &type, 1, &b);
    return LLVMBuildFMul(g->b, a, r, "");
}

// LLVM 22 divides numbers of up to 24 bits as floats, with a reciprocal that may be too large: from
// 2^22 on the quotient may be one too large. So x is combined with a zero that LLVM does not know
// to be one. It is uniform: the same in all lanes.
static LLVMValueRef amdgpu_hide_range(Gen *g, LLVMValueRef x) {
    LLVMValueRef zero = gen_opaque(g->b, "=s,0", false, gen_i32(g, 0));
    return LLVMBuildOr(g->b, x, LLVMBuildZExtOrBitCast(g->b, zero, LLVMTypeOf(x), ""), "");
}

// The upper word of the product of two words.
static LLVMValueRef upper_word(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef wide = gpu_int(g, 64);
    LLVMValueRef p =
        LLVMBuildMul(g->b, LLVMBuildZExt(g->b, a, wide, ""), LLVMBuildZExt(g->b, b, wide, ""), "");
    return LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, p, gen_i64(g, 32), ""), gpu_int(g, 32), "");
}

// Multiplies by a reciprocal z with 32 bits after the point, which is a little too small: z <= 2^32
// / b. After Newton's step it is less than 1.6 below that, so a z / 2^32 is at most one too small
// if a is below 2^31. LLVM's own code corrects the quotient twice, because it must handle every a.
static LLVMValueRef amdgpu_unsigned_quotient(Gen *g, LLVMValueRef a, LLVMValueRef b, bool rest) {
    const double below = 4294967296.0 - 2048;  // less all errors of rounding
    LLVMTypeRef word = gpu_int(g, 32), real = LLVMFloatTypeInContext(g->context);
    LLVMValueRef f = LLVMBuildUIToFP(g->b, b, real, "");
    LLVMValueRef r = gen_intrinsic(g, "llvm.amdgcn.rcp", 1, &real, 1, &f);
    LLVMValueRef scaled = LLVMBuildFMul(g->b, r, LLVMConstReal(real, below), "");
    LLVMValueRef z = LLVMBuildFPToUI(g->b, scaled, word, "");
    LLVMValueRef error = LLVMBuildMul(g->b, LLVMBuildNeg(g->b, b, ""), z, "");
    z = LLVMBuildAdd(g->b, z, upper_word(g, z, error), "");
    LLVMValueRef q = upper_word(g, a, z);
    LLVMValueRef left = LLVMBuildSub(g->b, a, LLVMBuildMul(g->b, q, b, ""), "");
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntUGE, left, b, "");
    LLVMValueRef next =
        rest ? LLVMBuildSub(g->b, left, b, "") : LLVMBuildAdd(g->b, q, gen_i32(g, 1), "");
    return LLVMBuildSelect(g->b, more, next, rest ? left : q, "");
}

static const char *const scopes[] = {"workgroup", "agent", ""};

static void amdgpu_fence(Gen *g, bool release, IrScope scope) {
    const char *name = scopes[scope];
    unsigned id = LLVMGetSyncScopeID(g->context, name, strlen(name));
    LLVMBuildFenceSyncScope(g->b, release ? LLVMAtomicOrderingRelease : LLVMAtomicOrderingAcquire,
                            id, "");
}

static LLVMValueRef swap_word(Gen *g, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef x,
                              IrScope scope) {
    const char *name = scopes[scope];
    unsigned id = LLVMGetSyncScopeID(g->context, name, strlen(name));
    LLVMValueRef pair = LLVMBuildAtomicCmpXchgSyncScope(
        g->b, p, expected, x, LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, id);
    return LLVMBuildExtractValue(g->b, pair, 0, "");
}

// LLVM begins an exchange of 8 or 16 bits with a non-atomic read of the word.
static LLVMValueRef amdgpu_swap(Gen *g, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef x,
                                IrScope scope) {
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(x));
    if (width < 32) return gpu_swap_within(g, 32, swap_word, p, expected, x, scope);
    return swap_word(g, p, expected, x, scope);
}

// Without bits for the scope the store is like any other, and an exchange without a result takes
// its place.
static bool marks_stores(Gen *g) {
    return (gpu_gen(g)->machine.chip->flags & CHIP_STORE_SCOPES) != 0;
}

const GenTarget amdgpu_gen_target = {.global_space = SPACE_GLOBAL,
                                     .table_space = SPACE_CONSTANT,
                                     .table_zeros = 1,
                                     .swap = amdgpu_swap,
                                     .splits_vectors = true,
                                     .joins_narrow = true,
                                     .op = amdgpu_op,
                                     .min_max = amdgpu_min_max,
                                     .fast_quotient = amdgpu_fast_quotient,
                                     .hide_range = amdgpu_hide_range,
                                     .unsigned_quotient = amdgpu_unsigned_quotient,
                                     .remainder = gen_remainder,
                                     .scopes = scopes,
                                     .plain_scopes = scopes,
                                     .exact_double = true,
                                     .marks_stores = marks_stores,
                                     .fence = amdgpu_fence};
