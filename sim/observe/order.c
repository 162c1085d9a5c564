#include "sim/observe/order.h"

#include <string.h>

#include "base/vec.h"

// One number for each warp and agent of a cluster.
typedef uint32_t *Clock;

// The clocks that go from warp to warp.
typedef struct OrderClocks {
    Clock strict, loose, far, shared, global, inited;  // shared, global: by proxy fences
} OrderClocks;
enum { CLOCKS = 6 };

// Clusters and how far each is known.
typedef struct OrderSeen {
    uint64_t cluster;
    Clock clock;
} OrderSeen;
typedef struct OrderKnown {
    VEC(OrderSeen) list;
    Map places;  // cluster + 1 to index in the list + 1
} OrderKnown;

// The state released at an address.
typedef struct OrderPlace {
    OrderClocks clocks;  // of the running cluster
    uint64_t cluster;    // the cluster of the clocks, + 1
    OrderKnown others;   // earlier releases by other clusters, and what those knew
} OrderPlace;

// A barrier: what arrived for its next completion, and what the last one gave.
typedef struct OrderBarrier {
    OrderClocks in, out;
    uint64_t cluster;
} OrderBarrier;

struct Order {
    Arena *arena;
    uint64_t cluster;
    uint32_t warps, agents, count;    // of a clock's numbers
    OrderClocks *now;                 // by warp
    Clock *fenced;                    // at the warp's last fence
    Clock *pending;                   // seen by relaxed reads; a fence makes it count
    Clock ticks;                      // of the agents
    OrderKnown known, pending_known;  // about other clusters
    Map places, barriers;             // by address, by number
};

Order *order_create(Arena *arena) {
    Order *o = arena_new(arena, Order, 1);
    o->arena = arena;
    return o;
}

static Clock new_clock(Order *o) { return arena_new(o->arena, uint32_t, o->count + 1); }

static OrderClocks new_clocks(Order *o) {
    return (OrderClocks){new_clock(o), new_clock(o), new_clock(o),
                         new_clock(o), new_clock(o), new_clock(o)};
}

// `far` is the warp's at its last fence with GPU scope.
void order_begin_launch(Order *o, uint32_t warps, uint32_t agents) {
    o->places = o->barriers = (Map){0};
    o->warps = warps, o->agents = agents, o->count = warps + agents;
    o->now = arena_new(o->arena, OrderClocks, warps + 1);
    o->fenced = arena_new(o->arena, Clock, warps + 1);
    o->pending = arena_new(o->arena, Clock, warps + 1);
    o->ticks = arena_new(o->arena, uint32_t, agents + 1);
    for (uint32_t w = 0; w < warps; w++) {
        o->now[w] = new_clocks(o);
        o->fenced[w] = new_clock(o), o->pending[w] = new_clock(o);
    }
}

static void clear(const Order *o, Clock c) { memset(c, 0, o->count * sizeof *c); }
static void clear_all(const Order *o, const OrderClocks *c) {
    const Clock all[CLOCKS] = {c->strict, c->loose, c->far, c->shared, c->global, c->inited};
    for (int n = 0; n < CLOCKS; n++) clear(o, all[n]);
}

void order_begin_cluster(Order *o, uint64_t cluster) {
    o->cluster = cluster;
    for (uint32_t w = 0; w < o->warps; w++) {
        clear_all(o, &o->now[w]);
        clear(o, o->fenced[w]), clear(o, o->pending[w]);
        o->now[w].strict[w] = o->now[w].loose[w] = 1;
    }
    memset(o->ticks, 0, o->agents * sizeof *o->ticks);
    o->known = o->pending_known = (OrderKnown){0};
}

uint64_t order_cluster(const Order *o) { return o->cluster; }
const uint32_t *order_now(const Order *o, uint32_t actor) { return o->now[actor].strict; }

static void join(const Order *o, Clock to, const uint32_t *from) {
    for (uint32_t n = 0; n < o->count; n++) to[n] = from[n] > to[n] ? from[n] : to[n];
}
static void join_fenced(const Order *o, const OrderClocks *to, const OrderClocks *from) {
    join(o, to->shared, from->shared);
    join(o, to->global, from->global);
    join(o, to->inited, from->inited);
}
static void join_all(const Order *o, const OrderClocks *to, const OrderClocks *from, bool far) {
    join(o, to->strict, from->strict);
    join(o, to->loose, from->loose);
    join_fenced(o, to, from);
    if (far) join(o, to->far, from->far);
}

