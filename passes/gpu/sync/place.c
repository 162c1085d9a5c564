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
typedef struct Stand {
    uint32_t place;
    uint32_t barrier;  // the first one from here on
    uint32_t landed;   // the first one after the first wait for all copies from here on
} Stand;

// When a piece is needed, by positions in a block; from its home outwards, up to the body.
typedef struct Need {
    const IrBlock *block;
    uint32_t first, last;
    bool closed;  // a barrier ends it
} Need;

typedef struct Shared {
    Places places;
    const Stand *stands;  // by op id
} Shared;

static const IrBlock *around(const IrBlock *block) {
    return block->parent ? block->parent->block : NULL;
}

static bool holds(const IrBlock *block, const IrBlock *inner) {
    while (inner && inner != block) inner = around(inner);
    return inner != NULL;
}

// From the end of the block to its beginning.
static void find_stands(Stand *stands, const IrBlock *block) {
    uint32_t place = 0;
    Stand next = {.barrier = none, .landed = none};
    for (const IrOp *op = block->first; op; op = op->next) {
        stands[op->id].place = place++;
        for (uint32_t i = 0; i < op->region_count; i++) find_stands(stands, op->regions[i]);
    }
    for (const IrOp *op = block->last; op; op = op->prev) {
        Stand *stand = &stands[op->id];
        stand->barrier = op->code == IR_THREAD_BARRIER ? stand->place : next.barrier;
        stand->landed = waits_for_all(op) ? next.barrier : next.landed;
        next = *stand;
    }
}

// The op of the block that contains the op.
static const IrOp *op_in(const IrBlock *block, const IrOp *op) {
    while (op->block != block) op = op->block->parent;
    return op;
}

// The need ends at the first barrier from the op on that keeps threads apart.
static void hold_to_barrier(const Shared *s, const Piece *piece, const IrOp *op, Need *need) {
    const Stand *stand = &s->stands[op->id];
    uint32_t barrier = piece->copied ? stand->landed : stand->barrier;
    need->closed = barrier != none;
    need->last = need->closed ? barrier : s->stands[need->block->last->id].place;
    if (!need->closed && need->block != s->places.body) need->first = 0;
}

static Need need_at_home(const Shared *s, const Piece *piece) {
    Need n = {.block = piece->op->block, .first = UINT32_MAX};
    for (size_t i = 0; i < piece->users.count; i++)
        while (!holds(n.block, piece->users.data[i]->block)) n.block = around(n.block);
    const IrOp *last = n.block->first;
    for (size_t i = 0; i < piece->users.count; i++) {
        const IrOp *op = op_in(n.block, piece->users.data[i]);
        uint32_t at = s->stands[op->id].place;
        if (at < n.first) n.first = at;
        if (at > s->stands[last->id].place) last = op;
    }
    hold_to_barrier(s, piece, last, &n);
    return n;
}

static Need go_out(const Shared *s, const Piece *piece, const Need *from) {
    const IrOp *op = from->block->parent;
    Need n = {.block = op->block, .closed = from->closed};
    n.first = n.last = s->stands[op->id].place;
    if (!n.closed) hold_to_barrier(s, piece, op, &n);
    return n;
}

static const Need *find_needs(const Shared *s, const Piece *piece) {
    VEC(Need) needs = {0};
    Need need = need_at_home(s, piece);
    vec_push(s->places.scratch, &needs, need);
    while (need.block != s->places.body) {
        need = go_out(s, piece, &need);
        vec_push(s->places.scratch, &needs, need);
    }
    return needs.data;
}

static bool is_in_loop(const IrOp *op) {
    for (op = op->block->parent; op; op = op->block->parent)
        if (op->code == IR_FOR || op->code == IR_WHILE) return true;
    return false;
}

// Are the homes in the two regions of one `if`, of which all threads execute the same one? In a
// loop they share only if they must: other iterations may execute the other region, which costs a
// barrier.
static bool are_alternatives(const Need *x, const Need *y, bool must_share) {
    const IrOp *around = x->block->parent;
    return around && around == y->block->parent && around->code == IR_IF && x->block != y->block &&
           (must_share || !is_in_loop(around));
}

// In the innermost block that contains both homes.
static bool needed_at_once(const Piece *a, const Piece *b, bool must_share) {
    const Need *x = a->needs, *y = b->needs;
    while (!holds(x->block, y->block)) x++;
    while (y->block != x->block) y++;
    if (x > (const Need *)a->needs && y > (const Need *)b->needs &&
        are_alternatives(x - 1, y - 1, must_share))
        return false;
    return x->first <= y->last && y->first <= x->last;
}

static bool at_once(const Places *p, const Piece *a, const Piece *b) {
    (void)p;
    return needed_at_once(a, b, true);
}

static bool at_once_or_small(const Places *p, const Piece *a, const Piece *b) {
    (void)p;
    return a->size <= SHARED_ALIGN || b->size <= SHARED_ALIGN || needed_at_once(a, b, false);
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
    enum { TOLD = 4 };
    char name[GPU_NAME_MAX];
    const Piece *most = greatest(p, UINT64_MAX, 0);
    diag_error(context->diags, most->op->span, DIAG_LIMIT,
               "kernel '%s' needs %llu bytes of shared memory for each program, and %s has %u; "
               "%llu are for this",
               f->name, (unsigned long long)bytes, gpu_target_name(context->machine->gpu, name),
               context->machine->shared_bytes, (unsigned long long)most->size);
    for (int i = 1; i < TOLD; i++) {
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
    Stand *stands = arena_new(context->scratch, Stand, f->op_count);
    find_stands(stands, ir_body(f));
    Shared s = {.stands = stands};
    s.places = places_find(f, context->scratch, IR_THREAD_SHARED, SHARED_ALIGN);
    Places *p = &s.places;
    for (size_t i = 0; i < p->pieces.count; i++)
        p->pieces.data[i].needs = find_needs(&s, &p->pieces.data[i]);
    uint32_t most = context->machine->shared_bytes;
    p->at_once = at_once_or_small;
    bool changed = places_assign(p);
    if (most && places_end(p) > most) {
        p->at_once = at_once;
        changed |= places_assign(p);
    }
    if (most && places_end(p) > most) refuse(p, f, context, places_end(p));
    return changed;
}
