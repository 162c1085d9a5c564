// Vec: a growing array of any type, in an arena.
//
// Invariants: `data` has room for `capacity` elements, of which `count` are used. Growing moves the
// array, so keep indices, not pointers. A zeroed Vec is empty and ready for use.
// Ownership: the arena given to vec_push; a Vec uses one arena only.
//
//     VEC(int) v = {0};
//     vec_push(arena, &v, 7);
//     for (size_t i = 0; i < v.count; i++) use(v.data[i]);
#ifndef TILEC_BASE_VEC_H
#define TILEC_BASE_VEC_H

#include "base/arena.h"

#define VEC(T)           \
    struct {             \
        T *data;         \
        size_t count;    \
        size_t capacity; \
    }

#define vec_push(arena, v, element)                                                                \
    ((void)((v)->count < (v)->capacity ? 0                                                         \
                                       : ((v)->data = vec_grow((arena), (v)->data, &(v)->capacity, \
                                                               (v)->count, sizeof *(v)->data),     \
                                          0)),                                                     \
     (v)->data[(v)->count++] = (element))
#define vec_pop(v) ((v)->data[--(v)->count])
#define vec_last(v) ((v)->data[(v)->count - 1])

void *vec_grow(Arena *arena, void *data, size_t *capacity, size_t count, size_t size);

#endif
