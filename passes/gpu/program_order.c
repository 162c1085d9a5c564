// gpu_program_order: orders the programs of a product such that those that run at the same time
// need few different tiles and find them in the cache that all share.
//
// By default dimension 0 of the grid runs fastest. In a product whose rows depend on it, the
// programs that run at once then need as many tiles of rows as there are programs. In groups of
// TUNE_PROGRAM_GROUP along dimension 0, with dimension 1 running next, they need that many, and
// some tiles of columns. The pass does this only if a product in a loop has one factor that depends
// on program(0) and not on program(1), and one that depends on program(1) only. If one factor
// depends on both (attention's queries), neighbours share the other one already.
#include "passes/gpu/gpu.h"
#include "passes/gpu/tuning.h"
#include "passes/passes.h"

typedef struct ProgramGroup {
    uint8_t *dims;  // by value id: a bit for each dimension of the grid that it depends on
    bool changed;
    bool found, refused;
} ProgramGroup;

static uint8_t dims_of(const ProgramGroup *g, const IrValue *v) { return v ? g->dims[v->id] : 0; }

static void add(ProgramGroup *g, const IrValue *v, uint8_t dims) {
    if (!(dims & ~g->dims[v->id])) return;
    g->dims[v->id] |= dims;
    g->changed = true;
}

static uint8_t operand_dims(const ProgramGroup *g, const IrOp *op) {
    uint8_t dims = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) dims |= dims_of(g, ir_operand(op, i));
    return dims;
}

static void walk(ProgramGroup *g, const IrBlock *block, bool in_loop);

// The counter depends on the bounds; each carried value depends on its initial value and on the
// value that an iteration yields.
static void walk_for(ProgramGroup *g, const IrOp *loop) {
    enum { BOUNDS = 3 };
    const IrBlock *body = loop->regions[0];
    uint32_t carried = loop->result_count, first = loop->operand_count - carried;
    uint8_t bounds = 0;
    for (uint32_t i = 0; i < BOUNDS; i++) bounds |= dims_of(g, ir_operand(loop, i));
    add(g, body->args[0], bounds);
    for (uint32_t i = 0; i < carried; i++) {
        uint8_t dims = dims_of(g, ir_operand(loop, first + i)) | bounds;
        dims |= dims_of(g, ir_operand(body->last, body->last->operand_count - carried + i));
        add(g, body->args[body->arg_count - carried + i], dims);
        add(g, &loop->results[i], dims);
    }
    walk(g, body, true);
}

// The results of any other op with regions depend on all values that enter or leave a region.
static void walk_regions(ProgramGroup *g, const IrOp *op, bool in_loop) {
    uint8_t dims = operand_dims(g, op);
    for (uint32_t i = 0; i < op->region_count; i++) {
        const IrBlock *region = op->regions[i];
        walk(g, region, in_loop || op->code == IR_WHILE);
        if (region->last) dims |= operand_dims(g, region->last);
    }
    for (uint32_t i = 0; i < op->region_count; i++)
        for (uint32_t k = 0; k < op->regions[i]->arg_count; k++)
            add(g, op->regions[i]->args[k], dims);
    for (uint32_t i = 0; i < op->result_count; i++) add(g, &op->results[i], dims);
}

static void judge(ProgramGroup *g, const IrOp *dot) {
    uint8_t a = dims_of(g, ir_operand(dot, 0)) & 3, b = dims_of(g, ir_operand(dot, 1)) & 3;
    if ((a | b) != 3) return;  // a grid of one dimension, counting only those that matter
    if (a & b)
        g->refused = true;
    else
        g->found = true;
}

static void walk(ProgramGroup *g, const IrBlock *block, bool in_loop) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_FOR) {
            walk_for(g, op);
        } else if (op->region_count) {
            walk_regions(g, op, in_loop);
        } else {
            uint8_t dims = operand_dims(g, op);
            if (op->code == IR_PROGRAM) dims = (uint8_t)(1u << ir_attr_int(op, IR_ATTR_DIM));
            for (uint32_t i = 0; i < op->result_count; i++) add(g, &op->results[i], dims);
        }
        if (op->code == IR_DOT && in_loop) judge(g, op);
    }
}

bool pass_gpu_program_order(IrFunc *f, PassContext *context) {
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_TILE || f->group) return false;
    ProgramGroup g = {.dims = arena_new(context->scratch, uint8_t, f->value_count + 1),
                      .changed = true};
    while (g.changed) {
        g.changed = g.found = g.refused = false;
        walk(&g, body, false);
    }
    if (!g.found || g.refused) return false;
    f->group = TUNE_PROGRAM_GROUP;
    return true;
}