void order_tick(Order *o, uint32_t actor) {
    uint32_t next = o->now[actor].strict[actor] + 1;
    o->now[actor].strict[actor] = o->now[actor].loose[actor] = next;
}

// ---- Barriers ----

static OrderBarrier *barrier_at(Order *o, uint64_t barrier) {
    uint64_t *at = map_at(o->arena, &o->barriers, barrier);
    if (!*at) {
        OrderBarrier *made = arena_new(o->arena, OrderBarrier, 1);
        *made = (OrderBarrier){.in = new_clocks(o), .out = new_clocks(o)};
        *at = map_key(made);
    }
    OrderBarrier *b = (OrderBarrier *)(uintptr_t)*at;
    if (b->cluster == o->cluster + 1) return b;
    clear_all(o, &b->in), clear_all(o, &b->out);
    b->cluster = o->cluster + 1;
    return b;
}

void order_arrive(Order *o, uint32_t actor, uint64_t barrier) {
    join_all(o, &barrier_at(o, barrier)->in, &o->now[actor], true);
    order_tick(o, actor);
}

static bool any_lanes(const uint32_t *lanes, uint32_t count) {
    for (uint32_t n = 0; n < count; n++)
        if (lanes[n]) return true;
    return false;
}

void order_barrier(Order *o, const SimBarrierDone *done, uint32_t first, uint64_t barrier) {
    OrderBarrier *b = barrier_at(o, barrier);
    for (uint32_t w = 0; !done->arrivals && w < done->warp_count; w++)
        if (done->arrived[w]) order_arrive(o, first + w, barrier);
    if (any_lanes(done->arrived, done->warp_count)) {
        OrderClocks spare = b->out;
        b->out = b->in, b->in = spare;
        clear_all(o, &b->in);
    }
    for (uint32_t w = 0; w < done->warp_count; w++)
        if (done->waited[w]) join_all(o, &o->now[first + w], &b->out, done->hands_on);
}

// ---- Other clusters ----

static Clock known_clock(Order *o, OrderKnown *k, uint64_t cluster) {
    uint64_t *place = map_at(o->arena, &k->places, cluster + 1);
    if (!*place) {
        vec_push(o->arena, &k->list, ((OrderSeen){cluster, new_clock(o)}));
        *place = k->list.count;
    }
    return k->list.data[*place - 1].clock;
}

static void join_known(Order *o, OrderKnown *to, const OrderKnown *from) {
    for (size_t n = 0; n < from->list.count; n++)
        join(o, known_clock(o, to, from->list.data[n].cluster), from->list.data[n].clock);
}

static const uint32_t *find_known(const OrderKnown *k, uint64_t cluster) {
    const uint64_t *place = map_find(&k->places, cluster + 1);
    return place ? k->list.data[*place - 1].clock : NULL;
}

// ---- Fences ----

void order_fence(Order *o, uint32_t w, SimFence kind, SimScope scope) {
    OrderClocks *now = &o->now[w];
    bool far = scope >= SIM_SCOPE_GPU;
    join(o, now->strict, o->pending[w]);
    if (far && kind != SIM_FENCE_RELEASE) join_known(o, &o->known, &o->pending_known);
    if (kind != SIM_FENCE_ACQUIRE) {
        join(o, o->fenced[w], now->strict);
        if (far) join(o, now->far, now->strict);
    }
    join(o, now->loose, now->strict);
    order_tick(o, w);
}

// All that the warp knows is fenced: a proxy fence may stand anywhere on the way from one access to
// the other (PTX ISA, "Causality order").
void order_proxy_fence(Order *o, uint32_t w, bool shared, bool global) {
    OrderClocks *now = &o->now[w];
    if (shared) join(o, now->shared, now->strict);
    if (global) join(o, now->global, now->strict);
    order_init_fence(o, w);
}

void order_init_fence(Order *o, uint32_t w) {
    join(o, o->now[w].inited, o->now[w].strict);
    order_tick(o, w);
}

// ---- Order by what is released and acquired at an address ----

static OrderPlace *place_at(Order *o, uint64_t key) {
    uint64_t *at = map_at(o->arena, &o->places, key);
    if (!*at) {
        OrderPlace *made = arena_new(o->arena, OrderPlace, 1);
        made->clocks = new_clocks(o);
        *at = map_key(made);
    }
    OrderPlace *p = (OrderPlace *)(uintptr_t)*at;
    if (p->cluster == o->cluster + 1) return p;
    clear_all(o, &p->clocks);
    p->cluster = o->cluster + 1;
    return p;
}

