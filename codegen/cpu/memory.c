// Memory: pointers, loads and stores, neighbours, gathers and scatters; and alias scopes.
#include "codegen/cpu/gen.h"

// ---- which memory a pointer leads to ------------------------------------------------------------

static bool join_memory(CpuGen *c, const IrValue *to, unsigned bits) {
    unsigned before = c->memory[to->id];
    c->memory[to->id] = (unsigned char)(before | bits);
    return c->memory[to->id] != before;
}

static unsigned memory_of(const CpuGen *c, const IrValue *v) {
    return v && v->type->kind == IR_PTR ? c->memory[v->id] : 0;
}

static bool join_block(CpuGen *c, const IrBlock *block);

// A region's arguments lead to the same memories as the values that enter it, and an op's results
// to the same as the yielded values.
static bool join_region_op(CpuGen *c, const IrOp *op) {
    uint32_t first = op->code == IR_FOR ? 3 : 0, skip = op->code == IR_FOR ? 1 : 0;
    bool changed = false;
    for (uint32_t r = 0; r < op->region_count; r++) {
        const IrBlock *block = op->regions[r];
        bool yields = op->code != IR_WHILE || r == 1;
        for (uint32_t i = 0; i < op->result_count; i++) {
            unsigned bits = yields ? memory_of(c, ir_operand(block->last, i)) : 0;
            if (op->code != IR_IF) bits |= memory_of(c, ir_operand(op, first + i));
            changed |= join_memory(c, &op->results[i], bits);
            if (op->code != IR_IF)
                changed |= join_memory(c, block->args[skip + i], memory_of(c, &op->results[i]));
        }
        changed |= join_block(c, block);
    }
    return changed;
}

static bool join_block(CpuGen *c, const IrBlock *block) {
    bool changed = false;
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->region_count) {
            changed |= join_region_op(c, op);
            continue;
        }
        if (op->result_count != 1 || op->results[0].type->kind != IR_PTR) continue;
        unsigned bits = 0;
        if (op->code == IR_CPU_SCRATCH) bits = MEMORY_SCRATCH;
        if (op->code == IR_VEC_DATA) bits = MEMORY_ARGUMENTS;
        if (op->code == IR_BITCAST && ir_operand(op, 0)->type->kind != IR_PTR) bits = MEMORY_ANY;
        for (uint32_t i = 0; i < op->operand_count; i++) bits |= memory_of(c, ir_operand(op, i));
        changed |= join_memory(c, &op->results[0], bits);
    }
    return changed;
}

void cpu_memory_kinds(CpuGen *c) {
    for (uint32_t i = 0; i < c->g.func->params.count; i++) {
        const IrValue *v = c->g.func->params.data[i].value;
        if (v->type->kind == IR_PTR) c->memory[v->id] = MEMORY_ARGUMENTS;
    }
    while (join_block(c, ir_body(c->g.func))) continue;
}

// The thread's scratch memory and the memory of arguments never overlap.
static LLVMValueRef set_scope(Gen *g, const IrOp *op, LLVMValueRef access) {
    unsigned bits = memory_of(cpu_gen(g), ir_operand(op, 0));
    if (bits != MEMORY_SCRATCH && bits != MEMORY_ARGUMENTS) return access;
    bool scratch = bits == MEMORY_SCRATCH;
    LLVMSetMetadata(access, g->kinds.alias_scope,
                    LLVMMetadataAsValue(g->context, cpu_gen(g)->scopes[scratch ? 0 : 1]));
    LLVMSetMetadata(access, g->kinds.noalias,
                    LLVMMetadataAsValue(g->context, cpu_gen(g)->scopes[scratch ? 1 : 0]));
    return access;
}

// ---- bool is one byte in memory -----------------------------------------------------------------

static LLVMValueRef to_bytes(Gen *g, const IrType *t, LLVMValueRef v) {
    if (t->elem != DTYPE_BOOL) return v;
    return LLVMBuildZExt(g->b, v, gen_bytes_type(g, t), "");
}

