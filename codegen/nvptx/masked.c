// Masked loads and stores without branches: predicated instructions; and loads and stores with
// hints for the caches, masked or not.
//
// LLVM has no predicated accesses and no hints for NVIDIA's GPUs. A branch would begin another
// block: addresses are computed again there, and nothing is scheduled across. So this is inline
// assembly, for memory that is known to be global or shared.
#include <stdio.h>
#include <string.h>

#include "codegen/nvptx/gen.h"

enum { WORDS_MAX = 4, BYTES_MAX = 16 };

// How the elements of an access are distributed over registers.
typedef struct MaskedWords {
    uint32_t count, bits;  // of memory, of each
    uint32_t per;          // elements in each
    char constraint;
    LLVMTypeRef type;  // of a register
    LLVMTypeRef elem;
    uint32_t elem_bits;
} MaskedWords;

static MaskedWords words_of(Gen *g, LLVMTypeRef elem, uint32_t elem_bits, uint32_t count) {
    uint32_t bits = elem_bits * count;
    MaskedWords w = {
        .count = 1, .bits = bits, .constraint = 'h', .elem = elem, .elem_bits = elem_bits};
    if (bits >= 32) w.bits = elem_bits == 64 ? 64 : 32;
    w.count = bits / w.bits;
    w.per = count / w.count;
    if (w.bits == 32) w.constraint = 'r';
    if (w.bits == 64) w.constraint = 'l';
    w.type = LLVMIntTypeInContext(g->context, w.bits == 8 ? 16 : w.bits);
    return w;
}

bool nvptx_can_mask(Gen *g, const IrOp *op, LLVMValueRef p, uint32_t bytes, uint32_t align) {
    (void)g, (void)op;
    return bytes <= BYTES_MAX && (bytes & (bytes - 1)) == 0 && align >= bytes && gpu_space_of(p);
}

// PTX ISA, ld and st: cache operators, or priorities of eviction. They are for global memory.
static const char *hint_of(const IrOp *op, unsigned space) {
    if (space != SPACE_GLOBAL) return "";
    switch ((IrCache)ir_attr_int(op, IR_ATTR_CACHE)) {
    case IR_CACHE_NORMAL: break;
    case IR_CACHE_FIRST: return ".L1::evict_first";
    case IR_CACHE_LAST: return ".L1::evict_last";
    case IR_CACHE_STREAM: return ".cs";
    case IR_CACHE_L2: return ".cg";
    }
    return "";
}

bool nvptx_hinted(const IrOp *op, LLVMValueRef p) { return *hint_of(op, gpu_space_of(p)) != 0; }

// ---- between elements and registers -------------------------------------------------------------
// Each register is packed separately: LLVM splits and joins longer vectors differently on each
// architecture, through registers that are partly undefined.

static LLVMValueRef pack(Gen *g, const MaskedWords *w, LLVMValueRef const *x) {
    LLVMTypeRef word = LLVMIntTypeInContext(g->context, w->bits);
    if (w->per == 1) return LLVMBuildBitCast(g->b, x[0], word, "");
    if (w->bits == 32) return nvptx_word(g, x, w->elem_bits, true);
    LLVMValueRef all = LLVMGetPoison(LLVMVectorType(w->elem, w->per));
    for (uint32_t i = 0; i < w->per; i++)
        all = LLVMBuildInsertElement(g->b, all, x[i], gen_i32(g, (int32_t)i), "");
    return LLVMBuildBitCast(g->b, all, word, "");
}

// NULL: zeros.
static void split(Gen *g, const MaskedWords *w, LLVMValueRef const *x, LLVMValueRef *r) {
    for (uint32_t i = 0; i < w->count; i++)
        r[i] = x ? LLVMBuildZExt(g->b, pack(g, w, x + (size_t)i * w->per), w->type, "")
                 : LLVMConstNull(w->type);
}

static void unpack(Gen *g, const MaskedWords *w, LLVMValueRef word, LLVMValueRef *x) {
    word = LLVMBuildTrunc(g->b, word, LLVMIntTypeInContext(g->context, w->bits), "");
    if (w->per == 1) {
        x[0] = LLVMBuildBitCast(g->b, word, w->elem, "");
        return;
    }
    word = LLVMBuildBitCast(g->b, word, LLVMVectorType(w->elem, w->per), "");
    for (uint32_t i = 0; i < w->per; i++)
        x[i] = LLVMBuildExtractElement(g->b, word, gen_i32(g, (int32_t)i), "");
}

// ---- the assembly -------------------------------------------------------------------------------

// "{$2, $3}" or "$2": `count` operands from number `first` on.
static void list(const MaskedWords *w, uint32_t first, char *text, size_t size) {
    size_t n = 0;
    for (uint32_t i = 0; i < w->count; i++)
        n += (size_t)snprintf(text + n, size - n, "%s$%u",
                              i              ? ", "
                              : w->count > 1 ? "{"
                                             : "",
                              first + i);
    if (w->count > 1) snprintf(text + n, size - n, "}");
}

static void vector(const MaskedWords *w, char *text, size_t size) {
    if (w->count > 1)
        snprintf(text, size, ".v%u.b%u", w->count, w->bits);
    else
        snprintf(text, size, ".b%u", w->bits);
}

static const char *space_name(unsigned space) {
    return space == SPACE_SHARED ? "shared" : "global";
}

