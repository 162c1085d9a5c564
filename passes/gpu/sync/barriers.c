// gpu_barriers: lowering puts a barrier of shared memory wherever one might be needed; this pass
// removes the redundant ones. The last barrier stays before an access that conflicts with an access
// before the barrier: a read with a write, a write with a read or a write, at places that overlap.
//
// How: walking in order, the accesses since the last barrier that stays are kept, with the number
// of barriers up to then (the epoch). Two accesses without a barrier of the lowering between them
// do not need one. Loops are walked again with the accesses that are open at their end until
// nothing is added. A barrier in a loop that only the accesses before the loop need is moved to
// before the loop. A barrier for global memory serves shared memory as well; it stays if global
// memory was accessed since the last barrier that serves it. If only a barrier of shared memory
// came since, that one becomes one for global memory instead.
//
// The writes of thread.tma_load continue until the thread.mbarrier_end of its barrier.
// The writes of thread.copy continue past barriers until all copies have been waited for. For
// places of other pieces this pass handles them; within its own piece, the lowering does. A wait
// for all copies is removed if no later op accesses shared memory.
#include "passes/gpu/gpu.h"
#include "passes/passes.h"

typedef enum TouchKind {
    ACCESS_SHARED,
    ACCESS_COPY_IN_FLIGHT,  // a copy to shared memory, until it has been waited for
    ACCESS_GLOBAL,
    ACCESS_GLOBAL_UNORDERED  // of global memory, before a barrier for shared memory only
} TouchKind;

// An access: the piece of shared memory, or NULL if it is unknown.
typedef struct BarrierTouch {
    const IrOp *piece;
    TouchKind kind;
    bool writes;
    bool by_map;  // a copy by a map: no pointer of the program's leads to where it goes
    uint32_t epoch;
    const IrOp *by;  // of global memory: the op that accesses it, or the barrier after it
} BarrierTouch;
typedef VEC(BarrierTouch) Touches;

// The accesses that are open at the end of a loop's step, as a walk found them.
typedef struct LoopEnd {
    Touches touches;
    uint32_t epoch, changes;  // at its end
    uint32_t walk;            // 0: not walked yet
} LoopEnd;

typedef struct Barriers {
    Arena *scratch;
    const IrRanges *ranges;
    uint32_t epoch;
    VEC(const IrOp *)
    kept, widened;     // the barriers that stay; those that become ones for global
                       // memory
    VEC(IrOp *) made;  // of those that stay: not from the lowering
    uint32_t changes;  // to the barriers that stay
    // A walk that adds no barriers: without this one, do accesses conflict?
    const IrOp *without;
    bool conflict_found;
    uint32_t walks, walk;  // walks that add none; the number of this walk, from 1
    LoopEnd *ends[2];      // of loops, by the number of the op; in walks that add no barriers
} Barriers;

// ---- accesses of an op --------------------------------------------------------------------------

static bool all_elsewhere(const IrOp *pack) {
    bool elsewhere = true;
    for (uint32_t i = 0; elsewhere && i < pack->operand_count; i++)
        gpu_piece_of(ir_operand(pack, i), &elsewhere);
    return elsewhere;
}

const IrOp *gpu_piece_of(const IrValue *p, bool *elsewhere) {
    *elsewhere = false;
    while (p->def) {
        IrOpcode code = p->def->code;
        if (code == IR_THREAD_SHARED) return p->def;
        bool through = code == IR_PTR_ADD || code == IR_BROADCAST || code == IR_VEC_LANE ||
                       code == IR_VEC_SHUFFLE ||
                       (code == IR_BITCAST && ir_operand(p->def, 0)->type->kind == IR_PTR);
        *elsewhere = code == IR_VEC_DATA || (code == IR_THREAD_PACK && all_elsewhere(p->def));
        if (!through) return NULL;
        p = ir_operand(p->def, 0);
    }
    *elsewhere = !p->block;  // a parameter
    return NULL;
}

