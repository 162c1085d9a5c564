// Trips through shared memory: stores in one layout, loads in another, each as vectors of
// contiguous elements, or as matrices of 8 by 8.
#include "passes/gpu/lower/threads.h"

// One layout's side of a trip: the places of its parts in the memory, as offsets in elements.
typedef struct Side {
    ThreadsPlaces at;
    uint32_t vector;
    uint32_t steps[8];  // register xors of the lowest offset bits
} Side;

struct ThreadsTrip {
    IrValue *memory;
    Side side;  // of the loads
    bool by_matrix, transposed;
    LayoutMatrix matrix;
    IrValue **parts;    // by register: the value that holds it; NULL: not loaded yet
    uint32_t *indices;  // and its index in that value
};

// ---- where --------------------------------------------------------------------------------------

static uint32_t preimage(const uint32_t *inverse, uint32_t element) {
    uint32_t offset = 0;
    for (uint32_t i = 0; element >> i; i++)
        if (element >> i & 1) offset ^= inverse[i];
    return offset;
}

static uint32_t offset_of(const ThreadsPlaces *s, uint32_t reg) {
    return preimage(s->inverse, layout_apply(s->layout, layout_at(reg, 0, 0)));
}

static uint32_t offsets_of_bits(const ThreadsPlaces *s, LayoutDim dim, uint32_t *offsets) {
    uint32_t all = 0, bits = s->layout->dim_bits[dim];
    for (uint32_t i = 0; i < bits; i++) {
        offsets[i] = preimage(s->inverse, layout_basis(s->layout, dim, i));
        all |= offsets[i];
    }
    return all;
}

// Lanes are at the offsets `lanes` (5 bits), or, if that is NULL, of the elements they hold.
static void place_threads(Threads *t, ThreadsPlaces *s, const uint32_t *lanes) {
    uint32_t own[32], warps[32], bits = 5, moving = 0;
    if (!lanes) {
        moving = offsets_of_bits(s, LAYOUT_LANE, own);
        bits = s->layout->dim_bits[LAYOUT_LANE];
        lanes = own;
    }
    for (uint32_t i = 0; i < bits; i++) moving |= lanes[i];
    moving |= offsets_of_bits(s, LAYOUT_WARP, warps);
    s->moving = moving;
    s->base = threads_linear(t, lanes, bits, warps, s->layout->dim_bits[LAYOUT_WARP]);
}

