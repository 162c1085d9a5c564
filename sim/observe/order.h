// What happens before what, as the warps of a launch know it.
//
// Each warp has a vector clock of its block's warps; it moves on at whatever lets others know of
// what the warp did. A barrier joins the clocks of the warps that arrived and gives the result to
// those that waited. Releases and acquires, with fences beside relaxed accesses, order by what is
// kept at their address: the clocks of the block that runs, and those of earlier blocks. Beside
// each clock goes a loose one, as it were if every strong access were a release and an acquire:
// where only that one has seen an access, a fence is missing. Invariants: blocks run one after
// another; what a block learned of others counts for all of its warps. Ownership: the arena given.
//
//     order_begin_block(o, block, warps);
//     if (!order_saw(o, warp, (Moment){block, clock, other})) …
#ifndef TILEC_SIM_OBSERVE_ORDER_H
#define TILEC_SIM_OBSERVE_ORDER_H

#include "base/map.h"
#include "sim/machine/observer.h"

enum { ORDER_WARPS = 32 };

typedef uint32_t Clock[ORDER_WARPS];

// Something that warp `warp` did at its clock `clock`, which is never 0.
typedef struct Moment {
    uint64_t block;
    uint32_t clock, warp;
} Moment;

typedef struct Order Order;
Order *order_create(Arena *arena);
void order_begin_launch(Order *o);
void order_begin_block(Order *o, uint64_t block, uint32_t warps);

// Of the block that runs.
uint64_t order_block(const Order *o);
const uint32_t *order_now(const Order *o, uint32_t warp);
void order_barrier(Order *o, const SimBarrierDone *done);
void order_tick(Order *o, uint32_t warp);  // the warp's lanes met
void order_fence(Order *o, uint32_t warp, SimScope scope);
// A strong access.
void order_strong(Order *o, const SimAccess *a);
void order_mbarrier(Order *o, const SimMbarrierEvent *e);

// Whether the warp knows of it, and whether it would with fences.
bool order_saw(const Order *o, uint32_t warp, Moment m);
bool order_saw_loosely(const Order *o, uint32_t warp, Moment m);

#endif
