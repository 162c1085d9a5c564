// Races: two accesses to one byte of shared or global memory, at least one of them a write, without
// an order between them (order.h).
//
// Memory is tracked in cells (shadow.h). Between a write and another lane's access, lanes of one
// warp need bar.warp.sync or a barrier. In shared memory, a write after another lane's read needs
// one of these or any collective of the whole warp, such as a shuffle or a matrix product: a
// collective cannot begin before the loaded values have arrived. The last warp that read is
// recorded, with one of its lanes or "several". Two stores of one block that write the same value
// are not a race; the older one is forgotten. ldmatrix reads for all lanes. Two strong accesses
// never race if their scopes include both; a strong read is not recorded. A part of cp.async counts
// as a write when it is issued and again when it lands. A flight accesses its bytes from its
// beginning to its end: nothing in between is ordered with it. Accesses of the generic proxy need a
// proxy fence before a flight meets them. If a warp's lanes run in lockstep, its accesses are
// ordered one by one.
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "sim/observe/observe.h"
#include "sim/observe/order.h"
#include "sim/observe/shadow.h"

enum { WHOLE_WARP = 255, SEVERAL = 254, PAGE_SHIFT = 12, PAGE = 1 << PAGE_SHIFT };

typedef struct Races {
    SimObserver observer;
    Arena *arena;
    SimFindings *findings;
    SimMemory *memory;
    Order *order;
    uint32_t warps, lanes;
    bool in_step;
    uint32_t collectives[ORDER_WARPS];  // count for each warp, in this block
    Shadow shared;
    Map pages;  // global memory: address / PAGE to Shadow *
    Shadow *last;
} Races;

static Shadow *page_of(Races *r, uint64_t address) {
    uint64_t number = address >> PAGE_SHIFT;
    if (r->last && r->last->base >> PAGE_SHIFT == number) return r->last;
    uint64_t *at = map_at(r->arena, &r->pages, number);
    if (!*at) {
        Shadow *s = arena_new(r->arena, Shadow, 1);
        *s = (Shadow){.base = number << PAGE_SHIFT, .shift = SHADOW_SHIFT, .bytes = PAGE};
        shadow_make(r->arena, s, false, r->warps);
        *at = map_key(s);
    }
    return r->last = (Shadow *)(uintptr_t)*at;
}

// ---- Order ----

static void launch_begin(void *state, const SimLaunchFacts *f) {
    Races *r = state;
    r->warps = f->warps, r->memory = f->memory;
    r->lanes = f->lanes, r->in_step = f->in_step;
    r->pages = (Map){0}, r->last = NULL;
    r->shared = (Shadow){.shift = SHADOW_SHIFT, .bytes = f->shared_bytes};
    shadow_make(r->arena, &r->shared, true, r->warps);
    order_begin_launch(r->order);
}

static void block_begin(void *state, uint64_t block) {
    Races *r = state;
    shadow_clear(&r->shared, r->warps);
    memset(r->collectives, 0, sizeof r->collectives);
    order_begin_block(r->order, block, r->warps);
}

static void barrier(void *state, const SimBarrierDone *done) {
    order_barrier(((Races *)state)->order, done);
}

static void step(void *state, const SimPlace *at, uint64_t mask) {
    Races *r = state;
    if (at->instr->flow == SIM_COLLECT && mask == UINT32_MAX) r->collectives[at->warp]++;
}

static void warp_sync(void *state, const SimPlace *at, uint64_t mask) {
    (void)mask;
    order_tick(((Races *)state)->order, at->warp);
}

static void fence(void *state, const SimPlace *at, uint64_t mask, SimFence kind, SimScope scope) {
    (void)mask;
    Order *order = ((Races *)state)->order;
    switch (kind) {
    case SIM_FENCE_MEMORY: order_fence(order, at->warp, scope); return;
    case SIM_FENCE_PROXY_ASYNC: order_proxy_fence(order, at->warp); return;
    case SIM_FENCE_PRODUCT: return;  // of registers
    }
}

static void mbarrier(void *state, const SimMbarrierEvent *e) {
    order_mbarrier(((Races *)state)->order, e);
}

