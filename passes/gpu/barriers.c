// gpu_barriers: who lowers to shared memory puts a barrier wherever one might be needed. Of these
// only such stay as are: the last one before an access that meets what came before the barrier, a
// read what was written, a write what was read or written, at places that overlap.
//
// How: walking in order, what was touched since the last barrier that stays is kept, with the
// number of barriers met by then (its epoch). Between two accesses with no barrier of the
// lowering's between them none is needed. Loops are walked again with what their end leaves until
// nothing is added. A barrier for global memory serves shared memory, too, and stays.
#include "passes/gpu/gpu.h"
#include "passes/passes.h"

// An access: the piece of shared memory, or NULL when it is not known which.
typedef struct Touch {
    const IrOp *piece;
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
    *touch = (Touch){piece, writes, b->epoch};
    return !elsewhere;
}

static void range_of(const IrOp *piece, uint64_t range[2]) {
    uint64_t size = dtype_size((Dtype)ir_attr_int(piece, IR_ATTR_ELEM));
    range[0] = (uint64_t)ir_attr_int(piece, IR_ATTR_PLACE);
    range[1] = range[0] + size * (uint64_t)ir_attr_int(piece, IR_ATTR_COUNT);
}

static bool meet(const Touch *a, const Touch *b) {
    if ((!a->writes && !b->writes) || a->epoch == b->epoch) return false;
    if (!a->piece || !b->piece || a->piece == b->piece) return true;
    uint64_t x[2], y[2];
    range_of(a->piece, x);
    range_of(b->piece, y);
    return x[0] < y[1] && y[0] < x[1];
}

// ---- walking ------------------------------------------------------------------------------------

static void add(Barriers *b, Touches *touches, Touch touch) {
    for (size_t i = 0; i < touches->count; i++)
        if (touches->data[i].piece == touch.piece && touches->data[i].writes == touch.writes)
            return;
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

static void visit(Barriers *b, IrOp *op, uint32_t operand, Touches *touches) {
    Touch touch;
    if (!touch_of(b, op, operand, &touch)) return;
    for (size_t i = 0; i < touches->count; i++) {
        if (!meet(&touches->data[i], &touch)) continue;
        IrBuilder builder = ir_builder_before(op);
        builder.span = op->span;
        vec_push(b->scratch, &b->kept,
                 ir_op(&builder, IR_THREAD_BARRIER, 0, NULL, 0, NULL, 0, NULL));
        touches->count = 0;
        b->added = true;
        break;
    }
    add(b, touches, touch);
}

static bool stays(const Barriers *b, const IrOp *op) {
    if (ir_attr_int(op, IR_ATTR_GLOBAL)) return true;
    for (size_t i = 0; i < b->kept.count; i++)
        if (b->kept.data[i] == op) return true;
    return false;
}

static void walk(Barriers *b, IrBlock *block, Touches *touches) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_FOR || op->code == IR_WHILE) {
            walk_loop(b, op, touches);
        } else if (op->code == IR_IF) {
            walk_if(b, op, touches);
        } else if (op->code == IR_THREAD_BARRIER) {
            b->epoch++;
            if (stays(b, op)) touches->count = 0;
        } else {
            for (uint32_t i = 0; i < op->operand_count; i++) visit(b, op, i, touches);
        }
    }
}

static void strip(const Barriers *b, IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t r = 0; r < op->region_count; r++) strip(b, op->regions[r]);
        if (op->code == IR_THREAD_BARRIER && !stays(b, op)) ir_erase(op);
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
