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
#include <string.h>

#include "sim/observe/race.h"

// ---- Order ----

static bool has_flights(const SimKernel *k) {
    for (uint32_t n = 0; n < k->code_count; n++)
        if (k->code[n].flags & SIM_IN_FLIGHT) return true;
    return false;
}

static void launch_begin(void *state, const SimLaunchFacts *f) {
    Races *r = state;
    r->facts = *f;
    r->facts.ranks += !f->ranks;
    r->warp_count = r->facts.ranks * f->warps;
    r->pages = (Map){0}, r->last = NULL;
    r->shared = arena_new(r->arena, Shadow, r->facts.ranks);
    r->collectives = arena_new(r->arena, uint32_t, r->warp_count + 1);
    r->lane_sync = arena_new(r->arena, uint32_t, r->warp_count + 1);
    for (uint32_t n = 0; n < r->facts.ranks; n++) {
        r->shared[n] = (Shadow){.shift = SHADOW_SHIFT, .bytes = f->shared_bytes};
        shadow_make(r->arena, &r->shared[n], true, r->warp_count);
    }
    order_begin_launch(r->order, r->warp_count,
                       f->kernel && has_flights(f->kernel) ? r->facts.ranks * RACE_AGENTS : 0);
}

// The lanes' accesses until now are in order with all that follow. An arrival or a proxy fence of
// each lane does not do that.
static void note_lane_sync(Races *r, uint32_t actor) {
    r->lane_sync[actor] = order_now(r->order, actor)[actor];
}

static void block_begin(void *state, uint64_t block, uint32_t rank) {
    Races *r = state;
    shadow_clear(&r->shared[rank], r->warp_count);
    if (rank) return;
    memset(r->collectives, 0, r->warp_count * sizeof *r->collectives);
    order_begin_cluster(r->order, block);
    for (uint32_t w = 0; w < r->warp_count; w++) note_lane_sync(r, w);
}

static uint64_t barrier_name(uint32_t rank, uint32_t number) {
    return 1 + number + (uint64_t)(number == SIM_CLUSTER_BARRIER ? 0 : rank) * 64;
}

static void arrive(void *state, const SimArrival *a) {
    Races *r = state;
    order_arrive(r->order, race_actor(r, &a->at), barrier_name(a->at.rank, a->barrier));
}

static void barrier(void *state, const SimBarrierDone *done) {
    Races *r = state;
    uint32_t first = done->rank * r->facts.warps;
    order_barrier(r->order, done, first, barrier_name(done->rank, done->barrier));
    for (uint32_t w = 0; w < done->warp_count; w++)
        if (done->waited[w]) note_lane_sync(r, first + w);
}

static void step(void *state, const SimPlace *at, uint64_t mask) {
    Races *r = state;
    if (at->instr->flow == SIM_COLLECT && mask == UINT32_MAX) r->collectives[race_actor(r, at)]++;
}

static void warp_sync(void *state, const SimPlace *at, uint64_t mask) {
    Races *r = state;
    (void)mask;
    order_tick(r->order, race_actor(r, at));
    note_lane_sync(r, race_actor(r, at));
}

static void fence(void *state, const SimPlace *at, uint64_t mask, SimFence kind, SimScope scope) {
    Races *r = state;
    uint32_t actor = race_actor(r, at);
    (void)mask;
    switch (kind) {
    case SIM_FENCE_MEMORY:
    case SIM_FENCE_RELEASE:
    case SIM_FENCE_ACQUIRE:
        order_fence(r->order, actor, kind, scope);
        note_lane_sync(r, actor);
        return;
    case SIM_FENCE_PROXY_ASYNC: order_proxy_fence(r->order, actor, true, true); return;
    case SIM_FENCE_PROXY_SHARED: order_proxy_fence(r->order, actor, true, false); return;
    case SIM_FENCE_PROXY_GLOBAL: order_proxy_fence(r->order, actor, false, true); return;
    case SIM_FENCE_INIT: order_init_fence(r->order, actor); return;
    case SIM_FENCE_PRODUCT: return;  // of registers
    }
}

