// Map: from 64-bit keys (numbers, pointers, Symbols) to 64-bit values, in an arena.
//
// Invariants: keys are unique; iteration is in order of insertion, never by address. A zeroed Map
// is empty and ready for use. Ownership: the arena given to map_put; use one arena for one map.
//
//     Map m = {0};
//     map_put(arena, &m, map_key(symbol), (uint64_t)index);
//     uint64_t *found = map_find(&m, map_key(symbol));
#ifndef TILEC_BASE_MAP_H
#define TILEC_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct MapEntry {
    uint64_t key;
    uint64_t value;
} MapEntry;

typedef struct Map {
    MapEntry *entries;  // in order of insertion
    uint32_t *slots;    // open addressing: index into entries + 1, or 0
    uint32_t count;
    uint32_t capacity;
    uint32_t slot_count;
} Map;

static inline uint64_t map_key(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }

// The value of a key, NULL if absent; valid until the next map_put.
uint64_t *map_find(const Map *map, uint64_t key);
// Sets or replaces.
void map_put(Arena *arena, Map *map, uint64_t key, uint64_t value);
// The address of the value; it is inserted as 0 when absent.
uint64_t *map_at(Arena *arena, Map *map, uint64_t key);

#endif
