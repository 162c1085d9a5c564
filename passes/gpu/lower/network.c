// The bitonic network: runs of 2, 4, 8, … elements are merged from runs of half the length. The
// first step of a merge compares the first element with the last, the second with the last but one,
// and so on; the following ones compare elements that are half of a run apart, a quarter, …, 1. So
// all steps order alike. A step stays in a thread, or exchanges numbers with another lane by a
// shuffle, or with another warp through shared memory. Elements that are near each other are
// compared most often, so they are in the registers of a thread, then in the lanes of a warp.
//
// For topk, runs of the length that is kept are sorted. Then the lesser half of each two runs is
// taken, and sorted by a merge, until one is left. The bits of registers choose a run, so that each
// of these steps halves the registers.
#include "passes/gpu/lower/network.h"

enum { WORK_MAX = 1100 };  // registers times steps, which are all code

// ---- the layout ---------------------------------------------------------------------------------

// Gives the next free bit of a dimension to an element bit; an element bit of the axis is noted.
static void give(Network *net, LayoutDim dim, uint32_t element_bit) {
    uint32_t lanes = net->layout.dim_bits[LAYOUT_LANE];
    uint32_t own = net->layout.dim_bits[dim] + (dim == LAYOUT_WARP ? lanes : 0);
    if (element_bit >= net->start && element_bit < net->start + net->bits)
        net->at[element_bit - net->start] = (NetworkBit){dim, own};
    layout_add(&net->layout, dim, UINT32_C(1) << element_bit);
}

// The bits of an element's number: those of the axis, then the others.
static uint32_t element_bits(const Network *net, uint32_t *bits) {
    uint32_t count = 0, end = net->start + net->bits;
    for (uint32_t i = net->start; i < end; i++) bits[count++] = i;
    for (uint32_t i = 0; i < net->layout.tile_bits; i++)
        if (i < net->start || i >= end) bits[count++] = i;
    return count;
}

// Gives bits[*next] and those that follow, below `end`, to the dimension, up to `most`.
static void fill(Network *net, LayoutDim dim, uint32_t most, const uint32_t *bits, uint32_t end,
                 uint32_t *next) {
    while (net->layout.dim_bits[dim] < most && *next < end) give(net, dim, bits[(*next)++]);
}

// Threads beyond the elements hold copies.
static void repeat(Network *net, LayoutDim dim, uint32_t most) {
    while (net->layout.dim_bits[dim] < most) layout_add(&net->layout, dim, 0);
}

static uint32_t log2_of(uint32_t x) { return (uint32_t)__builtin_ctz(x); }

uint32_t network_steps(const Network *net) {
    uint32_t steps = net->kept * (net->kept + 1) / 2;
    return steps + (net->bits - net->kept) * (net->kept + 1);
}

bool network_plan(Network *net, Threads *t, const IrType *type, uint32_t axis, uint32_t kept) {
    GpuThreads threads = gpu_threads(t->func);
    uint32_t lanes = log2_of(threads.lanes), warps = log2_of(threads.warps);
    uint32_t bits[LAYOUT_MAX_TILE_BITS];
    *net = (Network){.t = t, .layout = layout_empty(type->rank, type->shape)};
    net->start = layout_axis_start(&net->layout, axis);
    net->bits = net->layout.axis_bits[axis];
    net->kept = kept ? log2_of(kept) : net->bits;
    uint32_t count = element_bits(net, bits);
    uint32_t regs = count > lanes + warps ? count - lanes - warps : 0;
    if (network_steps(net) > (uint32_t)WORK_MAX >> regs) return false;
    // The runs of topk are in lanes, if they fit, and registers choose the run.
    uint32_t runs = net->kept < net->bits && net->kept <= lanes ? net->kept : 0, first = 0;
    uint32_t next = runs;
    fill(net, LAYOUT_REG, regs, bits, count, &next);
    fill(net, LAYOUT_LANE, runs, bits, runs, &first);
    fill(net, LAYOUT_LANE, lanes, bits, count, &next);
    repeat(net, LAYOUT_LANE, lanes);
    fill(net, LAYOUT_WARP, warps, bits, count, &next);
    repeat(net, LAYOUT_WARP, warps);
    return true;
}

// ---- steps --------------------------------------------------------------------------------------

// Positions that differ by these bits of the axis.
typedef struct Flip {
    uint32_t regs, threads;
} Flip;