static void mbarrier(void *state, const SimMbarrierEvent *e) {
    Races *r = state;
    uint32_t actor = race_actor(r, &e->at);
    uint64_t key = race_mbarrier(e->owner, e->address);
    switch (e->step) {
    case SIM_MBARRIER_BEGINS:
    case SIM_MBARRIER_ENDS:
    case SIM_MBARRIER_COUNTS: return;
    case SIM_MBARRIER_ARRIVES: order_release(r->order, actor, key); return;
    case SIM_MBARRIER_PASSES:
        order_acquire(r->order, actor, key);
        note_lane_sync(r, actor);
        return;
    }
}

// ---- Accesses ----

Shadow *race_page(Races *r, uint64_t address) {
    uint64_t number = address >> RACE_PAGE_SHIFT;
    if (r->last && r->last->base >> RACE_PAGE_SHIFT == number) return r->last;
    uint64_t *at = map_at(r->arena, &r->pages, number);
    if (!*at) {
        Shadow *s = arena_new(r->arena, Shadow, 1);
        *s = (Shadow){.base = number << RACE_PAGE_SHIFT, .shift = SHADOW_SHIFT, .bytes = RACE_PAGE};
        shadow_make(r->arena, s, false, r->warp_count);
        *at = map_key(s);
    }
    return r->last = (Shadow *)(uintptr_t)*at;
}

// Is the write ordered before this lane's access?
static inline bool in_order(const Races *r, const RaceTouch *t, const RaceWrite *last) {
    uint32_t w = t->actor;
    if (!last->clock) return true;
    if (last->clock == SHADOW_IN_FLIGHT) return false;
    if (last->cluster != t->cluster || last->actor != w)
        return order_saw(r->order, w, (Epoch){last->cluster, last->clock, last->actor});
    bool same =
        last->lane == t->writer || last->lane == RACE_WHOLE_WARP || t->writer == RACE_WHOLE_WARP;
    return same || last->clock < t->lane_sync;
}

// Are the two warps of one block?
static bool same_block(const Races *r, const RaceTouch *t, uint64_t cluster, uint32_t actor) {
    return cluster == t->cluster && actor / r->facts.warps == t->actor / r->facts.warps;
}

static bool both_strong(const Races *r, const RaceTouch *t, const RaceWrite *last) {
    if (t->strength == WEAK || last->strength == WEAK) return false;
    Strength least = same_block(r, t, last->cluster, last->actor) ? STRONG_IN_BLOCK : STRONG;
    return t->strength >= least && last->strength >= least;
}

// The bytes that the last write stored, as far as this lane accesses them. They come from another
// lane of the same store, which has the warp's clock, or from memory. NULL: unknown.
static const uint8_t *last_written(const RaceTouch *t, const RaceWrite *last, uint64_t at) {
    const SimAccess *a = t->access;
    uint32_t l = t->lane, w = t->actor, other = last->lane;
    bool now = last->clock == t->now[w] && last->actor == w;
    if (now && other < l && a->mask >> other & 1 && at - a->address[other] < a->bytes)
        return a->data + 32 * (size_t)other + (at - a->address[other]);
    return a->there && a->there[l] ? a->there[l] + (at - a->address[l]) : NULL;
}

// Two stores of one block that write the same value: the result does not depend on their order.
static bool same_value(const Races *r, const RaceTouch *t, const RaceWrite *last, uint32_t cell) {
    const SimAccess *a = t->access;
    bool stores = a->kind == SIM_ACCESS_STORE && last->kind == SIM_ACCESS_STORE && a->data;
    if (!stores || !last->clock || !same_block(r, t, last->cluster, last->actor)) return false;
    uint64_t at = t->shadow->base + ((uint64_t)cell << t->shadow->shift);
    const uint8_t *theirs = last_written(t, last, at);
    return theirs && !memcmp(a->data + 32 * (size_t)t->lane + (at - a->address[t->lane]), theirs,
                             (size_t)1 << t->shadow->shift);
}

