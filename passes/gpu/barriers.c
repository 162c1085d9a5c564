// gpu_barriers: who lowers to shared memory puts a barrier wherever one might be needed. Of these
// only such stay as are: the last one before an access that meets what came before the barrier, a
// read what was written, a write what was read or written, at places that overlap.
//
// How: walking in order, what was touched since the last barrier that stays is kept, with the
// number of barriers met by then (its epoch). Between two accesses with no barrier of the
// lowering's between them none is needed. Loops are walked again with what their end leaves until
// nothing is added. A barrier for global memory serves shared memory, too; it stays where global
// memory was touched since the last one that does.
//
// What thread.copy writes goes on past barriers until all copies have been waited for: to the
// places of other pieces; of its own the lowering takes care. A wait for all copies goes if nothing
// that follows touches shared memory.
#include "passes/gpu/gpu.h"
#include "passes/passes.h"

typedef enum Kind {
    OF_SHARED,
    UNDER_WAY,  // a copy to shared memory, until it has been waited for
    OF_GLOBAL
} Kind;

// An access: the piece of shared memory, or NULL when it is not known which.
typedef struct Touch {
    const IrOp *piece;
    Kind kind;
    bool writes;
    uint32_t epoch;
} Touch;
typedef VEC(Touch) Touches;

typedef struct Barriers {
    Arena *scratch;
    uint32_t epoch;
    VEC(const IrOp *) kept;
    bool added;
} Barriers;

// ---- what an op touches -------------------------------------------------------------------------

static const IrOp *piece_of(const IrValue *p, bool *elsewhere);

static bool all_elsewhere(const IrOp *pack) {
    bool elsewhere = true;
    for (uint32_t i = 0; elsewhere && i < pack->operand_count; i++)
        piece_of(ir_operand(pack, i), &elsewhere);
    return elsewhere;
}

// The thread.shared that a pointer leads into. *elsewhere: into other memory for sure.
static const IrOp *piece_of(const IrValue *p, bool *elsewhere) {
    *elsewhere = false;
    while (p->def) {
        IrOpcode code = p->def->code;
        if (code == IR_THREAD_SHARED) return p->def;
        bool through = code == IR_PTR_ADD || code == IR_BROADCAST || code == IR_CPU_LANE ||
                       code == IR_CPU_SHUFFLE ||
                       (code == IR_BITCAST && ir_operand(p->def, 0)->type->kind == IR_PTR);
        *elsewhere = code == IR_CPU_DATA || (code == IR_THREAD_PACK && all_elsewhere(p->def));
        if (!through) return NULL;
        p = ir_operand(p->def, 0);
    }
    *elsewhere = !p->block;  // a parameter
    return NULL;
}

static bool touches_operand(const IrOp *op, uint32_t i) {
    IrEffect effect = ir_op_info(op->code)->effect;
    if (op->code == IR_CPU_PRINT) return true;
    return i == 0 && (effect == IR_EFFECT_READ || effect == IR_EFFECT_WRITE);
}

// What the op touches by its i-th operand.
static bool touch_of(const Barriers *b, const IrOp *op, uint32_t i, Touch *touch) {
    if (!touches_operand(op, i)) return false;
    bool elsewhere, writes = ir_op_info(op->code)->effect == IR_EFFECT_WRITE;
    const IrOp *piece = piece_of(ir_operand(op, i), &elsewhere);
    *touch = (Touch){piece, OF_SHARED, writes, b->epoch};
    return !elsewhere;
}

static void range_of(const IrOp *piece, uint64_t range[2]) {
    uint64_t size = dtype_size((Dtype)ir_attr_int(piece, IR_ATTR_ELEM));
    range[0] = (uint64_t)ir_attr_int(piece, IR_ATTR_PLACE);
    range[1] = range[0] + size * (uint64_t)ir_attr_int(piece, IR_ATTR_COUNT);
}

static bool meet(const Touch *a, const Touch *b) {
    if (a->kind == OF_GLOBAL || (a->kind == UNDER_WAY && a->piece == b->piece)) return false;
    if ((!a->writes && !b->writes) || a->epoch == b->epoch) return false;
    if (!a->piece || !b->piece || a->piece == b->piece) return true;
    uint64_t x[2], y[2];
    range_of(a->piece, x);
    range_of(b->piece, y);
    return x[0] < y[1] && y[0] < x[1];
}

// ---- walking ------------------------------------------------------------------------------------

static void add(Barriers *b, Touches *touches, Touch touch) {
    for (size_t i = 0; i < touches->count; i++) {
        const Touch *known = &touches->data[i];
        if (known->piece == touch.piece && known->kind == touch.kind &&
            known->writes == touch.writes)
            return;
    }
    vec_push(b->scratch, touches, touch);
}

