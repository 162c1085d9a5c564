// Products of four warps and copies by tensor maps reach shared memory by another path than loads
// and stores of threads do. A barrier orders the two only if each thread has a fence before it. So
// a barrier is marked if threads may have accessed shared memory since the last one that is, and if
// such a product or copy may follow.
//
// The unit's own accesses need no mark: those that a barrier follows have been waited for, and a
// wait orders them.
#include "passes/gpu/gpu.h"

typedef struct Proxies {
    Arena *scratch;
    VEC(const IrOp *) pieces;  // of shared memory, that an asynchronous unit accesses
} Proxies;

// May the pointer lead to what a unit accesses?
static bool may_be_shared(const Proxies *p, const IrValue *pointer) {
    bool elsewhere;
    if (!pointer || pointer->type->kind != IR_PTR) return false;
    const IrOp *shared = gpu_piece_of(pointer, &elsewhere);
    if (!shared) return !elsewhere;
    for (size_t i = 0; i < p->pieces.count; i++)
        if (gpu_pieces_overlap(shared, p->pieces.data[i])) return true;
    return false;
}

static bool is_of_unit(IrOpcode code) {
    switch (code) {
    case IR_THREAD_WGMMA:
    case IR_THREAD_WGMMA_WAIT:
    case IR_THREAD_TMA_LOAD: return true;
    case IR_THREAD_MBARRIER_INIT: return true;  // has a fence of its own
    default: return false;
    }
}

static bool has_unit_in(const IrBlock *block);

// Does it contain an access of an asynchronous unit?
static bool has_unit(const IrOp *op) {
    if (op->code == IR_THREAD_WGMMA || op->code == IR_THREAD_TMA_LOAD) return true;
    for (uint32_t r = 0; r < op->region_count; r++)
        if (has_unit_in(op->regions[r])) return true;
    return false;
}

static bool has_unit_in(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next)
        if (has_unit(op)) return true;
    return false;
}

static bool unit_follows(const IrOp *op) {
    for (const IrOp *at = op->next; at; at = at->next)
        if (has_unit(at)) return true;
    const IrOp *around = op->block->parent;
    if (!around) return false;
    return (around->code != IR_IF && has_unit(around)) || unit_follows(around);
}

static bool accesses_shared(const Proxies *p, const IrOp *op) {
    IrEffect effect = ir_op_info(op->code)->effect;
    if (effect != IR_EFFECT_READ && effect != IR_EFFECT_WRITE && op->code != IR_VEC_PRINT)
        return false;
    if (is_of_unit(op->code)) return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (may_be_shared(p, ir_operand(op, i))) return true;
    return false;
}

// `since`: there was an access since the last marked barrier. Returns the same at the end.
static bool mark_in(const Proxies *p, IrBlock *block, bool since);

// Accesses of one step come before those of the next.
static bool mark_loop(const Proxies *p, IrOp *loop, bool since) {
    bool begin = since, end = since;
    do {
        begin |= end;
        end = begin;
        for (uint32_t r = 0; r < loop->region_count; r++) end = mark_in(p, loop->regions[r], end);
    } while (end && !begin);
    return begin | end;
}

static bool mark_if(const Proxies *p, IrOp *op, bool since) {
    bool end = false;
    for (uint32_t r = 0; r < op->region_count; r++) end |= mark_in(p, op->regions[r], since);
    return end;
}

static bool mark_in(const Proxies *p, IrBlock *block, bool since) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_THREAD_BARRIER) {
            if (since && unit_follows(op)) ir_attr_set_int(op, IR_ATTR_ASYNC, true);
            since = false;
        } else if (op->code == IR_IF) {
            since = mark_if(p, op, since);
        } else if (op->code == IR_FOR || op->code == IR_WHILE) {
            since = mark_loop(p, op, since);
        } else {
            since |= accesses_shared(p, op);
        }
    }
    return since;
}

static void find_pieces(Proxies *p, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        for (uint32_t r = 0; r < op->region_count; r++) find_pieces(p, op->regions[r]);
        if (op->code != IR_THREAD_WGMMA && op->code != IR_THREAD_TMA_LOAD) continue;
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const IrValue *v = ir_operand(op, i);
            bool elsewhere, pointer = v && v->type->kind == IR_PTR;
            const IrOp *shared = pointer ? gpu_piece_of(v, &elsewhere) : NULL;
            if (shared) vec_push(p->scratch, &p->pieces, shared);
        }
    }
}

void gpu_mark_async(IrFunc *f, Arena *scratch) {
    Proxies p = {.scratch = scratch};
    find_pieces(&p, ir_body(f));
    if (p.pieces.count) mark_in(&p, ir_body(f), false);
}
