// Races in shared memory: two accesses to one byte, at least one a write, with
// nothing between them that orders them.
//
// Each warp has a vector clock. A barrier joins the clocks of the warps that
// arrived and gives the result to those that waited; bar.warp.sync moves a
// warp's own clock on. A byte remembers its last write and, for each warp, its
// last read: an access is in order when its warp's clock has seen them. Lanes
// of one warp need bar.warp.sync or a barrier between a write and another
// lane's access (a write after a read of another lane is not looked for).
// Releases and acquires, with fences beside relaxed accesses, order by the
// clock kept at their address. Two strong accesses never race. A part of
// cp.async counts as a write when it is issued and again when it lands.
#include <string.h>

#include "base/map.h"
#include "sim/observe/observe.h"

enum { WARPS = 32, WHOLE_WARP = 255 };

typedef uint32_t Clock[WARPS];

typedef struct Write {
    uint32_t clock;  // 0: none
    uint8_t warp, lane;
    bool strong, async;
} Write;

typedef struct Races {
    SimObserver observer;
    Arena *arena;
    SimFindings *findings;
    uint32_t warps, bytes;
    Clock *now;       // of each warp
    Clock *fenced;    // at its last fence
    Clock *pending;   // what relaxed reads have seen, until a fence makes it count
    Write *writes;    // by byte
    uint32_t *reads;  // by byte and warp
    Map places;       // address to Clock *: what was released there
} Races;

static void launch_begin(void *state, const SimLaunchFacts *f) {
    Races *r = state;
    r->warps = f->warps, r->bytes = f->shared_bytes;
    r->now = arena_new(r->arena, Clock, WARPS);
    r->fenced = arena_new(r->arena, Clock, WARPS);
    r->pending = arena_new(r->arena, Clock, WARPS);
    r->writes = arena_new(r->arena, Write, r->bytes + 1);
    r->reads = arena_new(r->arena, uint32_t, (size_t)r->bytes * r->warps + 1);
}

static void block_begin(void *state, uint64_t block) {
    Races *r = state;
    (void)block;
    memset(r->now, 0, WARPS * sizeof *r->now);
    memset(r->fenced, 0, WARPS * sizeof *r->fenced);
    memset(r->pending, 0, WARPS * sizeof *r->pending);
    memset(r->writes, 0, (r->bytes + 1) * sizeof *r->writes);
    memset(r->reads, 0, (size_t)r->bytes * r->warps * sizeof *r->reads);
    for (uint32_t w = 0; w < r->warps; w++) r->now[w][w] = 1;
    for (uint32_t n = 0; n < r->places.count; n++)
        memset((void *)(uintptr_t)r->places.entries[n].value, 0, sizeof(Clock));
}

static void join(Clock to, const Clock from) {
    for (uint32_t n = 0; n < WARPS; n++) to[n] = from[n] > to[n] ? from[n] : to[n];
}

static void barrier(void *state, const SimBarrierDone *done) {
    Races *r = state;
    Clock all = {0};
    for (uint32_t w = 0; w < done->warp_count; w++)
        if (done->arrived[w]) join(all, r->now[w]);
    for (uint32_t w = 0; w < done->warp_count; w++) {
        if (done->waited[w]) join(r->now[w], all);
        if (done->arrived[w]) r->now[w][w]++;
    }
}

static void warp_sync(void *state, const SimPlace *at, uint32_t mask) {
    (void)mask;
    ((Races *)state)->now[at->warp][at->warp]++;
}

static void fence(void *state, const SimPlace *at, uint32_t mask, SimFence kind, SimScope scope) {
    Races *r = state;
    (void)mask, (void)scope;
    if (kind != SIM_FENCE_MEMORY) return;
    join(r->now[at->warp], r->pending[at->warp]);
    join(r->fenced[at->warp], r->now[at->warp]);
    r->now[at->warp][at->warp]++;
}

// ---- Order by what is released and acquired at an address ----

static uint32_t *clock_at(Races *r, const SimAccess *a, uint32_t l) {
    uint64_t key = a->address[l] ^ (uint64_t)a->space << 60;
    uint64_t *place = map_at(r->arena, &r->places, key);
    if (!*place) *place = map_key(arena_new(r->arena, Clock, 1));
    return (uint32_t *)(uintptr_t)*place;
}

static void synchronize(Races *r, const SimAccess *a) {
    uint32_t w = a->at.warp;
    bool reads = a->kind == SIM_ACCESS_LOAD || a->kind == SIM_ACCESS_ATOMIC;
    bool writes = a->kind == SIM_ACCESS_STORE || a->kind == SIM_ACCESS_ATOMIC;
    bool acquires = a->order == SIM_ORDER_ACQUIRE || a->order >= SIM_ORDER_ACQ_REL;
    bool releases = a->order == SIM_ORDER_RELEASE || a->order >= SIM_ORDER_ACQ_REL;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        uint32_t *clock = clock_at(r, a, l);
        if (reads) join(acquires ? r->now[w] : r->pending[w], clock);
        if (writes) join(clock, releases ? r->now[w] : r->fenced[w]);
    }
    if (releases) r->now[w][w]++;
}

static void mbarrier(void *state, const SimMbarrierEvent *e) {
    Races *r = state;
    uint32_t w = e->at.warp;
    uint64_t *place = map_at(r->arena, &r->places, e->address ^ UINT64_C(1) << 62);
    if (!*place) *place = map_key(arena_new(r->arena, Clock, 1));
    uint32_t *clock = (uint32_t *)(uintptr_t)*place;
    if (e->acquire) {
        join(r->now[w], clock);
        return;
    }
    join(clock, r->now[w]);
    r->now[w][w]++;
}

