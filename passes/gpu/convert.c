// From one layout to another: registers by other names, shuffles within warps, or a trip through
// shared memory.
#include "passes/gpu/threads.h"

// ---- through shared memory ----------------------------------------------------------------------

// One layout's side of a trip: where in the memory, as offsets in elements, its parts lie.
typedef struct Side {
    const Layout *layout;
    uint32_t inverse[LAYOUT_MAX_TILE_BITS];  // of the memory
    IrValue *base;                           // i32: of this thread's register 0
    bool adds;                               // base and a register's offset share no bits
    uint32_t vector;
    uint32_t steps[8];  // register xors of the lowest offset bits
} Side;

static uint32_t preimage(const uint32_t *inverse, uint32_t element) {
    uint32_t offset = 0;
    for (uint32_t i = 0; element >> i; i++)
        if (element >> i & 1) offset ^= inverse[i];
    return offset;
}

static uint32_t offset_of(const Side *s, uint32_t reg) {
    return preimage(s->inverse, layout_apply(s->layout, layout_at(reg, 0, 0)));
}

static uint32_t offsets_of_bits(const Side *s, LayoutDim dim, uint32_t *offsets) {
    uint32_t all = 0, bits = s->layout->dim_bits[dim];
    for (uint32_t i = 0; i < bits; i++) {
        offsets[i] = preimage(s->inverse, layout_basis(s->layout, dim, i));
        all |= offsets[i];
    }
    return all;
}

static Side side_of(Threads *t, const Layout *l, const Layout *memory, uint32_t vector) {
    Side s = {.layout = l, .vector = vector};
    uint32_t lanes[32], warps[32], regs[32];
    CHECK(layout_invert(memory, s.inverse), "a memory that holds not all of a tile");
    uint32_t moving = offsets_of_bits(&s, LAYOUT_LANE, lanes);
    moving |= offsets_of_bits(&s, LAYOUT_WARP, warps);
    s.adds = (moving & offsets_of_bits(&s, LAYOUT_REG, regs)) == 0;
    s.base = threads_linear(t, lanes, l->dim_bits[LAYOUT_LANE], warps, l->dim_bits[LAYOUT_WARP]);
    for (uint32_t bit = 0; 1u << bit < vector; bit++) {
        uint32_t reg = 0;
        while (reg < layout_size(l, LAYOUT_REG) && offset_of(&s, reg) != 1u << bit) reg++;
        CHECK(reg < layout_size(l, LAYOUT_REG), "no register for offset bit %u", bit);
        s.steps[bit] = reg;
    }
    return s;
}

static uint32_t stepped(const Side *s, uint32_t reg, uint32_t i) {
    for (uint32_t bit = 0; i >> bit; bit++)
        if (i >> bit & 1) reg ^= s->steps[bit];
    return reg;
}

static IrValue *place_of(Threads *t, const Side *s, IrValue *memory, uint32_t reg) {
    uint32_t offset = offset_of(s, reg);
    if (!s->adds && offset)
        return threads_at(t, memory, ir_binary(&t->b, IR_XOR, s->base, threads_i32(t, offset)));
    IrValue *p = threads_at(t, memory, s->base);
    return offset ? threads_at(t, p, threads_i64(t, offset)) : p;
}

static void store_all(Threads *t, IrValue *memory, IrValue *x, const Side *s) {
    uint32_t bytes = s->vector * (uint32_t)dtype_size(x->type->elem), regs[16];
    IrValue *owner = threads_owner(t, s->layout);
    for (uint32_t reg = 0; reg < layout_size(s->layout, LAYOUT_REG); reg++) {
        if (threads_first_holder(s->layout, reg) != reg) continue;
        if (offset_of(s, reg) % s->vector) continue;  // not the first of its access
        for (uint32_t i = 0; i < s->vector; i++) regs[i] = stepped(s, reg, i);
        IrValue *part =
            s->vector == 1 ? threads_get(t, x, reg) : threads_pick(t, x, s->vector, regs);
        threads_store(t, place_of(t, s, memory, reg), part, bytes, owner);
    }
}

static IrValue *load_all(Threads *t, IrValue *memory, const Side *s) {
    uint32_t total = layout_size(s->layout, LAYOUT_REG), count = 0, at = 0;
    uint32_t bytes = s->vector * (uint32_t)dtype_size(memory->type->elem);
    uint32_t *where = arena_new(t->scratch, uint32_t, total);
    IrValue **parts = arena_new(t->scratch, IrValue *, total);
    for (uint32_t reg = 0; reg < total; reg++) {
        if (threads_first_holder(s->layout, reg) != reg || offset_of(s, reg) % s->vector) continue;
        for (uint32_t i = 0; i < s->vector; i++) where[stepped(s, reg, i)] = at++;
        parts[count++] = threads_load(t, place_of(t, s, memory, reg), s->vector, bytes, NULL, NULL);
    }
    for (uint32_t reg = 0; reg < total; reg++)
        where[reg] = where[threads_first_holder(s->layout, reg)];
    return threads_pick(t, threads_pack(t, count, parts), total, where);
}

static IrValue *through_shared(Threads *t, IrValue *x, const Layout *from, const Layout *to) {
    LayoutSide store = {.layout = from}, load = {.layout = to};
    LayoutTrip trip;
    Dtype elem = x->type->elem;
    CHECK(layout_trip(&store, &load, dtype_bits(elem), &layout_banks_nvidia, &trip),
          "no trip between two layouts of a tile");
    IrValue *memory = threads_shared(t, elem, layout_elements(&trip.memory));
    Side in = side_of(t, from, &trip.memory, trip.store_vector);
    store_all(t, memory, x, &in);
    threads_barrier(t);
    Side out = side_of(t, to, &trip.memory, trip.load_vector);
    IrValue *r = load_all(t, memory, &out);
    threads_barrier(t);
    return r;
}

// ---- within a lane ------------------------------------------------------------------------------

static bool by_registers(Threads *t, IrValue **x, const Layout *from, const Layout *to) {
    LayoutMoves moves;
    if (!layout_moves(from, to, &moves)) return false;
    for (uint32_t i = 0; i < LAYOUT_MAX_BITS; i++)
        if (moves.by_lane[i] || moves.by_warp[i] || moves.by_block[i]) return false;
    uint32_t count = layout_size(to, LAYOUT_REG);
    uint32_t *regs = arena_new(t->scratch, uint32_t, count);
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t bit = 0; r >> bit; bit++)
            if (r >> bit & 1) regs[r] ^= moves.by_register[bit];
    *x = threads_pick(t, *x, count, regs);
    return true;
}

// ---- all ----------------------------------------------------------------------------------------

IrValue *threads_move(Threads *t, IrValue *x, const Layout *from, const Layout *to) {
    const IrType *own = x->type;
    if (by_registers(t, &x, from, to)) return x;
    bool is_bool = own->elem == DTYPE_BOOL, pointer = own->kind == IR_PTR;
    if (pointer) x = ir_bitcast(&t->b, x, threads_vector(t, DTYPE_U64, own->count));
    if (is_bool) x = ir_cast(&t->b, x, DTYPE_U8, false);
    x = through_shared(t, x, from, to);
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
