// Trips through shared memory: the memory layout that suits a store and a load (query.h).
//
// Offsets are split, from the lowest bit, into the vector that a lane moves at once (the longer
// one; the other side's is its beginning), the rest of a row of all banks, and the number of the
// row. Two elements share a bank if they differ by row bits (H) only, or inside a word. So an
// access is free of conflicts exactly if H meets the space that a phase of it moves (U: its vector,
// its lanes, the rest of its words) in 0 only. For two accesses, H is a common complement. For
// equal vectors it is always large enough, as a phase moves no more than a row holds; the section
// on optimal swizzling of the "Linear Layouts" paper has the proof. H is sought outside the longer
// vector, so that the order inside it is the same for all lanes; if that leaves conflicts on the
// side with the shorter one, another pair of vectors is chosen.
#include <string.h>

#include "base/os/os.h"
#include "ir/layout/gf2.h"
#include "ir/layout/query.h"

typedef struct TripAccess {
    const LayoutSide *side;
    bool store;
    Gf2List vector;  // elements of a lane's access, by offset bit
} TripAccess;

typedef struct Trip {
    TripAccess store, load;
    uint32_t tile_bits;
    uint32_t bits;  // of an element
    uint32_t word;  // offset bits inside 4 bytes
    uint32_t row;   // offset bits inside a row of all banks
    const SharedBanks *banks;
} Trip;

static uint32_t log2_floor(uint32_t v) { return v ? 31u - (uint32_t)__builtin_clz(v) : 0; }

static uint32_t most_bits(const Trip *t, const TripAccess *a) {
    uint32_t bytes = a->side->max_bytes ? a->side->max_bytes : 16;
    return log2_floor(bytes * 8 / t->bits);
}

static uint32_t least_bits(const Trip *t, const TripAccess *a) {
    return log2_floor(a->side->min_bytes * 8 / t->bits);
}

static Gf2List registers_of(const TripAccess *a) {
    Gf2List list = {0};
    const Layout *l = a->side->layout;
    for (uint32_t i = 0; i < l->dim_bits[LAYOUT_REG]; i++) {
        gf2_list_add(&list, layout_basis(l, LAYOUT_REG, i));
    }
    return list;
}

// The row of 16 bytes that a matrix access prescribes; false if the layout does not allow one.
static bool matrix_row(const Trip *t, const TripAccess *a, Gf2List *row) {
    const Layout *l = a->side->layout;
    uint32_t packed = t->word;
    bool transposed = a->side->move == LAYOUT_MOVE_TRANSPOSED;
    *row = (Gf2List){0};
    if (t->bits > 32 || (transposed && t->bits != 16) || l->dim_bits[LAYOUT_LANE] != 5 ||
        l->dim_bits[LAYOUT_REG] < packed) {
        return false;
    }
    for (uint32_t i = 0; i < packed && !transposed; i++) {
        gf2_list_add(row, layout_basis(l, LAYOUT_REG, i));
    }
    for (uint32_t i = transposed ? 2 : 0; i < (transposed ? 5 : 2); i++) {
        gf2_list_add(row, layout_basis(l, LAYOUT_LANE, i));
    }
    return row->count == (transposed ? 3 : packed + 2);
}

static const SharedPhase *phase_of(const Trip *t, const TripAccess *a) {
    uint32_t bytes = (t->bits << a->vector.count) / 8;
    return &(a->store ? t->banks->store : t->banks->load)[bytes <= 4 ? 0 : bytes <= 8 ? 1 : 2];
}

// The elements that the lanes of one phase add to the vector.
static void add_phase(const Trip *t, const TripAccess *a, Gf2List *moved) {
    const Layout *l = a->side->layout;
    uint32_t lane = layout_dim_start(l, LAYOUT_LANE);
    switch (a->side->move) {
    case LAYOUT_MOVE_PLAIN: {
        const SharedPhase *phase = phase_of(t, a);
        for (uint32_t i = 0; i < phase->count; i++) {
            uint32_t lanes = phase->lanes[i] & (layout_size(l, LAYOUT_LANE) - 1);
            gf2_list_add(moved, gf2_apply(l->bases + lane, lanes));
        }
        break;
    }
    case LAYOUT_MOVE_MATRIX:
        for (uint32_t i = 2; i < 5; i++) gf2_list_add(moved, l->bases[lane + i]);
        break;
    case LAYOUT_MOVE_TRANSPOSED:
        gf2_list_add(moved, l->bases[0]);
        for (uint32_t i = 0; i < 2; i++) gf2_list_add(moved, l->bases[lane + i]);
        break;
    }
}

