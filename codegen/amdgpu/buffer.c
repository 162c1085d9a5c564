// Masked loads and stores of views without branches: they are accesses of buffers, whose bounds the
// hardware checks.
//
// A buffer covers a view's data and all memory less than 2^31 bytes after its beginning. Where the
// mask is false, the access is at offset 2^31: it loads 0 and stores nothing. So a mask becomes a
// select of offsets, and the resource (four scalar registers) only says where the data begins.
#include "codegen/amdgpu/gen.h"

enum { SPACE_RESOURCE = 8, BYTES_MAX = 16, STEPS_MAX = 16, PLAIN_MAX = 1 << 11, LAST = -16 };
#define BEYOND UINT32_C(0x80000000)

// ---- the place of an access ---------------------------------------------------------------------

typedef struct BufferPlace {
    LLVMValueRef data;    // of the view, in space SPACE_GLOBAL
    LLVMValueRef offset;  // bytes after it, i32; NULL: none
    uint32_t plain;       // bytes after that, a constant
} BufferPlace;

// The size in bytes of `n` elements of `size` bytes, modulo 2^32. It is computed where n is
// computed, so that a loop invariant is computed before the loop.
static LLVMValueRef in_bytes(Gen *g, LLVMValueRef n, uint32_t size) {
    LLVMTypeRef word = gpu_int(g, 32);
    LLVMValueRef by = gen_i32(g, __builtin_ctz(size));
    bool extends = LLVMIsAZExtInst(n) || LLVMIsASExtInst(n);
    LLVMValueRef narrow = extends ? LLVMGetOperand(n, 0) : NULL;
    if (narrow && LLVMGetIntTypeWidth(LLVMTypeOf(narrow)) == 32) {
        GenInsertPoint here = gen_insert_before(g, n);
        n = LLVMBuildShl(g->b, narrow, by, "");
        gen_restore_position(g, here);
        return n;
    }
    if (LLVMGetIntTypeWidth(LLVMTypeOf(n)) > 32) n = LLVMBuildTrunc(g->b, n, word, "");
    return LLVMBuildShl(g->b, n, by, "");
}

static void add_step(Gen *g, BufferPlace *at, LLVMValueRef step) {
    uint32_t size = LLVMGetIntTypeWidth(LLVMGetGEPSourceElementType(step)) / 8;
    LLVMValueRef n = LLVMGetOperand(step, 1);
    if (LLVMIsAConstantInt(n)) {
        at->plain += (uint32_t)LLVMConstIntGetZExtValue(n) * size;
        return;
    }
    n = in_bytes(g, n, size);
    at->offset = at->offset ? LLVMBuildAdd(g->b, at->offset, n, "") : n;
}

static bool is_data(const Gen *g, LLVMValueRef p) {
    for (uint32_t i = 0; i < g->func->params.count; i++)
        if (g->params[i] == p) return true;
    return false;
}

// The steps of pointer arithmetic that lead from a view's data to p, the last one first; *count is
// 0 if p is the data itself. False: p has another origin.
static bool steps_of(const Gen *g, LLVMValueRef p, LLVMValueRef steps[STEPS_MAX], uint32_t *count,
                     LLVMValueRef *data) {
    *count = 0;
    while (!is_data(g, p)) {
        if (!LLVMIsAGetElementPtrInst(p) || *count == STEPS_MAX) return false;
        steps[(*count)++] = p;
        p = LLVMGetOperand(p, 0);
    }
    *data = p;
    return gpu_space_of(p) == SPACE_GLOBAL;
}

static BufferPlace buffer_place(Gen *g, LLVMValueRef p) {
    LLVMValueRef steps[STEPS_MAX];
    BufferPlace at = {0};
    uint32_t count;
    steps_of(g, p, steps, &count, &at.data);
    while (count--) add_step(g, &at, steps[count]);
    return at;
}

bool amdgpu_can_mask(Gen *g, const IrOp *op, LLVMValueRef p, uint32_t bytes, uint32_t align) {
    LLVMValueRef steps[STEPS_MAX], data;
    uint32_t count;
    if ((gpu_gen(g)->machine.chip->flags & CHIP_LONG_RESOURCES) != 0)
        return false;  // other resources
    bool narrow = (op->code == IR_THREAD_LOAD || op->code == IR_THREAD_STORE) &&
                  ir_attr_int(op, IR_ATTR_NARROW) != 0;
    return narrow && align >= (bytes < 4 ? bytes : 4) && bytes <= BYTES_MAX &&
           (bytes & (bytes - 1)) == 0 && steps_of(g, p, steps, &count, &data);
}

// ---- the resource -------------------------------------------------------------------------------

// Word 3 of the resource. Some formats mean that there is no buffer, so it names another one. From
// gfx10 on it also says that the hardware compares offsets, not indices.
static uint32_t flags_of(const Chip *chip) {
    enum { WORD_9 = 4 << 15 | 7 << 12, FLOAT_10 = 22 << 12, LEVEL_10 = 1 << 24, RAW_10 = 3 << 28 };
    if (chip->generation < 10) return WORD_9;
    return FLOAT_10 | RAW_10 | (chip->generation < 11 ? LEVEL_10 : 0);
}