// ---- Findings ----

// One lane's access.
typedef struct RaceTouch {
    const SimAccess *access;
    uint32_t lane;    // the lane that makes it
    uint32_t writer;  // the lane, or WHOLE_WARP
    Strength strength;
    bool async;           // of a flight
    const uint32_t *now;  // clock of its warp
    uint32_t turn;        // incremented whenever the warp's lanes synchronise
    Shadow *shadow;
} RaceTouch;

static void place_text(const Races *r, const SimAccess *a, uint64_t address, char *text,
                       size_t size) {
    const SimRegion *region =
        a->space == SIM_SPACE_GLOBAL ? sim_memory_nearest(r->memory, address) : NULL;
    if (a->space == SIM_SPACE_SHARED)
        snprintf(text, size, "byte %llu of shared memory", (unsigned long long)address);
    else if (region)
        snprintf(text, size, "byte %llu of %s in global memory",
                 (unsigned long long)(address - region->base), region->name);
    else
        snprintf(text, size, "%#llx of global memory", (unsigned long long)address);
}

// Where the two accesses met, and whose they were.
typedef struct Meeting {
    char place[128], mine[48], other[48], where[64];
} Meeting;

static void name_one(const Races *r, bool warp, uint32_t number, uint32_t lane, char text[48]) {
    if (warp)
        snprintf(text, 48, "warp %u", number);
    else
        snprintf(text, 48, "thread %u", number * r->lanes + lane);
}

static Meeting meeting(const Races *r, const RaceTouch *t, uint32_t cell, Moment other,
                       uint32_t lane) {
    const SimAccess *a = t->access;
    Meeting m;
    place_text(r, a, t->shadow->base + ((uint64_t)cell << t->shadow->shift), m.place,
               sizeof m.place);
    name_one(r, t->async && t->writer == WHOLE_WARP, a->at.warp, t->lane, m.mine);
    name_one(r, lane == WHOLE_WARP, other.warp, lane, m.other);
    if (other.block == a->at.block)
        snprintf(m.where, sizeof m.where, "block %llu", (unsigned long long)other.block);
    else
        snprintf(m.where, sizeof m.where, "blocks %llu and %llu", (unsigned long long)a->at.block,
                 (unsigned long long)other.block);
    return m;
}

static void found(Races *r, const RaceTouch *t, uint32_t cell, const char *what, Moment other,
                  uint32_t lane) {
    const SimAccess *a = t->access;
    Meeting m = meeting(r, t, cell, other, lane);
    bool loosely = order_saw_loosely(r->order, a->at.warp, other);
    sim_findings_add(
        r->findings, loosely ? SIM_FINDING_FENCE : SIM_FINDING_RACE, &a->at,
        "'%s' of %s at %s, and %s of %s: %s (%s)", a->at.instr->name, m.mine, m.place, what,
        m.other, loosely ? "a flag is between them, but no fence" : "nothing orders them", m.where);
}

// The accesses are in order, but of different proxies.
static bool check_proxy(Races *r, const RaceTouch *t, uint32_t cell, const char *what, Moment other,
                        uint32_t lane) {
    const SimAccess *a = t->access;
    if (!t->async || order_saw_proxied(r->order, a->at.warp, other)) return true;
    Meeting m = meeting(r, t, cell, other, lane);
    sim_findings_add(
        r->findings, SIM_FINDING_PROXY, &a->at,
        "'%s' of %s at %s, and %s of %s before it: no fence.proxy.async of that one is "
        "between them (%s)",
        a->at.instr->name, m.mine, m.place, what, m.other, m.where);
    return false;
}

// ---- Accesses ----

// Is the write ordered before this lane's access?
static inline bool in_order(const Races *r, const RaceTouch *t, const RaceWrite *last) {
    uint32_t w = t->access->at.warp;
    if (!last->clock) return true;
    if (last->clock == SHADOW_FLIES) return false;
    if (last->block != t->access->at.block || last->warp != w)
        return order_saw(r->order, w, (Moment){last->block, last->clock, last->warp});
    bool same = last->lane == t->writer || last->lane == WHOLE_WARP || t->writer == WHOLE_WARP;
    return same || last->clock < t->now[w];
}

