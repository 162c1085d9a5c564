// Ops that move elements: the same copy moves values and their shadows.
#include "ir/interp/internal.h"

// Copies `rank` dimensions: the target is contiguous, the source has a stride (in elements) for
// each.
static void copy_strided(unsigned char *to, const unsigned char *from, uint32_t size, uint32_t rank,
                         const uint32_t *shape, const uint64_t *stride) {
    if (rank == 0) {
        copy_element(to, from, size);
        return;
    }
    uint64_t step = 1;
    for (uint32_t d = 1; d < rank; d++) step *= shape[d];
    for (uint64_t i = 0; i < shape[0]; i++) {
        unsigned char *target = to + i * step * size;
        const unsigned char *source = from + i * stride[0] * size;
        if (rank == 1)
            copy_element(target, source, size);
        else if (rank == 2 && stride[1] == 1)
            memcpy(target, source, (size_t)shape[1] * size);
        else
            copy_strided(target, source, size, rank - 1, shape + 1, stride + 1);
    }
}

static void strides_of(const IrType *t, uint64_t *stride) {
    uint64_t step = 1;
    for (uint32_t d = t->rank; d-- > 0;) {
        stride[d] = step;
        step *= t->shape[d];
    }
}

typedef struct Move {
    const IrOp *op;
    const IrType *to, *from;
    uint32_t which;  // result of split
} Move;

static void move_broadcast(const Move *m, unsigned char *to, const unsigned char *from,
                           uint32_t size) {
    uint64_t stride[IR_MAX_RANK] = {0}, own[IR_MAX_RANK] = {0};
    strides_of(m->from, own);
    if (m->from->rank == m->to->rank)
        for (uint32_t d = 0; d < m->to->rank; d++) stride[d] = m->from->shape[d] == 1 ? 0 : own[d];
    copy_strided(to, from, size, m->to->rank, m->to->shape, stride);
}

static void move_permute(const Move *m, unsigned char *to, const unsigned char *from,
                         uint32_t size) {
    uint64_t stride[IR_MAX_RANK] = {0}, own[IR_MAX_RANK] = {0};
    const IrAttr *perm = ir_attr(m->op, IR_ATTR_PERM);
    strides_of(m->from, own);
    for (uint32_t d = 0; d < m->to->rank; d++) stride[d] = own[perm->u.ints.items[d]];
    copy_strided(to, from, size, m->to->rank, m->to->shape, stride);
}

static void move_split(const Move *m, unsigned char *to, const unsigned char *from, uint32_t size) {
    for (uint64_t i = 0; i < m->to->count; i++)
        copy_element(to + i * size, from + (2 * i + m->which) * size, size);
}

static void move_join(const Move *m, unsigned char *to, const unsigned char *a,
                      const unsigned char *b, uint32_t size) {
    for (uint64_t i = 0; i < m->from->count; i++) {
        copy_element(to + 2 * i * size, a + i * size, size);
        copy_element(to + (2 * i + 1) * size, b + i * size, size);
    }
}

static void move_cat(const Move *m, unsigned char *to, const unsigned char *a,
                     const unsigned char *b, uint32_t size) {
    AxisLines l = lines_of(m->from, ir_attr_int(m->op, IR_ATTR_AXIS));
    size_t block = (size_t)(l.n * l.inner) * size;
    for (uint64_t o = 0; o < l.outer; o++) {
        memcpy(to + 2 * o * block, a + o * block, block);
        memcpy(to + (2 * o + 1) * block, b + o * block, block);
    }
}

static void move_one(const Move *m, unsigned char *to, const unsigned char *from, uint32_t size) {
    if (m->op->code == IR_BROADCAST)
        move_broadcast(m, to, from, size);
    else if (m->op->code == IR_PERMUTE)
        move_permute(m, to, from, size);
    else if (m->op->code == IR_SPLIT)
        move_split(m, to, from, size);
    else
        memcpy(to, from, (size_t)m->to->count * size);  // reshape
}

static void move_two(const Move *m, unsigned char *to, const unsigned char *a,
                     const unsigned char *b, uint32_t size) {
    if (m->op->code == IR_JOIN)
        move_join(m, to, a, b, size);
    else
        move_cat(m, to, a, b, size);
}

// Numbers that wrapped: the flags move as the elements do.
static void move_flags(InterpRun *run, const Move *m, InterpSlot *r, InterpSlot *a, InterpSlot *b) {
    if (!a->wrap && !(b && b->wrap)) return;
    const unsigned char *from = wrap_flags(run, a), *other = b ? wrap_flags(run, b) : NULL;
    unsigned char *to = wrap_blank(run, r, a->wrap ? a->wrap : b->wrap);
    if (b)
        move_two(m, to, from, other, 1);
    else
        move_one(m, to, from, 1);
}

void execute_shape(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSlot *a = operand_slot(run, frame, op, 0);
    InterpSlot *b = operand_slot(run, frame, op, 1);
    uint32_t shadow_size = (uint32_t)sizeof(ShadowValue);
    for (uint32_t k = 0; k < op->result_count; k++) {
        InterpSlot *r = result_slot(run, frame, op, k);
        Move m = {op, r->type, a->type, k};
        if (b)
            move_two(&m, r->data, a->data, b->data, r->size);
        else
            move_one(&m, r->data, a->data, r->size);
        if (wrap_watched(run, frame)) move_flags(run, &m, r, a, b);
        if (!run->shadow || !shadow_any(run, frame, op)) continue;
        const ShadowValue *from = slot_shadow(run, a);
        unsigned char *to = (unsigned char *)slot_shadow_blank(run, r);
        if (b)
            move_two(&m, to, (const unsigned char *)from,
                     (const unsigned char *)slot_shadow(run, b), shadow_size);
        else
            move_one(&m, to, (const unsigned char *)from, shadow_size);
    }
}

AxisLines lines_of(const IrType *t, int64_t axis) {
    AxisLines l = {1, 1, 1};
    for (uint32_t d = 0; d < t->rank; d++) {
        if (d < axis)
            l.outer *= t->shape[d];
        else if (d == axis)
            l.n = t->shape[d];
        else
            l.inner *= t->shape[d];
    }
    return l;
}

void execute_gather(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSlot *x = operand_slot(run, frame, op, 0);
    const InterpSlot *index = operand_slot(run, frame, op, 1);
    InterpSlot *r = result_slot(run, frame, op, 0);
    int64_t axis = ir_attr_int(op, IR_ATTR_AXIS);
    AxisLines from = lines_of(x->type, axis), to = lines_of(r->type, axis);
    ShadowValue *shadow =
        run->shadow && (x->shadowed || index->shadowed) ? slot_shadow_blank(run, r) : NULL;
    for (uint64_t i = 0; i < r->count; i++) {
        uint64_t outer = i / (to.n * to.inner);
        int64_t k;
        bool fits = slot_i64(index, i, &k) && k >= 0 && (uint64_t)k < from.n;
        uint64_t at = fits ? (outer * from.n + (uint64_t)k) * from.inner + i % to.inner : 0;
        slot_put(r, i, fits ? slot_get(x, at) : 0);
        if (!shadow) continue;
        shadow[i] = fits ? shadow_get(x, at) : (ShadowValue){0, 0};
        if (shadow_get(index, i).e > 0) shadow[i].e = HUGE_VAL;
    }
}
