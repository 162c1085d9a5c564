// thread.mma: the matrix instructions of CDNA (mfma) and RDNA (wmma); vec.dot2 for chips without
// them.
#include <string.h>

#include "base/os/os.h"
#include "codegen/amdgpu/gen.h"
#include "codegen/gpu/check.h"

// All elements of an operand that a lane holds, in the type that the instruction takes.
static LLVMValueRef fragment(Gen *g, const IrValue *v, LLVMTypeRef type) {
    LLVMValueRef *parts = gen_parts(g, v);
    if (v->type->count == 1) return LLVMBuildBitCast(g->b, parts[0], type, "");
    LLVMTypeRef own = LLVMVectorType(LLVMTypeOf(parts[0]), v->type->count);
    LLVMValueRef all = LLVMGetPoison(own);
    for (uint32_t i = 0; i < v->type->count; i++)
        all = LLVMBuildInsertElement(g->b, all, parts[i], gen_i32(g, (int32_t)i), "");
    return LLVMBuildBitCast(g->b, all, type, "");
}

// The i-th operand of the instruction. It takes b as its a, and a as its b (layout_fragment).
static const IrValue *taken(const IrOp *op, uint32_t i) {
    return ir_operand(op, i < 2 ? 1 - i : i);
}

static void define(Gen *g, const IrOp *op, LLVMValueRef all) {
    LLVMValueRef *r = gen_define_parts(g, op);
    for (uint32_t i = 0; i < op->results[0].type->count; i++)
        r[i] = LLVMBuildExtractElement(g->b, all, gen_i32(g, (int32_t)i), "");
}

// ---- mfma ---------------------------------------------------------------------------------------

static void mfma(Gen *g, const IrOp *op, const char *name) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    CHECK(id, "LLVM has no intrinsic %s", name);
    LLVMTypeRef params[6];
    LLVMValueRef declared = LLVMGetIntrinsicDeclaration(g->module, id, NULL, 0);
    LLVMGetParamTypes(LLVMGlobalGetValueType(declared), params);
    LLVMValueRef args[6], zero = gen_i32(g, 0);  // blocks are neither broadcast nor permuted
    for (uint32_t i = 0; i < 3; i++) args[i] = fragment(g, taken(op, i), params[i]);
    args[3] = args[4] = args[5] = zero;
    define(g, op, gen_intrinsic(g, name, 0, NULL, 6, args));
}

// ---- wmma ---------------------------------------------------------------------------------------

static LLVMTypeRef vector(LLVMTypeRef elem, uint32_t count) { return LLVMVectorType(elem, count); }

// Do only products and loop-carried values use it?
static bool is_carried(const IrValue *v) {
    for (const IrUse *use = v->uses; use; use = use->next) {
        switch (use->user->code) {
        case IR_THREAD_MMA:
        case IR_YIELD: break;
        case IR_THREAD_PACK:
            if (!is_carried(&use->user->results[0])) return false;
            break;
        default: return false;
        }
    }
    return true;
}

// LLVM 22 does not know that all lanes must execute wmma. It sinks the instruction into the only
// block that uses its result, where some lanes may be inactive. An empty instruction with side
// effects keeps it here.
static LLVMValueRef held(Gen *g, const IrOp *op, LLVMValueRef all) {
    return is_carried(&op->results[0]) ? all : gen_opaque(g->b, "=v,0", true, all);
}

static void wmma_bytes(Gen *g, const IrOp *op, const char *name, uint32_t words) {
    LLVMTypeRef word = gpu_int(g, 32), types[] = {vector(word, 8), vector(word, words)};
    LLVMTypeRef bit = gpu_int(g, 1);
    LLVMValueRef args[6];
    for (uint32_t i = 0; i < 2; i++) {
        const IrValue *v = taken(op, i);
        args[2 * i] = LLVMConstInt(bit, v->type->elem == DTYPE_I8, false);
        args[2 * i + 1] = fragment(g, v, types[1]);
    }
    args[4] = fragment(g, ir_operand(op, 2), types[0]);
    args[5] = LLVMConstNull(bit);  // wraps
    define(g, op, held(g, op, gen_intrinsic(g, name, 2, types, 6, args)));
}

static void wmma(Gen *g, const IrOp *op, const char *name) {
    const IrType *a = ir_operand(op, 0)->type;
    uint32_t words = a->count * dtype_bits(a->elem) / 32;
    if (a->elem == DTYPE_I8 || a->elem == DTYPE_U8) {
        wmma_bytes(g, op, name, words);
        return;
    }
    LLVMTypeRef half = a->elem == DTYPE_F16 ? LLVMHalfTypeInContext(g->context) : gpu_int(g, 16);
    bool halves = a->elem == DTYPE_F16 || a->elem == DTYPE_BF16;
    LLVMTypeRef types[] = {vector(LLVMFloatTypeInContext(g->context), 8),
                           halves ? vector(half, a->count) : vector(gpu_int(g, 32), words)};
    LLVMValueRef args[3];
    for (uint32_t i = 0; i < 3; i++) args[i] = fragment(g, taken(op, i), types[i < 2]);
    define(g, op, held(g, op, gen_intrinsic(g, name, 2, types, 3, args)));
}

void amdgpu_mma(Gen *g, const IrOp *op) {
    const MatrixOp *matrix = gpu_matrix_op(&gpu_gen(g)->machine, op);
    if (matrix->shape.unit == MATRIX_UNIT_MFMA)
        mfma(g, op, matrix->intrinsic);
    else
        wmma(g, op, matrix->intrinsic);
}

static LLVMValueRef pair(Gen *g, const IrOp *op, uint32_t operand, uint32_t at) {
    LLVMValueRef v = LLVMGetPoison(vector(gpu_int(g, 16), 2));
    for (uint32_t i = 0; i < 2; i++)
        v = LLVMBuildInsertElement(g->b, v, gen_operand_part(g, op, operand, at + i),
                                   gen_i32(g, (int32_t)i), "");
    return LLVMBuildBitCast(g->b, v, vector(LLVMHalfTypeInContext(g->context), 2), "");
}

void amdgpu_dot(Gen *g, const IrOp *op) {
    LLVMValueRef *r = gen_define_parts(g, op);
    LLVMValueRef saturates = LLVMConstNull(LLVMInt1TypeInContext(g->context));
    for (uint32_t i = 0; i < gen_part_count(g, op->results[0].type); i++) {
        LLVMValueRef x[] = {pair(g, op, 1, 2 * i), pair(g, op, 2, 2 * i),
                            gen_operand_part(g, op, 0, i), saturates};
        r[i] = gen_intrinsic(g, "llvm.amdgcn.fdot2", 0, NULL, 4, x);
    }
}