static bool any(const Order *o, const uint32_t *c) {
    for (uint32_t n = 0; n < o->count; n++)
        if (c[n]) return true;
    return false;
}

static void read_place(Order *o, const OrderPlace *p, uint32_t w, bool acquires, bool far) {
    const OrderClocks *now = &o->now[w];
    join(o, acquires ? now->strict : o->pending[w], p->clocks.strict);
    join(o, now->loose, p->clocks.loose);
    join_fenced(o, now, &p->clocks);
    if (far) join_known(o, acquires ? &o->known : &o->pending_known, &p->others);
}

static void write_place(Order *o, OrderPlace *p, uint32_t w, bool releases, bool far) {
    const OrderClocks *now = &o->now[w];
    const uint32_t *clock = releases ? now->strict : now->far;
    join(o, p->clocks.strict, releases ? now->strict : o->fenced[w]);
    join(o, now->loose, now->strict);
    join(o, p->clocks.loose, now->loose);
    join_fenced(o, &p->clocks, now);
    if (!far || !any(o, clock)) return;
    join(o, known_clock(o, &p->others, o->cluster), clock);
    join_known(o, &p->others, &o->known);
}

void order_strong(Order *o, const SimAccess *a, uint32_t w) {
    bool reads = a->kind == SIM_ACCESS_LOAD || a->kind == SIM_ACCESS_ATOMIC;
    bool writes = a->kind == SIM_ACCESS_STORE || a->kind == SIM_ACCESS_ATOMIC;
    bool acquires = a->order == SIM_ORDER_ACQUIRE || a->order >= SIM_ORDER_ACQ_REL;
    bool releases = a->order == SIM_ORDER_RELEASE || a->order >= SIM_ORDER_ACQ_REL;
    bool far = a->space == SIM_SPACE_GLOBAL && a->scope >= SIM_SCOPE_GPU;
    uint64_t owner = a->space == SIM_SPACE_SHARED ? a->owner : 0;
    uint64_t space = (uint64_t)a->space << 60 ^ owner << 40;
    for (uint64_t left = a->mask; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctzll(left);
        OrderPlace *p = place_at(o, a->address[l] ^ space);
        if (reads) read_place(o, p, w, acquires, far);
        if (writes) write_place(o, p, w, releases, far);
    }
    if (writes) order_tick(o, w);
}

static OrderPlace *mbarrier_at(Order *o, uint64_t key) {
    return place_at(o, key ^ UINT64_C(1) << 62);
}

void order_release(Order *o, uint32_t w, uint64_t key) {
    write_place(o, mbarrier_at(o, key), w, true, false);
    order_tick(o, w);
}

void order_acquire(Order *o, uint32_t w, uint64_t key) {
    read_place(o, mbarrier_at(o, key), w, true, false);
}

// Objects of 8 bytes that are neighbours have agents of their own.
Epoch order_land(Order *o, uint64_t key) {
    uint32_t agent = (uint32_t)((key / 8 ^ key >> 32) % o->agents), actor = o->warps + agent;
    Epoch m = {o->cluster, ++o->ticks[agent], actor};
    const OrderClocks *at = &mbarrier_at(o, key)->clocks;
    at->strict[actor] = at->loose[actor] = m.clock;
    return m;
}

// ---- Questions ----

bool order_saw(const Order *o, uint32_t actor, Epoch m) {
    if (m.cluster == o->cluster) return m.clock <= o->now[actor].strict[m.actor];
    const uint32_t *clock = find_known(&o->known, m.cluster);
    return clock && m.clock <= clock[m.actor];
}

bool order_saw_loosely(const Order *o, uint32_t actor, Epoch m) {
    if (m.cluster == o->cluster) return m.actor != actor && m.clock <= o->now[actor].loose[m.actor];
    const uint32_t *clock = find_known(&o->pending_known, m.cluster);
    return clock && m.clock <= clock[m.actor];
}

const uint32_t *order_fenced(const Order *o, uint32_t actor, bool global) {
    return global ? o->now[actor].global : o->now[actor].shared;
}

bool order_saw_proxied(const Order *o, uint32_t actor, Epoch m, bool global) {
    return m.cluster != o->cluster || m.clock <= order_fenced(o, actor, global)[m.actor];
}

bool order_saw_inited(const Order *o, uint32_t actor, Epoch m) {
    return m.cluster != o->cluster || m.clock <= o->now[actor].inited[m.actor];
}