static bool both_strong(const RaceTouch *t, const RaceWrite *last) {
    Strength least = last->block == t->access->at.block ? STRONG_IN_BLOCK : STRONG;
    return t->strength >= least && last->strength >= least;
}

// The bytes that the last write stored, as far as this lane accesses them. They come from another
// lane of the same store, which has the warp's clock, or from memory. NULL: unknown.
static const uint8_t *last_written(const RaceTouch *t, const RaceWrite *last, uint64_t at) {
    const SimAccess *a = t->access;
    uint32_t l = t->lane, w = a->at.warp, other = last->lane;
    bool now = last->clock == t->now[w] && last->warp == w;
    if (now && other < l && a->mask >> other & 1 && at - a->address[other] < a->bytes)
        return a->data + 32 * (size_t)other + (at - a->address[other]);
    return a->there && a->there[l] ? a->there[l] + (at - a->address[l]) : NULL;
}

// Two stores of one block that write the same value: the result does not depend on their order.
static bool same_value(const RaceTouch *t, const RaceWrite *last, uint32_t cell) {
    const SimAccess *a = t->access;
    bool stores = a->kind == SIM_ACCESS_STORE && last->kind == SIM_ACCESS_STORE && a->data;
    if (!stores || !last->clock || last->block != a->at.block) return false;
    uint64_t at = t->shadow->base + ((uint64_t)cell << t->shadow->shift);
    const uint8_t *theirs = last_written(t, last, at);
    return theirs && !memcmp(a->data + 32 * (size_t)t->lane + (at - a->address[t->lane]), theirs,
                             (size_t)1 << t->shadow->shift);
}

static bool is_flight(uint8_t kind) {
    return kind == SIM_ACCESS_FLIGHT_READ || kind == SIM_ACCESS_FLIGHT_WRITE;
}

static bool check_write(Races *r, const RaceTouch *t, uint32_t cell) {
    const RaceWrite *last = &t->shadow->writes[cell];
    Moment m = {last->block, last->clock, last->warp};
    if (in_order(r, t, last) || both_strong(t, last) || same_value(t, last, cell))
        return !last->clock || is_flight(last->kind) ||
               check_proxy(r, t, cell, "a write", m, last->lane);
    bool copy = last->kind == SIM_ACCESS_ASYNC_START || last->clock == SHADOW_FLIES;
    found(r, t, cell, copy ? "a copy in flight" : "a write", m, last->lane);
    return false;
}

// Checks reads by other lanes of the warp since the lanes last synchronised.
static bool check_own_reads(Races *r, const RaceTouch *t, uint32_t cell) {
    const RaceReader *last = &t->shadow->own[cell];
    uint32_t w = t->access->at.warp;
    if (last->turn != t->turn || last->warp != w || last->lane == t->writer) return true;
    if (last->lane == WHOLE_WARP || t->writer == WHOLE_WARP) return true;
    found(r, t, cell, "a read", (Moment){t->access->at.block, t->now[w], w},
          last->lane == SEVERAL ? WHOLE_WARP : last->lane);
    return false;
}

static void remember_reader(const RaceTouch *t, uint32_t cell) {
    RaceReader *last = &t->shadow->own[cell];
    uint32_t w = t->access->at.warp;
    bool again = last->turn == t->turn && last->warp == w && last->lane != WHOLE_WARP;
    uint32_t lane = !again                                               ? t->writer
                    : last->lane == t->writer || t->writer == WHOLE_WARP ? last->lane
                                                                         : SEVERAL;
    *last = (RaceReader){.turn = t->turn, .warp = (uint8_t)w, .lane = (uint8_t)lane};
}

// Reads in flight, and those that ended, of the async proxy.
static bool check_flights(Races *r, const RaceTouch *t, uint32_t cell) {
    const SimAccess *a = t->access;
    const ShadowFlight *all = t->shadow->flights;
    for (uint32_t w = 0; all && w < r->warps; w++) {
        const ShadowFlight *f = &all[(size_t)cell * r->warps + w];
        if (!f->flying && f->clock <= t->now[w]) continue;
        uint32_t clock = f->flying ? SHADOW_FLIES : f->clock;
        found(r, t, cell, f->flying ? "a read in flight" : "an asynchronous read",
              (Moment){a->at.block, clock, w}, WHOLE_WARP);
        return false;
    }
    return true;
}