// U: all elements that one phase moves, and the rest of the words it touches.
static Gf2List phase_space(const Trip *t, const TripAccess *a, const Gf2List *low) {
    Gf2List moved = a->vector;
    for (uint32_t i = 0; i < low->count && i < t->word; i++) gf2_list_add(&moved, low->v[i]);
    add_phase(t, a, &moved);
    return moved;
}

static void add_units(const Trip *t, Gf2List *list, Gf2Span outside, uint32_t count) {
    for (uint32_t i = 0; i < t->tile_bits && list->count < count; i++) {
        if (gf2_add(&outside, UINT32_C(1) << i, 0)) list->v[list->count++] = UINT32_C(1) << i;
    }
}

// The vectors of a space that are outside of the span of the vector.
static Gf2List outside(const Gf2Span *vector, const Gf2List *space) {
    Gf2List list = {0};
    for (uint32_t i = 0; i < space->count; i++) {
        gf2_list_add(&list, gf2_reduce(vector, space->v[i], NULL));
    }
    return list;
}

// The memory for given vectors: `wide` is the longer of the two, which begins with the shorter one.
static Layout memory_of(const Trip *t, const Gf2List *wide) {
    Gf2List low = *wide, all = {0}, none = {0};
    Gf2Span vector = gf2_span(wide);
    if (low.count < t->word) add_units(t, &low, vector, t->word);
    Gf2List store = phase_space(t, &t->store, &low), load = phase_space(t, &t->load, &low);
    add_units(t, &all, gf2_span(&none), t->tile_bits);
    store = outside(&vector, &store);
    load = outside(&vector, &load);
    all = outside(&vector, &all);
    Gf2List rows = gf2_common_complement(&all, &store, &load);
    uint32_t wanted = t->tile_bits > t->row ? t->tile_bits - t->row : 0;
    if (rows.count > wanted) rows.count = wanted;
    Gf2Span taken = gf2_span(&rows);
    for (uint32_t i = 0; i < low.count; i++) gf2_add(&taken, low.v[i], 0);
    add_units(t, &low, taken, t->tile_bits - rows.count);
    uint32_t shape[IR_MAX_RANK];
    layout_shape(t->store.side->layout, shape);
    Layout memory = layout_empty(t->store.side->layout->rank, shape);
    for (uint32_t i = 0; i < low.count; i++) layout_add(&memory, LAYOUT_OFFSET, low.v[i]);
    for (uint32_t i = 0; i < rows.count; i++) layout_add(&memory, LAYOUT_OFFSET, rows.v[i]);
    return memory;
}

// Is the order inside a vector the same for every lane, warp and other register?
static bool in_order(const TripAccess *a, const Layout *memory) {
    const Layout *l = a->side->layout;
    uint32_t inside = (UINT32_C(1) << a->vector.count) - 1;
    Gf2Span vector = gf2_span(&a->vector);
    LayoutMap map;
    if (!layout_map_between(l, memory, &map)) return false;
    for (uint32_t i = 0; i < l->bits; i++) {
        bool own = i < l->dim_bits[LAYOUT_REG] && gf2_has(&vector, l->bases[i]);
        if (!own && (map.bases[i] & inside) != 0) return false;
    }
    return true;
}