static bool is_flight(uint8_t kind) {
    return kind == SIM_ACCESS_FLIGHT_READ || kind == SIM_ACCESS_FLIGHT_WRITE ||
           kind == SIM_ACCESS_FLIGHT_LAND;
}

// The write is ordered before this access, but may be of another proxy.
static bool check_fenced(Races *r, const RaceTouch *t, uint32_t cell, const RaceWrite *last) {
    Epoch m = {last->cluster, last->clock, last->actor};
    SimAccessKind kind = t->access->kind;
    if (!last->clock || is_flight(last->kind)) return true;
    if (kind == SIM_ACCESS_MBARRIER || kind == SIM_ACCESS_FLIGHT_LAND)
        return race_check_init(r, t, cell, m, last->lane);
    return race_check_proxy(r, t, cell, "a write", m, last->lane);
}

static bool check_write(Races *r, const RaceTouch *t, uint32_t cell) {
    const RaceWrite *last = &t->shadow->writes[cell];
    if (in_order(r, t, last) || both_strong(r, t, last) || same_value(r, t, last, cell))
        return !t->proxied || check_fenced(r, t, cell, last);
    bool copy = last->kind == SIM_ACCESS_ASYNC_START || last->clock == SHADOW_IN_FLIGHT;
    race_report(r, t, cell, copy ? "a copy in flight" : "a write",
                (Epoch){last->cluster, last->clock, last->actor}, last->lane);
    return false;
}

// Checks reads by other lanes of the warp since the lanes last synchronised.
static bool check_own_reads(Races *r, const RaceTouch *t, uint32_t cell) {
    const RaceReader *last = &t->shadow->own[cell];
    uint32_t w = t->actor;
    if (last->sync_count != t->sync_count || last->actor != w || last->lane == t->writer)
        return true;
    if (last->lane == RACE_WHOLE_WARP || t->writer == RACE_WHOLE_WARP) return true;
    race_report(r, t, cell, "a read", (Epoch){t->cluster, t->now[w], w},
                last->lane == RACE_SEVERAL ? RACE_WHOLE_WARP : last->lane);
    return false;
}

static void remember_reader(const RaceTouch *t, uint32_t cell) {
    RaceReader *last = &t->shadow->own[cell];
    uint32_t w = t->actor;
    bool again =
        last->sync_count == t->sync_count && last->actor == w && last->lane != RACE_WHOLE_WARP;
    uint32_t lane = !again                                                    ? t->writer
                    : last->lane == t->writer || t->writer == RACE_WHOLE_WARP ? last->lane
                                                                              : RACE_SEVERAL;
    *last = (RaceReader){.sync_count = t->sync_count, .actor = (uint16_t)w, .lane = (uint8_t)lane};
}

// Reads in flight, and those that ended, of the async proxy. The first loop decides, and is simple
// enough for vectors; the second finds out which.
static bool check_flights(Races *r, const RaceTouch *t, uint32_t cell) {
    const ShadowFlight *all = &t->shadow->flights[(size_t)cell * r->warp_count];
    uint32_t count = r->warp_count, any = 0;
    for (uint32_t w = 0; w < count; w++) any |= all[w].flying | (all[w].clock > t->now[w]);
    for (uint32_t w = 0; any && w < count; w++) {
        if (!all[w].flying && all[w].clock <= t->now[w]) continue;
        uint32_t clock = all[w].flying ? SHADOW_IN_FLIGHT : all[w].clock;
        race_report(r, t, cell, all[w].flying ? "a read in flight" : "an asynchronous read",
                    (Epoch){t->cluster, clock, w}, RACE_WHOLE_WARP);
        break;
    }
    return !any;
}