static void check_reads(Races *r, const RaceTouch *t, uint32_t cell) {
    const SimAccess *a = t->access;
    const Shadow *s = t->shadow;
    if (s->own && !check_own_reads(r, t, cell)) return;
    if (!check_flights(r, t, cell)) return;
    for (uint32_t w = 0; s->clocks && w < r->warps; w++) {
        Moment m = {a->at.block, s->clocks[(size_t)cell * r->warps + w], w};
        if (m.clock <= t->now[w] || w == a->at.warp) {
            if (m.clock && !check_proxy(r, t, cell, "a read", m, WHOLE_WARP)) return;
            continue;
        }
        found(r, t, cell, "a read", m, WHOLE_WARP);
        return;
    }
    for (uint32_t n = 0; s->readers && n < SHADOW_READERS; n++) {
        const ShadowRead *last = &s->readers[cell][n];
        if (!last->clock || (last->block == a->at.block && last->warp == a->at.warp)) continue;
        Moment m = {last->block, last->clock, last->warp};
        if (order_saw(r->order, a->at.warp, m)) continue;
        found(r, t, cell, "a read", m, WHOLE_WARP);
        return;
    }
}

static void write_cell(Races *r, const RaceTouch *t, uint32_t cell) {
    const SimAccess *a = t->access;
    RaceWrite *last = &t->shadow->writes[cell];
    uint32_t w = a->at.warp;
    if (check_write(r, t, cell)) check_reads(r, t, cell);
    *last = (RaceWrite){.block = a->at.block,
                        .clock = t->async ? SHADOW_FLIES : t->now[w],
                        .warp = (uint8_t)w,
                        .lane = (uint8_t)t->writer,
                        .strength = (uint8_t)t->strength,
                        .kind = (uint8_t)a->kind};
}

static void read_cell(Races *r, const RaceTouch *t, uint32_t cell) {
    const SimAccess *a = t->access;
    uint32_t w = a->at.warp;
    check_write(r, t, cell);
    if (t->strength != WEAK) return;
    if (t->async) {
        if (t->shadow->flights) t->shadow->flights[(size_t)cell * r->warps + w].flying++;
        return;
    }
    if (t->shadow->clocks) {
        remember_reader(t, cell);
        t->shadow->clocks[(size_t)cell * r->warps + w] = t->now[w];
        return;
    }
    ShadowRead *readers = t->shadow->readers[cell];
    if (readers[0].warp != w || readers[0].block != a->at.block) readers[1] = readers[0];
    readers[0] = (ShadowRead){a->at.block, t->now[w], w};
}

// The part of a lane's bytes that is in one shadow.
static void touch(Races *r, RaceTouch *t, uint64_t begin, uint64_t end, bool reads) {
    Shadow *s = t->shadow;
    uint64_t first = begin - s->base, last = end - s->base;
    uint32_t shift = (uint32_t)__builtin_ctzll(first | last | 1u << SHADOW_SHIFT);
    if (shift < s->shift) shadow_split(r->arena, s, shift, r->warps);
    for (uint64_t cell = first >> s->shift; cell < last >> s->shift; cell++)
        if (reads)
            read_cell(r, t, (uint32_t)cell);
        else
            write_cell(r, t, (uint32_t)cell);
}

static void touch_global(Races *r, RaceTouch *t, uint64_t begin, uint64_t end, bool reads) {
    while (begin < end) {
        t->shadow = page_of(r, begin);
        uint64_t stop = t->shadow->base + PAGE < end ? t->shadow->base + PAGE : end;
        touch(r, t, begin, stop, reads);
        begin = stop;
    }
}

static bool is_read(SimAccessKind kind) {
    return kind == SIM_ACCESS_LOAD || kind == SIM_ACCESS_MATRIX_LOAD ||
           kind == SIM_ACCESS_ASYNC_READ || kind == SIM_ACCESS_FLIGHT_READ;
}

