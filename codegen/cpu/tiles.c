// Products of tile registers (AMX). Sums are in tiles 0 to 3, a's rows in 4 and 5, b's columns in 6
// and 7; every tile has 16 rows of 64 bytes.
//
// Tiles are configured when a program begins, and again after calls of other code, which may use
// them too. They are released when the function ends, so that the system need not save them.
#include "codegen/cpu/gen.h"

enum { TILE_ROWS = 16, TILE_BYTES = 64, TILES = 8, FIRST_A = 4, FIRST_B = 6 };

typedef struct CpuTiles {
    Gen *g;
    const IrOp *op;
    uint32_t down, across;  // tiles of sums
} CpuTiles;

static LLVMTypeRef byte_type(Gen *g) { return LLVMInt8TypeInContext(g->context); }
static LLVMValueRef tile(Gen *g, uint32_t n) { return LLVMConstInt(byte_type(g), n, false); }

static bool holds_tiles(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_CPU_TILES) return true;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (holds_tiles(op->regions[i])) return true;
    }
    return false;
}

// The 64 bytes of LDTILECFG: palette 1; from 16 on, bytes in a row of each tile; from 48 on, its
// number of rows.
static LLVMValueRef configuration(Gen *g) {
    enum { SIZE = 64, ROW_BYTES = 16, ROWS = 48 };
    char bytes[SIZE] = {1};
    for (int i = 0; i < TILES; i++) {
        bytes[ROW_BYTES + 2 * i] = TILE_BYTES;
        bytes[ROWS + i] = TILE_ROWS;
    }
    LLVMValueRef text = LLVMConstStringInContext2(g->context, bytes, SIZE, true);
    LLVMValueRef all = LLVMAddGlobal(g->module, LLVMTypeOf(text), "tiles");
    LLVMSetInitializer(all, text);
    LLVMSetGlobalConstant(all, true);
    LLVMSetLinkage(all, LLVMPrivateLinkage);
    LLVMSetAlignment(all, SIZE);
    return all;
}

void cpu_tiles_begin(CpuGen *c) {
    if (!c->tiles && holds_tiles(ir_body(c->g.func))) c->tiles = configuration(&c->g);
    if (c->tiles) gen_intrinsic(&c->g, "llvm.x86.ldtilecfg", 0, NULL, 1, &c->tiles);
}

void cpu_tiles_end(CpuGen *c) {
    if (c->tiles) gen_intrinsic(&c->g, "llvm.x86.tilerelease", 0, NULL, 0, NULL);
}

// ---- tiles and memory ---------------------------------------------------------------------------

static LLVMValueRef scaled(Gen *g, LLVMValueRef n, uint32_t by) {
    return LLVMBuildMul(g->b, n, gen_i64(g, by), "");
}

static LLVMValueRef moved(Gen *g, LLVMValueRef p, LLVMValueRef bytes) {
    return LLVMBuildGEP2(g->b, byte_type(g), p, &bytes, 1, "");
}

// The row stride in bytes, where operand `i` is the step in elements.
static LLVMValueRef step_of(const CpuTiles *t, uint32_t i) {
    const IrType *p = ir_operand(t->op, i - 1)->type;
    return scaled(t->g, gen_operand(t->g, t->op, i), (uint32_t)dtype_size(p->elem));
}

static void load(Gen *g, uint32_t n, LLVMValueRef p, LLVMValueRef step) {
    LLVMValueRef args[] = {tile(g, n), p, step};
    gen_intrinsic(g, "llvm.x86.tileloadd64", 0, NULL, 3, args);
}

// The address of tile (i, j) of a block of sums.
static LLVMValueRef corner(const CpuTiles *t, LLVMValueRef p, LLVMValueRef step, uint32_t i,
                           uint32_t j) {
    LLVMValueRef rows = scaled(t->g, step, i * TILE_ROWS);
    return moved(t->g, p, LLVMBuildAdd(t->g->b, rows, gen_i64(t->g, j * TILE_BYTES), ""));
}

static void begin_sums(const CpuTiles *t) {
    Gen *g = t->g;
    LLVMValueRef acc = gen_operand(g, t->op, 2), step = acc ? step_of(t, 3) : NULL;
    for (uint32_t i = 0; i < t->down; i++)
        for (uint32_t j = 0; j < t->across; j++) {
            LLVMValueRef n = tile(g, 2 * i + j);
            if (acc)
                load(g, 2 * i + j, corner(t, acc, step, i, j), step);
            else
                gen_intrinsic(g, "llvm.x86.tilezero", 0, NULL, 1, &n);
        }
}