static LLVMValueRef assembly(Gen *g, LLVMTypeRef function, const char *text,
                             const char *constraints, LLVMValueRef *operands, uint32_t count) {
    LLVMValueRef code =
        LLVMGetInlineAsm(function, text, strlen(text), constraints, strlen(constraints), true,
                         false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(g->b, function, code, operands, count, "");
}

// The assembly moves constants to the registers itself: as operands they would be copied.
static bool constants(const MaskedWords *w, LLVMValueRef const *r) {
    for (uint32_t i = 0; i < w->count; i++)
        if (!LLVMIsAConstantInt(r[i])) return false;
    return true;
}

static size_t moves(const MaskedWords *w, LLVMValueRef const *r, char *text, size_t size) {
    size_t n = 0;
    for (uint32_t i = 0; i < w->count; i++)
        n += (size_t)snprintf(text + n, size - n, "mov.b%u $%u, 0x%llx; ",
                              w->bits == 8 ? 16 : w->bits, i, LLVMConstIntGetZExtValue(r[i]));
    return n;
}

// The constraint for an address: addresses of shared memory have 32 bits.
static char address(unsigned space) { return space == SPACE_SHARED ? 'r' : 'l'; }

static void load_constraints(const MaskedWords *w, unsigned space, bool masked, bool tied,
                             char *text, size_t size) {
    size_t n = 0;
    for (uint32_t i = 0; i < w->count; i++)
        n += (size_t)snprintf(text + n, size - n, "=&%c,", w->constraint);
    n += (size_t)snprintf(text + n, size - n, "%s%c", masked ? "b," : "", address(space));
    for (uint32_t i = 0; tied && i < w->count; i++)
        n += (size_t)snprintf(text + n, size - n, ",%u", i);
    snprintf(text + n, size - n, ",~{memory}");
}

static LLVMTypeRef load_type(Gen *g, const MaskedWords *w, LLVMValueRef const *operands,
                             uint32_t count) {
    LLVMTypeRef types[2 + WORDS_MAX], results[WORDS_MAX], result = w->type;
    for (uint32_t i = 0; i < count; i++) types[i] = LLVMTypeOf(operands[i]);
    for (uint32_t i = 0; i < w->count; i++) results[i] = w->type;
    if (w->count > 1) result = LLVMStructTypeInContext(g->context, results, w->count, false);
    return LLVMFunctionType(result, types, count, false);
}

// The registers hold `other` before, and the loaded values afterwards.
void nvptx_masked_load(Gen *g, const IrOp *op, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                       LLVMValueRef p, LLVMValueRef mask, LLVMValueRef const *other,
                       LLVMValueRef *x) {
    MaskedWords w = words_of(g, elem, bits, count);
    unsigned space = gpu_space_of(p);
    uint32_t on = mask ? 1 : 0, first = on + 1;  // the number of the address, of the tied registers
    char registers[64], width[16], text[256], constraints[96];
    LLVMValueRef operands[2 + WORDS_MAX] = {mask};
    operands[on] = gpu_in_space(g, p, space);
    split(g, &w, other, operands + first);
    bool tied = mask && !constants(&w, operands + first);
    uint32_t given = tied ? first + w.count : first;
    load_constraints(&w, space, mask, tied, constraints, sizeof constraints);
    list(&w, 0, registers, sizeof registers);
    vector(&w, width, sizeof width);
    size_t n = mask && !tied ? moves(&w, operands + first, text, sizeof text) : 0;
    if (mask) n += (size_t)snprintf(text + n, sizeof text - n, "@$%u ", w.count);
    snprintf(text + n, sizeof text - n, "ld.%s%s%s %s, [$%u];", space_name(space),
             hint_of(op, space), width, registers, w.count + on);
    LLVMTypeRef function = load_type(g, &w, operands, given);
    LLVMValueRef all = assembly(g, function, text, constraints, operands, given);
    for (uint32_t i = 0; i < w.count; i++)
        unpack(g, &w, w.count == 1 ? all : LLVMBuildExtractValue(g->b, all, i, ""),
               x + (size_t)i * w.per);
}

void nvptx_masked_store(Gen *g, const IrOp *op, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                        LLVMValueRef p, LLVMValueRef mask, LLVMValueRef const *x) {
    MaskedWords w = words_of(g, elem, bits, count);
    unsigned space = gpu_space_of(p);
    uint32_t on = mask ? 1 : 0, first = on + 1;  // the number of the address, of the registers
    char registers[64], width[16], text[128], constraints[64];
    LLVMValueRef operands[2 + WORDS_MAX] = {mask};
    LLVMTypeRef types[2 + WORDS_MAX];
    operands[on] = gpu_in_space(g, p, space);
    split(g, &w, x, operands + first);
    size_t n =
        (size_t)snprintf(constraints, sizeof constraints, "%s%c", mask ? "b," : "", address(space));
    for (uint32_t i = 0; i < w.count; i++)
        n += (size_t)snprintf(constraints + n, sizeof constraints - n, ",%c", w.constraint);
    snprintf(constraints + n, sizeof constraints - n, ",~{memory}");
    for (uint32_t i = 0; i < first + w.count; i++) types[i] = LLVMTypeOf(operands[i]);
    list(&w, first, registers, sizeof registers);
    vector(&w, width, sizeof width);
    snprintf(text, sizeof text, "%sst.%s%s%s [$%u], %s;", mask ? "@$0 " : "", space_name(space),
             hint_of(op, space), width, on, registers);
    LLVMTypeRef function =
        LLVMFunctionType(LLVMVoidTypeInContext(g->context), types, first + w.count, false);
    assembly(g, function, text, constraints, operands, first + w.count);
}