static bool touches_operand(const IrOp *op, uint32_t i) {
    IrEffect effect = ir_op_info(op->code)->effect;
    if (op->code == IR_VEC_PRINT) return true;
    // These use the barriers that thread.mbarrier_init makes; they may do so at the same time.
    if (op->code == IR_THREAD_MBARRIER_EXPECT || op->code == IR_THREAD_MBARRIER_ARRIVE ||
        op->code == IR_THREAD_MBARRIER_WAIT)
        return i == 0;
    // A product reads its factors until it has been waited for.
    if (op->code == IR_THREAD_WGMMA || op->code == IR_THREAD_WGMMA_WAIT)
        return ir_operand(op, i) && ir_operand(op, i)->type->kind == IR_PTR;
    return i == 0 && (effect == IR_EFFECT_READ || effect == IR_EFFECT_WRITE);
}

// The memory that the op accesses through its i-th operand.
static bool touch_of(const Barriers *b, const IrOp *op, uint32_t i, BarrierTouch *touch) {
    if (!touches_operand(op, i)) return false;
    bool elsewhere, writes = ir_op_info(op->code)->effect == IR_EFFECT_WRITE;
    const IrOp *piece = gpu_piece_of(ir_operand(op, i), &elsewhere);
    *touch =
        (BarrierTouch){.piece = piece, .kind = ACCESS_SHARED, .writes = writes, .epoch = b->epoch};
    return !elsewhere;
}

static void range_of(const IrOp *piece, uint64_t range[2]) {
    uint64_t size = dtype_size((Dtype)ir_attr_int(piece, IR_ATTR_ELEM));
    range[0] = (uint64_t)ir_attr_int(piece, IR_ATTR_PLACE);
    range[1] = range[0] + size * (uint64_t)ir_attr_int(piece, IR_ATTR_COUNT);
}

bool gpu_pieces_overlap(const IrOp *a, const IrOp *b) {
    uint64_t x[2], y[2];
    range_of(a, x);
    range_of(b, y);
    return x[0] < y[1] && y[0] < x[1];
}

static bool conflict(const BarrierTouch *a, const BarrierTouch *b) {
    if (a->kind >= ACCESS_GLOBAL || (a->kind == ACCESS_COPY_IN_FLIGHT && a->piece == b->piece))
        return false;
    if ((!a->writes && !b->writes) || a->epoch == b->epoch) return false;
    if (a->kind == ACCESS_COPY_IN_FLIGHT && a->by_map && !b->piece) return false;
    return !a->piece || !b->piece || a->piece == b->piece || gpu_pieces_overlap(a->piece, b->piece);
}

// ---- walking ------------------------------------------------------------------------------------

static void add(Barriers *b, Touches *touches, BarrierTouch touch) {
    for (size_t i = 0; i < touches->count; i++) {
        const BarrierTouch *known = &touches->data[i];
        if (known->piece == touch.piece && known->kind == touch.kind &&
            known->by_map == touch.by_map && known->writes == touch.writes && known->by == touch.by)
            return;
    }
    vec_push(b->scratch, touches, touch);
}

static void add_all(Barriers *b, Touches *touches, const Touches *more) {
    for (size_t i = 0; i < more->count; i++) add(b, touches, more->data[i]);
}

static void walk(Barriers *b, IrBlock *block, Touches *touches);
static void apply_barrier(Barriers *b, const IrOp *barrier, Touches *touches);

// Does the condition say that the loop has a first step?
static bool implies_entered(const Barriers *b, const IrOp *loop, const IrValue *condition) {
    const IrOp *def = condition->def;
    if (!def) return false;
    if (def->code == IR_AND)
        return implies_entered(b, loop, ir_operand(def, 0)) ||
               implies_entered(b, loop, ir_operand(def, 1));
    if (def->code != IR_LT && def->code != IR_GT) return false;
    bool less = def->code == IR_LT;
    const IrValue *low = ir_operand(def, less ? 0 : 1), *high = ir_operand(def, less ? 1 : 0);
    return ir_provably_le(b->ranges, def, ir_operand(loop, 0), 0, low) &&
           ir_provably_le(b->ranges, def, high, 0, ir_operand(loop, 1));
}

