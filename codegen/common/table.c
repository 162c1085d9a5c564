// Lookups: a table is a constant of the module.
//
// Zeros follow its values, one or more, and an index outside gets the first of them. As a number
// without sign, such an index is at least the count, and the least of both is the element's place.
// So a lookup has no branch and no mask. Where ranges prove that no index is outside, it has
// neither a minimum.
#include <string.h>

#include "codegen/common/gen.h"

static const IrAttr *values_of(const IrOp *op) { return ir_attr(op, IR_ATTR_VALUES); }

// ---- the table ----------------------------------------------------------------------------------

static bool same_values(const IrOp *a, const IrOp *b) {
    const IrAttr *x = values_of(a), *y = values_of(b);
    if (a->results[0].type->elem != b->results[0].type->elem) return false;
    if (x->u.consts.count != y->u.consts.count) return false;
    return memcmp(x->u.consts.items, y->u.consts.items,
                  x->u.consts.count * sizeof *x->u.consts.items) == 0;
}

static LLVMValueRef in_memory(const Gen *g, Dtype elem, uint64_t bits) {
    IrType scalar = {.kind = IR_TILE, .elem = elem, .count = 1};
    if (elem == DTYPE_BOOL) return LLVMConstInt(gen_bytes_type(g, &scalar), bits, false);
    return gen_const(g, &scalar, bits);
}

static LLVMValueRef make_table(Gen *g, const IrOp *op) {
    enum { ALIGN = 64 };
    const IrAttr *values = values_of(op);
    uint32_t count = values->u.consts.count, size = count + g->target->table_zeros;
    Dtype elem = op->results[0].type->elem;
    LLVMValueRef *items = arena_new(g->arena, LLVMValueRef, size);
    for (uint32_t i = 0; i < size; i++)
        items[i] = in_memory(g, elem, i < count ? values->u.consts.items[i] : 0);
    LLVMValueRef all = LLVMConstArray2(LLVMTypeOf(items[0]), items, size);
    LLVMValueRef global =
        LLVMAddGlobalInAddressSpace(g->module, LLVMTypeOf(all), "table", g->target->table_space);
    LLVMSetInitializer(global, all);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(global, ALIGN);
    return global;
}

static LLVMValueRef table_of(Gen *g, const IrOp *op) {
    for (size_t i = 0; i < g->tables.count; i++)
        if (same_values(g->tables.data[i].first, op)) return g->tables.data[i].global;
    GenTable made = {op, make_table(g, op)};
    vec_push(g->arena, &g->tables, made);
    return made.global;
}

// ---- places -------------------------------------------------------------------------------------

bool gen_lookup_inside(const Gen *g, const IrOp *op) {
    IrRange range = ir_range_of(g->ranges, ir_operand(op, 0));
    return range.known && range.min >= 0 && range.max < values_of(op)->u.consts.count;
}

// The element that an index has, as an i64 without sign: the last one if it is outside.
static LLVMValueRef place(Gen *g, const IrOp *op, const IrType *t, LLVMValueRef i) {
    LLVMTypeRef word = gen_shaped(LLVMInt32TypeInContext(g->context), t);
    LLVMTypeRef wide = gen_shaped(LLVMInt64TypeInContext(g->context), t);
    uint32_t count = values_of(op)->u.consts.count;
    if (dtype_bits(t->elem) < 32) i = LLVMBuildIntCast2(g->b, i, word, dtype_signed(t->elem), "");
    LLVMTypeRef type = LLVMTypeOf(i);
    if (!gen_lookup_inside(g, op)) {
        LLVMTypeRef one =
            LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
        LLVMValueRef most = gen_splat_of(type, LLVMConstInt(one, count, false));
        i = gen_intrinsic(g, "llvm.umin", 1, &type, 2, (LLVMValueRef[]){i, most});
    }
    return LLVMBuildIntCast2(g->b, i, wide, false, "");
}

// ---- loads --------------------------------------------------------------------------------------

static LLVMValueRef constant_load(Gen *g, LLVMTypeRef type, LLVMValueRef p, uint32_t align) {
    LLVMValueRef v = LLVMBuildLoad2(g->b, type, p, "");
    LLVMSetAlignment(v, align);
    LLVMMetadataRef none = LLVMMDNodeInContext2(g->context, NULL, 0);
    LLVMSetMetadata(v, g->kinds.invariant, LLVMMetadataAsValue(g->context, none));
    return v;
}

static LLVMValueRef from_memory(Gen *g, Dtype elem, LLVMValueRef v) {
    if (elem != DTYPE_BOOL) return v;
    return LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

static LLVMValueRef gathered(Gen *g, const IrType *r, LLVMValueRef p) {
    LLVMTypeRef type = gen_bytes_type(g, r);
    LLVMTypeRef mask = gen_shaped(LLVMInt1TypeInContext(g->context), r);
    LLVMValueRef v =
        gen_intrinsic(g, "llvm.masked.gather", 2, (LLVMTypeRef[]){type, LLVMTypeOf(p)}, 3,
                      (LLVMValueRef[]){p, LLVMConstAllOnes(mask), LLVMGetPoison(type)});
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddCallSiteAttribute(
        v, 1, LLVMCreateEnumAttribute(g->context, kind, (uint64_t)dtype_size(r->elem)));
    return v;
}

static LLVMValueRef pointer(Gen *g, const IrOp *op, LLVMValueRef at) {
    IrType scalar = {.kind = IR_TILE, .elem = op->results[0].type->elem, .count = 1};
    return LLVMBuildInBoundsGEP2(g->b, gen_bytes_type(g, &scalar), table_of(g, op), &at, 1, "");
}

LLVMValueRef gen_lookup_load(Gen *g, const IrOp *op, const IrType *t, LLVMValueRef at) {
    uint32_t align = (uint32_t)dtype_size(t->elem);
    LLVMValueRef v = constant_load(g, gen_bytes_type(g, t), pointer(g, op, at), align);
    return from_memory(g, t->elem, v);
}

// One part: a scalar, or on CPUs a vector.
static LLVMValueRef looked_up(Gen *g, const IrOp *op, const IrType *t, LLVMValueRef i) {
    IrType r = gen_part_type(g, op->results[0].type);
    LLVMValueRef own = g->target->lookup ? g->target->lookup(g, op, i) : NULL;
    if (own) return own;
    LLVMValueRef at = place(g, op, t, i);
    if (!r.rank) return gen_lookup_load(g, op, &r, at);
    return from_memory(g, r.elem, gathered(g, &r, pointer(g, op, at)));
}

void gen_lookup(Gen *g, const IrOp *op) {
    IrType t = gen_part_type(g, ir_operand(op, 0)->type);
    LLVMValueRef *parts = gen_define_parts(g, op);
    for (uint32_t i = 0; i < gen_part_count(g, op->results[0].type); i++)
        parts[i] = looked_up(g, op, &t, gen_operand_part(g, op, 0, i));
}
