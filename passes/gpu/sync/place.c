// gpu_place: assigns an address to each piece of shared memory. Pieces that are never needed at
// once share memory.
//
// A piece is needed within its home, the innermost block that contains the op that creates it and
// all ops that use it: from the first to the last of these ops. Two pieces are compared in the
// innermost block that contains both homes, where a loop counts as one op; no value passes from one
// iteration of a loop to the next in a piece that the loop creates. Pieces of the two regions of an
// `if` are never needed at once.
// Threads run ahead of one another: one may write to memory that replaced a piece while another
// still reads the piece. So a piece is needed until the next barrier of its home; one that
// thread.copy fills, until the barrier after all copies are waited for. Without such a barrier it
// is needed during the whole block, and until the next barrier around it. A piece of at most
// SHARED_ALIGN bytes does not share: that would save less than the cost of the barrier that keeps
// the two apart. If there is no room for that, small pieces share as well.
#include "passes/passes.h"
#include "passes/places.h"

enum { SHARED_ALIGN = 128 };  // of banks, and of the rows that matrix loads want

static bool waits_for_all(const IrOp *op) {
    return (op->code == IR_THREAD_WAIT && ir_attr_int(op, IR_ATTR_COUNT) == 0) ||
           op->code == IR_THREAD_MBARRIER_END;
}

// The position of an op in its block, and of the barriers after it. Positions are numbers of ops in
// their block; `none`: there is no such barrier.
static const uint32_t none = UINT32_MAX;
typedef struct OpPosition {
    uint32_t place;
    uint32_t barrier;  // the first one from here on
    uint32_t copied;   // the first one after the first wait for all copies from here on
} OpPosition;

// When a piece is needed, by positions in a block; from its home outwards, up to the body.
typedef struct LiveRange {
    const IrBlock *block;
    uint32_t first, last;
    bool closed;  // a barrier ends it
} LiveRange;

typedef struct Shared {
    Places places;
    const OpPosition *positions;  // by op id
} Shared;

static const IrBlock *around(const IrBlock *block) {
    return block->parent ? block->parent->block : NULL;
}

static bool holds(const IrBlock *block, const IrBlock *inner) {
    while (inner && inner != block) inner = around(inner);
    return inner != NULL;
}

// From the end of the block to its beginning.
static void find_positions(OpPosition *positions, const IrBlock *block) {
    uint32_t place = 0;
    OpPosition next = {.barrier = none, .copied = none};
    for (const IrOp *op = block->first; op; op = op->next) {
        positions[op->id].place = place++;
        for (uint32_t i = 0; i < op->region_count; i++) find_positions(positions, op->regions[i]);
    }
    for (const IrOp *op = block->last; op; op = op->prev) {
        OpPosition *position = &positions[op->id];
        position->barrier = op->code == IR_THREAD_BARRIER ? position->place : next.barrier;
        position->copied = waits_for_all(op) ? next.barrier : next.copied;
        next = *position;
    }
}

// The op of the block that contains the op.
static const IrOp *op_in(const IrBlock *block, const IrOp *op) {
    while (op->block != block) op = op->block->parent;
    return op;
}

// The need ends at the first barrier from the op on that keeps threads apart.
static void extend_to_barrier(const Shared *s, const Piece *piece, const IrOp *op,
                              LiveRange *live) {
    const OpPosition *position = &s->positions[op->id];
    uint32_t barrier = piece->copied ? position->copied : position->barrier;
    live->closed = barrier != none;
    live->last = live->closed ? barrier : s->positions[live->block->last->id].place;
    if (!live->closed && live->block != s->places.body) live->first = 0;
}

static LiveRange live_range_at_home(const Shared *s, const Piece *piece) {
    LiveRange n = {.block = piece->op->block, .first = UINT32_MAX};
    for (size_t i = 0; i < piece->users.count; i++)
        while (!holds(n.block, piece->users.data[i]->block)) n.block = around(n.block);
    const IrOp *last = n.block->first;
    for (size_t i = 0; i < piece->users.count; i++) {
        const IrOp *op = op_in(n.block, piece->users.data[i]);
        uint32_t at = s->positions[op->id].place;
        if (at < n.first) n.first = at;
        if (at > s->positions[last->id].place) last = op;
    }
    extend_to_barrier(s, piece, last, &n);
    return n;
}

static LiveRange widen_to_parent(const Shared *s, const Piece *piece, const LiveRange *from) {
    const IrOp *op = from->block->parent;
    LiveRange n = {.block = op->block, .closed = from->closed};
    n.first = n.last = s->positions[op->id].place;
    if (!n.closed) extend_to_barrier(s, piece, op, &n);
    return n;
}

