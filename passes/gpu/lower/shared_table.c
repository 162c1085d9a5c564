#include "passes/gpu/lower/shared_table.h"

void place_strides(const IrType *type, uint32_t *strides) {
    uint32_t stride = 1;
    for (uint32_t d = type->rank; d-- > 0; stride *= type->shape[d]) strides[d] = stride;
}

void place_strides_along(const IrType *type, uint32_t last, uint32_t extent, uint32_t *strides) {
    uint32_t stride = extent;
    for (uint32_t d = type->rank; d-- > 0;) {
        if (d == last) continue;
        strides[d] = stride;
        stride *= type->shape[d];
    }
    strides[last] = 1;
}

static uint32_t place_of_element(const SharedPlace *p, uint32_t element) {
    uint32_t coords[IR_MAX_RANK], at = 0;
    layout_coords(p->layout, element, coords);
    for (uint32_t d = 0; d < p->layout->rank; d++) at += coords[d] * p->strides[d];
    return at;
}

static uint32_t bases_of(const SharedPlace *p, LayoutDim dim, uint32_t *bases) {
    uint32_t bits = p->layout->dim_bits[dim];
    for (uint32_t i = 0; i < bits; i++)
        bases[i] = place_of_element(p, layout_basis(p->layout, dim, i));
    return bits;
}

SharedPlace place_of(Threads *t, const Layout *l, const uint32_t *strides) {
    SharedPlace p = {.layout = l};
    for (uint32_t d = 0; d < l->rank; d++) p.strides[d] = strides[d];
    uint32_t lanes[32], warps[32];
    uint32_t lane_bits = bases_of(&p, LAYOUT_LANE, lanes);
    uint32_t warp_bits = bases_of(&p, LAYOUT_WARP, warps);
    p.base = threads_linear(t, lanes, lane_bits, warps, warp_bits);
    return p;
}

IrValue *place_at(Threads *t, const SharedPlace *p, uint32_t reg) {
    uint32_t offset = place_of_element(p, layout_apply(p->layout, layout_at(reg, 0, 0)));
    return offset ? ir_binary(&t->b, IR_XOR, p->base, threads_i32(t, offset)) : p->base;
}

void place_store(Threads *t, IrValue *memory, IrValue *x, const SharedPlace *p) {
    IrValue *writer = threads_writer(t, p->layout);
    for (uint32_t r = 0; r < layout_size(p->layout, LAYOUT_REG); r++) {
        if (threads_first_holder(p->layout, r) != r) continue;
        threads_store(t, threads_at(t, memory, place_at(t, p, r)), threads_get(t, x, r), 0, writer);
    }
}

IrValue *place_load(Threads *t, IrValue *memory, const SharedPlace *p, IrValue *more,
                    IrValue *mask) {
    uint32_t count = layout_size(p->layout, LAYOUT_REG);
    IrValue **parts = arena_new(t->scratch, IrValue *, count);
    for (uint32_t r = 0; r < count; r++) {
        IrValue *at = place_at(t, p, r);
        if (more) {
            IrValue *m = threads_get(t, more, r);
            if (m->type->elem != at->type->elem) at = ir_cast(&t->b, at, m->type->elem, false);
            at = ir_binary(&t->b, IR_ADD, at, m);
        }
        IrValue *on = mask ? threads_get(t, mask, r) : NULL;
        parts[r] = threads_load(t, threads_at(t, memory, at), 1, 0, on, NULL);
    }
    return threads_pack(t, count, parts);
}
