// gpu_place: where each piece of shared memory lies. Pieces that are never needed at once share.
//
// Threads run ahead of one another: what took the place of a piece is written by one while another
// still reads it. So a piece is needed until the next barrier that all of the body passes; one that
// thread.copy fills, until the barrier after all copies are waited for.
#include "passes/passes.h"
#include "passes/places.h"

enum { SHARED_ALIGN = 128 };  // of banks, and of the rows that matrix loads want

static bool waits_for_all(const IrOp *op) {
    return op->code == IR_THREAD_WAIT && ir_attr_int(op, IR_ATTR_COUNT) == 0;
}

// Up to the op before the barrier that ends the need, or to the end of the body.
static void hold_to_barrier(const Places *p, Piece *piece) {
    uint32_t number = 0;
    bool landed = !piece->copied;
    for (const IrOp *op = p->body->first; op; op = op->next, number++) {
        if (number < piece->last) continue;
        landed = landed || waits_for_all(op);
        piece->last = number;
        if (landed && op->code == IR_THREAD_BARRIER) return;
    }
}

static void refuse(const IrFunc *f, const PassContext *context, uint64_t bytes) {
    char name[GPU_NAME_MAX];
    diag_error(context->diags, f->span, DIAG_UNSUPPORTED,
               "kernel '%s' needs %llu bytes of shared memory for each program, and %s has %u",
               f->name, (unsigned long long)bytes, gpu_target_name(context->machine->gpu, name),
               context->machine->shared_bytes);
    diag_help(context->diags,
              "smaller tiles or fewer stages need less: the kernel's consts, or its "
              "`tune` lines for this target");
}

bool pass_gpu_place(IrFunc *f, PassContext *context) {
    if (!f->is_kernel || f->level != IR_LEVEL_THREAD) return false;
    Places p = places_find(f, context->scratch, IR_THREAD_SHARED, SHARED_ALIGN);
    for (size_t i = 0; i < p.pieces.count; i++) hold_to_barrier(&p, &p.pieces.data[i]);
    bool changed = places_assign(&p);
    uint64_t end = places_end(&p);
    uint32_t most = context->machine->shared_bytes;
    if (most && end > most) refuse(f, context, end);
    return changed;
}