// Wavefronts of one access, and how many accesses a warp needs for all its registers; false if the
// memory does not allow the access.
static bool access_cost(const Trip *t, const TripAccess *a, const Layout *memory,
                        LayoutConflicts *conflicts, uint32_t *accesses) {
    const Layout *l = a->side->layout;
    Gf2List registers = registers_of(a);
    if (a->side->move == LAYOUT_MOVE_PLAIN) {
        *accesses = UINT32_C(1) << (registers.count - a->vector.count);
        *conflicts = layout_conflicts(l, memory, UINT32_C(1) << a->vector.count, t->bits, t->banks,
                                      a->store);
        return in_order(a, memory);
    }
    LayoutMatrix matrix;
    bool transposed = a->side->move == LAYOUT_MOVE_TRANSPOSED;
    if (!layout_matrix(l, memory, t->bits, transposed, 4, &matrix)) return false;
    *accesses = (UINT32_C(1) << (registers.count - t->word)) / matrix.count;
    *conflicts = (LayoutConflicts){matrix.count, layout_matrix_wavefronts(&matrix, t->bits)};
    return true;
}

// Instructions that put a lane's narrow elements into the order of its registers, one for each
// word; needed if the access does not begin with them in that order.
static uint32_t repacking(const Trip *t, const TripAccess *a) {
    Gf2List registers = registers_of(a);
    if (a->side->move != LAYOUT_MOVE_PLAIN || registers.count < t->word) return 0;
    uint32_t alike = 0;
    while (alike < t->word && alike < a->vector.count && a->vector.v[alike] == registers.v[alike])
        alike++;
    return alike == t->word ? 0 : UINT32_C(1) << (registers.count - t->word);
}

// The least possible cost of a plain access.
static uint64_t least_cost(const Trip *t, const TripAccess *a) {
    if (a->side->move != LAYOUT_MOVE_PLAIN) return 0;
    uint32_t accesses = UINT32_C(1) << (registers_of(a).count - a->vector.count);
    uint32_t phases = layout_size(a->side->layout, LAYOUT_LANE) >> phase_of(t, a)->count;
    return (uint64_t)accesses * ((phases ? phases : 1) + 1);
}

// Tries a pair of vectors, one of which begins with the other. Keeps the memory if it is better
// than the best so far: first no conflicts, then fewer wavefronts and instructions.
static void try_vectors(Trip *t, const Gf2List *store, const Gf2List *load, uint64_t *best,
                        LayoutTrip *trip) {
    t->store.vector = *store;
    t->load.vector = *load;
    if (store->count < least_bits(t, &t->store) || load->count < least_bits(t, &t->load)) return;
    if (least_cost(t, &t->store) + least_cost(t, &t->load) >= *best) return;
    LayoutTrip made;
    made.memory = memory_of(t, store->count > load->count ? store : load);
    made.store_vector = UINT32_C(1) << store->count;
    made.load_vector = UINT32_C(1) << load->count;
    uint32_t stores, loads;
    if (!access_cost(t, &t->store, &made.memory, &made.store, &stores) ||
        !access_cost(t, &t->load, &made.memory, &made.load, &loads)) {
        return;
    }
    bool conflicts =
        made.store.wavefronts > made.store.phases || made.load.wavefronts > made.load.phases;
    uint64_t cost = (uint64_t)stores * (made.store.wavefronts + 1) +
                    (uint64_t)loads * (made.load.wavefronts + 1) + repacking(t, &t->store) +
                    repacking(t, &t->load);
    if (conflicts) cost |= UINT64_C(1) << 62;
    if (cost >= *best) return;
    *best = cost;
    *trip = made;
}

// A list of length `count`: vectors of `first`, then those of `order` (NULL: unit vectors) that are
// in the span of `from`, then others of `from`.
static Gf2List grown(const Trip *t, const Gf2List *first, const Gf2List *from, const Gf2List *order,
                     uint32_t count) {
    Gf2List list = *first;
    if (list.count > count) list.count = count;
    Gf2Span span = gf2_span(from);
    uint32_t most = order ? order->count : t->tile_bits;
    for (uint32_t i = 0; i < most && list.count < count; i++) {
        uint32_t v = order ? order->v[i] : UINT32_C(1) << i;
        if (gf2_has(&span, v)) gf2_list_add(&list, v);
    }
    for (uint32_t i = 0; i < from->count && list.count < count; i++) {
        gf2_list_add(&list, from->v[i]);
    }
    return list;
}