static Flip flip_of(const Network *net, uint32_t position) {
    Flip f = {0, 0};
    for (uint32_t i = 0; i < net->bits; i++) {
        if (!(position >> i & 1)) continue;
        if (net->at[i].dim == LAYOUT_REG)
            f.regs |= UINT32_C(1) << net->at[i].bit;
        else
            f.threads |= UINT32_C(1) << net->at[i].bit;
    }
    return f;
}

static uint32_t reg_count(const Network *net) { return layout_size(&net->layout, LAYOUT_REG); }

static IrValue *between_warps(Threads *t, IrValue *x, uint32_t count, Flip f) {
    uint32_t threads = ir_thread_count(t->func);
    IrValue *memory = threads_shared(t, x->type->elem, count * threads);
    IrValue *own = threads_at(t, memory, t->thread),
            **parts = arena_new(t->scratch, IrValue *, count);
    IrValue *other = ir_binary(&t->b, IR_XOR, t->thread, threads_i32(t, f.threads));
    for (uint32_t r = 0; r < count; r++)
        threads_store(t, threads_at(t, own, threads_i64(t, r * threads)), threads_get(t, x, r), 0,
                      NULL);
    threads_barrier(t);
    other = threads_at(t, memory, other);
    for (uint32_t r = 0; r < count; r++)
        parts[r] = threads_load(t, threads_at(t, other, threads_i64(t, (r ^ f.regs) * threads)), 1,
                                0, NULL, NULL);
    threads_barrier(t);
    return threads_pack(t, count, parts);
}

// For each register, the number at the position that differs by `f`.
static IrValue *partner(const Network *net, IrValue *x, Flip f) {
    Threads *t = net->t;
    uint32_t count = reg_count(net), *regs = arena_new(t->scratch, uint32_t, count);
    if (!x) return NULL;
    if (f.threads >> net->layout.dim_bits[LAYOUT_LANE]) return between_warps(t, x, count, f);
    for (uint32_t r = 0; r < count; r++) regs[r] = r ^ f.regs;
    if (f.regs) x = threads_pick(t, x, count, regs);
    return f.threads ? threads_xor_lane(t, x, f.threads) : x;
}

// Numbers: ranks with their positions.
typedef struct Numbers {
    IrValue *order, *places;
} Numbers;

static IrValue *is_later(Threads *t, Numbers x, Numbers y) {
    IrValue *later = ir_binary(&t->b, IR_GT, x.order, y.order);
    if (!x.places) return later;
    IrValue *tie = ir_binary(&t->b, IR_EQ, x.order, y.order);
    tie = ir_binary(&t->b, IR_AND, tie, ir_binary(&t->b, IR_GT, x.places, y.places));
    return ir_binary(&t->b, IR_OR, later, tie);
}

static Numbers chosen(Threads *t, IrValue *first, Numbers x, Numbers y) {
    Numbers r = {ir_ternary(&t->b, IR_SELECT, first, x.order, y.order), NULL};
    if (x.places) r.places = ir_ternary(&t->b, IR_SELECT, first, x.places, y.places);
    return r;
}

static IrValue *pick(Threads *t, IrValue *x, uint32_t count, const uint32_t *regs) {
    return x ? threads_pick(t, x, count, regs) : NULL;
}

// The registers with a 0 in the bit, or their partners.
static uint32_t half_regs(const Network *net, uint32_t bit, uint32_t flip, uint32_t *regs) {
    uint32_t half = 0;
    for (uint32_t r = 0; r < reg_count(net); r++)
        if (!(r >> bit & 1)) regs[half++] = r ^ flip;
    return half;
}

static IrValue *joined(const Network *net, IrValue *low, IrValue *high, uint32_t bit,
                       uint32_t flip) {
    uint32_t count = reg_count(net), *order = arena_new(net->t->scratch, uint32_t, count), half = 0;
    if (!low) return NULL;
    for (uint32_t r = 0; r < count; r++) {
        if (r >> bit & 1) continue;
        order[r] = half, order[r ^ flip] = count / 2 + half;
        half++;
    }
    return threads_pick(net->t, threads_pack(net->t, 2, (IrValue *[]){low, high}), count, order);
}

