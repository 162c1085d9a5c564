// gpu_place: where each piece of shared memory lies. Pieces that are never needed at once share.
//
// A piece is needed within its home, the innermost block that has the op that makes it and all that
// works on it: from the first to the last of these ops. Two are compared in the innermost block
// that has both homes, where a loop counts as one op; nothing goes from one round of a loop to the
// next in a piece that the loop makes.
// Threads run ahead of one another: what took the place of a piece is written by one while another
// still reads it. So a piece is needed until the next barrier of its home; one that thread.copy
// fills, until the barrier after all copies are waited for. Without such a barrier it is needed all
// through the block, and until the next barrier around it.
// A piece of no more than SHARED_ALIGN bytes shares with none: that would save less than the
// barrier costs which keeps the two apart.
#include "passes/passes.h"
#include "passes/places.h"

enum { SHARED_ALIGN = 128 };  // of banks, and of the rows that matrix loads want

static bool waits_for_all(const IrOp *op) {
    return op->code == IR_THREAD_WAIT && ir_attr_int(op, IR_ATTR_COUNT) == 0;
}

// When a piece is needed, by places of ops in a block.
typedef struct Need {
    const IrBlock *block;
    uint32_t first, last;
    bool closed;  // a barrier ends it
} Need;

static const IrBlock *around(const IrBlock *block) {
    return block->parent ? block->parent->block : NULL;
}

static bool holds(const IrBlock *block, const IrBlock *inner) {
    while (inner && inner != block) inner = around(inner);
    return inner != NULL;
}

static uint32_t place_in(const IrBlock *block, const IrOp *op) {
    while (op->block != block) op = op->block->parent;
    uint32_t place = 0;
    for (const IrOp *at = block->first; at != op; at = at->next) place++;
    return place;
}

static void hold_to_barrier(const Places *p, const Piece *piece, Need *need) {
    uint32_t place = 0, last = need->last;
    bool landed = !piece->copied;
    need->closed = false;
    for (const IrOp *op = need->block->first; op && !need->closed; op = op->next, place++) {
        if (place < last) continue;
        landed = landed || waits_for_all(op);
        need->last = place;
        need->closed = landed && op->code == IR_THREAD_BARRIER;
    }
    if (!need->closed && need->block != p->body) need->first = 0;
}

static Need need_at_home(const Places *p, const Piece *piece) {
    Need n = {.block = piece->op->block, .first = UINT32_MAX};
    for (size_t i = 0; i < piece->users.count; i++)
        while (!holds(n.block, piece->users.data[i]->block)) n.block = around(n.block);
    for (size_t i = 0; i < piece->users.count; i++) {
        uint32_t at = place_in(n.block, piece->users.data[i]);
        if (at < n.first) n.first = at;
        if (at > n.last) n.last = at;
    }
    hold_to_barrier(p, piece, &n);
    return n;
}

static void go_out(const Places *p, const Piece *piece, Need *need, const IrBlock *to) {
    while (need->block != to) {
        const IrOp *op = need->block->parent;
        need->block = op->block;
        need->first = need->last = place_in(op->block, op);
        if (!need->closed) hold_to_barrier(p, piece, need);
    }
}

static bool at_once(const Places *p, const Piece *a, const Piece *b) {
    if (a->size <= SHARED_ALIGN || b->size <= SHARED_ALIGN) return true;
    Need x = need_at_home(p, a), y = need_at_home(p, b);
    const IrBlock *both = x.block;
    while (!holds(both, y.block)) both = around(both);
    go_out(p, a, &x, both);
    go_out(p, b, &y, both);
    return x.first <= y.last && y.first <= x.last;
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

// The line that takes most, and what else takes much.
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
    Places p = places_find(f, context->scratch, IR_THREAD_SHARED, SHARED_ALIGN);
    p.at_once = at_once;
    bool changed = places_assign(&p);
    uint64_t end = places_end(&p);
    uint32_t most = context->machine->shared_bytes;
    if (most && end > most) refuse(&p, f, context, end);
    return changed;
}