static void store_sums(const CpuTiles *t) {
    Gen *g = t->g;
    LLVMValueRef to = gen_operand(g, t->op, 0), step = step_of(t, 1);
    for (uint32_t i = 0; i < t->down; i++)
        for (uint32_t j = 0; j < t->across; j++) {
            LLVMValueRef args[] = {tile(g, 2 * i + j), corner(t, to, step, i, j), step};
            gen_intrinsic(g, "llvm.x86.tilestored64", 0, NULL, 3, args);
        }
}

// ---- the loop along the depth -------------------------------------------------------------------

static const char *product(const CpuTiles *t) {
    static const char *const bytes[2][2] = {{"llvm.x86.tdpbuud", "llvm.x86.tdpbusd"},
                                            {"llvm.x86.tdpbsud", "llvm.x86.tdpbssd"}};
    Dtype a = ir_operand(t->op, 4)->type->elem, b = ir_operand(t->op, 6)->type->elem;
    return a == DTYPE_BF16 ? "llvm.x86.tdpbf16ps" : bytes[a == DTYPE_I8][b == DTYPE_I8];
}

static void add_products(const CpuTiles *t) {
    for (uint32_t i = 0; i < t->down; i++)
        for (uint32_t j = 0; j < t->across; j++) {
            LLVMValueRef args[] = {tile(t->g, 2 * i + j), tile(t->g, FIRST_A + i),
                                   tile(t->g, FIRST_B + j)};
            gen_intrinsic(t->g, product(t), 0, NULL, 3, args);
        }
}

// Iteration `n`: 64 bytes of each row of a, 16 rows of b.
static void one_step(const CpuTiles *t, LLVMValueRef n) {
    Gen *g = t->g;
    LLVMValueRef a_step = step_of(t, 5), b_step = step_of(t, 7);
    LLVMValueRef a = moved(g, gen_operand(g, t->op, 4), scaled(g, n, TILE_BYTES));
    LLVMValueRef by = LLVMBuildMul(g->b, n, scaled(g, b_step, TILE_ROWS), "");
    LLVMValueRef b = moved(g, gen_operand(g, t->op, 6), by);
    for (uint32_t i = 0; i < t->down; i++)
        load(g, FIRST_A + i, moved(g, a, scaled(g, a_step, i * TILE_ROWS)), a_step);
    for (uint32_t j = 0; j < t->across; j++)
        load(g, FIRST_B + j, moved(g, b, gen_i64(g, j * TILE_BYTES)), b_step);
    add_products(t);
}

static LLVMValueRef step_count(const CpuTiles *t) {
    Gen *g = t->g;
    uint32_t step = TILE_BYTES / (uint32_t)dtype_size(ir_operand(t->op, 4)->type->elem);
    LLVMValueRef depth = gen_operand(g, t->op, 8);
    LLVMValueRef some = LLVMBuildICmp(g->b, LLVMIntSGT, depth, gen_i64(g, 0), "");
    depth = LLVMBuildSelect(g->b, some, depth, gen_i64(g, 0), "");
    // The unsigned sum cannot overflow.
    depth = LLVMBuildAdd(g->b, depth, gen_i64(g, step - 1), "");
    return LLVMBuildUDiv(g->b, depth, gen_i64(g, step), "");
}

static void all_steps(const CpuTiles *t) {
    Gen *g = t->g;
    LLVMValueRef steps = step_count(t), zero = gen_i64(g, 0);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), head = gen_block(g, "depth");
    LLVMBasicBlockRef body = gen_block(g, "turn"), after = gen_block(g, "sums");
    LLVMBuildBr(g->b, head);
    LLVMPositionBuilderAtEnd(g->b, head);
    LLVMValueRef n = LLVMBuildPhi(g->b, LLVMTypeOf(zero), "");
    LLVMAddIncoming(n, &zero, &before, 1);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntULT, n, steps, ""), body, after);
    LLVMPositionBuilderAtEnd(g->b, body);
    one_step(t, n);
    LLVMValueRef next = LLVMBuildAdd(g->b, n, gen_i64(g, 1), "");
    LLVMBuildBr(g->b, head);
    LLVMAddIncoming(n, &next, &body, 1);
    LLVMPositionBuilderAtEnd(g->b, after);
}

void cpu_tiles(Gen *g, const IrOp *op) {
    CpuTiles t = {.g = g,
                  .op = op,
                  .down = (uint32_t)ir_attr_int(op, IR_ATTR_ROWS) / TILE_ROWS,
                  .across = (uint32_t)ir_attr_int(op, IR_ATTR_COLUMNS) / TILE_ROWS};
    begin_sums(&t);
    all_steps(&t);
    store_sums(&t);
}