static void meet(Races *r, const SimAccess *a, bool strong) {
    bool reads = is_read(a->kind);
    bool whole = a->kind == SIM_ACCESS_MATRIX_LOAD || a->kind == SIM_ACCESS_MATRIX_STORE ||
                 is_flight((uint8_t)a->kind);
    RaceTouch t = {.access = a,
                   .strength = !strong                     ? WEAK
                               : a->scope >= SIM_SCOPE_GPU ? STRONG
                                                           : STRONG_IN_BLOCK,
                   .now = order_now(r->order, a->at.warp),
                   .async = is_flight((uint8_t)a->kind),
                   .shadow = &r->shared};
    t.turn = t.now[a->at.warp] + r->collectives[a->at.warp];
    for (uint32_t l = 0; l < a->lanes; l++) {
        // Accesses outside all memory are left to other observers: addresses without an end cannot
        // be recorded.
        bool nowhere = a->space == SIM_SPACE_GLOBAL && a->there && !a->there[l];
        if (!(a->mask >> l & 1) || nowhere) continue;
        t.lane = l, t.writer = whole ? WHOLE_WARP : l;
        uint64_t begin = a->address[l], end = begin + a->bytes;
        if (a->space == SIM_SPACE_GLOBAL) {
            touch_global(r, &t, begin, end, reads);
            continue;
        }
        if (end > r->shared.bytes) end = r->shared.bytes;
        if (begin < end) touch(r, &t, begin, end, reads);
    }
}

static void hear(Races *r, const SimAccess *a, bool late) {
    bool strong = a->kind == SIM_ACCESS_ATOMIC || a->order != SIM_ORDER_WEAK;
    if (a->space != SIM_SPACE_SHARED && a->space != SIM_SPACE_GLOBAL) return;
    if (r->in_step) order_tick(r->order, a->at.warp);
    if (strong && !late) order_strong(r->order, a);
    meet(r, a, strong);
}

static void access(void *state, const SimAccess *a) { hear(state, a, false); }

// The access may happen only now, whatever was reported before.
static void late(void *state, const SimAccess *a) { hear(state, a, true); }

// ---- Flights ----

static void flight_begin(void *state, const SimFlight *f) {
    Races *r = state;
    if (f->space == SIM_SPACE_SHARED) shadow_make_flights(r->arena, &r->shared, r->warps);
    for (uint32_t n = 0; n < f->span_count; n++) {
        SimAccess a = {.at = f->at,
                       .space = f->space,
                       .kind = f->writes ? SIM_ACCESS_FLIGHT_WRITE : SIM_ACCESS_FLIGHT_READ,
                       .mask = 1,
                       .lanes = 1,
                       .bytes = f->spans[n].bytes,
                       .address = &f->spans[n].address};
        meet(r, &a, false);
    }
}

// The warp knows of the end, and tells others as it does of its own accesses.
static void flight_end(void *state, const SimFlight *f) {
    Races *r = state;
    const Shadow *s = &r->shared;
    uint32_t w = f->at.warp, now = order_now(r->order, w)[w];
    for (uint32_t n = 0; f->space == SIM_SPACE_SHARED && n < f->span_count; n++) {
        uint64_t end = f->spans[n].address + f->spans[n].bytes;
        for (uint64_t cell = f->spans[n].address >> s->shift; cell < end >> s->shift; cell++) {
            ShadowFlight *at = &s->flights[cell * r->warps + w];
            at->flying -= at->flying != 0;
            at->clock = now;
        }
    }
}

const SimObserver *sim_observe_races(Arena *arena, SimFindings *f) {
    Races *r = arena_new(arena, Races, 1);
    r->arena = arena, r->findings = f, r->order = order_create(arena);
    r->observer = (SimObserver){.state = r,
                                .launch_begin = launch_begin,
                                .block_begin = block_begin,
                                .step = step,
                                .access = access,
                                .late = late,
                                .barrier = barrier,
                                .warp_sync = warp_sync,
                                .fence = fence,
                                .mbarrier = mbarrier,
                                .flight_begin = flight_begin,
                                .flight_end = flight_end};
    return &r->observer;
}
