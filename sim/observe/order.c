#include "sim/observe/order.h"

#include <string.h>

#include "base/vec.h"

// Blocks and how far each is known.
typedef struct OrderSeen {
    uint64_t block;
    Clock clock;
} OrderSeen;
typedef struct OrderKnown {
    VEC(OrderSeen) list;
    Map places;  // block + 1 to index in the list + 1
} OrderKnown;

// The state released at an address.
typedef struct OrderPlace {
    Clock strict, loose, proxied;  // of the running block
    uint64_t block;                // the block of the clocks
    OrderKnown others;             // earlier releases by other blocks, and what those knew
} OrderPlace;

struct Order {
    Arena *arena;
    uint64_t block;
    uint32_t warps;
    Clock now[ORDER_WARPS], loose[ORDER_WARPS];
    Clock fenced[ORDER_WARPS];        // at the warp's last fence
    Clock pending[ORDER_WARPS];       // seen by relaxed reads; a fence makes it count
    Clock far[ORDER_WARPS];           // at the warp's last fence with GPU scope
    Clock proxied[ORDER_WARPS];       // known through proxy fences
    OrderKnown known, pending_known;  // about other blocks
    Map places;                       // by address
};

Order *order_create(Arena *arena) {
    Order *o = arena_new(arena, Order, 1);
    o->arena = arena;
    return o;
}

void order_begin_launch(Order *o) { o->places = (Map){0}; }

void order_begin_block(Order *o, uint64_t block, uint32_t warps) {
    o->block = block, o->warps = warps;
    memset(o->now, 0, sizeof o->now);
    memset(o->fenced, 0, sizeof o->fenced);
    memset(o->pending, 0, sizeof o->pending);
    memset(o->far, 0, sizeof o->far);
    memset(o->proxied, 0, sizeof o->proxied);
    for (uint32_t w = 0; w < warps; w++) o->now[w][w] = 1;
    memcpy(o->loose, o->now, sizeof o->loose);
    o->known = o->pending_known = (OrderKnown){0};
}

uint64_t order_block(const Order *o) { return o->block; }
const uint32_t *order_now(const Order *o, uint32_t warp) { return o->now[warp]; }

static void join(Clock to, const Clock from) {
    for (uint32_t n = 0; n < ORDER_WARPS; n++) to[n] = from[n] > to[n] ? from[n] : to[n];
}

void order_tick(Order *o, uint32_t warp) {
    uint32_t next = o->now[warp][warp] + 1;
    o->now[warp][warp] = o->loose[warp][warp] = next;
}

void order_barrier(Order *o, const SimBarrierDone *done) {
    Clock all = {0}, loose = {0}, far = {0}, proxied = {0};
    for (uint32_t w = 0; w < done->warp_count; w++) {
        if (!done->arrived[w]) continue;
        join(all, o->now[w]), join(loose, o->loose[w]);
        join(far, o->far[w]), join(proxied, o->proxied[w]);
    }
    for (uint32_t w = 0; w < done->warp_count; w++) {
        if (done->waited[w]) join(o->now[w], all), join(o->loose[w], loose);
        if (done->waited[w]) join(o->proxied[w], proxied);
        if (done->waited[w] && done->hands_on) join(o->far[w], far);
        if (done->arrived[w]) order_tick(o, w);
    }
}

// ---- Other blocks ----

static uint32_t *known_clock(Order *o, OrderKnown *k, uint64_t block) {
    uint64_t *place = map_at(o->arena, &k->places, block + 1);
    if (!*place) {
        vec_push(o->arena, &k->list, (OrderSeen){.block = block});
        *place = k->list.count;
    }
    return k->list.data[*place - 1].clock;
}

static void join_known(Order *o, OrderKnown *to, const OrderKnown *from) {
    for (size_t n = 0; n < from->list.count; n++)
        join(known_clock(o, to, from->list.data[n].block), from->list.data[n].clock);
}

static const uint32_t *find_known(const OrderKnown *k, uint64_t block) {
    const uint64_t *place = map_find(&k->places, block + 1);
    return place ? k->list.data[*place - 1].clock : NULL;
}