// Reads of shared memory by each warp.
static void check_warps(Races *r, const RaceTouch *t, uint32_t cell) {
    const uint32_t *clocks = &t->shadow->clocks[(size_t)cell * r->warp_count];
    const uint32_t *enough = t->async ? order_fenced(r->order, t->actor, false) : t->now;
    uint32_t count = r->warp_count, any = 0;
    for (uint32_t w = 0; w < count; w++) any |= (clocks[w] > t->now[w]) | (clocks[w] > enough[w]);
    for (uint32_t w = 0; any && w < count; w++) {
        Epoch m = {t->cluster, clocks[w], w};
        if (clocks[w] > t->now[w] && w != t->actor) {
            race_report(r, t, cell, "a read", m, RACE_WHOLE_WARP);
            return;
        }
        if (t->async && clocks[w] && !race_check_proxy(r, t, cell, "a read", m, RACE_WHOLE_WARP))
            return;
    }
}

// The last reads of global memory.
static void check_readers(Races *r, const RaceTouch *t, uint32_t cell) {
    for (uint32_t n = 0; n < SHADOW_READERS; n++) {
        const ShadowRead *last = &t->shadow->readers[cell][n];
        Epoch m = {last->cluster, last->clock, last->actor};
        bool flies = last->clock == SHADOW_IN_FLIGHT;
        bool mine = last->cluster == t->cluster && last->actor == t->actor && !flies;
        if (!last->clock || (mine && !t->async)) continue;
        if (mine || (!flies && order_saw(r->order, t->actor, m))) {
            bool generic = last->actor < r->warp_count;
            if (generic && !race_check_proxy(r, t, cell, "a read", m, RACE_WHOLE_WARP)) return;
            continue;
        }
        race_report(r, t, cell, "a read", m, RACE_WHOLE_WARP);
        return;
    }
}

static void check_reads(Races *r, const RaceTouch *t, uint32_t cell) {
    const Shadow *s = t->shadow;
    if (s->own && !check_own_reads(r, t, cell)) return;
    if (s->flights && !check_flights(r, t, cell)) return;
    if (s->clocks)
        check_warps(r, t, cell);
    else
        check_readers(r, t, cell);
}

static void write_cell(Races *r, const RaceTouch *t, uint32_t cell) {
    const SimAccess *a = t->access;
    RaceWrite *last = &t->shadow->writes[cell];
    uint32_t w = t->actor;
    if (check_write(r, t, cell)) check_reads(r, t, cell);
    *last = (RaceWrite){.cluster = t->cluster,
                        .clock = t->async ? SHADOW_IN_FLIGHT : t->now[w],
                        .actor = w & 0xfff,
                        .lane = (uint8_t)t->writer,
                        .strength = t->strength & 15,
                        .kind = (uint8_t)a->kind};
}

static void read_cell(Races *r, const RaceTouch *t, uint32_t cell) {
    uint32_t w = t->actor;
    check_write(r, t, cell);
    if (t->strength != WEAK) return;
    if (t->async && t->shadow->flights) {
        t->shadow->flights[(size_t)cell * r->warp_count + w].flying++;
        return;
    }
    if (t->shadow->clocks) {
        remember_reader(t, cell);
        t->shadow->clocks[(size_t)cell * r->warp_count + w] = t->now[w];
        return;
    }
    ShadowRead *readers = t->shadow->readers[cell];
    if (readers[0].actor != w || readers[0].cluster != t->cluster) readers[1] = readers[0];
    readers[0] = (ShadowRead){t->cluster, t->async ? SHADOW_IN_FLIGHT : t->now[w], w};
}

// The part of a lane's bytes that is in one shadow.
static void touch(Races *r, RaceTouch *t, uint64_t begin, uint64_t end, bool reads) {
    Shadow *s = t->shadow;
    uint64_t first = begin - s->base, last = end - s->base;
    uint32_t shift = (uint32_t)__builtin_ctzll(first | last | 1u << SHADOW_SHIFT);
    if (shift < s->shift) shadow_split(r->arena, s, shift, r->warp_count);
    for (uint64_t cell = first >> s->shift; cell < last >> s->shift; cell++)
        if (reads)
            read_cell(r, t, (uint32_t)cell);
        else
            write_cell(r, t, (uint32_t)cell);
}

