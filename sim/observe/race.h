// The races observer: its state, shared by race.c (accesses) and race_flight.c (flights).
//
// Invariants: `actor` names a warp of the cluster that runs, as in order.h.
// Ownership: the arena given.
//
//     race_check_access(r, &access, false);
#ifndef TILEC_SIM_OBSERVE_RACE_H
#define TILEC_SIM_OBSERVE_RACE_H

#include "base/map.h"
#include "sim/observe/observe.h"
#include "sim/observe/order.h"
#include "sim/observe/shadow.h"

enum {
    RACE_WHOLE_WARP = 255,
    RACE_SEVERAL = 254,
    RACE_AGENTS = 16,  // of mbarriers, for each block
    RACE_PAGE_SHIFT = 12,
    RACE_PAGE = 1 << RACE_PAGE_SHIFT
};

typedef struct Races {
    SimObserver observer;
    Arena *arena;
    SimFindings *findings;
    SimLaunchFacts facts;
    Order *order;
    uint32_t warp_count;    // warps of the cluster
    uint32_t *collectives;  // count for each warp, in this cluster
    uint32_t *lane_sync;    // each warp's clock when its lanes synchronised last
    Shadow *shared;         // of each block
    Map pages;              // global memory: address / RACE_PAGE to Shadow *
    Shadow *last;
} Races;

// One lane's access.
typedef struct RaceTouch {
    const SimAccess *access;
    uint32_t lane;    // the lane that makes it
    uint32_t writer;  // the lane, or RACE_WHOLE_WARP
    uint32_t actor;
    uint64_t cluster;  // that runs
    Strength strength;
    bool async;           // of a flight
    bool proxied;         // the access must be fenced from others': of a flight, or an mbarrier
    const uint32_t *now;  // clock of its warp
    uint32_t lane_sync;   // of its warp
    uint32_t sync_count;  // incremented whenever the warp's lanes synchronise
    Shadow *shadow;
} RaceTouch;

static inline uint32_t race_actor(const Races *r, const SimPlace *at) {
    return at->rank * r->facts.warps + at->warp;
}
static inline uint64_t race_mbarrier(uint32_t owner, uint64_t address) {
    return (uint64_t)owner << 32 | address;
}

// Checks and records an access, given whether it is strong, and whether it is all lanes' at once.
void race_check_access(Races *r, const SimAccess *a, bool strong, bool whole);
Shadow *race_page(Races *r, uint64_t address);
// Adds a finding: the access met `what` of `other`, and nothing orders them.
void race_report(Races *r, const RaceTouch *t, uint32_t cell, const char *what, Epoch other,
                 uint32_t lane);
// The accesses are in order, but of different proxies. False: there is a finding.
bool race_check_proxy(Races *r, const RaceTouch *t, uint32_t cell, const char *what, Epoch other,
                      uint32_t lane);

// The same for a use of an mbarrier by a flight or another block, after its init.
bool race_check_init(Races *r, const RaceTouch *t, uint32_t cell, Epoch m, uint32_t lane);

// The observer's callbacks for flights.
void race_flight_begin(void *state, const SimFlight *f);
void race_flight_end(void *state, const SimFlight *f);

#endif