void order_fence(Order *o, uint32_t w, SimScope scope) {
    join(o->now[w], o->pending[w]);
    join(o->fenced[w], o->now[w]);
    if (scope >= SIM_SCOPE_GPU) {
        join(o->far[w], o->now[w]);
        join_known(o, &o->known, &o->pending_known);
    }
    join(o->loose[w], o->now[w]);
    order_tick(o, w);
}

// Only the warp's own accesses are fenced: the manual's examples let each writer fence.
void order_proxy_fence(Order *o, uint32_t w) {
    o->proxied[w][w] = o->now[w][w];
    order_tick(o, w);
}

// ---- Order by what is released and acquired at an address ----

static OrderPlace *place_at(Order *o, uint64_t key) {
    uint64_t *at = map_at(o->arena, &o->places, key);
    if (!*at) *at = map_key(arena_new(o->arena, OrderPlace, 1));
    OrderPlace *p = (OrderPlace *)(uintptr_t)*at;
    if (p->block == o->block + 1) return p;
    memset(p->strict, 0, sizeof p->strict);
    memset(p->loose, 0, sizeof p->loose);
    memset(p->proxied, 0, sizeof p->proxied);
    p->block = o->block + 1;
    return p;
}

static bool any(const Clock c) {
    for (uint32_t n = 0; n < ORDER_WARPS; n++)
        if (c[n]) return true;
    return false;
}

static void read_place(Order *o, OrderPlace *p, uint32_t w, bool acquires, bool far) {
    join(acquires ? o->now[w] : o->pending[w], p->strict);
    join(o->loose[w], p->loose);
    join(o->proxied[w], p->proxied);
    if (far) join_known(o, acquires ? &o->known : &o->pending_known, &p->others);
}

static void write_place(Order *o, OrderPlace *p, uint32_t w, bool releases, bool far) {
    const uint32_t *clock = releases ? o->now[w] : o->far[w];
    join(p->strict, releases ? o->now[w] : o->fenced[w]);
    join(p->proxied, o->proxied[w]);
    join(o->loose[w], o->now[w]);
    join(p->loose, o->loose[w]);
    if (!far || !any(clock)) return;
    join(known_clock(o, &p->others, o->block), clock);
    join_known(o, &p->others, &o->known);
}

void order_strong(Order *o, const SimAccess *a) {
    uint32_t w = a->at.warp;
    bool reads = a->kind == SIM_ACCESS_LOAD || a->kind == SIM_ACCESS_ATOMIC;
    bool writes = a->kind == SIM_ACCESS_STORE || a->kind == SIM_ACCESS_ATOMIC;
    bool acquires = a->order == SIM_ORDER_ACQUIRE || a->order >= SIM_ORDER_ACQ_REL;
    bool releases = a->order == SIM_ORDER_RELEASE || a->order >= SIM_ORDER_ACQ_REL;
    bool far = a->space == SIM_SPACE_GLOBAL && a->scope >= SIM_SCOPE_GPU;
    for (uint64_t left = a->mask; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctzll(left);
        OrderPlace *p = place_at(o, a->address[l] ^ (uint64_t)a->space << 60);
        if (reads) read_place(o, p, w, acquires, far);
        if (writes) write_place(o, p, w, releases, far);
    }
    if (writes) order_tick(o, w);
}

void order_mbarrier(Order *o, const SimMbarrierEvent *e) {
    OrderPlace *p = place_at(o, e->address ^ UINT64_C(1) << 62);
    if (e->acquire) {
        read_place(o, p, e->at.warp, true, false);
        return;
    }
    write_place(o, p, e->at.warp, true, false);
    order_tick(o, e->at.warp);
}

// ---- Questions ----

bool order_saw(const Order *o, uint32_t warp, Moment m) {
    if (m.block == o->block) return m.clock <= o->now[warp][m.warp];
    const uint32_t *clock = find_known(&o->known, m.block);
    return clock && m.clock <= clock[m.warp];
}

bool order_saw_loosely(const Order *o, uint32_t warp, Moment m) {
    if (m.block == o->block) return m.warp != warp && m.clock <= o->loose[warp][m.warp];
    const uint32_t *clock = find_known(&o->pending_known, m.block);
    return clock && m.clock <= clock[m.warp];
}

bool order_saw_proxied(const Order *o, uint32_t warp, Moment m) {
    return m.block != o->block || m.clock <= o->proxied[warp][m.warp];
}
