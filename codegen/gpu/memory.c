// Memory: pointers, loads and stores of vectors, under a mask or not.
#include "codegen/gpu/gen.h"

// An offset in shared memory in bytes, computed where the number of elements is computed. So a loop
// invariant is multiplied before the loop, and the access adds it as an immediate. NULL: n does not
// have 32 bits.
static LLVMValueRef in_bytes(Gen *g, LLVMValueRef n, uint32_t size) {
    if (!LLVMIsASExtInst(n)) return NULL;
    LLVMValueRef narrow = LLVMGetOperand(n, 0);
    if (LLVMGetIntTypeWidth(LLVMTypeOf(narrow)) != 32) return NULL;
    GenInsertPoint here = gen_insert_before(g, n);
    LLVMValueRef by = gen_i32(g, __builtin_ctz(size));
    LLVMValueRef bytes = LLVMBuildShl(g->b, narrow, by, "");
    gen_restore_position(g, here);
    return LLVMBuildSExt(g->b, bytes, LLVMTypeOf(n), "");
}

// The step counts elements, or bytes for bool and the packed types. It wraps.
static void gen_ptr_add(Gen *g, const IrOp *op) {
    uint32_t size = (uint32_t)dtype_size(op->results[0].type->elem);
    LLVMTypeRef unit = LLVMIntTypeInContext(g->context, 8 * size);
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMValueRef *r = gen_define_parts(g, op);
    for (uint32_t i = 0; i < op->results[0].type->count; i++) {
        LLVMValueRef p = gen_operand_part(g, op, 0, i), n = gen_operand_part(g, op, 1, i), bytes;
        bytes = gpu_space_of(p) == SPACE_SHARED ? in_bytes(g, n, size) : NULL;
        r[i] = LLVMBuildGEP2(g->b, bytes ? byte : unit, p, bytes ? &bytes : &n, 1, "");
    }
}

static void gen_shared(Gen *g, const IrOp *op) {
    LLVMValueRef at = gen_i64(g, ir_attr_int(op, IR_ATTR_PLACE));
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMValueRef p =
        LLVMBuildInBoundsGEP2(g->b, byte, gpu_gen(g)->ops->shared_memory(g), &at, 1, "");
    gen_define(g, op, gpu_in_space(g, p, 0));
}

// ---- one access: of `count` neighbours ----------------------------------------------------------

static LLVMTypeRef memory_elem(const Gen *g, Dtype elem) {
    return elem == DTYPE_BOOL ? LLVMInt8TypeInContext(g->context) : gen_elem_type(g, elem);
}

static LLVMTypeRef memory_type(const Gen *g, Dtype elem, uint32_t count) {
    LLVMTypeRef t = memory_elem(g, elem);
    return count == 1 ? t : LLVMVectorType(t, count);
}

static uint32_t align_of(const IrOp *op, Dtype elem) {
    bool says = op->code == IR_THREAD_LOAD || op->code == IR_THREAD_STORE;
    int64_t align = says ? ir_attr_int(op, IR_ATTR_ALIGN) : 0;
    return align ? (uint32_t)align : (uint32_t)dtype_size(elem);
}

bool gpu_evicts_first(const IrOp *op) {
    int64_t cache = ir_attr_int(op, IR_ATTR_CACHE);
    return cache == IR_CACHE_FIRST || cache == IR_CACHE_STREAM;
}

typedef struct Branch {
    LLVMBasicBlockRef before, inside, after;
} Branch;

static Branch branch_begin(Gen *g, LLVMValueRef mask) {
    Branch b = {LLVMGetInsertBlock(g->b), gen_block(g, "on"), gen_block(g, "off")};
    LLVMBuildCondBr(g->b, mask, b.inside, b.after);
    LLVMPositionBuilderAtEnd(g->b, b.inside);
    return b;
}

static void branch_end(Gen *g, const Branch *b) {
    LLVMBuildBr(g->b, b->after);
    LLVMPositionBuilderAtEnd(g->b, b->after);
}