// Did the access not happen if the loop had no step? That is so for copies that the first step
// needs.
static bool only_if_entered(const Barriers *b, const IrOp *loop, const BarrierTouch *touch) {
    if (!touch->by) return false;
    uint32_t at = touch->by->code == IR_THREAD_LOAD ? 1 : 2;
    bool masked = touch->by->code == IR_THREAD_LOAD || touch->by->code == IR_THREAD_COPY;
    const IrValue *mask =
        masked && at < touch->by->operand_count ? ir_operand(touch->by, at) : NULL;
    return mask && implies_entered(b, loop, mask);
}

// Does the loop count upwards to its end?
static bool counts_up(const Barriers *b, const IrOp *loop) {
    if (loop->code != IR_FOR || ir_attr_int(loop, IR_ATTR_DOWN) || ir_attr_int(loop, IR_ATTR_EXIT))
        return false;
    IrRange step = ir_range_of(b->ranges, ir_operand(loop, 2));
    return step.known && step.min > 0;
}

// The accesses that remain after a loop that has no step.
static void add_passed(Barriers *b, const IrOp *loop, Touches *out, const Touches *before) {
    bool up = counts_up(b, loop);
    if (up && ir_provably_le(b->ranges, loop, ir_operand(loop, 0), 1, ir_operand(loop, 1))) return;
    for (size_t i = 0; i < before->count; i++)
        if (!up || !only_if_entered(b, loop, &before->data[i])) add(b, out, before->data[i]);
}

// A walk of a loop around this one comes here again with as much and more. It begins with what was
// found then, else the time would double with each loop of a nest. The accesses after the last
// barrier of a step and those before the first one of the next are of one epoch.
static void add_known(Barriers *b, const LoopEnd *known, Touches *begin) {
    if (known->walk != b->walk || known->changes != b->changes) return;
    for (size_t i = 0; i < known->touches.count; i++) {
        BarrierTouch touch = known->touches.data[i];
        if (touch.epoch == known->epoch) touch.epoch = b->epoch;
        add(b, begin, touch);
    }
}

static void walk_steps(Barriers *b, IrOp *op, Touches *touches) {
    LoopEnd *loop_end = &b->ends[b->without != NULL][op->id];
    Touches begin = {0}, end = {0};
    add_all(b, &begin, touches);
    add_known(b, loop_end, &begin);
    for (bool again = true; again;) {
        uint32_t changes = b->changes;
        Touches state = {0};
        add_all(b, &state, &begin);
        end = (Touches){0};
        for (uint32_t r = 0; r < op->region_count; r++) {
            walk(b, op->regions[r], &state);
            if (r == 0) add_all(b, &end, &state);  // a while ends after its condition
        }
        size_t known = begin.count;
        add_all(b, &begin, &state);
        again = b->changes != changes || begin.count != known;
        *loop_end = (LoopEnd){state, b->epoch, b->changes, b->walk};
    }
    if (op->code == IR_FOR) add_passed(b, op, &end, touches);
    *touches = end;
}

// Do the steps of the loop need the barrier between them?
static bool is_needed(Barriers *b, IrOp *loop, const IrOp *barrier) {
    Barriers saved = *b;
    Touches nothing = {0};
    b->without = barrier;
    b->conflict_found = false;
    b->walk = ++saved.walks + 1;
    walk_steps(b, loop, &nothing);
    bool conflict_found = b->conflict_found;
    *b = saved;
    return conflict_found;
}

static IrOp *redundant_in(Barriers *b, IrOp *loop) {
    for (size_t i = 0; i < b->made.count; i++) {
        IrOp *barrier = b->made.data[i];
        if (barrier->block->parent == loop && !is_needed(b, loop, barrier)) return barrier;
    }
    return NULL;
}

static void walk_loop(Barriers *b, IrOp *op, Touches *touches) {
    Touches before = {0};
    add_all(b, &before, touches);
    walk_steps(b, op, touches);
    for (IrOp *barrier; !b->without && (barrier = redundant_in(b, op));) {
        ir_move_before(barrier, op);
        b->changes++;
        apply_barrier(b, barrier, &before);
        *touches = (Touches){0};
        add_all(b, touches, &before);
        walk_steps(b, op, touches);
    }
}

