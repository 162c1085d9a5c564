// Under sanitize: signed numbers of at most 32 bits that wrapped, from the op that wrapped to the
// access whose address they make. Only kernels of level tile are watched, because passes may wrap
// numbers on purpose.
//
// A flag follows arithmetic, casts and moves of elements. It ends at `&`, `%` and the like, by
// which hashes and generators of random numbers make an index of any bits.
#include "ir/interp/internal.h"

bool wrap_watched(const InterpRun *run, const InterpFrame *frame) {
    return run->sanitize && frame->func->level == IR_LEVEL_TILE;
}

uint8_t *wrap_blank(InterpRun *run, InterpSlot *s, const IrOp *op) {
    if (!s->wrapped) s->wrapped = arena_alloc(run->interp->arena, s->count);
    memset(s->wrapped, 0, s->count);
    s->wrap = op;
    return s->wrapped;
}

const uint8_t *wrap_flags(InterpRun *run, InterpSlot *s) {
    return s->wrap ? s->wrapped : wrap_blank(run, s, NULL);
}

void wrap_copy(InterpRun *run, InterpSlot *to, const InterpSlot *from) {
    to->wrap = NULL;
    if (from->wrap) memcpy(wrap_blank(run, to, from->wrap), from->wrapped, from->count);
}

static bool flagged(const InterpSlot *s, uint64_t i) {
    return s && s->wrap && s->wrapped[slot_lane(s, i)];
}

// ---- ops that wrap ------------------------------------------------------------------------------

static bool may_wrap(const IrOp *op, const InterpSlot *r) {
    bool narrow = r->type->kind == IR_TILE && dtype_is(r->elem, DTYPE_CLASS_INT) &&
                  dtype_signed(r->elem) && dtype_size(r->elem) <= 4;
    switch (op->code) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_SHL: return narrow;
    default: return false;
    }
}

// x and y have 32 bits at most, so nothing overflows here.
static int64_t exact(IrOpcode code, int64_t x, int64_t y) {
    switch (code) {
    case IR_ADD: return x + y;
    case IR_SUB: return x - y;
    case IR_MUL: return x * y;
    default: return y >= 0 && y < 32 ? x * ((int64_t)1 << y) : 0;  // IR_SHL; rule: 0 from there on
    }
}

static void find_wraps(InterpRun *run, const IrOp *op, InterpSlot *r, const InterpSlot *a,
                       const InterpSlot *b) {
    uint8_t *flags = NULL;
    for (uint32_t i = 0; i < r->count; i++) {
        int64_t x, y, z;
        slot_i64(a, i, &x);
        slot_i64(b, i, &y);
        slot_i64(r, i, &z);
        if (exact(op->code, x, y) == z) continue;
        if (!flags) flags = wrap_blank(run, r, op);
        flags[i] = 1;
    }
}

// ---- ops that a flag follows --------------------------------------------------------------------

// The operand whose flag the result has, as it is the operand itself: of a choice.
static const InterpSlot *chosen(IrOpcode code, const InterpSlot *r, InterpSlot *const *in,
                                uint32_t i) {
    if (code == IR_SELECT) return slot_get(in[0], slot_lane(in[0], i)) ? in[1] : in[2];
    return slot_get(r, i) == slot_get(in[0], i) ? in[0] : in[1];
}

static bool follows(const IrOp *op, const InterpSlot *r, InterpSlot *const *in, uint32_t i) {
    switch (op->code) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_SHL:
    case IR_SHR:
    case IR_DIV:
    case IR_NEG:
    case IR_ABS:
    case IR_PTR_ADD: return flagged(in[0], i) || flagged(in[1], i);
    case IR_CAST:  // unsigned numbers are taken for bits
        return dtype_is(r->elem, DTYPE_CLASS_INT) && dtype_signed(r->elem) && flagged(in[0], i);
    case IR_MIN:
    case IR_MAX:
    case IR_SELECT: return flagged(chosen(op->code, r, in, i), i);
    default: return false;
    }
}

void wrap_elementwise(InterpRun *run, const IrOp *op, InterpSlot *r, InterpSlot *const *in) {
    const IrOp *earlier = NULL;
    for (uint32_t k = 0; k < 3 && in[k] && !earlier; k++) earlier = in[k]->wrap;
    if (may_wrap(op, r)) find_wraps(run, op, r, in[0], in[1]);
    if (!earlier) return;
    for (uint32_t i = 0; i < r->count; i++) {
        if (!follows(op, r, in, i)) continue;
        if (!r->wrap) wrap_blank(run, r, earlier);
        r->wrapped[i] = 1;
        r->wrap = earlier;  // the first op that wrapped is the cause
    }
}
