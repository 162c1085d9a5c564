// Arena: memory that is freed all at once.
//
// Purpose: everything the compiler builds (tokens, trees, IR, diagnostics) is allocated in some
// arena; nothing is freed singly. Chunks grow geometrically; allocation moves a cursor.
// Invariants: memory from an arena is zeroed and aligned to 16 bytes. It does not move until the
// arena is reset to an earlier mark or destroyed. An arena belongs to one thread at a time.
// Ownership: the creator destroys it. A region of recovery that fails (base/recover.h) destroys the
// arenas made in it; other arenas keep their contents and may only have unused memory left over.
// When the system is out of memory, os_out_of_memory() is called; sizes taken from input are
// checked against limits before they come here.
//
//     Arena *a = arena_create();
//     Node *n = arena_new(a, Node, 1);
//     arena_destroy(a);
#ifndef TILEC_BASE_ARENA_H
#define TILEC_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Arena Arena;
typedef struct ArenaMark {
    void *chunk;
    size_t used;
} ArenaMark;

Arena *arena_create(void);
// Hands the arena to an owner outside the region of recovery.
void arena_keep(Arena *arena);
void arena_destroy(Arena *arena);

// Zeroed memory of `size` bytes, 16-byte aligned.
void *arena_alloc(Arena *arena, size_t size);
void *arena_copy(Arena *arena, const void *from, size_t size);
// A NUL-terminated copy of `size` characters.
char *arena_text(Arena *arena, const char *from, size_t size);
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Grows the latest allocation in place. False when `block` is not the latest one, or there is no
// room.
bool arena_extend(Arena *arena, const void *block, size_t old_size, size_t new_size);

// Everything allocated after the mark is gone once the arena is reset to it.
ArenaMark arena_mark(const Arena *arena);
void arena_reset(Arena *arena, ArenaMark mark);
// Bytes handed out up to now, their padding included.
size_t arena_used(const Arena *arena);

// `n` zeroed objects of type T; n * sizeof(T) is checked for overflow.
#define arena_new(arena, T, n) ((T *)arena_array((arena), sizeof(T), (size_t)(n)))
void *arena_array(Arena *arena, size_t size, size_t count);

#endif
