// Flights: accesses that happen at any time from their beginning to their end.
#include "sim/observe/race.h"

// One access of a flight: of the lane that began it, or of all lanes at once.
static void check_span(Races *r, const SimFlight *f, SimAccess a, uint64_t address) {
    uint64_t addresses[SIM_LANES_MAX];
    bool whole = (f->mask & (f->mask - 1)) != 0;
    uint32_t lane = whole ? 0 : (uint32_t)__builtin_ctzll(f->mask);
    addresses[lane] = address;
    a.at = f->at, a.address = addresses;
    a.mask = UINT64_C(1) << lane, a.lanes = lane + 1;
    race_check_access(r, &a, a.order != SIM_ORDER_WEAK, whole);
}

void race_flight_begin(void *state, const SimFlight *f) {
    Races *r = state;
    if (f->space == SIM_SPACE_SHARED)
        shadow_make_flights(r->arena, &r->shared[f->owner], r->warp_count);
    for (uint32_t n = 0; n < f->span_count; n++) {
        SimAccess a = {.space = f->space,
                       .kind = f->writes ? SIM_ACCESS_FLIGHT_WRITE : SIM_ACCESS_FLIGHT_READ,
                       .bytes = f->spans[n].bytes,
                       .owner = f->owner};
        if (f->atomic) a.order = SIM_ORDER_RELAXED, a.scope = SIM_SCOPE_GPU;
        check_span(r, f, a, f->spans[n].address);
    }
    SimAccess landing = {.space = SIM_SPACE_SHARED,
                         .kind = SIM_ACCESS_FLIGHT_LAND,
                         .order = SIM_ORDER_RELAXED,
                         .scope = SIM_SCOPE_GPU,
                         .bytes = 8,
                         .owner = f->mbarrier_owner};
    if (f->lands) check_span(r, f, landing, f->mbarrier);
}

// ---- Ends ----

typedef struct Ending {
    const Races *r;
    const SimFlight *flight;
    uint32_t actor;  // the warp that began it
    Epoch epoch;     // of the end
} Ending;

static void end_write(const Ending *e, RaceWrite *w) {
    if (w->clock != SHADOW_IN_FLIGHT || w->actor != e->actor) return;
    w->clock = e->epoch.clock, w->actor = e->epoch.actor & 0xfff;
}

static void end_shared_read(const Ending *e, ShadowFlight *at) {
    at->flying -= at->flying != 0;
    at->clock = e->epoch.clock;
}

static void end_global_read(const Ending *e, ShadowRead *readers) {
    for (int n = 0; n < SHADOW_READERS; n++) {
        if (readers[n].clock != SHADOW_IN_FLIGHT || readers[n].actor != e->actor) continue;
        readers[n].clock = e->epoch.clock, readers[n].actor = e->epoch.actor;
    }
}

static void end_cells(const Ending *e, Shadow *s, uint64_t begin, uint64_t end) {
    uint64_t cell = (begin - s->base) >> s->shift, stop = (end - s->base) >> s->shift;
    for (; cell < stop; cell++) {
        if (e->flight->writes)
            end_write(e, &s->writes[cell]);
        else if (s->flights)
            end_shared_read(e, &s->flights[cell * e->r->warp_count + e->actor]);
        else if (s->readers)
            end_global_read(e, s->readers[cell]);
    }
}

static void end_global(Races *r, const Ending *e, uint64_t begin, uint64_t end) {
    while (begin < end) {
        Shadow *s = race_page(r, begin);
        uint64_t stop = s->base + RACE_PAGE < end ? s->base + RACE_PAGE : end;
        end_cells(e, s, begin, stop);
        begin = stop;
    }
}

// The warp that began it knows of the end; or those do that see the mbarrier's phase complete.
void race_flight_end(void *state, const SimFlight *f) {
    Races *r = state;
    uint32_t actor = race_actor(r, &f->at);
    uint64_t key = race_mbarrier(f->mbarrier_owner, f->mbarrier);
    Ending e = {r, f, actor, {order_cluster(r->order), order_now(r->order, actor)[actor], actor}};
    if (f->lands) e.epoch = order_land(r->order, key);
    for (uint32_t n = 0; n < f->span_count; n++) {
        uint64_t begin = f->spans[n].address, end = begin + f->spans[n].bytes;
        if (f->space == SIM_SPACE_SHARED)
            end_cells(&e, &r->shared[f->owner], begin, end);
        else
            end_global(r, &e, begin, end);
    }
}
