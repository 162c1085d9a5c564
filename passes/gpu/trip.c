// Trips through shared memory: stores of one layout, loads of another, each as vectors of what
// lies side by side there, or as matrices of 8 by 8.
#include "passes/gpu/threads.h"

// One layout's side of a trip: where in the memory, as offsets in elements, its parts lie.
typedef struct Side {
    const Layout *layout;
    uint32_t inverse[LAYOUT_MAX_TILE_BITS];  // of the memory
    IrValue *base;                           // i32: of this thread's register 0
    bool adds;                               // base and a register's offset share no bits
    uint32_t vector;
    uint32_t steps[8];  // register xors of the lowest offset bits
} Side;

struct ThreadsTrip {
    IrValue *memory;
    Side side;  // of the loads
    bool by_matrix, turned;
    LayoutMatrix matrix;
    IrValue **parts;    // by register: what holds it; NULL: not loaded yet
    uint32_t *indices;  // and where in there
};

// ---- where --------------------------------------------------------------------------------------

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

// Lanes lie where `lanes` says (5 bits), or, NULL, what they hold.
static void place_threads(Threads *t, Side *s, const uint32_t *lanes) {
    uint32_t own[32], warps[32], regs[32], bits = 5, moving = 0;
    if (!lanes) {
        moving = offsets_of_bits(s, LAYOUT_LANE, own);
        bits = s->layout->dim_bits[LAYOUT_LANE];
        lanes = own;
    }
    for (uint32_t i = 0; i < bits; i++) moving |= lanes[i];
    moving |= offsets_of_bits(s, LAYOUT_WARP, warps);
    s->adds = (moving & offsets_of_bits(s, LAYOUT_REG, regs)) == 0;
    s->base = threads_linear(t, lanes, bits, warps, s->layout->dim_bits[LAYOUT_WARP]);
}