static Side side_of(const Layout *l, const Layout *memory, uint32_t vector) {
    Side s = {.at.layout = l, .vector = vector};
    CHECK(layout_invert(memory, s.at.inverse), "a memory that holds not all of a tile");
    for (uint32_t bit = 0; 1u << bit < vector; bit++) {
        uint32_t reg = 0;
        while (reg < layout_size(l, LAYOUT_REG) && offset_of(&s.at, reg) != 1u << bit) reg++;
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

ThreadsPlaces threads_places(Threads *t, const Layout *l, const Layout *memory) {
    Side s = side_of(l, memory, 1);
    place_threads(t, &s.at, NULL);
    return s.at;
}

IrValue *threads_places_at(Threads *t, const ThreadsPlaces *s, IrValue *memory, uint32_t reg) {
    uint32_t offset = offset_of(s, reg), transposed = offset & s->moving,
             apart = offset & ~s->moving;
    IrValue *base = s->base;
    if (transposed) base = ir_binary(&t->b, IR_XOR, base, threads_i32(t, transposed));
    IrValue *p = threads_at(t, memory, base);
    return apart ? threads_at(t, p, threads_i64(t, apart)) : p;
}

// ---- stores -------------------------------------------------------------------------------------

static void store_all(Threads *t, IrValue *memory, IrValue *x, const Side *s, IrValue *writer) {
    uint32_t bytes = s->vector * (uint32_t)dtype_size(x->type->elem), regs[16];
    for (uint32_t reg = 0; reg < layout_size(s->at.layout, LAYOUT_REG); reg++) {
        if (threads_first_holder(s->at.layout, reg) != reg) continue;
        if (offset_of(&s->at, reg) % s->vector) continue;  // not the first of its access
        for (uint32_t i = 0; i < s->vector; i++) regs[i] = stepped(s, reg, i);
        IrValue *part =
            s->vector == 1 ? threads_get(t, x, reg) : threads_pick(t, x, s->vector, regs);
        threads_store(t, threads_places_at(t, &s->at, memory, reg), part, bytes, writer);
    }
}

static void remark_conflicts(Threads *t, const char *what, LayoutConflicts c) {
    if (c.wavefronts > c.phases)
        remark(t->remarks, t->b.span, REASON_BANK_CONFLICTS, what, REMARK(c.wavefronts, c.phases));
}

void threads_trip_store(Threads *t, IrValue *p, IrValue *x, const Layout *from,
                        const Layout *memory) {
    uint32_t bits = dtype_bits(p->type->elem);
    uint32_t vector = layout_shared_vector(from, memory, bits, GPU_ACCESS_BYTES);
    Side s = side_of(from, memory, vector);
    place_threads(t, &s.at, NULL);
    if (t->remarks)
        remark_conflicts(t, "a store to",
                         layout_conflicts(from, memory, vector, bits, t->machine->banks, true));
    store_all(t, p, x, &s, threads_writer(t, from));
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

// Tries matrix loads if they are possible and cost no more than `most`: each load is then a step of
// K.
static void try_matrix(GpuTrip *best, const LayoutSide *store, const Layout *to, uint32_t bits,
                       const SharedBanks *banks, bool transposed, uint64_t *most) {
    LayoutSide load = {.layout = to};
    load.move = transposed ? LAYOUT_MOVE_TRANSPOSED : LAYOUT_MOVE_MATRIX;
    LayoutTrip way;
    LayoutMatrix matrix;
    if (!layout_trip(store, &load, bits, banks, &way)) return;
    if (!layout_matrix(to, &way.memory, bits, transposed, 4, &matrix)) return;
    uint64_t cost = trip_cost(store->layout, to, &way, matrix.count << matrix.packed);
    if (cost > *most) return;
    *most = cost;
    *best = (GpuTrip){.shared = way, .by_matrix = true, .transposed = transposed, .matrix = matrix};
}

// Wavefronts in excess of those that as many bytes take without conflicts; matrix loads have none.
static void remark_trip(Threads *t, const GpuTrip *plan, Dtype elem) {
    if (!t->remarks) return;
    const char *how = !plan->by_matrix   ? "vectors"
                      : plan->transposed ? "ldmatrix.trans"
                                         : "ldmatrix";
    const LayoutTrip *way = &plan->shared;
    uint32_t size = (uint32_t)dtype_size(elem);
    uint32_t load_bytes = plan->by_matrix ? GPU_ACCESS_BYTES : way->load_vector * size;
    remark(t->remarks, t->b.span, REASON_SHARED_TRIP, how,
           REMARK(layout_elements(&way->memory) * size, way->store_vector * size, load_bytes));
    remark_conflicts(t, "a store to", way->store);
    if (!plan->by_matrix) remark_conflicts(t, "a load from", way->load);
}

static bool loads_matrices(const Machine *machine, uint32_t bits) {
    return machine->matrix_load && bits <= 32;
}

bool gpu_trip(const LayoutSide *store, const LayoutSide *load, uint32_t bits,
              const Machine *machine, GpuTrip *trip) {
    uint64_t cost = UINT64_MAX;
    *trip = (GpuTrip){.by_matrix = false};
    if (layout_trip(store, load, bits, machine->banks, &trip->shared))
        cost = trip_cost(store->layout, load->layout, &trip->shared, trip->shared.load_vector);
    if (loads_matrices(machine, bits)) {
        try_matrix(trip, store, load->layout, bits, machine->banks, false, &cost);
        if (bits == 16) try_matrix(trip, store, load->layout, bits, machine->banks, true, &cost);
    }
    return cost != UINT64_MAX;
}

static ThreadsTrip *trip_from(Threads *t, IrValue *memory, const GpuTrip *plan, const Layout *to) {
    ThreadsTrip *r = arena_new(t->scratch, ThreadsTrip, 1);
    *r = (ThreadsTrip){.memory = memory,
                       .by_matrix = plan->by_matrix,
                       .transposed = plan->transposed,
                       .matrix = plan->matrix};
    r->side = side_of(to, &plan->shared.memory, r->by_matrix ? 1 : plan->shared.load_vector);
    place_threads(t, &r->side.at, r->by_matrix ? r->matrix.row_lanes : NULL);
    r->parts = arena_new(t->scratch, IrValue *, layout_size(to, LAYOUT_REG));
    r->indices = arena_new(t->scratch, uint32_t, layout_size(to, LAYOUT_REG));
    return r;
}

ThreadsTrip *threads_trip_of(Threads *t, IrValue *x, const Layout *from, const Layout *to,
                             IrValue *writer) {
    Dtype elem = x->type->elem;
    LayoutSide store = {.layout = from}, load = {.layout = to};
    GpuTrip plan;
    CHECK(gpu_trip(&store, &load, dtype_bits(elem), t->machine, &plan),
          "no trip between two layouts of a tile");
    remark_trip(t, &plan, elem);
    IrValue *memory = threads_shared(t, elem, layout_elements(&plan.shared.memory));
    Side in = side_of(from, &plan.shared.memory, plan.shared.store_vector);
    place_threads(t, &in.at, NULL);
    store_all(t, memory, x, &in, writer);
    return trip_from(t, memory, &plan, to);
}

ThreadsTrip *threads_trip(Threads *t, IrValue *x, const Layout *from, const Layout *to) {
    return threads_trip_of(t, x, from, to, threads_writer(t, from));
}

// ---- from a memory that is there ----------------------------------------------------------------

// Elements that are contiguous for every lane in the same way.
static uint32_t vector_in(const Layout *l, const Layout *memory, uint32_t bits) {
    LayoutMap map;
    uint32_t vector = layout_shared_vector(l, memory, bits, GPU_ACCESS_BYTES);
    CHECK(layout_map_between(l, memory, &map), "a memory without some of a tile's elements");
    for (uint32_t i = 0; i < l->bits; i++) {
        bool own = i < l->dim_bits[LAYOUT_REG];
        while (vector > 1 && (map.bases[i] & (vector - 1)) && !(own && map.bases[i] < vector))
            vector /= 2;
    }
    return vector;
}

// The cheaper method to read `l` from it.
static GpuTrip reading(const Layout *l, const Layout *memory, uint32_t bits,
                       const Machine *machine) {
    GpuTrip plan = {.shared = {.memory = *memory, .load_vector = vector_in(l, memory, bits)}};
    LayoutConflicts c =
        layout_conflicts(l, memory, plan.shared.load_vector, bits, machine->banks, false);
    uint64_t best = cost_of(l, plan.shared.load_vector, c);
    for (int transposed = 0; transposed < 2 && loads_matrices(machine, bits); transposed++) {
        LayoutMatrix matrix;
        if (!layout_matrix(l, memory, bits, transposed, 4, &matrix)) continue;
        c = (LayoutConflicts){matrix.count, layout_matrix_wavefronts(&matrix, bits)};
        uint64_t cost = cost_of(l, matrix.count << matrix.packed, c);
        if (cost > best) continue;
        best = cost;
        plan.by_matrix = true;
        plan.transposed = transposed;
        plan.matrix = matrix;
    }
    return plan;
}

ThreadsTrip *threads_trip_open(Threads *t, IrValue *p, const Layout *memory, const Layout *to) {
    GpuTrip plan = reading(to, memory, dtype_bits(p->type->elem), t->machine);
    return trip_from(t, p, &plan, to);
}

IrValue *threads_trip_load_all(Threads *t, ThreadsTrip *trip) {
    uint32_t count = layout_size(trip->side.at.layout, LAYOUT_REG);
    uint32_t *regs = arena_new(t->scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) regs[i] = i;
    return threads_trip_load(t, trip, count, regs);
}

// ---- loads --------------------------------------------------------------------------------------

static void load_matrices(Threads *t, ThreadsTrip *trip, uint32_t reg) {
    uint32_t count = trip->matrix.count << trip->matrix.packed;
    reg &= ~(count - 1);  // matrices follow the registers above those of a word
    const IrType *type = threads_vector(t, trip->memory->type->elem, count);
    IrValue *p = threads_places_at(t, &trip->side.at, trip->memory, reg);
    IrOp *op = ir_op(&t->b, IR_THREAD_MATRIX_LOAD, 1, &p, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_COUNT, trip->matrix.count);
    ir_attr_set_int(op, IR_ATTR_TURNED, trip->transposed);
    for (uint32_t i = 0; i < count; i++) {
        trip->parts[reg + i] = ir_result(op, 0);
        trip->indices[reg + i] = i;
    }
}

static void load_vector(Threads *t, ThreadsTrip *trip, uint32_t reg) {
    const Side *s = &trip->side;
    uint32_t bytes = s->vector * (uint32_t)dtype_size(trip->memory->type->elem);
    uint32_t inside = offset_of(&s->at, reg) % s->vector;
    reg = stepped(s, reg, inside);
    IrValue *part = threads_load(t, threads_places_at(t, &s->at, trip->memory, reg), s->vector,
                                 bytes, NULL, NULL);
    for (uint32_t i = 0; i < s->vector; i++) {
        uint32_t to = threads_first_holder(s->at.layout, stepped(s, reg, i));
        trip->parts[to] = part;
        trip->indices[to] = i;
    }
}

static uint32_t loaded(Threads *t, ThreadsTrip *trip, uint32_t reg) {
    if (!trip->by_matrix) reg = threads_first_holder(trip->side.at.layout, reg);
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
        if (k == 0) {  // a part that was not loaded yet
            parts[used] = trip->parts[reg];
            starts[used] = lanes;
            lanes += trip->parts[reg]->type->count;
            k = ++used;
        }
        where[i] = starts[k - 1] + trip->indices[reg];
    }
    return threads_pick(t, threads_pack(t, used, parts), count, where);
}
