#include "base/os/os.h"
#include "codegen/common/gen.h"

LLVMTypeRef gen_elem_type(const Gen *g, Dtype elem) {
    if (elem == DTYPE_BOOL) return LLVMInt1TypeInContext(g->context);
    if (elem == DTYPE_F32) return LLVMFloatTypeInContext(g->context);
    if (elem == DTYPE_F64) return LLVMDoubleTypeInContext(g->context);
    return LLVMIntTypeInContext(g->context, dtype_bits(elem));
}

LLVMTypeRef gen_shaped(LLVMTypeRef elem, const IrType *shape) {
    return shape->rank ? LLVMVectorType(elem, shape->count) : elem;
}

LLVMTypeRef gen_type(const Gen *g, const IrType *t) {
    if (t->kind == IR_PTR) return gen_shaped(LLVMPointerTypeInContext(g->context, 0), t);
    return gen_shaped(gen_elem_type(g, t->elem), t);
}

LLVMValueRef gen_pointer(Gen *g, LLVMValueRef bits, LLVMTypeRef type) {
    unsigned space = g->target->global_space;
    if (!space) return LLVMBuildIntToPtr(g->b, bits, type, "");
    LLVMTypeRef there = LLVMPointerTypeInContext(g->context, space);
    return LLVMBuildAddrSpaceCast(g->b, LLVMBuildIntToPtr(g->b, bits, there, ""), type, "");
}

LLVMTypeRef gen_bytes_type(const Gen *g, const IrType *t) {
    if (t->elem == DTYPE_BOOL) return gen_shaped(LLVMInt8TypeInContext(g->context), t);
    return gen_shaped(gen_elem_type(g, t->elem), t);
}

LLVMTypeRef gen_half_type(const Gen *g, const IrType *t) {
    return gen_shaped(LLVMHalfTypeInContext(g->context), t);
}

LLVMValueRef gen_splat_of(LLVMTypeRef t, LLVMValueRef scalar) {
    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) return scalar;
    enum { MOST = 1024 };
    LLVMValueRef lanes[MOST];
    unsigned count = LLVMGetVectorSize(t);
    CHECK(count <= MOST, "a constant of %u lanes", count);
    for (unsigned i = 0; i < count; i++) lanes[i] = scalar;
    return LLVMConstVector(lanes, count);
}

LLVMValueRef gen_const(const Gen *g, const IrType *t, uint64_t bits) {
    LLVMTypeRef elem = gen_elem_type(g, t->elem);
    LLVMTypeRef integer =
        t->elem == DTYPE_BOOL ? elem : LLVMIntTypeInContext(g->context, dtype_bits(t->elem));
    if (t->elem == DTYPE_BOOL) bits = bits != 0;
    LLVMValueRef v = LLVMConstInt(integer, bits, false);
    if (integer != elem) v = LLVMConstBitCast(v, elem);
    return gen_splat_of(gen_type(g, t), v);
}

LLVMValueRef gen_i64(const Gen *g, int64_t value) {
    return LLVMConstInt(LLVMInt64TypeInContext(g->context), (unsigned long long)value, true);
}

LLVMValueRef gen_i32(const Gen *g, int32_t value) {
    return LLVMConstInt(LLVMInt32TypeInContext(g->context), (unsigned long long)(int64_t)value,
                        true);
}

uint32_t gen_part_count(const Gen *g, const IrType *t) {
    return g->target->splits_vectors && t->kind != IR_VIEW ? t->count : 1;
}

IrType gen_part_type(const Gen *g, const IrType *t) {
    IrType part = *t;
    if (!g->target->splits_vectors || t->kind == IR_VIEW) return part;
    part.rank = 0;
    part.count = 1;
    return part;
}