// Both ends of each pair are in one thread.
static void exchange_inside(Network *net, uint32_t bit, uint32_t flip) {
    Threads *t = net->t;
    uint32_t count = reg_count(net);
    uint32_t *low = arena_new(t->scratch, uint32_t, count);
    uint32_t *high = arena_new(t->scratch, uint32_t, count);
    uint32_t half = half_regs(net, bit, 0, low);
    half_regs(net, bit, flip, high);
    Numbers a = {pick(t, net->order, half, low), pick(t, net->places, half, low)};
    Numbers b = {pick(t, net->order, half, high), pick(t, net->places, half, high)};
    IrValue *swap = is_later(t, a, b);
    Numbers first = chosen(t, swap, b, a), last = chosen(t, swap, a, b);
    net->order = joined(net, first.order, last.order, bit, flip);
    net->places = joined(net, first.places, last.places, bit, flip);
}

// Orders the pairs of positions that differ by `flip`, of which bit `decides` is the highest.
static void exchange(Network *net, uint32_t flip, uint32_t decides) {
    Threads *t = net->t;
    NetworkBit at = net->at[decides];
    Flip f = flip_of(net, flip);
    if (at.dim == LAYOUT_REG) {
        CHECK(!f.threads, "a pair in different threads, of which a register decides");
        exchange_inside(net, at.bit, f.regs);
        return;
    }
    Numbers own = {net->order, net->places};
    Numbers other = {partner(net, net->order, f), partner(net, net->places, f)};
    uint32_t mask = UINT32_C(1) << at.bit;
    IrValue *upper = threads_splat(t, threads_with_bits(t, mask, mask), reg_count(net));
    IrValue *swap = ir_binary(&t->b, IR_XOR, is_later(t, own, other), upper);
    Numbers r = chosen(t, swap, other, own);
    net->order = r.order, net->places = r.places;
}

static void merge(Network *net, uint32_t bits) {
    for (uint32_t i = bits; i-- > 0;) exchange(net, UINT32_C(1) << i, i);
}

// ---- of two runs, the lesser half ---------------------------------------------------------------

static void drop_register_bit(Network *net, uint32_t bit) {
    for (uint32_t i = 0; i < net->bits; i++)
        if (net->at[i].dim == LAYOUT_REG && net->at[i].bit > bit) net->at[i].bit--;
}

// AccessRuns that differ in bit `which` of their positions become one. The second is read
// backwards, so that the lesser of each pair are a run that a merge sorts.
static void halve(Network *net, uint32_t which) {
    Threads *t = net->t;
    uint32_t run = UINT32_C(1) << net->kept, count = reg_count(net);
    Flip f = flip_of(net, UINT32_C(1) << which | (run - 1));
    Numbers own = {net->order, net->places};
    Numbers other = {partner(net, net->order, f), partner(net, net->places, f)};
    NetworkBit at = net->at[which];
    if (at.dim == LAYOUT_REG) {
        uint32_t *regs = arena_new(t->scratch, uint32_t, count);
        uint32_t half = half_regs(net, at.bit, 0, regs);
        own = (Numbers){pick(t, own.order, half, regs), pick(t, own.places, half, regs)};
        other = (Numbers){pick(t, other.order, half, regs), pick(t, other.places, half, regs)};
        layout_drop(&net->layout, LAYOUT_REG, at.bit);
        drop_register_bit(net, at.bit);
    }
    Numbers r = chosen(t, is_later(t, own, other), other, own);
    net->order = r.order, net->places = r.places;
    merge(net, net->kept);
}

// The layout of the first run alone.
static void keep_run(Network *net, const Layout *whole, uint32_t start) {
    LayoutDim dim;
    uint32_t bit;
    net->layout = *whole;
    for (uint32_t i = net->bits; i-- > net->kept;)
        CHECK(layout_halve(&net->layout, start + i, &net->layout, &dim, &bit),
              "a bit of a line that nothing chooses");
}

void network_sort(Network *net) {
    Layout whole = net->layout;
    for (uint32_t i = 0; i < net->kept; i++) {
        exchange(net, (UINT32_C(2) << i) - 1, i);
        merge(net, i);
    }
    if (net->kept == net->bits) return;
    for (LayoutDim dim = LAYOUT_REG; dim <= LAYOUT_WARP; dim++)
        for (uint32_t i = net->kept; i < net->bits; i++)
            if (net->at[i].dim == dim) halve(net, i);
    keep_run(net, &whole, net->start);
}
