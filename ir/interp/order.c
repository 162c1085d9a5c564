// sort, topk, random.
#include "ir/interp/internal.h"

// ---- sorting ------------------------------------------------------------------------------------

// A number that orders as the key does: NaNs last in either order, zeros equal.
static uint64_t rank_of(Dtype t, uint64_t bits, bool descending) {
    uint64_t top = UINT64_C(1) << 63;
    uint64_t rank;
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) {
        double x = dtype_to_double(t, bits);
        if (isnan(x)) return UINT64_MAX;
        if (x == 0) x = 0;  // not -0
        memcpy(&rank, &x, sizeof rank);
        rank = rank & top ? ~rank : rank | top;
        rank--;  // below the NaNs in descending order, too: no finite number has rank 0
        return descending ? UINT64_MAX - 1 - rank : rank;
    }
    rank = dtype_signed(t) ? (uint64_t)dtype_to_i64(t, bits) ^ top : bits;
    return descending ? ~rank : rank;
}

// Stable merge sort of positions by rank, through a second array.
static void sort_places(const uint64_t *rank, uint32_t *place, uint32_t *other, uint64_t n) {
    for (uint64_t width = 1; width < n; width *= 2) {
        for (uint64_t low = 0; low < n; low += 2 * width) {
            uint64_t middle = low + width < n ? low + width : n;
            uint64_t high = low + 2 * width < n ? low + 2 * width : n;
            uint64_t a = low, b = middle;
            for (uint64_t k = low; k < high; k++) {
                bool left = a < middle && (b >= high || rank[place[a]] <= rank[place[b]]);
                other[k] = left ? place[a++] : place[b++];
            }
        }
        memcpy(place, other, n * sizeof *place);
    }
}

static uint32_t *sorted_line(InterpRun *run, const InterpSlot *x, uint64_t first, AxisLines l,
                             bool descending) {
    uint64_t *rank = arena_new(run->scratch, uint64_t, l.n);
    uint32_t *place = arena_new(run->scratch, uint32_t, l.n);
    uint32_t *other = arena_new(run->scratch, uint32_t, l.n);
    for (uint64_t k = 0; k < l.n; k++) {
        rank[k] = rank_of(x->elem, slot_get(x, first + k * l.inner), descending);
        place[k] = (uint32_t)k;
    }
    sort_places(rank, place, other, l.n);
    return place;
}

// ---- their shadows ------------------------------------------------------------------------------

typedef struct InterpOrder {
    InterpRun *run;
    const InterpSlot *key;
    const uint32_t *place;
    AxisLines l;
    uint64_t first;
    bool descending;
} InterpOrder;

static ShadowValue key_shadow(const InterpOrder *o, uint64_t k) {
    return shadow_get(o->key, o->first + o->place[k] * o->l.inner);
}

// v, L and H of the line, each sorted separately.
static double *sorted_values(const InterpOrder *o, int side) {
    Arena *arena = o->run->scratch;
    uint64_t n = o->l.n;
    double *value = arena_new(arena, double, n), *sorted = arena_new(arena, double, n);
    uint64_t *rank = arena_new(arena, uint64_t, n);
    uint32_t *place = arena_new(arena, uint32_t, n), *other = arena_new(arena, uint32_t, n);
    for (uint64_t k = 0; k < n; k++) {
        ShadowValue s = shadow_get(o->key, o->first + k * o->l.inner);
        value[k] = s.v + side * s.e;
        if (isnan(value[k]) && !isnan(s.v)) value[k] = side * HUGE_VAL;
        uint64_t bits;
        memcpy(&bits, &value[k], sizeof bits);
        rank[k] = rank_of(DTYPE_F64, bits, o->descending);
        place[k] = (uint32_t)k;
    }
    sort_places(rank, place, other, n);
    for (uint64_t k = 0; k < n; k++) sorted[k] = value[place[k]];
    return sorted;
}

static bool neighbours_decided(const InterpOrder *o, uint64_t k) {
    ShadowValue s = key_shadow(o, k);
    for (int side = -1; side <= 1; side += 2) {
        if ((side < 0 && k == 0) || (side > 0 && k + 1 == o->l.n)) continue;
        ShadowValue t = key_shadow(o, side < 0 ? k - 1 : k + 1);
        if (s.e == 0 && t.e == 0) continue;
        if (!(fabs(s.v - t.v) > s.e + t.e)) return false;
    }
    return true;
}

static void shadow_sorted_keys(const InterpOrder *o, InterpSlot *r, uint64_t count,
                               uint64_t first) {
    const double *v = sorted_values(o, 0), *low = sorted_values(o, -1), *high = sorted_values(o, 1);
    for (uint64_t k = 0; k < count; k++) {
        double e = v[k] == low[k] && v[k] == high[k] ? 0 : fmax(high[k] - v[k], v[k] - low[k]);
        if (isnan(e)) e = isnan(v[k]) && isnan(low[k]) && isnan(high[k]) ? 0 : HUGE_VAL;
        r->shadow[first + k * o->l.inner] = (ShadowValue){v[k], e};
    }
}

