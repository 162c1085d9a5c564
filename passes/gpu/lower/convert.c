// Converts one layout to another, by the cheapest method: renaming of registers, shuffles within
// warps, or a trip through shared memory.
#include "passes/gpu/lower/threads.h"

// A tile that is too large for the memory goes in slices. One bit after the other of its elements'
// numbers is the same for a slice: best those that registers choose in both layouts. Where threads
// choose one, only those with the slice store it, or take what is loaded.
enum { HALVES_MAX = 6 };

// The bits that choose a slice on one side, of registers and of the thread's number.
typedef struct SliceSide {
    Layout layout;  // of a slice
    bool by_register[HALVES_MAX];
    uint32_t bits[HALVES_MAX];  // of registers: after the bits before are dropped
} SliceSide;
typedef struct Slices {
    SliceSide from, to;
    uint32_t count;  // of the bits
} Slices;

static bool halve_side(SliceSide *s, uint32_t n, uint32_t element_bit, SliceSide *half) {
    LayoutDim dim;
    *half = *s;
    if (!layout_halve(&s->layout, element_bit, &half->layout, &dim, &half->bits[n])) return false;
    half->by_register[n] = dim == LAYOUT_REG;
    if (dim == LAYOUT_WARP) half->bits[n] += s->layout.dim_bits[LAYOUT_LANE];
    return true;
}

// By a bit that registers choose in both layouts, or by any.
static bool halve(Slices *s, bool any) {
    for (int moving = 0; moving <= any && s->count < HALVES_MAX; moving++)
        for (uint32_t bit = s->from.layout.tile_bits; bit-- > 0;) {
            SliceSide from, to;
            if (!halve_side(&s->from, s->count, bit, &from)) continue;
            if (!halve_side(&s->to, s->count, bit, &to)) continue;
            if (!moving && !(from.by_register[s->count] && to.by_register[s->count])) continue;
            s->from = from, s->to = to;
            s->count++;
            return true;
        }
    return false;
}

static uint32_t with_bit(uint32_t number, uint32_t at, uint32_t bit) {
    uint32_t below = (UINT32_C(1) << at) - 1;
    return (number & below) | bit << at | (number & ~below) << 1;
}

// The register of the tile that is this register of a slice.
static uint32_t whole_register(const SliceSide *s, uint32_t count, uint32_t slice, uint32_t reg) {
    for (uint32_t i = count; i-- > 0;)
        if (s->by_register[i]) reg = with_bit(reg, s->bits[i], slice >> i & 1);
    return reg;
}

// Has the thread elements of the slice? `mask` are further bits of its number, that must be 0.
static IrValue *has_slice(Threads *t, const SliceSide *s, uint32_t count, uint32_t slice,
                          uint32_t mask) {
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (s->by_register[i]) continue;
        mask |= UINT32_C(1) << s->bits[i];
        wanted |= (slice >> i & 1) << s->bits[i];
    }
    return threads_with_bits(t, mask, wanted);
}

static IrValue *move_slice(Threads *t, IrValue *x, const Layout *from, const Slices *s,
                           uint32_t slice) {
    uint32_t count = layout_size(&s->from.layout, LAYOUT_REG);
    uint32_t *regs = arena_new(t->scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) regs[i] = whole_register(&s->from, s->count, slice, i);
    uint32_t others = layout_free_bits(from, LAYOUT_WARP) << from->dim_bits[LAYOUT_LANE];
    ThreadsTrip *trip =
        threads_trip_of(t, threads_pick(t, x, count, regs), &s->from.layout, &s->to.layout,
                        has_slice(t, &s->from, s->count, slice, others));
    threads_barrier(t);
    IrValue *r = threads_trip_load_all(t, trip);
    threads_barrier(t);
    return r;
}

static IrValue *in_slices(Threads *t, IrValue *x, const Layout *from, const Slices *s) {
    uint32_t slices = UINT32_C(1) << s->count, count = layout_size(&s->to.layout, LAYOUT_REG);
    IrValue **parts = arena_new(t->scratch, IrValue *, slices);
    uint32_t *order = arena_new(t->scratch, uint32_t, slices * count), used = 0;
    uint32_t *starts = arena_new(t->scratch, uint32_t, slices);  // a part's first register
    for (uint32_t n = 0; n < slices; n++) {
        IrValue *part = move_slice(t, x, from, s, n);
        uint32_t start = whole_register(&s->to, s->count, n, 0), k = 0;
        while (k < used && starts[k] != start) k++;
        IrValue *own = k < used ? has_slice(t, &s->to, s->count, n, 0) : NULL;
        if (own) part = ir_ternary(&t->b, IR_SELECT, threads_splat(t, own, count), part, parts[k]);
        parts[k] = part, starts[k] = start;
        if (k < used) continue;
        for (uint32_t i = 0; i < count; i++)
            order[whole_register(&s->to, s->count, n, i)] = k * count + i;
        used++;
    }
    return threads_pick(t, threads_pack(t, used, parts), used * count, order);
}

static IrValue *through_shared(Threads *t, IrValue *x, const Layout *from, const Layout *to) {
    uint64_t bytes = (uint64_t)layout_elements(to) * ir_elem_size(x->type);
    Slices s = {.from.layout = *from, .to.layout = *to};
    remark(t->remarks, t->b.span, REASON_CONVERT_SHARED, NULL, REMARK((int64_t)bytes));
    while (!threads_fits_shared(t, bytes >> s.count) && halve(&s, true)) continue;
    while (threads_costs_occupancy(t, bytes >> s.count) && halve(&s, false)) continue;
    if (s.count) return in_slices(t, x, from, &s);
    ThreadsTrip *trip = threads_trip(t, x, from, to);
    threads_barrier(t);
    IrValue *r = threads_trip_load_all(t, trip);
    threads_barrier(t);
    return r;
}

// ---- all ----------------------------------------------------------------------------------------

IrValue *threads_move(Threads *t, IrValue *x, const Layout *from, const Layout *to) {
    const IrType *own = x->type;
    GpuConversion how =
        gpu_conversion(from, to, dtype_bits(gpu_moved_elem(own)), t->machine->banks);
    if (how.kind == GPU_CONVERT_NONE) return x;
    if (how.kind == GPU_CONVERT_REGISTERS) return threads_renamed(t, x, from, to);
    bool pointer = own->kind == IR_PTR, is_bool = !pointer && own->elem == DTYPE_BOOL;
    if (pointer) x = ir_bitcast(&t->b, x, threads_vector(t, DTYPE_U64, own->count));
    if (is_bool) x = ir_cast(&t->b, x, DTYPE_U8, false);
    if (how.kind == GPU_CONVERT_SHUFFLES)
        remark(t->remarks, t->b.span, REASON_CONVERT_SHUFFLES, NULL,
               REMARK((int64_t)layout_elements(to) * ir_elem_size(x->type),
                      1 << how.shuffle.round_bits));
    x = how.kind == GPU_CONVERT_SHUFFLES ? threads_shuffled(t, x, from, to, &how.shuffle)
                                         : through_shared(t, x, from, to);
    uint32_t count = x->type->count;
    if (is_bool) x = ir_cast(&t->b, x, DTYPE_BOOL, false);
    if (pointer) x = ir_bitcast(&t->b, x, ir_ptr(t->module, own->elem, 1, &count));
    return x;
}

void threads_convert(Threads *t, const IrOp *op) {
    threads_define(t, op, 0,
                   threads_move(t, threads_operand(t, op, 0), ir_operand(op, 0)->type->layout,
                                op->results[0].type->layout));
}
