// Open addressing with linear probing, at most half full. Maps of a few entries have no slots and
// are searched in order: scopes and argument lists are mostly that small.
#include "base/map.h"

#include <string.h>

#include "base/os/os.h"

enum { MAP_SMALL = 8 };

// Keys are often pointers or small numbers; the high bits of the product depend on all their bits.
static uint32_t first_slot(const Map *map, uint64_t key) {
    uint64_t mixed = (key ^ (key >> 32)) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 32) & (map->slot_count - 1);
}

static uint32_t next_slot(const Map *map, uint32_t slot) {
    return (slot + 1) & (map->slot_count - 1);
}

uint64_t *map_find(const Map *map, uint64_t key) {
    if (!map->slot_count) {
        for (uint32_t i = 0; i < map->count; i++) {
            if (map->entries[i].key == key) return &map->entries[i].value;
        }
        return NULL;
    }
    for (uint32_t slot = first_slot(map, key); map->slots[slot]; slot = next_slot(map, slot)) {
        MapEntry *entry = &map->entries[map->slots[slot] - 1];
        if (entry->key == key) return &entry->value;
    }
    return NULL;
}

static void link_entry(Map *map, uint32_t index) {
    uint32_t slot = first_slot(map, map->entries[index].key);
    while (map->slots[slot]) slot = next_slot(map, slot);
    map->slots[slot] = index + 1;
}

static void grow(Arena *arena, Map *map) {
    if (map->capacity > UINT32_MAX / 8) os_out_of_memory();
    uint32_t capacity = map->capacity ? map->capacity * 2 : MAP_SMALL;
    size_t old_size = map->capacity * sizeof(MapEntry);
    if (!arena_extend(arena, map->entries, old_size, capacity * sizeof(MapEntry))) {
        MapEntry *entries = arena_new(arena, MapEntry, capacity);
        if (map->count) memcpy(entries, map->entries, map->count * sizeof(MapEntry));
        map->entries = entries;
    }
    // Allocate first, then change: the map stays intact if there is no memory.
    uint32_t *slots = capacity > MAP_SMALL ? arena_new(arena, uint32_t, capacity * 2) : NULL;
    map->capacity = capacity;
    if (capacity <= MAP_SMALL) return;
    map->slot_count = capacity * 2;
    map->slots = slots;
    for (uint32_t i = 0; i < map->count; i++) link_entry(map, i);
}

uint64_t *map_at(Arena *arena, Map *map, uint64_t key) {
    uint64_t *found = map_find(map, key);
    if (found) return found;
    if (map->count == map->capacity) grow(arena, map);
    uint32_t index = map->count++;
    map->entries[index] = (MapEntry){.key = key};
    if (map->slot_count) link_entry(map, index);
    return &map->entries[index].value;
}

void map_put(Arena *arena, Map *map, uint64_t key, uint64_t value) {
    *map_at(arena, map, key) = value;
}