// The resource is made right after the data pointer, so that all accesses share it.
static LLVMValueRef resource_of(Gen *g, LLVMValueRef data) {
    LLVMTypeRef types[] = {gpu_pointer(g, SPACE_RESOURCE), gpu_pointer(g, SPACE_GLOBAL)};
    GenInsertPoint here = gen_insert_before(g, LLVMGetNextInstruction(data));
    LLVMValueRef args[] = {gpu_in_space(g, data, SPACE_GLOBAL), LLVMConstNull(gpu_int(g, 16)),
                           gen_i64(g, BEYOND),
                           gen_i32(g, (int32_t)flags_of(gpu_gen(g)->machine.chip))};
    LLVMValueRef r = gen_intrinsic(g, "llvm.amdgcn.make.buffer.rsrc", 2, types, 4, args);
    gen_restore_position(g, here);
    return r;
}

// The instruction has an immediate for small offsets; added to 2^31 it stays outside. If the
// immediate is 0, the offset -16 is outside as well, and every instruction has it as an inline
// constant.
static LLVMValueRef offset_of(Gen *g, const BufferPlace *at, LLVMValueRef mask) {
    LLVMValueRef small = gen_i32(g, (int32_t)(at->plain % PLAIN_MAX));
    LLVMValueRef large = gen_i32(g, (int32_t)(at->plain / PLAIN_MAX * PLAIN_MAX));
    LLVMValueRef offset = at->offset ? LLVMBuildAdd(g->b, at->offset, large, "") : large;
    int32_t beyond = at->plain % PLAIN_MAX ? (int32_t)BEYOND : LAST;
    if (mask) offset = LLVMBuildSelect(g->b, mask, offset, gen_i32(g, beyond), "");
    return LLVMBuildAdd(g->b, offset, small, "");
}

LLVMValueRef amdgpu_buffer_offset(Gen *g, LLVMValueRef p, LLVMValueRef mask,
                                  LLVMValueRef *resource) {
    BufferPlace at = buffer_place(g, p);
    *resource = resource_of(g, at.data);
    return offset_of(g, &at, mask);
}

// ---- words --------------------------------------------------------------------------------------

// The type that the instructions move: an integer of up to 32 bits, or several words.
static LLVMTypeRef moved_type(Gen *g, uint32_t bits) {
    LLVMTypeRef word = gpu_int(g, 32);
    return bits <= 32 ? gpu_int(g, bits) : LLVMVectorType(word, bits / 32);
}

static LLVMValueRef joined(Gen *g, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                           LLVMValueRef const *x) {
    LLVMTypeRef moved = moved_type(g, bits * count);
    if (count == 1) return LLVMBuildBitCast(g->b, x[0], moved, "");
    LLVMValueRef all = LLVMGetPoison(LLVMVectorType(elem, count));
    for (uint32_t i = 0; i < count; i++)
        all = LLVMBuildInsertElement(g->b, all, x[i], gen_i32(g, (int32_t)i), "");
    return LLVMBuildBitCast(g->b, all, moved, "");
}

static void apart(Gen *g, LLVMTypeRef elem, uint32_t count, LLVMValueRef all, LLVMValueRef *x) {
    all = LLVMBuildBitCast(g->b, all, count == 1 ? elem : LLVMVectorType(elem, count), "");
    if (count == 1) x[0] = all;
    for (uint32_t i = 0; count > 1 && i < count; i++)
        x[i] = LLVMBuildExtractElement(g->b, all, gen_i32(g, (int32_t)i), "");
}

void amdgpu_masked_load(Gen *g, const IrOp *op, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                        LLVMValueRef p, LLVMValueRef mask, LLVMValueRef const *other,
                        LLVMValueRef *x) {
    BufferPlace at = buffer_place(g, p);
    LLVMTypeRef moved = moved_type(g, bits * count);
    LLVMValueRef none = gen_i32(g, 0);
    LLVMValueRef args[] = {resource_of(g, at.data), offset_of(g, &at, mask), none, none};
    LLVMValueRef all = gen_intrinsic(g, "llvm.amdgcn.raw.ptr.buffer.load", 1, &moved, 4, args);
    if (gpu_evicts_first(op)) gen_nontemporal(g, all);
    if (other) {
        LLVMValueRef there = joined(g, elem, bits, count, other);
        if (!LLVMIsNull(there)) all = LLVMBuildSelect(g->b, mask, all, there, "");
    }
    apart(g, elem, count, all, x);
}

void amdgpu_masked_store(Gen *g, const IrOp *op, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                         LLVMValueRef p, LLVMValueRef mask, LLVMValueRef const *x) {
    BufferPlace at = buffer_place(g, p);
    LLVMTypeRef moved = moved_type(g, bits * count);
    LLVMValueRef none = gen_i32(g, 0);
    LLVMValueRef args[] = {joined(g, elem, bits, count, x), resource_of(g, at.data),
                           offset_of(g, &at, mask), none, none};
    LLVMValueRef store = gen_intrinsic(g, "llvm.amdgcn.raw.ptr.buffer.store", 1, &moved, 5, args);
    if (gpu_evicts_first(op)) gen_nontemporal(g, store);
}
