// Lookups of vectors without a gather: values at neighbouring places are one load, and a small
// table is a register or two, whose lanes are permuted.
//
// Measured on one thread of a machine with AVX2, for 65,536 elements: 16 values of f32 at indices
// of u8 take 9 µs by permutations, 29 µs by a gather, which is a load for each lane there; 16 bytes
// take 2.3 and 36 µs, a constant tile of 256 f32 6.5 and 39 µs.
#include "codegen/cpu/gen.h"

static const IrAttr *values_of(const IrOp *op) { return ir_attr(op, IR_ATTR_VALUES); }
static uint32_t count_of(const IrOp *op) { return values_of(op)->u.consts.count; }

// ---- pieces of vectors --------------------------------------------------------------------------

// Lanes `first` to first + count - 1; those that x does not have are undefined.
static LLVMValueRef part(Gen *g, LLVMValueRef x, uint32_t first, uint32_t count) {
    uint32_t all = LLVMGetVectorSize(LLVMTypeOf(x));
    LLVMValueRef *lanes = arena_new(g->arena, LLVMValueRef, count);
    if (all == count) return x;
    for (uint32_t i = 0; i < count; i++)
        lanes[i] = first + i < all ? gen_i32(g, (int32_t)(first + i))
                                   : LLVMGetPoison(LLVMInt32TypeInContext(g->context));
    return LLVMBuildShuffleVector(g->b, x, LLVMGetPoison(LLVMTypeOf(x)),
                                  LLVMConstVector(lanes, count), "");
}

static LLVMValueRef joined(Gen *g, LLVMValueRef *pieces, uint32_t count) {
    for (; count > 1; count /= 2) {
        uint32_t size = 2 * LLVMGetVectorSize(LLVMTypeOf(pieces[0]));
        LLVMValueRef *lanes = arena_new(g->arena, LLVMValueRef, size);
        for (uint32_t i = 0; i < size; i++) lanes[i] = gen_i32(g, (int32_t)i);
        for (uint32_t i = 0; i < count / 2; i++)
            pieces[i] = LLVMBuildShuffleVector(g->b, pieces[2 * i], pieces[2 * i + 1],
                                               LLVMConstVector(lanes, size), "");
    }
    return pieces[0];
}

typedef LLVMValueRef Permute(Gen *g, const IrOp *op, LLVMValueRef i, uint32_t lanes);

// Permutes as many lanes at a time as a register has.
static LLVMValueRef by_pieces(Gen *g, const IrOp *op, LLVMValueRef i, uint32_t lanes,
                              Permute *permute) {
    uint32_t all = LLVMGetVectorSize(LLVMTypeOf(i)), count = all < lanes ? 1 : all / lanes;
    LLVMValueRef *pieces = arena_new(g->arena, LLVMValueRef, count);
    for (uint32_t k = 0; k < count; k++)
        pieces[k] = permute(g, op, part(g, i, k * lanes, lanes), lanes);
    return part(g, joined(g, pieces, count), 0, all);
}

// ---- tables in registers ------------------------------------------------------------------------

// `size` values from `first` on as integers, then zeros; after `period` of them they repeat.
static LLVMValueRef table(Gen *g, const IrOp *op, unsigned bits, uint32_t first, uint32_t size,
                          uint32_t period) {
    LLVMTypeRef elem = LLVMIntTypeInContext(g->context, bits);
    LLVMValueRef *items = arena_new(g->arena, LLVMValueRef, size);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t at = first + i % period;
        items[i] =
            LLVMConstInt(elem, at < count_of(op) ? values_of(op)->u.consts.items[at] : 0, false);
    }
    return LLVMConstVector(items, size);
}

static LLVMValueRef splat(LLVMValueRef like, uint64_t value) {
    LLVMTypeRef type = LLVMTypeOf(like);
    return gen_splat_of(type, LLVMConstInt(LLVMGetElementType(type), value, false));
}