// The same, except that the part after the first `kept` begins with number `from`.
static Gf2List from_on(const Gf2List *list, uint32_t kept, uint32_t from) {
    Gf2List r = *list;
    for (uint32_t i = kept, k = from; i < list->count; i++, k++)
        r.v[i] = list->v[k < list->count ? k : k - list->count + kept];
    return r;
}

// Tries all pairs of vectors, wide loads first. The first of equals is kept: loaded elements then
// stay in the order of the registers, as products need them.
static void try_plain(Trip *t, uint64_t *best, LayoutTrip *trip) {
    Gf2List store = registers_of(&t->store), load = registers_of(&t->load), none = {0};
    Gf2List shared = gf2_intersect(&store, &load);
    uint32_t store_max = most_bits(t, &t->store), load_max = most_bits(t, &t->load);
    if (store_max > store.count) store_max = store.count;
    if (load_max > load.count) load_max = load.count;
    for (uint32_t i = load_max + 1; i-- > 0;) {
        for (uint32_t j = store_max + 1; j-- > 0;) {
            uint32_t less = i < j ? i : j;
            if (less > shared.count) continue;
            // The load's own order, with each of the others as the last one, and the elements' own
            // order.
            uint32_t kept = i > less ? i - 1 : load.count;
            for (uint32_t last = kept; last <= load.count; last++) {
                bool units = last == load.count && i > less;
                Gf2List own = from_on(&load, kept, last);
                Gf2List small = grown(t, &none, &shared, units ? NULL : &load, less);
                Gf2List for_load = grown(t, &small, &load, units ? NULL : &own, i);
                Gf2List for_store = grown(t, &small, &store, NULL, j);
                try_vectors(t, &for_store, &for_load, best, trip);
            }
        }
    }
}

// A matrix access fixes the vector; a plain access on the other side takes as long a beginning of
// it as a lane holds.
static void try_matrix(Trip *t, uint64_t *best, LayoutTrip *trip) {
    Gf2List row, other;
    bool store_is = t->store.side->move != LAYOUT_MOVE_PLAIN;
    bool load_is = t->load.side->move != LAYOUT_MOVE_PLAIN;
    if (!matrix_row(t, store_is ? &t->store : &t->load, &row)) return;
    if (store_is && load_is) {
        if (!matrix_row(t, &t->load, &other) || memcmp(&row, &other, sizeof row) != 0) return;
        try_vectors(t, &row, &row, best, trip);
        return;
    }
    TripAccess *plain = store_is ? &t->load : &t->store;
    Gf2List registers = registers_of(plain);
    Gf2Span span = gf2_span(&registers);
    Gf2List part = {0};
    while (part.count < row.count && part.count < most_bits(t, plain) &&
           gf2_has(&span, row.v[part.count])) {
        part.v[part.count] = row.v[part.count];
        part.count++;
    }
    try_vectors(t, store_is ? &row : &part, store_is ? &part : &row, best, trip);
}

bool layout_trip(const LayoutSide *store, const LayoutSide *load, uint32_t bits,
                 const SharedBanks *banks, LayoutTrip *trip) {
    CHECK(bits && (bits & (bits - 1)) == 0, "elements of %u bits", bits);
    if (!layout_same_shape(store->layout, load->layout)) return false;
    Trip t = {.store = {.side = store, .store = true},
              .load = {.side = load},
              .tile_bits = store->layout->tile_bits,
              .bits = bits,
              .word = bits < 32 ? log2_floor(32 / bits) : 0,
              .row = log2_floor(banks->banks * 32 / bits),
              .banks = banks};
    if (t.word > t.tile_bits) t.word = t.tile_bits;
    uint64_t best = UINT64_MAX;
    bool plain = store->move == LAYOUT_MOVE_PLAIN && load->move == LAYOUT_MOVE_PLAIN;
    if (plain) {
        try_plain(&t, &best, trip);
    } else {
        try_matrix(&t, &best, trip);
    }
    return best != UINT64_MAX;
}