static void walk_if(Barriers *b, IrOp *op, Touches *touches) {
    Touches out = {0};
    for (uint32_t r = 0; r < op->region_count; r++) {
        Touches state = {0};
        add_all(b, &state, touches);
        walk(b, op->regions[r], &state);
        add_all(b, &out, &state);
    }
    *touches = out;
}

static bool has_op(const IrOp *const *ops, size_t count, const IrOp *op) {
    for (size_t i = 0; i < count; i++)
        if (ops[i] == op) return true;
    return false;
}

static bool stays(const Barriers *b, const IrOp *op) {
    return has_op(b->kept.data, b->kept.count, op);
}
static bool is_global(const Barriers *b, const IrOp *barrier) {
    return ir_attr_int(barrier, IR_ATTR_GLOBAL) ||
           has_op(b->widened.data, b->widened.count, barrier);
}

// Applies a barrier: removes the accesses that it orders.
static void apply_barrier(Barriers *b, const IrOp *barrier, Touches *touches) {
    size_t left = 0;
    bool unordered = false;
    for (size_t i = 0; i < touches->count; i++) {
        unordered |= touches->data[i].kind >= ACCESS_GLOBAL;
        if (touches->data[i].kind == ACCESS_COPY_IN_FLIGHT)
            touches->data[left++] = touches->data[i];
    }
    touches->count = left;
    if (unordered && !is_global(b, barrier))
        add(b, touches, (BarrierTouch){.kind = ACCESS_GLOBAL_UNORDERED, .by = barrier});
}

// A barrier for global memory is removed: the barriers after the accesses serve instead.
static void widen(Barriers *b, Touches *touches) {
    size_t left = 0;
    for (size_t i = 0; i < touches->count; i++) {
        if (touches->data[i].kind != ACCESS_GLOBAL_UNORDERED) {
            touches->data[left++] = touches->data[i];
            continue;
        }
        if (is_global(b, touches->data[i].by)) continue;
        vec_push(b->scratch, &b->widened, touches->data[i].by);
        b->changes++;
    }
    touches->count = left;
}

// All copies of the kind have been waited for, each thread its own.
static void complete_copies(Barriers *b, Touches *touches, bool by_map) {
    Touches all = *touches;
    *touches = (Touches){0};
    for (size_t i = 0; i < all.count; i++) {
        BarrierTouch touch = all.data[i];
        if (touch.kind == ACCESS_COPY_IN_FLIGHT && touch.by_map == by_map)
            touch.kind = ACCESS_SHARED, touch.epoch = b->epoch;
        add(b, touches, touch);
    }
}

static bool waits_for_all(const IrOp *op) {
    return op->code == IR_THREAD_WAIT && !ir_attr_int(op, IR_ATTR_COUNT);
}

static void visit_global(Barriers *b, const IrOp *op, Touches *touches) {
    IrEffect effect = ir_op_info(op->code)->effect;
    BarrierTouch touch;
    if (effect != IR_EFFECT_READ && effect != IR_EFFECT_WRITE) return;
    if (op->code == IR_THREAD_WGMMA || op->code == IR_THREAD_WGMMA_WAIT) return;
    if (op->code == IR_THREAD_MBARRIER_INIT || op->code == IR_THREAD_MBARRIER_END) return;
    bool copies = op->code == IR_THREAD_COPY || op->code == IR_THREAD_TMA_LOAD;
    if (!copies && touch_of(b, op, 0, &touch) && touch.piece) return;
    add(b, touches, (BarrierTouch){.kind = ACCESS_GLOBAL, .writes = true, .by = op});
}

// Puts a barrier before the op, and a wait for all copies if the conflict is with a copy in flight:
// through pointers, any memory may be accessed.
static void order(Barriers *b, IrOp *op, bool under_way, Touches *touches) {
    IrBuilder builder = ir_builder_before(op);
    builder.span = op->span;
    if (under_way) {
        ir_op(&builder, IR_THREAD_WAIT, 0, NULL, 0, NULL, 0, NULL);
        complete_copies(b, touches, false);
    }
    IrOp *barrier = ir_op(&builder, IR_THREAD_BARRIER, 0, NULL, 0, NULL, 0, NULL);
    vec_push(b->scratch, &b->kept, barrier);
    if (!under_way) vec_push(b->scratch, &b->made, barrier);
    apply_barrier(b, barrier, touches);
    b->changes++;
}

