// Operations on whole vectors: reductions, dots.
#include "base/os/os.h"
#include "codegen/cpu/gen.h"

static LLVMValueRef shuffle(Gen *g, LLVMValueRef a, LLVMValueRef b, uint32_t count,
                            uint32_t first) {
    LLVMValueRef lanes[1024];
    CHECK(count <= 1024, "a shuffle of %u lanes", count);
    for (uint32_t i = 0; i < count; i++) lanes[i] = gen_i32(g, (int32_t)(first + i));
    return LLVMBuildShuffleVector(g->b, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)),
                                  LLVMConstVector(lanes, count), "");
}

static LLVMValueRef first_lane(Gen *g, LLVMValueRef v) {
    return LLVMBuildExtractElement(g->b, v, gen_i32(g, 0), "");
}

// ---- reductions ---------------------------------------------------------------------------------

// Combines halves until one lane is left, which is the order that the op defines.
static void gen_reduce(Gen *g, const IrOp *op) {
    const IrType *t = ir_operand(op, 0)->type;
    IrOpcode code = gen_reduce_opcode((IrReduce)ir_attr_int(op, IR_ATTR_REDUCE), t->elem);
    LLVMValueRef x = gen_operand(g, op, 0);
    IrType half = *t;
    for (uint32_t n = t->count / 2; n; n /= 2) {
        half.count = half.shape[0] = n;
        x = gen_binary(g, code, &half, shuffle(g, x, NULL, n, 0), shuffle(g, x, NULL, n, n));
    }
    gen_define(g, op, first_lane(g, x));
}

// ---- dots ---------------------------------------------------------------------------------------

// The lanes of sums of one instruction: 4, 8 or 16, at most those of a register. Shorter vectors
// are padded, longer ones are split.
static uint32_t dot_width(Gen *g, uint32_t count) {
    uint32_t most = cpu_gen(g)->machine.vector_bytes / 4;
    if (count > most) count = most;
    return count >= 16 ? 16 : count >= 8 ? 8 : 4;
}

// `width` lanes of v from `first` on; lanes past its end are undefined.
static LLVMValueRef piece(Gen *g, LLVMValueRef v, uint32_t first, uint32_t width) {
    uint32_t count = LLVMGetVectorSize(LLVMTypeOf(v));
    if (count == width) return v;
    if (count > width) return shuffle(g, v, NULL, width, first);
    LLVMValueRef lanes[64];
    for (uint32_t i = 0; i < width; i++) lanes[i] = gen_i32(g, (int32_t)(i < count ? i : count));
    return LLVMBuildShuffleVector(g->b, v, LLVMConstNull(LLVMTypeOf(v)),
                                  LLVMConstVector(lanes, width), "");
}

// Pairs of i16: the instruction has no sums to which it adds.
static LLVMValueRef dot_whole_pairs(Gen *g, uint32_t width, LLVMValueRef x[3]) {
    const char *name = width == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                       : width == 8 ? "llvm.x86.avx2.pmadd.wd"
                                    : "llvm.x86.sse2.pmadd.wd";
    return LLVMBuildAdd(g->b, x[0], gen_intrinsic(g, name, 0, NULL, 2, x + 1), "");
}

static LLVMValueRef dot_piece(Gen *g, bool fours, uint32_t width, LLVMValueRef x[3]) {
    static const char *const pairs_names[] = {"llvm.x86.avx512bf16.dpbf16ps.128",
                                              "llvm.x86.avx512bf16.dpbf16ps.256",
                                              "llvm.x86.avx512bf16.dpbf16ps.512"};
    static const char *const fours_names[] = {"llvm.x86.avx512.vpdpbusd.128",
                                              "llvm.x86.avx512.vpdpbusd.256",
                                              "llvm.x86.avx512.vpdpbusd.512"};
    uint32_t size = width == 16 ? 2 : width == 8 ? 1 : 0;
    LLVMTypeRef bf16 = LLVMVectorType(LLVMBFloatTypeInContext(g->context), 2 * width);
    for (int i = 1; i < 3 && !fours; i++) x[i] = LLVMBuildBitCast(g->b, x[i], bf16, "");
    return gen_intrinsic(g, fours ? fours_names[size] : pairs_names[size], 0, NULL, 3, x);
}

static void gen_dot(Gen *g, const IrOp *op) {
    bool fours = op->code == IR_CPU_DOT4;
    bool whole = ir_operand(op, 1)->type->elem == DTYPE_I16;
    uint32_t count = op->results[0].type->count, width = dot_width(g, count);
    uint32_t group = fours ? 4 : 2;
    LLVMValueRef *parts = arena_new(g->arena, LLVMValueRef, count / width + 1);
    uint32_t part_count = 0;
    for (uint32_t i = 0; i < count; i += width) {
        LLVMValueRef x[3];
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t scale = k ? group : 1;
            x[k] = piece(g, gen_operand(g, op, k), i * scale, width * scale);
        }
        parts[part_count++] = whole ? dot_whole_pairs(g, width, x) : dot_piece(g, fours, width, x);
    }
    // Joins neighbours until one part is left; counts are powers of two.
    for (uint32_t lanes = 2 * width; part_count > 1; part_count /= 2, lanes *= 2)
        for (uint32_t i = 0; i < part_count / 2; i++)
            parts[i] = shuffle(g, parts[2 * i], parts[2 * i + 1], lanes, 0);
    gen_define(g, op, count < width ? piece(g, parts[0], 0, count) : parts[0]);
}

void cpu_vector(Gen *g, const IrOp *op) {
    if (op->code == IR_VEC_REDUCE) gen_reduce(g, op);
    if (op->code == IR_VEC_DOT2 || op->code == IR_CPU_DOT4) gen_dot(g, op);
}
