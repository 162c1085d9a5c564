#include "base/vec.h"

#include <stdint.h>
#include <string.h>

#include "base/os/os.h"

enum { VEC_FIRST = 8 };

void *vec_grow(Arena *arena, void *data, size_t *capacity, size_t count, size_t size) {
    size_t new_capacity = *capacity ? *capacity * 2 : VEC_FIRST;
    if (new_capacity > SIZE_MAX / 2 / size) os_out_of_memory();
    size_t old = *capacity * size;
    bool extended = data && arena_extend(arena, data, old, new_capacity * size);
    void *grown = extended ? data : arena_array(arena, size, new_capacity);
    *capacity = new_capacity;  // updated once the memory exists: the vector stays intact if
                               // allocation fails
    if (extended) return data;
    if (count) memcpy(grown, data, count * size);
    return grown;
}
