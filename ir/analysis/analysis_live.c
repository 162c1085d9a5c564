// Liveness: an interval of positions for each value, in one linear order of all ops.
//
// Every op has two positions: `enter` before its regions, `leave` after them (one number for ops
// without regions). A value begins where its op leaves (its operands are needed until then), or
// where its block is entered; it ends at the last op that uses it. A value from outside a loop that
// is used inside it lives to the loop's end, since the next iteration needs it again. Carried
// values as yielded, and the values that a region yields, live to the region's end.
#include "ir/analysis/analysis.h"

struct IrLiveness {
    uint32_t *enter, *leave;  // by op id
    uint32_t *begin, *end;    // by value id
    uint32_t next;
};

static void number_block(IrLiveness *l, const IrBlock *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) l->begin[block->args[i]->id] = l->next;
    for (const IrOp *op = block->first; op; op = op->next) {
        l->enter[op->id] = ++l->next;
        for (uint32_t i = 0; i < op->region_count; i++) number_block(l, op->regions[i]);
        if (op->region_count) ++l->next;
        l->leave[op->id] = l->next;
        for (uint32_t i = 0; i < op->result_count; i++) l->begin[op->results[i].id] = l->next;
    }
}

static bool repeats(const IrOp *op) {
    return op->code == IR_FOR || op->code == IR_WHILE || op->code == IR_REDUCE ||
           op->code == IR_SCAN || op->code == IR_THREAD_UPDATE;
}

// The position until which this use needs its value.
static uint32_t use_end(const IrLiveness *l, const IrValue *value, const IrUse *use) {
    const IrOp *user = use->user;
    const IrBlock *home = value->def ? value->def->block : value->block;
    bool bound = user->code == IR_FOR && use - user->operands < 3;  // needed in every iteration
    uint32_t end = bound ? l->leave[user->id] : l->enter[user->id];
    for (const IrBlock *block = user->block; block && block != home;
         block = block->parent ? block->parent->block : NULL) {
        if (block->parent && repeats(block->parent)) end = l->leave[block->parent->id];
    }
    return end;
}

static void end_value(IrLiveness *l, const IrValue *value) {
    uint32_t end = l->begin[value->id];
    for (const IrUse *use = value->uses; use; use = use->next) {
        uint32_t needed = use_end(l, value, use);
        if (needed > end) end = needed;
    }
    // The condition's region of a while passes its arguments on to the body.
    const IrOp *parent = value->block ? value->block->parent : NULL;
    if (parent && parent->code == IR_WHILE && value->block == parent->regions[0]) {
        uint32_t handed = l->begin[parent->regions[1]->args[value->index]->id];
        if (handed > end) end = handed;
    }
    l->end[value->id] = end;
}

static void end_block(IrLiveness *l, const IrBlock *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) end_value(l, block->args[i]);
    for (const IrOp *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) end_value(l, &op->results[i]);
        for (uint32_t i = 0; i < op->region_count; i++) end_block(l, op->regions[i]);
    }
}

IrLiveness *ir_liveness(Arena *arena, const IrFunc *f) {
    IrLiveness *l = arena_new(arena, IrLiveness, 1);
    l->enter = arena_new(arena, uint32_t, f->op_count);
    l->leave = arena_new(arena, uint32_t, f->op_count);
    l->begin = arena_new(arena, uint32_t, f->value_count);
    l->end = arena_new(arena, uint32_t, f->value_count);
    for (size_t i = 0; i < f->sections.count; i++) number_block(l, f->sections.data[i].block);
    for (size_t i = 0; i < f->params.count; i++) end_value(l, f->params.data[i].value);
    for (size_t i = 0; i < f->sections.count; i++) end_block(l, f->sections.data[i].block);
    return l;
}

uint32_t ir_live_begin(const IrLiveness *l, const IrValue *v) { return l->begin[v->id]; }
uint32_t ir_live_end(const IrLiveness *l, const IrValue *v) { return l->end[v->id]; }

// A value that ends where another begins does not overlap it: the op reads before it writes. Values
// without uses still need storage at the moment they are made.
bool ir_live_overlap(const IrLiveness *l, const IrValue *a, const IrValue *b) {
    uint32_t a0 = l->begin[a->id], a1 = l->end[a->id], b0 = l->begin[b->id], b1 = l->end[b->id];
    if (a0 == b0) return true;
    return a0 < b0 ? a1 > b0 : b1 > a0;
}
