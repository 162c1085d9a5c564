// The walk over ops, and the values they make.
#include "codegen/common/gen.h"

#include <string.h>

#include "base/os.h"
#include "codegen/common/lines.h"

static unsigned kind(const Gen *g, const char *name) {
    return LLVMGetMDKindIDInContext(g->context, name, (unsigned)strlen(name));
}

void gen_begin(Gen *g, Arena *scratch, const GenTarget *target, const IrFunc *func) {
    g->arena = scratch;
    g->target = target;
    g->func = func;
    g->ranges = ir_ranges(scratch, func, IR_TRUST_CHECKED);
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

GenSpot gen_go_before(Gen *g, LLVMValueRef instruction) {
    GenSpot spot = {LLVMGetInsertBlock(g->b), LLVMGetCurrentDebugLocation2(g->b)};
    LLVMPositionBuilderBefore(g->b, instruction);
    LLVMSetCurrentDebugLocation2(g->b, spot.line);
    return spot;
}

void gen_go_back(Gen *g, GenSpot spot) {
    LLVMPositionBuilderAtEnd(g->b, spot.block);
    LLVMSetCurrentDebugLocation2(g->b, spot.line);
}

LLVMValueRef gen_opaque(LLVMBuilderRef b, const char *constraints, bool effects, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x), function = LLVMFunctionType(type, &type, 1, false);
    LLVMValueRef none = LLVMGetInlineAsm(function, "", 0, constraints, strlen(constraints), effects,
                                         false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(b, function, none, &x, 1, "");
}

LLVMBasicBlockRef gen_block(Gen *g, const char *name) {
    return LLVMAppendBasicBlockInContext(g->context, g->function, name);
}

static void gen_constant(Gen *g, const IrOp *op) {
    const IrType *t = op->results[0].type;
    IrType part = gen_part_type(g, t);
    LLVMValueRef v = gen_const(g, &part, ir_attr(op, IR_ATTR_VALUE)->u.bits);
    LLVMValueRef *parts = gen_define_parts(g, op);
    for (uint32_t i = 0; i < gen_part_count(g, t); i++) parts[i] = v;
}

// ---- what the launch says -----------------------------------------------------------------------

// The views of a kernel are its parameters (the targets' checks).
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

void gen_fact(Gen *g, const IrOp *op) {
    IrOpcode code = op->code;
    int64_t dim = code == IR_EXTENT || code == IR_CPU_DATA ? 0 : ir_attr_int(op, IR_ATTR_DIM);
    LLVMValueRef v = NULL;
    if (code == IR_PROGRAM) v = g->place[dim];
    if (code == IR_PROGRAMS) v = g->grid[dim];
    if (code == IR_EXTENT) v = extent_named(g, ir_attr(op, IR_ATTR_EXTENT)->u.name);
    if (code == IR_CPU_DATA) v = g->params[view_of(op)];
    if (code == IR_CPU_STRIDE) v = g->strides[view_of(op)][dim];
    gen_define(g, op, v);
}

// ---- by op --------------------------------------------------------------------------------------

// May LLVM fuse what the op computes with a sum? Not a product that is needed by itself as well:
// its factors would have to stay until the sum, and nothing would be saved.
static bool contracts(const Gen *g, const IrOp *op) {
    bool summed = false, needed = false;
    if (!(g->func->math & IR_MATH_CONTRACT)) return false;
    if (op->code != IR_MUL) return true;
    for (const IrUse *use = op->results[0].uses; use; use = use->next) {
        bool sum = use->user->code == IR_ADD || use->user->code == IR_SUB;
        *(sum ? &summed : &needed) = true;
    }
    return !summed || !needed;
}

void gen_op(Gen *g, const IrOp *op) {
    g->contract = contracts(g, op);
    if (g->lines) lines_at(g->lines, g->b, op->span);
    switch ((unsigned)op->code) {
    case IR_CONST: gen_constant(g, op); return;
    case IR_PROGRAM:
    case IR_PROGRAMS:
    case IR_EXTENT:
    case IR_CPU_DATA:
    case IR_CPU_STRIDE: gen_fact(g, op); return;
    case IR_CAST:
    case IR_BITCAST: gen_cast(g, op); return;
    case IR_IOTA:
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_CPU_SHUFFLE:
    case IR_CPU_LANE: gen_lanes(g, op); return;
    case IR_ATOMIC:
    case IR_ATOMIC_CAS:
    case IR_THREAD_UPDATE: gen_atomic(g, op); return;
    case IR_FOR:
    case IR_WHILE:
    case IR_IF: gen_control(g, op); return;
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
    default: g->target->op(g, op);
    }
}

void gen_ops(Gen *g, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) gen_op(g, op);
}
