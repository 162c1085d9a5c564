// gpu_sink_loads: the loads for a loop's next step move after the last use of this step's values.
//
// A pipelined load carries the value of the next step at the same time as this step's, which goes
// to shared memory: between the load and that point both need registers, and the new value is
// copied to the registers of the old one. So the load moves after the last use, and after the
// barrier that follows it; most of the step, its products, comes later. Needs: final places and
// barriers. Keeps: every effect and value; a load moves past ops that access shared memory, and
// their barriers, but past nothing that writes other memory.
#include "passes/gpu/gpu.h"
#include "passes/passes.h"

// Is the value, or a part of it, the result?
static bool forwards_operand(const IrOp *op) {
    switch (op->code) {
    case IR_VEC_SHUFFLE:
    case IR_VEC_LANE:
    case IR_THREAD_PACK:
    case IR_BITCAST: return true;
    default: break;
    }
    return false;
}

static const IrOp *in_block(const IrOp *op, const IrBlock *block) {
    while (op && op->block != block) op = op->block->parent;
    return op;
}

static bool comes_before(const IrOp *a, const IrOp *b) {
    for (; a; a = a->next)
        if (a == b) return true;
    return false;
}

// The last op of the block that uses the value; NULL: none.
static const IrOp *last_use(const IrValue *v, const IrBlock *block, uint32_t depth) {
    enum { DEEPEST = 4 };
    const IrOp *last = NULL;
    for (const IrUse *use = v->uses; use; use = use->next) {
        const IrOp *user = in_block(use->user, block);
        if (user && user->block->last == user) user = NULL;  // carried on unchanged
        if (user && user == use->user && forwards_operand(user) && depth < DEEPEST) {
            const IrOp *further = last_use(&user->results[0], block, depth + 1);
            if (further) user = further;
        }
        if (user && (!last || comes_before(last, user))) last = user;
    }
    return last;
}

// May a load of other memory move past it?
static bool passes_by(const IrOp *op) {
    bool elsewhere;
    for (uint32_t r = 0; r < op->region_count; r++)
        for (const IrOp *in = op->regions[r]->first; in; in = in->next)
            if (!passes_by(in)) return false;
    switch (ir_op_info(op->code)->effect) {
    case IR_EFFECT_PURE:
    case IR_EFFECT_READ:
    case IR_EFFECT_END:
    case IR_EFFECT_NEST: return true;
    case IR_EFFECT_WRITE: return gpu_piece_of(ir_operand(op, 0), &elsewhere) != NULL;
    case IR_EFFECT_KEEP:
        return op->code == IR_THREAD_SHARED ||
               (op->code == IR_THREAD_BARRIER && !ir_attr_int(op, IR_ATTR_GLOBAL));
    }
    return false;
}

// The op before which the load may stand, at the earliest after `last` and the barrier that follows
// it; NULL: it stays.
static IrOp *place_behind(const IrOp *load, const IrOp *last) {
    const IrOp *at = load;
    for (; at && at != last; at = at->next)
        if (!passes_by(at)) return NULL;
    if (!at || !passes_by(last)) return NULL;
    for (at = last->next; at && passes_by(at); at = at->next)
        if (at->code == IR_THREAD_BARRIER) return at->next;
    return last->next;
}

static bool has_one_use(const IrValue *v) { return v->uses && !v->uses->next; }

static bool is_single_load(const IrValue *v, const IrBlock *block) {
    bool elsewhere;
    return v->def && v->def->code == IR_THREAD_LOAD && v->def->block == block && has_one_use(v) &&
           !gpu_piece_of(ir_operand(v->def, 0), &elsewhere) && elsewhere;
}

// Is the value loaded? It consists of loads that only this value uses, and of ops that pack them.
static bool is_loaded(const IrValue *v, const IrBlock *block) {
    if (is_single_load(v, block)) return true;
    if (!v->def || v->def->code != IR_THREAD_PACK || v->def->block != block || !has_one_use(v))
        return false;
    for (uint32_t i = 0; i < v->def->operand_count; i++)
        if (!is_single_load(ir_operand(v->def, i), block)) return false;
    return true;
}

// The first load in the block, of the loads of such a value.
static const IrOp *first_load(const IrValue *v) {
    const IrOp *first = v->def->code == IR_THREAD_PACK ? ir_operand(v->def, 0)->def : v->def;
    for (uint32_t i = 1; v->def->code == IR_THREAD_PACK && i < v->def->operand_count; i++)
        if (comes_before(ir_operand(v->def, i)->def, first)) first = ir_operand(v->def, i)->def;
    return first;
}

static bool move(IrValue *next, const IrValue *carried, const IrBlock *block) {
    if (!is_loaded(next, block)) return false;
    const IrOp *last = last_use(carried, block, 0);
    bool packed = next->def->code == IR_THREAD_PACK;
    IrOp *place = last ? place_behind(first_load(next), last) : NULL;
    if (!place) return false;
    for (uint32_t i = 0; packed && i < next->def->operand_count; i++)  // no op moves upwards
        if (!comes_before(ir_operand(next->def, i)->def, place)) return false;
    for (uint32_t i = 0; packed && i < next->def->operand_count; i++)
        ir_move_before(ir_operand(next->def, i)->def, place);
    ir_move_before(next->def, place);
    return true;
}

static bool in_loops(IrBlock *block) {
    bool changed = false;
    IR_EACH_OP(op, block) {
        for (uint32_t r = 0; r < op->region_count; r++) changed |= in_loops(op->regions[r]);
        if (op->code != IR_FOR) continue;
        IrBlock *body = op->regions[0];
        for (uint32_t i = 0; i < body->last->operand_count; i++)
            changed |= move(ir_operand(body->last, i), body->args[i + 1], body);
    }
    return changed;
}

bool pass_gpu_sink_loads(IrFunc *f, PassContext *context) {
    context->keeps_ranges = true;  // loads and packs only move: ir_ranges has no facts about their
                                   // results
    if (!f->is_kernel || !ir_body(f) || f->level != IR_LEVEL_THREAD) return false;
    return in_loops(ir_body(f));
}