// The index as integers of `bits` bits. One that does not fit is `beyond`, which is outside.
static LLVMValueRef narrowed(Gen *g, const IrOp *op, LLVMValueRef i, unsigned bits,
                             uint64_t beyond) {
    const IrType *t = ir_operand(op, 0)->type;
    LLVMTypeRef type = LLVMVectorType(LLVMIntTypeInContext(g->context, bits), t->count);
    LLVMTypeRef own = LLVMTypeOf(i);
    if (dtype_bits(t->elem) > bits)
        i = gen_intrinsic(g, "llvm.umin", 1, &own, 2, (LLVMValueRef[]){i, splat(i, beyond)});
    return LLVMBuildIntCast2(g->b, i, type, dtype_signed(t->elem), "");
}

static LLVMValueRef permuted_words(Gen *g, LLVMValueRef t, LLVMValueRef i, uint32_t lanes) {
    bool wide = lanes == 16;
    LLVMValueRef both[] = {t, i};
    return gen_intrinsic(g, wide ? "llvm.x86.avx512.permvar.si.512" : "llvm.x86.avx2.permd", 0,
                         NULL, 2, both);
}

// A word for each lane. Instructions look at the lowest bits of an index only.
static LLVMValueRef permute_words(Gen *g, const IrOp *op, LLVMValueRef i, uint32_t lanes) {
    uint32_t registers = count_of(op) > lanes ? 2 : 1;
    LLVMValueRef r = permuted_words(g, table(g, op, 32, 0, lanes, lanes), i, lanes);
    if (registers == 2) {
        LLVMValueRef high = permuted_words(g, table(g, op, 32, lanes, lanes, lanes), i, lanes);
        LLVMValueRef bit = LLVMBuildAnd(g->b, i, splat(i, lanes), "");
        LLVMValueRef upper = LLVMBuildICmp(g->b, LLVMIntNE, bit, splat(i, 0), "");
        r = LLVMBuildSelect(g->b, upper, high, r, "");
    }
    if (gen_lookup_inside(g, op)) return r;
    LLVMValueRef in = LLVMBuildICmp(g->b, LLVMIntULT, i, splat(i, (uint64_t)registers * lanes), "");
    return LLVMBuildSelect(g->b, in, r, splat(r, 0), "");
}

// Bytes: x86 gives 0 where bit 7 of an index is set, and looks at the lowest four bits otherwise;
// AArch64 gives 0 where an index is outside of all registers.
static LLVMValueRef permute_bytes(Gen *g, const IrOp *op, LLVMValueRef i, uint32_t lanes) {
    enum { ROW = 16, TO_BIT_7 = 0x80 - ROW };
    static const char *const tbl[] = {"llvm.aarch64.neon.tbl1", "llvm.aarch64.neon.tbl2",
                                      "llvm.aarch64.neon.tbl3", "llvm.aarch64.neon.tbl4"};
    LLVMTypeRef type = LLVMTypeOf(i);
    if (cpu_gen(g)->machine.cpu.level == CPU_AARCH64) {
        LLVMValueRef all[5];
        uint32_t n = (count_of(op) + ROW - 1) / ROW;
        for (uint32_t k = 0; k < n; k++) all[k] = table(g, op, 8, k * ROW, ROW, ROW);
        all[n] = i;
        return gen_intrinsic(g, tbl[n - 1], 1, &type, n + 1, all);
    }
    if (!gen_lookup_inside(g, op))
        i = gen_intrinsic(g, "llvm.uadd.sat", 1, &type, 2, (LLVMValueRef[]){i, splat(i, TO_BIT_7)});
    LLVMValueRef both[] = {table(g, op, 8, 0, lanes, ROW), i};
    const char *name = lanes == 64   ? "llvm.x86.avx512.pshuf.b.512"
                       : lanes == 32 ? "llvm.x86.avx2.pshuf.b"
                                     : "llvm.x86.ssse3.pshuf.b.128";
    return gen_intrinsic(g, name, 0, NULL, 2, both);
}