static void add_all(Barriers *b, Touches *touches, const Touches *more) {
    for (size_t i = 0; i < more->count; i++) add(b, touches, more->data[i]);
}

static void walk(Barriers *b, IrBlock *block, Touches *touches);

static void walk_loop(Barriers *b, IrOp *op, Touches *touches) {
    bool again = true;
    while (again) {
        bool before = b->added;
        Touches state = {0};
        add_all(b, &state, touches);
        b->added = false;
        for (uint32_t r = 0; r < op->region_count; r++) walk(b, op->regions[r], &state);
        again = b->added;
        size_t known = touches->count;
        add_all(b, touches, &state);
        again |= touches->count != known;
        b->added |= before;
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

// What a barrier orders.
static void settle(Touches *touches) {
    size_t left = 0;
    for (size_t i = 0; i < touches->count; i++)
        if (touches->data[i].kind == UNDER_WAY) touches->data[left++] = touches->data[i];
    touches->count = left;
}

// All copies have been waited for, each thread its own.
static void land(Barriers *b, Touches *touches) {
    Touches all = *touches;
    *touches = (Touches){0};
    for (size_t i = 0; i < all.count; i++) {
        Touch touch = all.data[i];
        if (touch.kind == UNDER_WAY) touch.kind = OF_SHARED, touch.epoch = b->epoch;
        add(b, touches, touch);
    }
}

static bool waits_for_all(const IrOp *op) {
    return op->code == IR_THREAD_WAIT && !ir_attr_int(op, IR_ATTR_COUNT);
}

static void visit_global(Barriers *b, const IrOp *op, Touches *touches) {
    IrEffect effect = ir_op_info(op->code)->effect;
    Touch touch;
    if (effect != IR_EFFECT_READ && effect != IR_EFFECT_WRITE) return;
    if (op->code != IR_THREAD_COPY && touch_of(b, op, 0, &touch) && touch.piece) return;
    add(b, touches, (Touch){.kind = OF_GLOBAL, .writes = true});
}

static void visit(Barriers *b, IrOp *op, uint32_t operand, Touches *touches) {
    Touch touch;
    if (!touch_of(b, op, operand, &touch)) return;
    for (size_t i = 0; i < touches->count; i++) {
        if (!meet(&touches->data[i], &touch)) continue;
        IrBuilder builder = ir_builder_before(op);
        builder.span = op->span;
        vec_push(b->scratch, &b->kept,
                 ir_op(&builder, IR_THREAD_BARRIER, 0, NULL, 0, NULL, 0, NULL));
        settle(touches);
        b->added = true;
        break;
    }
    add(b, touches, touch);
    if (op->code != IR_THREAD_COPY) return;
    touch.kind = UNDER_WAY;
    add(b, touches, touch);
}

static bool stays(const Barriers *b, const IrOp *op) {
    for (size_t i = 0; i < b->kept.count; i++)
        if (b->kept.data[i] == op) return true;
    return false;
}

static void visit_barrier(Barriers *b, const IrOp *op, Touches *touches) {
    bool global = ir_attr_int(op, IR_ATTR_GLOBAL) != 0, since = false;
    for (size_t i = 0; global && i < touches->count; i++)
        since |= touches->data[i].kind == OF_GLOBAL;
    b->epoch++;
    if (since && !stays(b, op)) {
        vec_push(b->scratch, &b->kept, op);
        b->added = true;
    }
    if (stays(b, op)) settle(touches);
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
            land(b, touches);
        } else {
            visit_global(b, op, touches);
            for (uint32_t i = 0; i < op->operand_count; i++) visit(b, op, i, touches);
        }
    }
}

static bool touches_shared(const Barriers *b, const IrOp *op) {
    Touch touch;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (touch_of(b, op, i, &touch)) return true;
    for (uint32_t r = 0; r < op->region_count; r++)
        for (const IrOp *in = op->regions[r]->first; in; in = in->next)
            if (touches_shared(b, in)) return true;
    return false;
}

// May anything that comes after the op touch shared memory?
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
        if (needless) ir_erase(op);
    }
}

bool pass_gpu_barriers(IrFunc *f, PassContext *context) {
    if (!f->is_kernel || !ir_body(f) || f->level != IR_LEVEL_THREAD) return false;
    Barriers b = {.scratch = context->scratch};
    Touches touches = {0};
    walk(&b, ir_body(f), &touches);
    strip(&b, ir_body(f));
    return true;
}
