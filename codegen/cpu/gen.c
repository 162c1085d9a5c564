// The walk over ops, and what all files of this folder share.
#include "codegen/cpu/gen.h"

#include <string.h>

#include "base/os.h"
#include "codegen/cpu/lines.h"

LLVMValueRef gen_value(Gen *g, const IrValue *v) {
    CHECK(g->values[v->id], "value %u is used before it is defined", v->id);
    return g->values[v->id];
}

LLVMValueRef gen_operand(Gen *g, const IrOp *op, uint32_t i) {
    const IrValue *v = i < op->operand_count ? ir_operand(op, i) : NULL;
    return v ? gen_value(g, v) : NULL;
}

void gen_define(Gen *g, const IrOp *op, LLVMValueRef v) { g->values[op->results[0].id] = v; }

LLVMValueRef gen_intrinsic(Gen *g, const char *name, uint32_t type_count, LLVMTypeRef *types,
                           uint32_t count, LLVMValueRef *args) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    CHECK(id, "LLVM has no intrinsic %s", name);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, id, types, type_count);
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, count, "");
}

LLVMValueRef gen_service(Gen *g, size_t offset, LLVMTypeRef type) {
    LLVMValueRef place = gen_i64(g, (int64_t)offset);
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMValueRef p = LLVMBuildInBoundsGEP2(g->b, byte, g->services, &place, 1, "");
    LLVMValueRef v = LLVMBuildLoad2(g->b, type, p, "");
    LLVMMetadataRef none = LLVMMDNodeInContext2(g->context, NULL, 0);
    LLVMSetMetadata(v, g->kinds.invariant, LLVMMetadataAsValue(g->context, none));
    return v;
}

LLVMBasicBlockRef gen_block(Gen *g, const char *name) {
    return LLVMAppendBasicBlockInContext(g->context, g->function, name);
}

LLVMValueRef gen_broadcast(Gen *g, LLVMValueRef scalar, uint32_t count) {
    LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(scalar), count);
    if (LLVMIsConstant(scalar)) return gen_splat_of(t, scalar);
    LLVMValueRef none = LLVMGetPoison(t);
    LLVMValueRef one = LLVMBuildInsertElement(g->b, none, scalar, gen_i32(g, 0), "");
    if (count == 1) return one;
    LLVMTypeRef lanes = LLVMVectorType(LLVMInt32TypeInContext(g->context), count);
    return LLVMBuildShuffleVector(g->b, one, none, LLVMConstNull(lanes), "");
}

static void gen_iota(Gen *g, const IrOp *op) {
    uint32_t count = op->results[0].type->count;
    LLVMValueRef *lanes = arena_new(g->arena, LLVMValueRef, count);
    for (uint32_t i = 0; i < count; i++) lanes[i] = gen_i32(g, (int32_t)i);
    gen_define(g, op, LLVMConstVector(lanes, count));
}

// The views of a kernel are its parameters (check.c).
static uint32_t view_of(const IrOp *op) { return ir_operand(op, 0)->index; }

static LLVMValueRef extent_named(const Gen *g, Symbol name) {
    for (uint32_t i = 0; i < g->func->params.count; i++) {
        const IrParam *param = &g->func->params.data[i];
        if (param->value->type->kind != IR_VIEW) continue;
        for (uint32_t d = 0; d < param->value->type->rank; d++)
            if (param->dims[d].extent == name) return g->extents[i][d];
    }
    UNREACHABLE("extent %s is of no view", name);
}

static void gen_fact(Gen *g, const IrOp *op) {
    IrOpcode code = op->code;
    int64_t dim = code == IR_EXTENT || code == IR_CPU_DATA ? 0 : ir_attr_int(op, IR_ATTR_DIM);
    LLVMValueRef v = NULL;
    if (code == IR_PROGRAM) v = g->place[dim];
    if (code == IR_PROGRAMS) v = g->grid[dim];
    if (code == IR_CPU_SPAN) v = g->span[dim];
    if (code == IR_EXTENT) v = extent_named(g, ir_attr(op, IR_ATTR_EXTENT)->u.name);
    if (code == IR_CPU_DATA) v = g->params[view_of(op)];
    if (code == IR_CPU_EXTENT) v = g->extents[view_of(op)][dim];
    if (code == IR_CPU_STRIDE) v = g->strides[view_of(op)][dim];
    gen_define(g, op, v);
}

void gen_op(Gen *g, const IrOp *op) {
    if (g->lines) lines_at(g->lines, g->b, op->span);
    switch (op->code) {
    case IR_CONST:
        gen_define(g, op, gen_const(g, op->results[0].type, ir_attr(op, IR_ATTR_VALUE)->u.bits));
        return;
    case IR_IOTA: gen_iota(g, op); return;
    case IR_PROGRAM:
    case IR_PROGRAMS:
    case IR_EXTENT:
    case IR_CPU_DATA:
    case IR_CPU_EXTENT:
    case IR_CPU_SPAN:
    case IR_CPU_STRIDE: gen_fact(g, op); return;
    case IR_CAST:
    case IR_BITCAST: gen_cast(g, op); return;
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_CPU_REDUCE:
    case IR_CPU_SHUFFLE:
    case IR_CPU_LANE:
    case IR_CPU_DOT2:
    case IR_CPU_DOT4: gen_vector(g, op); return;
    case IR_PTR_ADD:
    case IR_LOAD:
    case IR_STORE:
    case IR_CPU_SCRATCH:
    case IR_CPU_LOAD:
    case IR_CPU_PREFETCH:
    case IR_CPU_STORE: gen_memory(g, op); return;
    case IR_ATOMIC:
    case IR_ATOMIC_CAS: gen_atomic(g, op); return;
    case IR_FOR:
    case IR_WHILE:
    case IR_IF: gen_control(g, op); return;
    case IR_CPU_ASSERT:
    case IR_CPU_PRINT: gen_effect(g, op); return;
    case IR_YIELD:
    case IR_RETURN:
    case IR_ASSUME: return;  // facts remove no check, so nothing is said to LLVM
    case IR_NEG:
    case IR_NOT:
    case IR_ABS:
    case IR_FLOOR:
    case IR_CEIL:
    case IR_ROUND:
    case IR_SQRT:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_REM:
    case IR_MIN:
    case IR_MAX:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_SHL:
    case IR_SHR:
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
    case IR_FMA:
    case IR_SELECT: gen_elementwise(g, op); return;
    case IR_RSQRT:
    case IR_EXP:
    case IR_EXP2:
    case IR_LOG:
    case IR_LOG2:
    case IR_SIN:
    case IR_COS:
    case IR_TAN:
    case IR_TANH:
    case IR_ERF:
    case IR_SIGMOID:
    case IR_POW:
    case IR_PERMUTE:
    case IR_JOIN:
    case IR_SPLIT:
    case IR_CAT:
    case IR_GATHER:
    case IR_DOT:
    case IR_REDUCE:
    case IR_SCAN:
    case IR_SORT:
    case IR_TOPK:
    case IR_HISTOGRAM:
    case IR_RANDOM:
    case IR_VIEW_LOAD:
    case IR_VIEW_STORE:
    case IR_VIEW_ATOMIC:
    case IR_VIEW_CAS:
    case IR_VIEW_INSIDE:
    case IR_ASSERT:
    case IR_PRINT:
    case IR_NOALIAS:
    case IR_CALL:
    case IR_GPU_SHARED:
    case IR_GPU_BARRIER:
    case IR_OPCODES: break;
    }
    UNREACHABLE("%s has no translation, and was not refused", ir_op_info(op->code)->text);
}

void gen_ops(Gen *g, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) gen_op(g, op);
}
