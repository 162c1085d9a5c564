// Layouts as numbers: parts that depend on the thread are computed from its number; parts that
// depend on the register are constants.
#include "passes/gpu/lower/threads.h"

// ---- linear maps of the thread's number ---------------------------------------------------------

// Neighbouring bits that map to neighbouring bits: one shift and one mask for all of them.
static IrValue *run_of_bits(Threads *t, uint32_t bit, uint32_t count, uint32_t to) {
    IrValue *x = t->thread;
    uint32_t mask = (uint32_t)((UINT64_C(1) << count) - 1);
    if (bit > to)
        x = ir_binary(&t->b, IR_SHR, x, threads_i32(t, bit - to));
    else if (bit < to)
        x = ir_binary(&t->b, IR_SHL, x, threads_i32(t, to - bit));
    return ir_binary(&t->b, IR_AND, x, threads_i32(t, (int64_t)mask << to));
}

static bool one_bit(uint32_t x) { return x && (x & (x - 1)) == 0; }

static uint32_t log2_of(uint32_t x) { return (uint32_t)__builtin_ctz(x); }

// A bit that maps to several bits: a multiplication copies it to them.
static IrValue *scattered_bit(Threads *t, uint32_t bit, uint32_t to) {
    IrValue *x = ir_binary(&t->b, IR_SHR, t->thread, threads_i32(t, bit));
    x = ir_binary(&t->b, IR_AND, x, threads_i32(t, 1));
    return ir_binary(&t->b, IR_MUL, x, threads_i32(t, to));
}

IrValue *threads_linear(Threads *t, const uint32_t *lane_bases, uint32_t lane_bits,
                        const uint32_t *warp_bases, uint32_t warp_bits) {
    uint32_t bases[64], count = 0;
    for (uint32_t i = 0; i < lane_bits; i++) bases[count++] = lane_bases[i];
    for (uint32_t i = 0; i < warp_bits; i++) bases[count++] = warp_bases[i];
    IrValue *sum = NULL;
    for (uint32_t i = 0; i < count;) {
        uint32_t run = 1;
        if (!bases[i]) {
            i++;
            continue;
        }
        if (one_bit(bases[i]))
            while (i + run < count && bases[i + run] == bases[i] << run) run++;
        IrValue *part = one_bit(bases[i]) ? run_of_bits(t, i, run, log2_of(bases[i]))
                                          : scattered_bit(t, i, bases[i]);
        sum = sum ? ir_binary(&t->b, IR_XOR, sum, part) : part;
        i += run;
    }
    return sum ? sum : threads_i32(t, 0);
}

static uint32_t coord_of_element(const Layout *l, uint32_t element, uint32_t axis) {
    uint32_t coords[IR_MAX_RANK];
    layout_coords(l, element, coords);
    return coords[axis];
}

static uint32_t bases_along(const Layout *l, LayoutDim dim, uint32_t axis, uint32_t *bases) {
    uint32_t bits = l->dim_bits[dim];
    for (uint32_t i = 0; i < bits; i++)
        bases[i] = coord_of_element(l, layout_basis(l, dim, i), axis);
    return bits;
}

IrValue *threads_coord(Threads *t, const Layout *l, uint32_t axis) {
    uint32_t lanes[32], warps[32];
    uint32_t lane_bits = bases_along(l, LAYOUT_LANE, axis, lanes);
    uint32_t warp_bits = bases_along(l, LAYOUT_WARP, axis, warps);
    return threads_linear(t, lanes, lane_bits, warps, warp_bits);
}

uint32_t threads_offset(const Layout *l, uint32_t reg, uint32_t axis) {
    return coord_of_element(l, layout_apply(l, layout_at(reg, 0, 0)), axis);
}

bool threads_disjoint(const Layout *l, uint32_t axis) {
    uint32_t seen[2] = {0}, bases[32];
    for (int thread = 0; thread < 2; thread++) {
        for (LayoutDim dim = LAYOUT_REG; dim <= LAYOUT_WARP; dim++) {
            if ((dim != LAYOUT_REG) != thread) continue;
            uint32_t bits = bases_along(l, dim, axis, bases);
            for (uint32_t i = 0; i < bits; i++) seen[thread] |= bases[i];
        }
    }
    return (seen[0] & seen[1]) == 0;
}

IrValue *threads_coord_of(Threads *t, const Layout *l, uint32_t axis, uint32_t reg) {
    IrValue *base = threads_coord(t, l, axis);
    uint32_t offset = threads_offset(l, reg, axis);
    if (!offset) return base;
    return ir_binary(&t->b, threads_disjoint(l, axis) ? IR_ADD : IR_XOR, base,
                     threads_i32(t, offset));
}

// ---- the thread that writes ---------------------------------------------------------------------

IrValue *threads_with_bits(Threads *t, uint32_t mask, uint32_t wanted) {
    if (!mask) return NULL;
    IrValue *bits = ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, mask));
    return ir_binary(&t->b, IR_EQ, bits, threads_i32(t, wanted));
}

IrValue *threads_owner(Threads *t, const Layout *l) {
    uint32_t lanes = layout_free_bits(l, LAYOUT_LANE), warps = layout_free_bits(l, LAYOUT_WARP);
    return threads_with_bits(t, lanes | warps << l->dim_bits[LAYOUT_LANE], 0);
}

IrValue *threads_writer(Threads *t, const Layout *l) {
    return threads_with_bits(t, layout_free_bits(l, LAYOUT_WARP) << l->dim_bits[LAYOUT_LANE], 0);
}

uint32_t threads_first_holder(const Layout *l, uint32_t reg) {
    return reg & ~layout_free_bits(l, LAYOUT_REG);
}
