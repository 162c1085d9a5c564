// Reads the arguments of a kernel from their block, whose layout is that of runtime/meta.h.
#include <string.h>

#include "codegen/common/gen.h"

static LLVMValueRef read_argument(Gen *g, LLVMTypeRef t, uint32_t offset) {
    LLVMValueRef place = gen_i64(g, offset);
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMValueRef p = LLVMBuildInBoundsGEP2(g->b, byte, g->block, &place, 1, "");
    LLVMValueRef v = LLVMBuildLoad2(g->b, t, p, "");
    LLVMMetadataRef none = LLVMMDNodeInContext2(g->context, NULL, 0);
    LLVMSetMetadata(v, g->kinds.invariant, LLVMMetadataAsValue(g->context, none));
    return v;
}

static LLVMValueRef read_i64(Gen *g, uint32_t offset) {
    return read_argument(g, LLVMInt64TypeInContext(g->context), offset);
}

static void read_view(Gen *g, uint32_t i, uint32_t offset) {
    const IrParam *param = &g->func->params.data[i];
    uint32_t rank = param->value->type->rank;
    for (uint32_t d = 0; d < rank; d++) {
        bool named = param->dims[d].extent != NULL;
        g->extents[i][d] =
            named ? read_i64(g, offset + 8 * (d + 1)) : gen_i64(g, param->dims[d].value);
        if (param->strided) g->strides[i][d] = read_i64(g, offset + 8 * (rank + d + 1));
    }
    if (param->strided) return;
    LLVMValueRef stride = gen_i64(g, 1);
    for (uint32_t d = rank; d-- > 0;) {
        g->strides[i][d] = stride;
        stride = LLVMBuildMul(g->b, stride, g->extents[i][d], "");
    }
}

// Notes the range of an integer that is known from `requires` and other checks.
static void note_range(Gen *g, const IrValue *param, LLVMValueRef load) {
    const IrType *t = param->type;
    IrRange range = ir_range_of(g->ranges, param);
    if (!dtype_is(t->elem, DTYPE_CLASS_SINT) || !range.known) return;
    uint64_t bits = UINT64_MAX >> (64 - dtype_bits(t->elem));
    if (range.min == -(int64_t)(bits >> 1) - 1) return;
    LLVMTypeRef type = LLVMTypeOf(load);
    LLVMMetadataRef ends[2] = {
        LLVMValueAsMetadata(LLVMConstInt(type, (uint64_t)range.min & bits, false)),
        LLVMValueAsMetadata(LLVMConstInt(type, ((uint64_t)range.max + 1) & bits, false))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, ends, 2);
    LLVMSetMetadata(load, g->kinds.range, LLVMMetadataAsValue(g->context, node));
}

// Returns the bytes that the argument takes.
static uint32_t read_param(Gen *g, uint32_t i, uint32_t offset) {
    const IrParam *param = &g->func->params.data[i];
    const IrType *t = param->value->type;
    if (t->kind == IR_TILE) {
        LLVMValueRef v = read_argument(g, gen_bytes_type(g, t), offset);
        note_range(g, param->value, v);
        if (t->elem == DTYPE_BOOL)
            v = LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
        g->params[i] = v;
        gen_set(g, param->value, v);
        return (uint32_t)dtype_size(t->elem);
    }
    g->params[i] = read_argument(g, LLVMPointerTypeInContext(g->context, 0), offset);
    LLVMSetValueName2(g->params[i], param->name, strlen(param->name));
    gen_set(g, param->value, g->params[i]);
    if (t->kind == IR_PTR) return 8;
    read_view(g, i, offset);
    return 8 + 8 * t->rank * (param->strided ? 2 : 1);
}

uint32_t gen_arguments(Gen *g, LLVMValueRef block) {
    g->block = block;
    uint32_t offset = 0;
    for (uint32_t i = 0; i < g->func->params.count; i++) {
        const IrType *t = g->func->params.data[i].value->type;
        uint32_t align = t->kind == IR_TILE ? (uint32_t)dtype_size(t->elem) : 8;
        offset = (offset + align - 1) / align * align;
        offset += read_param(g, i, offset);
    }
    return offset;
}
