// The happens-before order, as known by the warps of a launch.
//
// The blocks of a cluster run together; it is named by the first of them. Without clusters each
// block is one. Each warp of a cluster has a vector clock of the cluster's warps, which advances at
// every operation that can publish the warp's accesses. A barrier joins the clocks of the warps
// that arrived, as they were then, and gives the result to those that waited. Releases and
// acquires, and fences with relaxed accesses, order through state stored at their address: the
// clocks of the running cluster, and those of earlier ones. Next to each clock there is a loose
// clock, computed as if every strong access were a release and an acquire. If only the loose clock
// has seen an access, a fence is missing. More clocks hold the accesses that are known with a proxy
// fence, or a fence for mbarriers, on the way: accesses of the async proxy may rely on those only.
// A copy that lands at an mbarrier is an event of an agent of that mbarrier, which has a place in
// the clocks.
// Invariants: clusters run one after another; all warps of one share their knowledge of others.
// Ownership: the arena given.
//
//     order_begin_cluster(o, block);
//     if (!order_saw(o, actor, (Epoch){block, clock, other})) …
#ifndef TILEC_SIM_OBSERVE_ORDER_H
#define TILEC_SIM_OBSERVE_ORDER_H

#include "base/map.h"
#include "sim/machine/observer.h"

// An event of `actor` of the cluster at its clock `clock`, which is never 0. A warp is rank * warps
// of a block + number, an agent comes after all warps.
typedef struct Epoch {
    uint64_t cluster;
    uint32_t clock, actor;
} Epoch;

typedef struct Order Order;
Order *order_create(Arena *arena);
// Clusters have `warps` warps in all, and `agents` agents.
void order_begin_launch(Order *o, uint32_t warps, uint32_t agents);
void order_begin_cluster(Order *o, uint64_t cluster);

// The running cluster.
uint64_t order_cluster(const Order *o);
const uint32_t *order_now(const Order *o, uint32_t actor);
void order_tick(Order *o, uint32_t actor);  // the warp's lanes synchronised
// A fence of memory, of one of the first three kinds.
void order_fence(Order *o, uint32_t actor, SimFence kind, SimScope scope);
// A proxy fence for shared memory, global memory, or both.
void order_proxy_fence(Order *o, uint32_t actor, bool shared, bool global);
void order_init_fence(Order *o, uint32_t actor);
// A barrier is named by any number. An arrival keeps the clocks for the barrier's completion.
void order_arrive(Order *o, uint32_t actor, uint64_t barrier);
// `first`: the warp that the event's lanes begin with.
void order_barrier(Order *o, const SimBarrierDone *done, uint32_t first, uint64_t barrier);
// A strong access.
void order_strong(Order *o, const SimAccess *a, uint32_t actor);
// At the mbarrier `key`.
void order_release(Order *o, uint32_t actor, uint64_t key);
void order_acquire(Order *o, uint32_t actor, uint64_t key);
// A copy lands at the mbarrier: the moment of its writes.
Epoch order_land(Order *o, uint64_t key);

// The clock of accesses that the warp knows through proxy fences.
const uint32_t *order_fenced(const Order *o, uint32_t actor, bool global);
// Does the warp know of it, and would it with fences?
bool order_saw(const Order *o, uint32_t actor, Epoch m);
bool order_saw_loosely(const Order *o, uint32_t actor, Epoch m);
// Does it know of it through a proxy fence, or a fence for mbarriers? Other clusters' accesses are
// taken to have one.
bool order_saw_proxied(const Order *o, uint32_t actor, Epoch m, bool global);
bool order_saw_inited(const Order *o, uint32_t actor, Epoch m);

#endif