static LLVMValueRef to_memory(Gen *g, Dtype elem, LLVMValueRef v) {
    return elem == DTYPE_BOOL ? LLVMBuildZExt(g->b, v, memory_elem(g, elem), "") : v;
}

static LLVMValueRef from_memory(Gen *g, Dtype elem, LLVMValueRef v) {
    if (elem != DTYPE_BOOL) return v;
    return LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

static LLVMValueRef lane(Gen *g, LLVMValueRef v, uint32_t count, uint32_t i) {
    return count == 1 ? v : LLVMBuildExtractElement(g->b, v, gen_i32(g, (int32_t)i), "");
}

// Joins elements of `bits` bits to words first (word.c).
static LLVMValueRef by_words(Gen *g, LLVMValueRef const *x, uint32_t count, uint32_t bits) {
    uint32_t per = 32 / bits;
    LLVMValueRef v = LLVMGetPoison(LLVMVectorType(gpu_int(g, 32), count / per));
    for (uint32_t i = 0; i < count / per; i++)
        v = LLVMBuildInsertElement(g->b, v,
                                   gpu_gen(g)->ops->word(g, x + (size_t)per * i, bits, true),
                                   gen_i32(g, (int32_t)i), "");
    LLVMTypeRef elem = LLVMIntTypeInContext(g->context, bits);
    return LLVMBuildBitCast(g->b, v, LLVMVectorType(elem, count), "");
}

static bool any_separate(Gen *g, LLVMValueRef const *x, uint32_t count, uint32_t bits) {
    const GpuOps *ops = gpu_gen(g)->ops;
    if (!ops->separate_parts || bits > 16 || count % (32 / bits) != 0) return false;
    for (uint32_t i = 0; i < count; i += 32 / bits)
        if (ops->separate_parts(x + i, bits, true)) return true;
    return false;
}

// Each element in its form in memory.
static LLVMValueRef const *for_memory(Gen *g, Dtype elem, LLVMValueRef const *x, uint32_t count) {
    LLVMValueRef *all = arena_new(g->arena, LLVMValueRef, count);
    for (uint32_t i = 0; i < count; i++) all[i] = to_memory(g, elem, x[i]);
    return all;
}

static LLVMValueRef joined(Gen *g, Dtype elem, LLVMValueRef const *x, uint32_t count) {
    uint32_t bits = 8 * (uint32_t)dtype_size(elem);
    if (count == 1) return x[0];
    if (any_separate(g, x, count, bits)) return by_words(g, x, count, bits);
    LLVMValueRef v = LLVMGetPoison(memory_type(g, elem, count));
    for (uint32_t i = 0; i < count; i++)
        v = LLVMBuildInsertElement(g->b, v, x[i], gen_i32(g, (int32_t)i), "");
    return v;
}

static LLVMValueRef load_branching(Gen *g, const IrOp *op, LLVMTypeRef type, uint32_t align,
                                   LLVMValueRef p, LLVMValueRef mask, LLVMValueRef none) {
    Branch b = {0};
    if (mask) b = branch_begin(g, mask);
    LLVMValueRef v = LLVMBuildLoad2(g->b, type, p, "");
    LLVMSetAlignment(v, align);
    if (gpu_evicts_first(op)) gen_nontemporal(g, v);
    if (!mask) return v;
    branch_end(g, &b);
    LLVMValueRef phi = LLVMBuildPhi(g->b, type, "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){v, none}, (LLVMBasicBlockRef[]){b.inside, b.before}, 2);
    return phi;
}

static bool can_mask(Gen *g, const IrOp *op, LLVMValueRef p, uint32_t bytes, uint32_t align) {
    const GpuOps *ops = gpu_gen(g)->ops;
    return ops->can_mask && ops->can_mask(g, op, p, bytes, align);
}

// Is it one instruction of the target's own? LLVM has none for masks, nor for NVIDIA's hints.
static bool is_own(Gen *g, const IrOp *op, LLVMValueRef p, LLVMValueRef mask, uint32_t bytes,
                   uint32_t align) {
    const GpuOps *ops = gpu_gen(g)->ops;
    if (!mask && !(ops->hinted && ops->hinted(op, p))) return false;
    return can_mask(g, op, p, bytes, align);
}

// `other`: the values for a false mask; NULL: zeros.
static void load_some(Gen *g, const IrOp *op, LLVMValueRef p, LLVMValueRef mask,
                      LLVMValueRef const *other, uint32_t count, LLVMValueRef *r) {
    Dtype elem = op->results[0].type->elem;
    LLVMTypeRef type = memory_type(g, elem, count);
    uint32_t size = (uint32_t)dtype_size(elem), align = align_of(op, elem);
    if (other) other = for_memory(g, elem, other, count);
    if (is_own(g, op, p, mask, count * size, align)) {
        gpu_gen(g)->ops->masked_load(g, op, memory_elem(g, elem), 8 * size, count, p, mask, other,
                                     r);
    } else {
        LLVMValueRef none = other ? joined(g, elem, other, count) : LLVMConstNull(type);
        LLVMValueRef v = load_branching(g, op, type, align, p, mask, none);
        for (uint32_t i = 0; i < count; i++) r[i] = lane(g, v, count, i);
    }
    for (uint32_t i = 0; i < count; i++) r[i] = from_memory(g, elem, r[i]);
}

static void store_some(Gen *g, const IrOp *op, LLVMValueRef p, LLVMValueRef mask,
                       LLVMValueRef const *x, uint32_t count) {
    Dtype elem = ir_operand(op, 1)->type->elem;
    uint32_t size = (uint32_t)dtype_size(elem), align = align_of(op, elem);
    x = for_memory(g, elem, x, count);
    if (is_own(g, op, p, mask, count * size, align)) {
        gpu_gen(g)->ops->masked_store(g, op, memory_elem(g, elem), 8 * size, count, p, mask, x);
        return;
    }
    LLVMValueRef v = joined(g, elem, x, count);
    Branch b = {0};
    if (mask) b = branch_begin(g, mask);
    LLVMValueRef store = LLVMBuildStore(g->b, v, p);
    LLVMSetAlignment(store, align);
    if (gpu_evicts_first(op)) gen_nontemporal(g, store);
    if (mask) branch_end(g, &b);
}

// ---- by op --------------------------------------------------------------------------------------

static LLVMValueRef const *others(Gen *g, const IrOp *op) {
    return ir_operand(op, 2) ? gen_parts(g, ir_operand(op, 2)) : NULL;
}

// load and store: each lane has its own pointer and mask.
static void gen_each(Gen *g, const IrOp *op) {
    uint32_t count = ir_operand(op, 0)->type->count;
    bool loads = op->code == IR_LOAD;
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef p = gen_operand_part(g, op, 0, i);
        LLVMValueRef mask = gen_operand_part(g, op, loads ? 1 : 2, i);
        if (!loads) {
            LLVMValueRef x = gen_operand_part(g, op, 1, i);
            store_some(g, op, p, mask, &x, 1);
            continue;
        }
        LLVMValueRef other = gen_operand_part(g, op, 2, i);
        load_some(g, op, p, mask, other ? &other : NULL, 1, &gen_define_parts(g, op)[i]);
    }
}

void gpu_memory(Gen *g, const IrOp *op) {
    if (op->code == IR_PTR_ADD) gen_ptr_add(g, op);
    if (op->code == IR_THREAD_SHARED) gen_shared(g, op);
    if (op->code == IR_LOAD || op->code == IR_STORE) gen_each(g, op);
    if (op->code == IR_THREAD_LOAD)
        load_some(g, op, gen_operand(g, op, 0), gen_operand(g, op, 1), others(g, op),
                  op->results[0].type->count, gen_define_parts(g, op));
    if (op->code == IR_THREAD_STORE)
        store_some(g, op, gen_operand(g, op, 0), gen_operand(g, op, 2),
                   gen_parts(g, ir_operand(op, 1)), ir_operand(op, 1)->type->count);
}