static LLVMValueRef from_bytes(Gen *g, const IrType *t, LLVMValueRef v) {
    if (t->elem != DTYPE_BOOL) return v;
    return LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

// ---- plain and masked accesses ------------------------------------------------------------------

static uint32_t align_of(const IrType *t) { return (uint32_t)dtype_size(t->elem); }

static LLVMValueRef plain_load(Gen *g, const IrOp *op, const IrType *t) {
    LLVMValueRef v = LLVMBuildLoad2(g->b, gen_bytes_type(g, t), gen_operand(g, op, 0), "");
    LLVMSetAlignment(v, align_of(t));
    return set_scope(g, op, v);
}

static LLVMValueRef plain_store(Gen *g, const IrOp *op, const IrType *t) {
    LLVMValueRef x = to_bytes(g, t, gen_operand(g, op, 1));
    LLVMValueRef v = LLVMBuildStore(g->b, x, gen_operand(g, op, 0));
    LLVMSetAlignment(v, align_of(t));
    return set_scope(g, op, v);
}

// Since LLVM 22 the alignment of masked accesses is an attribute of the pointer.
static void set_align(Gen *g, LLVMValueRef call, unsigned index, uint32_t align) {
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddCallSiteAttribute(call, index, LLVMCreateEnumAttribute(g->context, kind, align));
}

// Is it a comparison of numbers? If a comparison is true, LLVM sets all bits of the lane.
static bool is_comparison(LLVMValueRef mask) {
    if (LLVMIsConstant(mask)) return true;
    if (!LLVMIsAICmpInst(mask)) return LLVMIsAFCmpInst(mask) != NULL;
    LLVMTypeRef lane = LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(mask, 0)));
    return LLVMGetTypeKind(lane) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(lane) > 1;
}