static LLVMValueRef as_elements(Gen *g, const IrOp *op, LLVMValueRef v) {
    const IrType *t = op->results[0].type;
    LLVMTypeRef type = gen_type(g, t);
    unsigned bits = t->elem == DTYPE_BOOL ? 1 : dtype_bits(t->elem);
    LLVMTypeRef integers = LLVMVectorType(LLVMIntTypeInContext(g->context, bits), t->count);
    return LLVMBuildBitCast(g->b, LLVMBuildIntCast2(g->b, v, integers, false, ""), type, "");
}

// NULL: the table is too large for registers, or there is no instruction.
static LLVMValueRef permuted(Gen *g, const IrOp *op, LLVMValueRef i) {
    const Machine *m = &cpu_gen(g)->machine;
    Dtype elem = op->results[0].type->elem;
    uint32_t size = (uint32_t)dtype_size(elem), count = count_of(op);
    bool arm = m->cpu.level == CPU_AARCH64, words = !arm && m->vector_bytes >= 32;
    uint32_t most_bytes = arm ? 64 : 16, most_words = m->vector_bytes / 2;
    if (size == 1 && count <= most_bytes) {
        i = narrowed(g, op, i, 8, 0xff);
        return as_elements(g, op, by_pieces(g, op, i, m->vector_bytes, permute_bytes));
    }
    if (!words || size > 4 || count > most_words) return NULL;
    i = narrowed(g, op, i, 32, UINT32_MAX);
    return as_elements(g, op, by_pieces(g, op, i, m->vector_bytes / 4, permute_words));
}

// ---- neighbours ---------------------------------------------------------------------------------

static const IrValue *stretched(const IrOp *sum, uint32_t i) {
    const IrOp *def = ir_operand(sum, i)->def;
    bool scalar = def && def->code == IR_BROADCAST && !ir_operand(def, 0)->type->rank;
    return scalar ? ir_operand(def, 0) : NULL;
}

static bool is_iota(const IrValue *v) { return v->def && v->def->code == IR_IOTA; }

// The place of the first lane where the others follow it; NULL: they do not.
static const IrValue *first_place(const IrOp *op) {
    const IrOp *sum = ir_operand(op, 0)->def;
    if (!sum || sum->code != IR_ADD) return NULL;
    if (is_iota(ir_operand(sum, 1))) return stretched(sum, 0);
    return is_iota(ir_operand(sum, 0)) ? stretched(sum, 1) : NULL;
}

static LLVMValueRef constant(Gen *g, const IrOp *op) {
    const IrType *t = op->results[0].type;
    IrType scalar = {.kind = IR_TILE, .elem = t->elem, .count = 1};
    LLVMValueRef *lanes = arena_new(g->arena, LLVMValueRef, t->count);
    for (uint32_t i = 0; i < t->count; i++)
        lanes[i] = gen_const(g, &scalar, i < count_of(op) ? values_of(op)->u.consts.items[i] : 0);
    return LLVMConstVector(lanes, t->count);
}

// Zeros follow the values, as many as a vector has. So the lanes may run over the end.
static LLVMValueRef neighbours(Gen *g, const IrOp *op) {
    const IrType *t = op->results[0].type;
    const IrValue *first = first_place(op);
    if (is_iota(ir_operand(op, 0))) return constant(g, op);
    if (!first || t->count > g->target->table_zeros) return NULL;
    IrRange range = ir_range_of(g->ranges, first);
    if (!range.known || range.min < 0) return NULL;
    LLVMValueRef at = gen_value(g, first);
    LLVMTypeRef type = LLVMTypeOf(at);
    if (range.max > count_of(op))
        at = gen_intrinsic(g, "llvm.umin", 1, &type, 2,
                           (LLVMValueRef[]){at, LLVMConstInt(type, count_of(op), false)});
    at = LLVMBuildIntCast2(g->b, at, LLVMInt64TypeInContext(g->context), false, "");
    return gen_lookup_load(g, op, t, at);
}

LLVMValueRef cpu_lookup(Gen *g, const IrOp *op, LLVMValueRef i) {
    if (!op->results[0].type->rank) return NULL;
    LLVMValueRef v = neighbours(g, op);
    return v ? v : permuted(g, op, i);
}
