// The happens-before order, as known by the warps of a launch.
//
// Each warp has a vector clock of its block's warps, which advances at every operation that can
// publish the warp's accesses. A barrier joins the clocks of the warps that arrived and gives the
// result to those that waited. Releases and acquires, and fences with relaxed accesses, order
// through state stored at their address: the clocks of the running block, and those of earlier
// blocks. Next to each clock there is a loose clock, computed as if every strong access were a
// release and an acquire. If only the loose clock has seen an access, a fence is missing.
// A third clock has what the warp knows with a proxy fence of the accessing warp on the way: what
// accesses of the async proxy may rely on.
// Invariants: blocks run one after another; all warps of a block share what it learned about other
// blocks.
// Ownership: the arena given.
//
//     order_begin_block(o, block, warps);
//     if (!order_saw(o, warp, (Moment){block, clock, other})) …
#ifndef TILEC_SIM_OBSERVE_ORDER_H
#define TILEC_SIM_OBSERVE_ORDER_H

#include "base/map.h"
#include "sim/machine/observer.h"

enum { ORDER_WARPS = 32 };

typedef uint32_t Clock[ORDER_WARPS];

// An event of warp `warp` at its clock `clock`, which is never 0.
typedef struct Moment {
    uint64_t block;
    uint32_t clock, warp;
} Moment;

typedef struct Order Order;
Order *order_create(Arena *arena);
void order_begin_launch(Order *o);
void order_begin_block(Order *o, uint64_t block, uint32_t warps);

// The running block.
uint64_t order_block(const Order *o);
const uint32_t *order_now(const Order *o, uint32_t warp);
void order_barrier(Order *o, const SimBarrierDone *done);
void order_tick(Order *o, uint32_t warp);  // the warp's lanes synchronised
void order_fence(Order *o, uint32_t warp, SimScope scope);
void order_proxy_fence(Order *o, uint32_t warp);
// A strong access.
void order_strong(Order *o, const SimAccess *a);
void order_mbarrier(Order *o, const SimMbarrierEvent *e);

// Does the warp know of it, and would it with fences?
bool order_saw(const Order *o, uint32_t warp, Moment m);
bool order_saw_loosely(const Order *o, uint32_t warp, Moment m);
// Does it know of it through a proxy fence? Other blocks' accesses are taken to have one.
bool order_saw_proxied(const Order *o, uint32_t warp, Moment m);

#endif