// A zero that LLVM does not know to be one.
static LLVMValueRef veiled_zero(Gen *g, LLVMTypeRef type) {
    static const char constraints[] = "=r,0";
    LLVMTypeRef call = LLVMFunctionType(type, &type, 1, false);
    LLVMValueRef zero = LLVMConstNull(type);
    LLVMValueRef nothing = LLVMGetInlineAsm(call, "", 0, constraints, sizeof constraints - 1, false,
                                            false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(g->b, call, nothing, &zero, 1, "");
}

// AVX2 reads the sign bits of a mask's lanes. LLVM 22 splits a mask into registers and drops all
// bits but the signs. If it then finds that a part is constant, it treats lanes of 1, whose sign is
// clear, as true: it would read lanes that are masked off. So the values that are combined with
// comparisons are hidden from it.
static LLVMValueRef by_signs(Gen *g, const IrType *t, LLVMValueRef mask) {
    uint32_t bytes = align_of(t);  // fewer than 4 bytes have no masked accesses
    bool cut = bytes >= 4 && t->count * bytes > cpu_gen(g)->machine.vector_bytes;
    if (cpu_gen(g)->machine.cpu.level != CPU_X86_64_V3 || !cut || is_comparison(mask)) return mask;
    LLVMTypeRef lane = LLVMIntTypeInContext(g->context, 8 * bytes);
    LLVMValueRef signs = LLVMBuildSExt(g->b, mask, gen_shaped(lane, t), "");
    LLVMValueRef zeros = gen_broadcast(g, veiled_zero(g, lane), t->count);
    signs = LLVMBuildOr(g->b, signs, zeros, "");
    return LLVMBuildICmp(g->b, LLVMIntSLT, signs, LLVMConstNull(LLVMTypeOf(signs)), "");
}

static LLVMValueRef masked_load(Gen *g, const IrOp *op, const IrType *t, const char *name,
                                LLVMValueRef mask) {
    LLVMTypeRef type = gen_bytes_type(g, t);
    LLVMValueRef p = gen_operand(g, op, 0), other = gen_operand(g, op, 2);
    other = other ? to_bytes(g, t, other) : LLVMConstNull(type);
    LLVMValueRef v = gen_intrinsic(g, name, 2, (LLVMTypeRef[]){type, LLVMTypeOf(p)}, 3,
                                   (LLVMValueRef[]){p, mask, other});
    set_align(g, v, 1, align_of(t));
    return set_scope(g, op, v);
}

static void masked_store(Gen *g, const IrOp *op, const IrType *t, const char *name,
                         LLVMValueRef mask) {
    LLVMTypeRef type = gen_bytes_type(g, t);
    LLVMValueRef x = to_bytes(g, t, gen_operand(g, op, 1)), p = gen_operand(g, op, 0);
    LLVMValueRef v = gen_intrinsic(g, name, 2, (LLVMTypeRef[]){type, LLVMTypeOf(p)}, 3,
                                   (LLVMValueRef[]){x, p, mask});
    set_align(g, v, 2, align_of(t));
    set_scope(g, op, v);
}

static LLVMValueRef all_lanes(const Gen *g, const IrType *t) {
    return LLVMConstAllOnes(gen_shaped(LLVMInt1TypeInContext(g->context), t));
}

// ---- scalars under a mask -----------------------------------------------------------------------

static LLVMValueRef scalar_load(Gen *g, const IrOp *op, const IrType *t) {
    LLVMValueRef mask = gen_operand(g, op, 1), other = gen_operand(g, op, 2);
    if (!mask) return plain_load(g, op, t);
    LLVMTypeRef type = gen_bytes_type(g, t);
    other = other ? to_bytes(g, t, other) : LLVMConstNull(type);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef read = gen_block(g, "load"), after = gen_block(g, "end");
    LLVMBuildCondBr(g->b, mask, read, after);
    LLVMPositionBuilderAtEnd(g->b, read);
    LLVMValueRef v = plain_load(g, op, t);
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
    LLVMValueRef phi = LLVMBuildPhi(g->b, type, "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){v, other}, (LLVMBasicBlockRef[]){read, before}, 2);
    return phi;
}

static void scalar_store(Gen *g, const IrOp *op, const IrType *t) {
    LLVMValueRef mask = gen_operand(g, op, 2);
    LLVMBasicBlockRef write = mask ? gen_block(g, "store") : NULL, after = NULL;
    if (mask) {
        after = gen_block(g, "end");
        LLVMBuildCondBr(g->b, mask, write, after);
        LLVMPositionBuilderAtEnd(g->b, write);
    }
    plain_store(g, op, t);
    if (!mask) return;
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
}

// ---- by op --------------------------------------------------------------------------------------

// One prefetch for each cache line that the load spans, `distance` bytes on.
static void fetch_ahead(Gen *g, LLVMValueRef p, int64_t distance, uint32_t bytes) {
    enum { READ = 0, KEEP_CLOSE = 3, DATA = 1 };
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context), type = LLVMTypeOf(p);
    for (uint32_t at = 0; at < bytes; at += CPU_LINE_BYTES) {
        LLVMValueRef far = gen_i64(g, distance + at);
        LLVMValueRef operands[] = {LLVMBuildGEP2(g->b, byte, p, &far, 1, ""), gen_i32(g, READ),
                                   gen_i32(g, KEEP_CLOSE), gen_i32(g, DATA)};
        gen_intrinsic(g, "llvm.prefetch", 1, &type, 4, operands);
    }
}

static void gen_load(Gen *g, const IrOp *op) {
    const IrType *t = op->results[0].type;
    LLVMValueRef mask = gen_operand(g, op, 1), v;
    if (op->code == IR_CPU_LOAD)
        v = mask ? masked_load(g, op, t, "llvm.masked.load", by_signs(g, t, mask))
                 : plain_load(g, op, t);
    else if (t->rank)
        v = masked_load(g, op, t, "llvm.masked.gather", mask ? mask : all_lanes(g, t));
    else
        v = scalar_load(g, op, t);
    int64_t ahead = op->code == IR_CPU_LOAD ? ir_attr_int(op, IR_ATTR_AHEAD) : 0;
    if (ahead) fetch_ahead(g, gen_operand(g, op, 0), ahead, t->count * align_of(t));
    gen_define(g, op, from_bytes(g, t, v));
}

// A non-temporal store: its address is aligned to the vector, or to a register if that is smaller.
static void stream_store(Gen *g, const IrOp *op, const IrType *t) {
    LLVMValueRef v = plain_store(g, op, t);
    uint32_t bytes = t->count * align_of(t);
    if (bytes < 16) return;
    LLVMSetAlignment(
        v, bytes < cpu_gen(g)->machine.vector_bytes ? bytes : cpu_gen(g)->machine.vector_bytes);
    gen_nontemporal(g, v);
    cpu_gen(g)->streams = true;
}

static void gen_store(Gen *g, const IrOp *op) {
    const IrType *t = ir_operand(op, 1)->type;
    LLVMValueRef mask = gen_operand(g, op, 2);
    bool neighbours = op->code == IR_CPU_STORE;
    if (neighbours && mask)
        masked_store(g, op, t, "llvm.masked.store", by_signs(g, t, mask));
    else if (neighbours && ir_attr_int(op, IR_ATTR_STREAM))
        stream_store(g, op, t);
    else if (neighbours)
        plain_store(g, op, t);
    else if (t->rank)
        masked_store(g, op, t, "llvm.masked.scatter", mask ? mask : all_lanes(g, t));
    else
        scalar_store(g, op, t);
}

// One prefetch for each cache line. The pointer may be outside of any object, so it is stepped as
// an integer.
static void gen_prefetch(Gen *g, const IrOp *op) {
    enum { READ = 0, KEEP_CLOSE = 3, DATA = 1 };
    LLVMValueRef p = gen_operand(g, op, 0);
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context), type = LLVMTypeOf(p);
    int64_t size = (int64_t)dtype_size(ir_operand(op, 0)->type->elem);
    for (int64_t at = 0; at < ir_attr_int(op, IR_ATTR_COUNT) * size; at += CPU_LINE_BYTES) {
        LLVMValueRef offset = gen_i64(g, at);
        LLVMValueRef args[] = {LLVMBuildGEP2(g->b, byte, p, &offset, 1, ""), gen_i32(g, READ),
                               gen_i32(g, KEEP_CLOSE), gen_i32(g, DATA)};
        gen_intrinsic(g, "llvm.prefetch", 1, &type, 4, args);
    }
}