static Side side_of(const Layout *l, const Layout *memory, uint32_t vector) {
    Side s = {.layout = l, .vector = vector};
    CHECK(layout_invert(memory, s.inverse), "a memory that holds not all of a tile");
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

// ---- stores -------------------------------------------------------------------------------------

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

static void say_conflicts(Threads *t, const char *what, LayoutConflicts c) {
    if (c.wavefronts > c.phases)
        remark(t->remarks, t->b.span, REASON_BANK_CONFLICTS, what, REMARK(c.wavefronts, c.phases));
}

void threads_trip_store(Threads *t, IrValue *p, IrValue *x, const Layout *from,
                        const Layout *memory) {
    uint32_t bits = dtype_bits(p->type->elem);
    uint32_t vector = layout_shared_vector(from, memory, bits, GPU_ACCESS_BYTES);
    Side s = side_of(from, memory, vector);
    place_threads(t, &s, NULL);
    if (t->remarks)
        say_conflicts(t, "a store to",
                      layout_conflicts(from, memory, vector, bits, &layout_banks_nvidia, true));
    store_all(t, p, x, &s);
}

// ---- the way ------------------------------------------------------------------------------------

// Wavefronts and instructions of all of one side's accesses.
static uint64_t cost_of(const Layout *l, uint32_t per_access, LayoutConflicts c) {
    return (uint64_t)layout_size(l, LAYOUT_REG) / per_access * (c.wavefronts + 1);
}

static uint64_t trip_cost(const Layout *from, const Layout *to, const LayoutTrip *trip,
                          uint32_t per_load) {
    return cost_of(from, trip->store_vector, trip->store) + cost_of(to, per_load, trip->load);
}

// By matrices, if that is possible and costs no more than `most`: then a step of K is what it
// loads.
static void try_matrix(ThreadsTrip *r, const Layout *from, const Layout *to, uint32_t bits,
                       bool turned, uint64_t *most, LayoutTrip *best) {
    LayoutSide store = {.layout = from}, load = {.layout = to};
    load.move = turned ? LAYOUT_MOVE_TRANSPOSED : LAYOUT_MOVE_MATRIX;
    LayoutTrip trip;
    LayoutMatrix matrix;
    if (!layout_trip(&store, &load, bits, &layout_banks_nvidia, &trip)) return;
    if (!layout_matrix(to, &trip.memory, bits, turned, 4, &matrix)) return;
    uint64_t cost = trip_cost(from, to, &trip, matrix.count << matrix.packed);
    if (cost > *most) return;
    *most = cost;
    *best = trip;
    r->by_matrix = true;
    r->turned = turned;
    r->matrix = matrix;
}

// Wavefronts beyond those that as many bytes take without conflicts; matrix loads have none.
static void say_trip(Threads *t, const ThreadsTrip *r, const LayoutTrip *trip, Dtype elem) {
    if (!t->remarks) return;
    const char *how = !r->by_matrix ? "vectors" : r->turned ? "ldmatrix.trans" : "ldmatrix";
    uint32_t size = (uint32_t)dtype_size(elem);
    uint32_t load_bytes = r->by_matrix ? GPU_ACCESS_BYTES : trip->load_vector * size;
    remark(t->remarks, t->b.span, REASON_SHARED_TRIP, how,
           REMARK(layout_elements(&trip->memory) * size, trip->store_vector * size, load_bytes));
    say_conflicts(t, "a store to", trip->store);
    if (!r->by_matrix) say_conflicts(t, "a load from", trip->load);
}

ThreadsTrip *threads_trip(Threads *t, IrValue *x, const Layout *from, const Layout *to) {
    LayoutSide store = {.layout = from}, load = {.layout = to};
    LayoutTrip best;
    Dtype elem = x->type->elem;
    ThreadsTrip *r = arena_new(t->scratch, ThreadsTrip, 1);
    CHECK(layout_trip(&store, &load, dtype_bits(elem), &layout_banks_nvidia, &best),
          "no trip between two layouts of a tile");
    uint64_t cost = trip_cost(from, to, &best, best.load_vector);
    uint32_t bits = dtype_bits(elem);
    if (bits <= 32 && t->machine->gpu.vendor == GPU_NVIDIA) {
        try_matrix(r, from, to, bits, false, &cost, &best);
        if (bits == 16) try_matrix(r, from, to, bits, true, &cost, &best);
    }
    say_trip(t, r, &best, elem);
    r->memory = threads_shared(t, elem, layout_elements(&best.memory));
    Side in = side_of(from, &best.memory, best.store_vector);
    place_threads(t, &in, NULL);
    store_all(t, r->memory, x, &in);
    r->side = side_of(to, &best.memory, r->by_matrix ? 1 : best.load_vector);
    place_threads(t, &r->side, r->by_matrix ? r->matrix.row_lanes : NULL);
    r->parts = arena_new(t->scratch, IrValue *, layout_size(to, LAYOUT_REG));
    r->indices = arena_new(t->scratch, uint32_t, layout_size(to, LAYOUT_REG));
    return r;
}

// ---- loads --------------------------------------------------------------------------------------

static void load_matrices(Threads *t, ThreadsTrip *trip, uint32_t reg) {
    uint32_t count = trip->matrix.count << trip->matrix.packed;
    reg &= ~(count - 1);  // matrices follow the registers above those of a word
    const IrType *type = threads_vector(t, trip->memory->type->elem, count);
    IrValue *p = place_of(t, &trip->side, trip->memory, reg);
    IrOp *op = ir_op(&t->b, IR_THREAD_MATRIX_LOAD, 1, &p, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_COUNT, trip->matrix.count);
    ir_attr_set_int(op, IR_ATTR_TURNED, trip->turned);
    for (uint32_t i = 0; i < count; i++) {
        trip->parts[reg + i] = ir_result(op, 0);
        trip->indices[reg + i] = i;
    }
}

static void load_vector(Threads *t, ThreadsTrip *trip, uint32_t reg) {
    const Side *s = &trip->side;
    uint32_t bytes = s->vector * (uint32_t)dtype_size(trip->memory->type->elem);
    uint32_t inside = offset_of(s, reg) % s->vector;
    reg = stepped(s, reg, inside);
    IrValue *part =
        threads_load(t, place_of(t, s, trip->memory, reg), s->vector, bytes, NULL, NULL);
    for (uint32_t i = 0; i < s->vector; i++) {
        uint32_t to = threads_first_holder(s->layout, stepped(s, reg, i));
        trip->parts[to] = part;
        trip->indices[to] = i;
    }
}

static uint32_t loaded(Threads *t, ThreadsTrip *trip, uint32_t reg) {
    if (!trip->by_matrix) reg = threads_first_holder(trip->side.layout, reg);
    if (trip->parts[reg]) return reg;
    if (trip->by_matrix)
        load_matrices(t, trip, reg);
    else
        load_vector(t, trip, reg);
    CHECK(trip->parts[reg], "register %u was not loaded", reg);
    return reg;
}

IrValue *threads_trip_load(Threads *t, ThreadsTrip *trip, uint32_t count, const uint32_t *regs) {
    uint32_t *where = arena_new(t->scratch, uint32_t, count), used = 0, lanes = 0;
    IrValue **parts = arena_new(t->scratch, IrValue *, count);
    uint32_t *starts = arena_new(t->scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t reg = loaded(t, trip, regs[i]), k = used;
        while (k > 0 && parts[k - 1] != trip->parts[reg]) k--;
        if (k == 0) {  // a part that was not met yet
            parts[used] = trip->parts[reg];
            starts[used] = lanes;
            lanes += trip->parts[reg]->type->count;
            k = ++used;
        }
        where[i] = starts[k - 1] + trip->indices[reg];
    }
    return threads_pick(t, threads_pack(t, used, parts), count, where);
}
