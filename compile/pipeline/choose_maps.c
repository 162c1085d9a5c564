// Views whose tiles a loop loads for products by wgmma, which reads its factors from the memory
// that copies by maps write (passes/gpu/pipeline/pipeline_plan.c).
#include "compile/pipeline/choose_maps.h"

#include "compile/pipeline/launch_guard.h"
#include "passes/gpu/tuning.h"
#include "passes/rewrite.h"

enum { GROUP_ROWS = 64 };  // of a product by four warps

// May wgmma compute it? A factor has at most 16 bits, and the sum enough rows.
static bool is_large_product(const IrOp *op) {
    const IrType *a = ir_operand(op, 0)->type, *b = ir_operand(op, 1)->type;
    return dtype_bits(a->elem) <= 16 && dtype_bits(b->elem) <= 16 &&
           a->shape[a->rank - 2] >= GROUP_ROWS;
}

static bool has_product(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_DOT && is_large_product(op)) return true;
        for (uint32_t r = 0; r < op->region_count; r++)
            if (has_product(op->regions[r])) return true;
    }
    return false;
}

static bool is_tile_of_rows(const IrOp *op) {
    return op->code == IR_VIEW_LOAD && op->results[0].type->kind == IR_TILE &&
           op->results[0].type->rank >= 2;
}

static uint64_t loaded_in(const IrBlock *block, bool products) {
    uint64_t views = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        const IrValue *view = is_tile_of_rows(op) ? ir_operand(op, 0) : NULL;
        if (products && view && view->index < 64) views |= UINT64_C(1) << view->index;
        bool loop = op->code == IR_FOR;
        for (uint32_t r = 0; r < op->region_count; r++)
            views |= loaded_in(op->regions[r], loop ? has_product(op->regions[r]) : products);
    }
    return views;
}

uint64_t choose_mapped_views(const IrFunc *func, const MetaKernel *meta) {
    if (!ir_body(func)) return 0;
    uint64_t views = loaded_in(ir_body(func), false);
    for (uint32_t i = 0; i < meta->arg_count && i < 64; i++)
        if (views >> i & 1 && !launch_can_map(&meta->args[i])) views &= ~(UINT64_C(1) << i);
    return views;
}

// ---- several positions --------------------------------------------------------------------------

typedef struct Contents {
    uint32_t products, loops;
    const IrOp *product;  // the last one
    bool copied;          // the product's factors
    bool others;          // effects, or something about the grid, that must be of one position
} Contents;

// Do the sums leave each thread registers, as products by four warps need (dot_plan.c)?
static bool sum_fits(const IrFunc *f, const IrOp *dot) {
    enum { LANES = 32, FILE = 65536, MOST = 255, REST = 32 };
    uint32_t threads = LANES * (uint32_t)(f->warps ? f->warps : TUNE_WARPS);
    uint32_t own = FILE / threads < MOST ? FILE / threads : MOST;
    return dot->results[0].type->count / threads + REST <= own;
}

// Is the factor what a step loads, so that copies to the ring are all that it needs? Bytes are read
// from there only with neighbours along K.
static bool is_copied(const IrOp *dot, uint32_t factor) {
    const IrOp *op = ir_operand(dot, factor)->def;
    bool turned = op && op->code == IR_PERMUTE;
    if (turned) op = ir_operand(op, 0)->def;
    if (!op || op->code != IR_VIEW_LOAD) return false;
    const IrValue *view = ir_operand(op, 0);
    bool is_param = !view->block && !view->def;
    const IrOp *loop = op->block->parent;
    int64_t step;
    if (!is_param || !loop || loop->code != IR_FOR || ir_attr_int(loop, IR_ATTR_EXIT)) return false;
    if (!rewrite_constant_int(ir_operand(loop, 2), &step) || ir_attr_int(loop, IR_ATTR_DOWN))
        return false;
    for (uint32_t i = ir_view_index_start(op->code); i < op->operand_count; i++)
        if (ir_operand(op, i)->type->rank) return false;
    return dtype_bits(op->results[0].type->elem) > 8 || turned == (factor == 1);
}

static void survey(const IrFunc *f, const IrBlock *block, Contents *c) {
    for (const IrOp *op = block->first; op; op = op->next) {
        IrEffect effect = ir_op_info(op->code)->effect;
        bool stores = op->code == IR_VIEW_STORE || op->code == IR_RETURN;
        bool pure = effect == IR_EFFECT_PURE || effect == IR_EFFECT_READ;
        bool nests = op->code == IR_FOR || op->code == IR_IF || op->code == IR_YIELD;
        c->products += op->code == IR_DOT;
        if (op->code == IR_DOT) c->product = op;
        if (op->code == IR_DOT) c->copied = sum_fits(f, op) && is_copied(op, 0) && is_copied(op, 1);
        c->loops += op->code == IR_FOR;
        c->others |= op->code == IR_PROGRAMS || !(pure || stores || nests || op->code == IR_DOT);
        for (uint32_t r = 0; r < op->region_count; r++) survey(f, op->regions[r], c);
    }
}

// Would a program compute the grid that the launch has? It does not know the device's units, and
// floats may be contracted or approximate (--math).
static bool is_computed_again(const IrBlock *grid) {
    for (const IrOp *op = grid->first; op; op = op->next) {
        if (op->code == IR_UNITS) return false;
        for (uint32_t i = 0; i < op->result_count; i++)
            if (dtype_is(op->results[i].type->elem, DTYPE_CLASS_ANYFLOAT)) return false;
        for (uint32_t r = 0; r < op->region_count; r++)
            if (!is_computed_again(op->regions[r])) return false;
    }
    return true;
}

// Does a multiprocessor run one program at a time? Another one would multiply while this one begins
// and ends its tile, and needs fewer registers than one that computes several. H100, f16 4096^3 in
// tiles of 128x128x64 with 4 warps, two programs at a time: 574 to 592 TFLOP/s, persistent 520.
static bool runs_alone(const IrFunc *f, const IrOp *dot, const Chip *chip) {
    enum { LANES = 32, WORD = 32, BYTE = 8, REST = 48 };  // REST: registers besides the sums
    const IrType *a = ir_operand(dot, 0)->type, *b = ir_operand(dot, 1)->type;
    uint32_t threads = LANES * (uint32_t)(f->warps ? f->warps : TUNE_WARPS);
    uint32_t stages = (uint32_t)(f->stages ? f->stages : TUNE_STAGES);
    uint32_t step = (a->count * dtype_bits(a->elem) + b->count * dtype_bits(b->elem)) / BYTE;
    const IrType *sum = dot->results[0].type;
    uint32_t sums = sum->count / threads * dtype_bits(sum->elem) / WORD;
    return gpu_occupancy(chip, threads, sums + REST, stages * step).blocks < 2;
}

bool choose_persistent(const IrFunc *func, const Chip *chip) {
    Contents c = {0};
    const IrSection *grid = ir_section(func, IR_GRID);
    if (func->ctas > 1 || (grid && !is_computed_again(grid->block))) return false;
    survey(func, ir_body(func), &c);
    return c.products == 1 && c.copied && c.loops == 1 && !c.others &&
           runs_alone(func, c.product, chip);
}