static void shadow_followers(const InterpOrder *o, const InterpSlot *x, InterpSlot *r) {
    for (uint64_t k = 0; k < o->l.n; k++) {
        ShadowValue s = shadow_get(x, o->first + o->place[k] * o->l.inner);
        if (!neighbours_decided(o, k)) s.e = HUGE_VAL;
        r->shadow[o->first + k * o->l.inner] = s;
    }
}

static void sort_line(InterpRun *run, InterpFrame *frame, const IrOp *op, AxisLines l,
                      uint64_t first) {
    const InterpSlot *key = operand_slot(run, frame, op, 0);
    bool descending = ir_attr_int(op, IR_ATTR_DESCENDING) != 0;
    InterpOrder o = {run, key, sorted_line(run, key, first, l, descending), l, first, descending};
    bool shadow = run->shadow && shadow_any(run, frame, op);
    for (uint32_t v = 0; v < op->result_count; v++) {
        const InterpSlot *x = operand_slot(run, frame, op, v);
        InterpSlot *r = slot_of(run, frame, ir_result(op, v));
        for (uint64_t k = 0; k < l.n; k++)
            slot_put(r, first + k * l.inner, slot_get(x, first + o.place[k] * l.inner));
        if (!shadow) continue;
        if (v == 0 && key->shadowed)
            shadow_sorted_keys(&o, r, l.n, first);
        else
            shadow_followers(&o, x, r);
    }
}

void execute_sort(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *key = operand_slot(run, frame, op, 0);
    AxisLines l = lines_of(key->type, ir_attr_int(op, IR_ATTR_AXIS));
    for (uint32_t v = 0; v < op->result_count; v++) {
        InterpSlot *r = result_slot(run, frame, op, v);
        if (run->shadow && shadow_any(run, frame, op)) slot_shadow_blank(run, r);
    }
    for (uint64_t o = 0; o < l.outer; o++)
        for (uint64_t i = 0; i < l.inner; i++) {
            ArenaMark mark = arena_mark(run->scratch);
            sort_line(run, frame, op, l, o * l.n * l.inner + i);
            arena_reset(run->scratch, mark);
        }
}

void execute_topk(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSlot *x = operand_slot(run, frame, op, 0);
    InterpSlot *values = result_slot(run, frame, op, 0), *places = result_slot(run, frame, op, 1);
    int64_t axis = ir_attr_int(op, IR_ATTR_AXIS);
    AxisLines l = lines_of(x->type, axis), to = lines_of(values->type, axis);
    bool shadow = run->shadow && x->shadowed;
    if (shadow) {
        slot_shadow_blank(run, values);
        slot_shadow_blank(run, places);
    }
    for (uint64_t o = 0; o < l.outer; o++)
        for (uint64_t i = 0; i < l.inner; i++) {
            ArenaMark mark = arena_mark(run->scratch);
            uint64_t first = o * l.n * l.inner + i, target = o * to.n * l.inner + i;
            InterpOrder order = {run, x, sorted_line(run, x, first, l, true), l, first, true};
            for (uint64_t k = 0; k < to.n; k++) {
                uint64_t at = target + k * l.inner;
                slot_put(values, at, slot_get(x, first + order.place[k] * l.inner));
                slot_put(places, at, order.place[k]);
                if (shadow)
                    places->shadow[at] =
                        (ShadowValue){0, neighbours_decided(&order, k) ? 0 : HUGE_VAL};
            }
            if (shadow) shadow_sorted_keys(&order, values, to.n, target);
            arena_reset(run->scratch, mark);
        }
}

// ---- Philox -------------------------------------------------------------------------------------

void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c[4], k[2] = {key[0], key[1]};
    memcpy(c, counter, sizeof c);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)c[0] * UINT32_C(0xD2511F53);
        uint64_t b = (uint64_t)c[2] * UINT32_C(0xCD9E8D57);
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b,
                            (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
        memcpy(c, next, sizeof c);
        k[0] += UINT32_C(0x9E3779B9);
        k[1] += UINT32_C(0xBB67AE85);
    }
    memcpy(out, c, sizeof c);
}

static uint64_t extended(const InterpSlot *s, uint64_t i) {
    return (uint64_t)dtype_to_i64(s->elem, slot_get(s, i));
}

void execute_random(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    uint64_t seed = extended(operand_slot(run, frame, op, 0), 0);
    const InterpSlot *offset = operand_slot(run, frame, op, 1);
    InterpSlot *r[4];
    for (uint32_t v = 0; v < 4; v++) r[v] = result_slot(run, frame, op, v);
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (uint32_t i = 0; i < offset->count; i++) {
        uint64_t at = extended(offset, i);
        uint32_t counter[4] = {(uint32_t)at, (uint32_t)(at >> 32), 0, 0}, out[4];
        philox(counter, key, out);
        for (uint32_t v = 0; v < 4; v++) slot_put(r[v], i, out[v]);
    }
    if (run->shadow && shadow_any(run, frame, op))
        for (uint32_t v = 0; v < 4; v++) slot_set_undecided(run, r[v]);
}