static void touch_global(Races *r, RaceTouch *t, uint64_t begin, uint64_t end, bool reads) {
    while (begin < end) {
        t->shadow = race_page(r, begin);
        uint64_t stop = t->shadow->base + RACE_PAGE < end ? t->shadow->base + RACE_PAGE : end;
        touch(r, t, begin, stop, reads);
        begin = stop;
    }
}

static bool is_read(SimAccessKind kind) {
    return kind == SIM_ACCESS_LOAD || kind == SIM_ACCESS_MATRIX_LOAD ||
           kind == SIM_ACCESS_ASYNC_READ || kind == SIM_ACCESS_MBARRIER ||
           kind == SIM_ACCESS_FLIGHT_READ || kind == SIM_ACCESS_FLIGHT_LAND;
}

void race_check_access(Races *r, const SimAccess *a, bool strong, bool whole) {
    bool reads = is_read(a->kind);
    uint32_t actor = race_actor(r, &a->at);
    RaceTouch t = {.access = a,
                   .strength = !strong                     ? WEAK
                               : a->scope >= SIM_SCOPE_GPU ? STRONG
                                                           : STRONG_IN_BLOCK,
                   .actor = actor,
                   .now = order_now(r->order, actor),
                   .lane_sync = r->lane_sync[actor],
                   .cluster = order_cluster(r->order),
                   .async = is_flight((uint8_t)a->kind),
                   .proxied = is_flight((uint8_t)a->kind) || a->kind == SIM_ACCESS_MBARRIER,
                   .shadow = &r->shared[a->space == SIM_SPACE_SHARED ? a->owner : 0]};
    t.sync_count = t.lane_sync + r->collectives[actor];
    for (uint32_t l = 0; l < a->lanes; l++) {
        // Accesses outside all memory are left to other observers: addresses without an end cannot
        // be recorded.
        bool nowhere = a->space == SIM_SPACE_GLOBAL && a->there && !a->there[l];
        if (!(a->mask >> l & 1) || nowhere) continue;
        t.lane = l, t.writer = whole ? RACE_WHOLE_WARP : l;
        uint64_t begin = a->address[l], end = begin + a->bytes;
        if (a->space == SIM_SPACE_GLOBAL) {
            touch_global(r, &t, begin, end, reads);
            continue;
        }
        if (end > t.shadow->bytes) end = t.shadow->bytes;
        if (begin < end) touch(r, &t, begin, end, reads);
    }
}

static void observe_access(Races *r, const SimAccess *a, bool late) {
    bool strong = a->kind == SIM_ACCESS_ATOMIC || a->order != SIM_ORDER_WEAK;
    if (a->space != SIM_SPACE_SHARED && a->space != SIM_SPACE_GLOBAL) return;
    uint32_t actor = race_actor(r, &a->at);
    bool orders = strong && !late && a->kind != SIM_ACCESS_MBARRIER;
    if (r->facts.in_step) order_tick(r->order, actor);
    if (orders) order_strong(r->order, a, actor);
    if (orders || r->facts.in_step) note_lane_sync(r, actor);
    race_check_access(r, a, strong,
                      a->kind == SIM_ACCESS_MATRIX_LOAD || a->kind == SIM_ACCESS_MATRIX_STORE);
}

static void access(void *state, const SimAccess *a) { observe_access(state, a, false); }

// The access may happen only now, whatever was reported before.
static void late(void *state, const SimAccess *a) { observe_access(state, a, true); }

const SimObserver *sim_observe_races(Arena *arena, SimFindings *f) {
    Races *r = arena_new(arena, Races, 1);
    r->arena = arena, r->findings = f, r->order = order_create(arena);
    r->observer = (SimObserver){.state = r,
                                .launch_begin = launch_begin,
                                .block_begin = block_begin,
                                .step = step,
                                .access = access,
                                .late = late,
                                .arrive = arrive,
                                .barrier = barrier,
                                .warp_sync = warp_sync,
                                .fence = fence,
                                .mbarrier = mbarrier,
                                .flight_begin = race_flight_begin,
                                .flight_end = race_flight_end};
    return &r->observer;
}