static const LiveRange *find_live_ranges(const Shared *s, const Piece *piece) {
    VEC(LiveRange) live_ranges = {0};
    LiveRange live = live_range_at_home(s, piece);
    vec_push(s->places.scratch, &live_ranges, live);
    while (live.block != s->places.body) {
        live = widen_to_parent(s, piece, &live);
        vec_push(s->places.scratch, &live_ranges, live);
    }
    return live_ranges.data;
}

static bool is_in_loop(const IrOp *op) {
    for (op = op->block->parent; op; op = op->block->parent)
        if (op->code == IR_FOR || op->code == IR_WHILE) return true;
    return false;
}

// Are the homes in the two regions of one `if`, of which all threads execute the same one? In a
// loop they share only if they must: other iterations may execute the other region, which costs a
// barrier.
static bool are_alternatives(const LiveRange *x, const LiveRange *y, bool must_share) {
    const IrOp *around = x->block->parent;
    return around && around == y->block->parent && around->code == IR_IF && x->block != y->block &&
           (must_share || !is_in_loop(around));
}

// In the innermost block that contains both homes.
static bool live_ranges_overlap(const Piece *a, const Piece *b, bool must_share) {
    const LiveRange *x = a->live_ranges, *y = b->live_ranges;
    while (!holds(x->block, y->block)) x++;
    while (y->block != x->block) y++;
    if (x > (const LiveRange *)a->live_ranges && y > (const LiveRange *)b->live_ranges &&
        are_alternatives(x - 1, y - 1, must_share))
        return false;
    return x->first <= y->last && y->first <= x->last;
}

static bool interferes(const Places *p, const Piece *a, const Piece *b) {
    (void)p;
    return live_ranges_overlap(a, b, true);
}

static bool interferes_or_small(const Places *p, const Piece *a, const Piece *b) {
    (void)p;
    return a->size <= SHARED_ALIGN || b->size <= SHARED_ALIGN || live_ranges_overlap(a, b, false);
}

static const Piece *greatest(const Places *p, uint64_t below, size_t after) {
    const Piece *most = NULL;
    for (size_t i = 0; i < p->pieces.count; i++) {
        const Piece *piece = &p->pieces.data[i];
        bool left = piece->size < below || (piece->size == below && i > after);
        if (left && (!most || piece->size > most->size)) most = piece;
    }
    return most;
}

// Reports the line that takes most, and others that take much.
static void refuse(const Places *p, const IrFunc *f, const PassContext *context, uint64_t bytes) {
    enum { REPORTED_MAX = 4 };
    char name[GPU_NAME_MAX];
    const Piece *most = greatest(p, UINT64_MAX, 0);
    diag_error(context->diags, most->op->span, DIAG_LIMIT,
               "kernel '%s' needs %llu bytes of shared memory for each program, and %s has %u; "
               "%llu are for this",
               f->name, (unsigned long long)bytes, gpu_target_name(context->machine->gpu, name),
               context->machine->shared_bytes, (unsigned long long)most->size);
    for (int i = 1; i < REPORTED_MAX; i++) {
        most = greatest(p, most->size, (size_t)(most - p->pieces.data));
        if (!most) break;
        diag_note(context->diags, most->op->span, "%llu bytes are for this",
                  (unsigned long long)most->size);
    }
    diag_help(context->diags,
              "smaller tiles or fewer stages need less: the kernel's consts, or its "
              "`tune` lines for this target");
}

bool pass_gpu_place(IrFunc *f, PassContext *context) {
    if (!f->is_kernel || f->level != IR_LEVEL_THREAD) return false;
    OpPosition *positions = arena_new(context->scratch, OpPosition, f->op_count);
    find_positions(positions, ir_body(f));
    Shared s = {.positions = positions};
    s.places = places_find(f, context->scratch, IR_THREAD_SHARED, SHARED_ALIGN);
    Places *p = &s.places;
    for (size_t i = 0; i < p->pieces.count; i++)
        p->pieces.data[i].live_ranges = find_live_ranges(&s, &p->pieces.data[i]);
    uint32_t most = context->machine->shared_bytes;
    p->interferes = interferes_or_small;
    bool changed = places_assign(p);
    if (most && places_end(p) > most) {
        p->interferes = interferes;
        changed |= places_assign(p);
    }
    if (most && places_end(p) > most) refuse(p, f, context, places_end(p));
    return changed;
}