// ---- Accesses ----

static const char *kind_name(const Write *w) {
    return w->async ? "a copy that was under way" : "a write";
}

static void found(Races *r, const SimAccess *a, uint32_t l, uint64_t byte, const char *what,
                  uint32_t warp, uint32_t lane) {
    if (lane == WHOLE_WARP)
        sim_findings_add(r->findings, SIM_FINDING_RACE, &a->at,
                         "'%s' of thread %u at byte %llu of shared memory, and %s of warp %u: "
                         "nothing orders them (block %llu)",
                         a->at.instr->name, a->at.warp * SIM_LANES + l, (unsigned long long)byte,
                         what, warp, (unsigned long long)a->at.block);
    else
        sim_findings_add(r->findings, SIM_FINDING_RACE, &a->at,
                         "'%s' of thread %u at byte %llu of shared memory, and %s of thread %u: "
                         "nothing orders them (block %llu)",
                         a->at.instr->name, a->at.warp * SIM_LANES + l, (unsigned long long)byte,
                         what, warp * SIM_LANES + lane, (unsigned long long)a->at.block);
}

// Has this lane's access seen the write?
static bool in_order(const Races *r, const Write *last, uint32_t w, uint32_t lane) {
    if (!last->clock) return true;
    if (last->warp != w) return last->clock <= r->now[w][last->warp];
    bool same = last->lane == lane || last->lane == WHOLE_WARP || lane == WHOLE_WARP;
    return same || last->clock < r->now[w][w];
}

static bool check_write(Races *r, const SimAccess *a, uint32_t l, uint32_t lane, uint64_t byte,
                        bool strong) {
    const Write *last = &r->writes[byte];
    uint32_t w = a->at.warp;
    if (in_order(r, last, w, lane) || (strong && last->strong)) return true;
    found(r, a, l, byte, kind_name(last), last->warp, last->lane);
    return false;
}

static bool check_reads(Races *r, const SimAccess *a, uint32_t l, uint64_t byte) {
    const uint32_t *reads = &r->reads[byte * r->warps], *now = r->now[a->at.warp];
    for (uint32_t w = 0; w < r->warps; w++)
        if (w != a->at.warp && reads[w] > now[w])
            return found(r, a, l, byte, "a read", w, WHOLE_WARP), false;
    return true;
}

// Lanes of one store that write different values to one place. What a lane
// wrote in this very instruction bears the warp's clock and the instruction's
// mark.
static bool same_value(const SimAccess *a, uint32_t l, uint32_t other, uint64_t byte) {
    if (!a->data || other >= SIM_LANES || !(a->mask >> other & 1) || other >= l) return false;
    uint64_t mine = byte - a->address[l], theirs = byte - a->address[other];
    if (theirs >= a->bytes) return false;
    return a->data[32 * (size_t)l + mine] == a->data[32 * (size_t)other + theirs];
}

static void write_byte(Races *r, const SimAccess *a, uint32_t l, uint32_t lane, uint64_t byte,
                       bool strong) {
    Write *last = &r->writes[byte];
    uint32_t w = a->at.warp;
    bool twin =
        last->warp == w && last->clock == r->now[w][w] && same_value(a, l, last->lane, byte);
    if (!twin && check_write(r, a, l, lane, byte, strong) && !strong) check_reads(r, a, l, byte);
    *last = (Write){.clock = r->now[w][w],
                    .warp = (uint8_t)w,
                    .lane = (uint8_t)lane,
                    .strong = strong,
                    .async = a->kind == SIM_ACCESS_ASYNC_START};
}

static void read_byte(Races *r, const SimAccess *a, uint32_t l, uint32_t lane, uint64_t byte,
                      bool strong) {
    check_write(r, a, l, lane, byte, strong);
    if (!strong) r->reads[byte * r->warps + a->at.warp] = r->now[a->at.warp][a->at.warp];
}

static void access(void *state, const SimAccess *a) {
    Races *r = state;
    bool strong = a->kind == SIM_ACCESS_ATOMIC || a->order != SIM_ORDER_WEAK;
    bool memory = a->space == SIM_SPACE_SHARED || a->space == SIM_SPACE_GLOBAL;
    if (strong && memory) synchronize(r, a);
    if (a->space != SIM_SPACE_SHARED) return;
    bool reads = a->kind == SIM_ACCESS_LOAD || a->kind == SIM_ACCESS_MATRIX_LOAD;
    bool whole = a->kind == SIM_ACCESS_MATRIX_LOAD || a->kind == SIM_ACCESS_MATRIX_STORE;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        uint32_t lane = whole ? WHOLE_WARP : l;
        uint64_t end = a->address[l] + a->bytes;
        if (end > r->bytes) end = r->bytes;
        for (uint64_t byte = a->address[l]; byte < end; byte++) {
            if (reads)
                read_byte(r, a, l, lane, byte, strong);
            else
                write_byte(r, a, l, lane, byte, strong);
        }
    }
}

const SimObserver *sim_observe_races(Arena *arena, SimFindings *f) {
    Races *r = arena_new(arena, Races, 1);
    r->arena = arena, r->findings = f;
    r->observer = (SimObserver){.state = r,
                                .launch_begin = launch_begin,
                                .block_begin = block_begin,
                                .access = access,
                                .barrier = barrier,
                                .warp_sync = warp_sync,
                                .fence = fence,
                                .mbarrier = mbarrier};
    return &r->observer;
}
