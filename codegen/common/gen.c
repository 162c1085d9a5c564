// The values of LLVM for values of the IR.
#include "codegen/common/gen.h"

#include <string.h>

#include "base/os/os.h"

static unsigned kind(const Gen *g, const char *name) {
    return LLVMGetMDKindIDInContext(g->context, name, (unsigned)strlen(name));
}

void gen_begin(Gen *g, Arena *scratch, const GenTarget *target, const IrFunc *func,
               IrRanges *ranges) {
    g->arena = scratch;
    g->target = target;
    g->func = func;
    g->ranges = ranges ? ranges : ir_ranges(scratch, func, IR_TRUST_CHECKED);
    g->values = arena_new(scratch, LLVMValueRef *, func->value_count + 1);
    size_t params = func->params.count + 1;
    g->params = arena_new(scratch, LLVMValueRef, params);
    g->extents = arena_alloc(scratch, params * sizeof *g->extents);
    g->strides = arena_alloc(scratch, params * sizeof *g->strides);
    g->kinds = (GenKinds){.invariant = kind(g, "invariant.load"),
                          .alias_scope = kind(g, "alias.scope"),
                          .noalias = kind(g, "noalias"),
                          .nontemporal = kind(g, "nontemporal"),
                          .range = kind(g, "range")};
    g->b = LLVMCreateBuilderInContext(g->context);
}

// ---- values -------------------------------------------------------------------------------------

LLVMValueRef *gen_parts(const Gen *g, const IrValue *v) {
    CHECK(g->values[v->id] && g->values[v->id][0], "value %u is used before it is defined", v->id);
    return g->values[v->id];
}

LLVMValueRef gen_value(const Gen *g, const IrValue *v) {
    CHECK(gen_part_count(g, v->type) == 1, "value %u has several parts", v->id);
    return gen_parts(g, v)[0];
}

LLVMValueRef gen_operand(const Gen *g, const IrOp *op, uint32_t i) {
    const IrValue *v = i < op->operand_count ? ir_operand(op, i) : NULL;
    return v ? gen_value(g, v) : NULL;
}

LLVMValueRef gen_operand_part(const Gen *g, const IrOp *op, uint32_t operand, uint32_t i) {
    const IrValue *v = operand < op->operand_count ? ir_operand(op, operand) : NULL;
    return v ? gen_parts(g, v)[gen_part_count(g, v->type) == 1 ? 0 : i] : NULL;
}

LLVMValueRef *gen_set_parts(Gen *g, const IrValue *v) {
    if (!g->values[v->id])
        g->values[v->id] = arena_new(g->arena, LLVMValueRef, gen_part_count(g, v->type));
    return g->values[v->id];
}

void gen_set(Gen *g, const IrValue *v, LLVMValueRef one) { gen_set_parts(g, v)[0] = one; }

LLVMValueRef *gen_define_parts(Gen *g, const IrOp *op) { return gen_set_parts(g, &op->results[0]); }

void gen_define(Gen *g, const IrOp *op, LLVMValueRef v) { gen_set(g, &op->results[0], v); }

LLVMValueRef gen_intrinsic(Gen *g, const char *name, uint32_t type_count, LLVMTypeRef *types,
                           uint32_t count, LLVMValueRef *args) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    CHECK(id, "LLVM has no intrinsic %s", name);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, id, types, type_count);
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, count, "");
}

GenInsertPoint gen_insert_before(Gen *g, LLVMValueRef instruction) {
    GenInsertPoint spot = {LLVMGetInsertBlock(g->b), LLVMGetCurrentDebugLocation2(g->b)};
    LLVMPositionBuilderBefore(g->b, instruction);
    LLVMSetCurrentDebugLocation2(g->b, spot.line);
    return spot;
}

void gen_restore_position(Gen *g, GenInsertPoint spot) {
    LLVMPositionBuilderAtEnd(g->b, spot.block);
    LLVMSetCurrentDebugLocation2(g->b, spot.line);
}

LLVMValueRef gen_opaque(LLVMBuilderRef b, const char *constraints, bool effects, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x), function = LLVMFunctionType(type, &type, 1, false);
    LLVMValueRef none = LLVMGetInlineAsm(function, "", 0, constraints, strlen(constraints), effects,
                                         false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(b, function, none, &x, 1, "");
}

void gen_nontemporal(Gen *g, LLVMValueRef access) {
    LLVMMetadataRef one = LLVMValueAsMetadata(gen_i32(g, 1));
    LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, &one, 1);
    LLVMSetMetadata(access, g->kinds.nontemporal, LLVMMetadataAsValue(g->context, node));
}

LLVMBasicBlockRef gen_block(Gen *g, const char *name) {
    return LLVMAppendBasicBlockInContext(g->context, g->function, name);
}