static void visit(Barriers *b, IrOp *op, uint32_t operand, Touches *touches) {
    BarrierTouch touch;
    if (!touch_of(b, op, operand, &touch)) return;
    bool any = false, under_way = false;
    for (size_t i = 0; i < touches->count; i++) {
        if (!conflict(&touches->data[i], &touch)) continue;
        any = true;
        under_way |= touches->data[i].kind == ACCESS_COPY_IN_FLIGHT;
    }
    if (b->without)
        b->conflict_found |= any;
    else if (any)
        order(b, op, under_way, touches);
    add(b, touches, touch);
    if (op->code != IR_THREAD_COPY && op->code != IR_THREAD_TMA_LOAD) return;
    touch.kind = ACCESS_COPY_IN_FLIGHT;
    touch.by_map = op->code == IR_THREAD_TMA_LOAD;
    add(b, touches, touch);
}

static void visit_barrier(Barriers *b, const IrOp *op, Touches *touches) {
    if (op == b->without) return;
    bool global = is_global(b, op), since = ir_attr_int(op, IR_ATTR_PRODUCER) != 0;
    for (size_t i = 0; global && i < touches->count; i++)
        since |= touches->data[i].kind == ACCESS_GLOBAL;
    b->epoch++;
    if (since && !stays(b, op)) {
        vec_push(b->scratch, &b->kept, op);
        b->changes++;
    }
    if (stays(b, op))
        apply_barrier(b, op, touches);
    else if (global)
        widen(b, touches);
}

static void walk(Barriers *b, IrBlock *block, Touches *touches) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_FOR || op->code == IR_WHILE) {
            walk_loop(b, op, touches);
        } else if (op->code == IR_IF) {
            walk_if(b, op, touches);
        } else if (op->code == IR_THREAD_BARRIER) {
            visit_barrier(b, op, touches);
        } else if (waits_for_all(op)) {
            complete_copies(b, touches, false);
        } else {
            visit_global(b, op, touches);
            for (uint32_t i = 0; i < op->operand_count; i++) visit(b, op, i, touches);
            if (op->code == IR_THREAD_MBARRIER_END) complete_copies(b, touches, true);
        }
    }
}

static bool touches_shared(const Barriers *b, const IrOp *op) {
    BarrierTouch touch;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (touch_of(b, op, i, &touch)) return true;
    for (uint32_t r = 0; r < op->region_count; r++)
        for (const IrOp *in = op->regions[r]->first; in; in = in->next)
            if (touches_shared(b, in)) return true;
    return false;
}

// May any op after this one access shared memory?
static bool shared_follows(const Barriers *b, const IrOp *op) {
    for (const IrOp *at = op->next; at; at = at->next)
        if (touches_shared(b, at)) return true;
    const IrOp *around = op->block->parent;
    if (!around) return false;
    return around->code != IR_IF || shared_follows(b, around);
}

static void strip(const Barriers *b, IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t r = 0; r < op->region_count; r++) strip(b, op->regions[r]);
        bool needless = op->code == IR_THREAD_BARRIER ? !stays(b, op)
                                                      : waits_for_all(op) && !shared_follows(b, op);
        if (needless)
            ir_erase(op);
        else if (op->code == IR_THREAD_BARRIER && is_global(b, op))
            ir_attr_set_int(op, IR_ATTR_GLOBAL, true);
    }
}

bool pass_gpu_barriers(IrFunc *f, PassContext *context) {
    if (!f->is_kernel || !ir_body(f) || f->level != IR_LEVEL_THREAD) return false;
    context->keeps_ranges = true;  // barriers and waits have no results
    Barriers b = {.scratch = context->scratch, .ranges = pass_ranges(context, f), .walk = 1};
    for (int i = 0; i < 2; i++) b.ends[i] = arena_new(context->scratch, LoopEnd, f->op_count);
    Touches touches = {0};
    walk(&b, ir_body(f), &touches);
    strip(&b, ir_body(f));
    gpu_mark_async(f, context->scratch);
    return true;
}
