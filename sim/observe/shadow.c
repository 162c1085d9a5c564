#include "sim/observe/shadow.h"

#include <string.h>

uint32_t shadow_cells(const Shadow *s) { return (s->bytes + (1u << s->shift) - 1) >> s->shift; }

void shadow_make(Arena *arena, Shadow *s, bool shared, uint32_t warps) {
    uint32_t count = shadow_cells(s);
    s->writes = arena_new(arena, RaceWrite, count + 1);
    if (shared) {
        s->clocks = arena_new(arena, uint32_t, (size_t)count * warps + 1);
        s->own = arena_new(arena, RaceReader, count + 1);
    } else {
        s->readers = (ShadowRead(*)[SHADOW_READERS])arena_new(arena, ShadowRead,
                                                              (size_t)count * SHADOW_READERS);
    }
}

void shadow_make_flights(Arena *arena, Shadow *s, uint32_t warps) {
    if (!s->flights)
        s->flights = arena_new(arena, ShadowFlight, (size_t)shadow_cells(s) * warps + 1);
}

void shadow_clear(Shadow *s, uint32_t warps) {
    size_t count = shadow_cells(s);
    memset(s->writes, 0, count * sizeof *s->writes);
    memset(s->own, 0, count * sizeof *s->own);
    memset(s->clocks, 0, count * warps * sizeof *s->clocks);
    if (s->flights) memset(s->flights, 0, count * warps * sizeof *s->flights);
}

void shadow_split(Arena *arena, Shadow *s, uint32_t shift, uint32_t warps) {
    Shadow old = *s;
    s->shift = shift, s->flights = NULL;
    shadow_make(arena, s, old.clocks != NULL, warps);
    if (old.flights) shadow_make_flights(arena, s, warps);
    for (uint32_t n = 0; n < shadow_cells(s); n++) {
        size_t from = n >> (old.shift - shift), to = (size_t)n * warps;
        s->writes[n] = old.writes[from];
        if (old.own) s->own[n] = old.own[from];
        if (old.clocks)
            memcpy(&s->clocks[to], &old.clocks[from * warps], warps * sizeof *s->clocks);
        else
            memcpy(s->readers[n], old.readers[from], sizeof *s->readers);
        if (old.flights)
            memcpy(&s->flights[to], &old.flights[from * warps], warps * sizeof *s->flights);
    }
}