static void gen_scratch(Gen *g, const IrOp *op) {
    LLVMValueRef place = gen_i64(g, ir_attr_int(op, IR_ATTR_PLACE));
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    gen_define(g, op, LLVMBuildInBoundsGEP2(g->b, byte, cpu_gen(g)->scratch, &place, 1, ""));
}

// The step counts elements, or bytes for bool and the packed types. It wraps.
static void gen_ptr_add(Gen *g, const IrOp *op) {
    LLVMTypeRef unit =
        LLVMIntTypeInContext(g->context, 8 * (unsigned)dtype_size(op->results[0].type->elem));
    LLVMValueRef n = gen_operand(g, op, 1);
    gen_define(g, op, LLVMBuildGEP2(g->b, unit, gen_operand(g, op, 0), &n, 1, ""));
}

void cpu_memory(Gen *g, const IrOp *op) {
    if (op->code == IR_PTR_ADD) gen_ptr_add(g, op);
    if (op->code == IR_CPU_SCRATCH) gen_scratch(g, op);
    if (op->code == IR_CPU_PREFETCH) gen_prefetch(g, op);
    if (op->code == IR_LOAD || op->code == IR_CPU_LOAD) gen_load(g, op);
    if (op->code == IR_STORE || op->code == IR_CPU_STORE) gen_store(g, op);
}
