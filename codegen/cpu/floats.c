// Operations on floats for x86 and AArch64: minimum, maximum and remainder.
#include <stddef.h>

#include "base/os/os.h"
#include "codegen/cpu/gen.h"

static LLVMValueRef of_two(Gen *g, const char *name, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef t = LLVMTypeOf(a);
    return gen_intrinsic(g, name, 1, &t, 2, (LLVMValueRef[]){a, b});
}

// Calls the runtime's fmod (C's), lane by lane.
LLVMValueRef cpu_remainder(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b) {
    bool wide = t->elem == DTYPE_F64;
    LLVMTypeRef elem = gen_elem_type(g, t->elem);
    LLVMTypeRef type = LLVMFunctionType(elem, (LLVMTypeRef[]){elem, elem}, 2, false);
    size_t field = wide ? offsetof(CpuServices, fmod) : offsetof(CpuServices, fmodf);
    LLVMValueRef f = cpu_service(g, field, LLVMPointerTypeInContext(g->context, 0));
    if (!t->rank) return LLVMBuildCall2(g->b, type, f, (LLVMValueRef[]){a, b}, 2, "");
    LLVMValueRef r = LLVMGetPoison(LLVMTypeOf(a));
    for (uint32_t i = 0; i < t->count; i++) {
        LLVMValueRef lane = gen_i32(g, (int32_t)i);
        LLVMValueRef pair[] = {LLVMBuildExtractElement(g->b, a, lane, ""),
                               LLVMBuildExtractElement(g->b, b, lane, "")};
        LLVMValueRef one = LLVMBuildCall2(g->b, type, f, pair, 2, "");
        r = LLVMBuildInsertElement(g->b, r, one, lane, "");
    }
    return r;
}

static LLVMValueRef some_lanes(Gen *g, LLVMValueRef a, LLVMValueRef b, uint32_t first,
                               uint32_t count) {
    LLVMValueRef *lanes = arena_new(g->arena, LLVMValueRef, count);
    for (uint32_t i = 0; i < count; i++) lanes[i] = gen_i32(g, (int32_t)(first + i));
    if (!b) b = LLVMGetPoison(LLVMTypeOf(a));
    return LLVMBuildShuffleVector(g->b, a, b, LLVMConstVector(lanes, count), "");
}

// AVX-512's vrange orders -0 below +0. For a number and a NaN it returns the number.
static LLVMValueRef range_512(Gen *g, bool wide, LLVMValueRef a, LLVMValueRef b, bool greatest) {
    enum { LEAST = 4, GREATEST = 5, THIS_ROUNDING = 4 };
    uint32_t count = LLVMGetVectorSize(LLVMTypeOf(a)), lanes = wide ? 8 : 16;
    if (count > lanes) {
        uint32_t half = count / 2;
        LLVMValueRef low = range_512(g, wide, some_lanes(g, a, NULL, 0, half),
                                     some_lanes(g, b, NULL, 0, half), greatest);
        LLVMValueRef high = range_512(g, wide, some_lanes(g, a, NULL, half, half),
                                      some_lanes(g, b, NULL, half, half), greatest);
        return some_lanes(g, low, high, 0, count);
    }
    LLVMTypeRef mask = LLVMIntTypeInContext(g->context, lanes);
    LLVMValueRef x[6] = {a,
                         b,
                         gen_i32(g, greatest ? GREATEST : LEAST),
                         LLVMConstNull(LLVMTypeOf(a)),
                         LLVMConstAllOnes(mask),
                         gen_i32(g, THIS_ROUNDING)};
    return gen_intrinsic(
        g, wide ? "llvm.x86.avx512.mask.range.pd.512" : "llvm.x86.avx512.mask.range.ps.512", 0,
        NULL, 6, x);
}

static LLVMValueRef fenced(Gen *g, LLVMValueRef x) {
    LLVMTypeRef t = LLVMTypeOf(x);
    return LLVMIsConstant(x) ? x : gen_intrinsic(g, "llvm.arithmetic.fence", 1, &t, 1, &x);
}

// With AVX-512, where LLVM 22 knows that one of two scalars is not a NaN, it makes the code of
// `minimum`, which returns the other's NaN. The fences hide what it knows.
LLVMValueRef cpu_min_max_number(Gen *g, LLVMValueRef a, LLVMValueRef b, bool greatest) {
    if (cpu_gen(g)->machine.cpu.level == CPU_X86_64_V4) a = fenced(g, a), b = fenced(g, b);
    return of_two(g, greatest ? "llvm.maximumnum" : "llvm.minimumnum", a, b);
}

// The least or greatest, NaN if one of them is.
LLVMValueRef cpu_min_max(Gen *g, const IrType *t, LLVMValueRef a, LLVMValueRef b, bool greatest) {
    bool wide = t->elem == DTYPE_F64;
    bool fills = t->rank && t->count >= (wide ? 8u : 16u) && (wide || t->elem == DTYPE_F32);
    if (cpu_gen(g)->machine.cpu.level != CPU_X86_64_V4 || !fills)
        return of_two(g, greatest ? "llvm.maximum" : "llvm.minimum", a, b);
    LLVMValueRef r = range_512(g, wide, a, b, greatest);
    LLVMValueRef unordered = LLVMBuildFCmp(g->b, LLVMRealUNO, a, b, "");
    return LLVMBuildSelect(g->b, unordered, LLVMBuildFAdd(g->b, a, b, ""), r, "");
}
