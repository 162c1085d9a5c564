// Arena allocation over a chain of chunks, newest first.
//
// Free memory of a chunk is always zero: chunks come from calloc or fresh pages, and
// arena_reset clears what it takes back. Allocation itself therefore writes nothing.
// Under AddressSanitizer free memory is poisoned and a red zone follows every block, so that stale
// pointers and overruns inside an arena are found as they are for malloc.
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/recover.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 16 };
#define POISON(at, size) __asan_poison_memory_region((at), (size))
#define UNPOISON(at, size) __asan_unpoison_memory_region((at), (size))
#else
enum { RED_ZONE = 0 };
#define POISON(at, size) ((void)(at), (void)(size))
#define UNPOISON(at, size) ((void)(at), (void)(size))
#endif

enum {
    ALIGNMENT = 16,
    CHUNK_FIRST = 16 << 10,
    CHUNK_LARGEST = 4 << 20,  // larger ones only for blocks that need it
    CHUNK_PAGES = 2 << 20,    // from this size on, chunks are whole big pages of the system
};

typedef struct Chunk {
    struct Chunk *older;
    size_t size;    // usable bytes after this header
    size_t used;    // valid while the chunk is not the newest one
    size_t before;  // bytes used in all older chunks
    bool mapped;    // comes from os_pages_map
} __attribute__((aligned(ALIGNMENT))) Chunk;

_Static_assert(sizeof(Chunk) % ALIGNMENT == 0, "blocks start aligned after the header");

struct Arena {
    Owned owned;
    char *cursor;      // the next block, in the newest chunk
    size_t remaining;  // bytes left after the cursor
    Chunk *newest;
    Chunk *spare;  // one chunk kept over resets, all zero
    size_t next_size;
};

static char *chunk_data(Chunk *chunk) { return (char *)(chunk + 1); }

static size_t chunk_used(const Arena *arena) {
    return arena->newest ? arena->newest->size - arena->remaining : 0;
}

static void chunk_free(Chunk *chunk) {
    if (!chunk) return;
    size_t whole = sizeof(Chunk) + chunk->size;
    UNPOISON(chunk_data(chunk), chunk->size);
    if (chunk->mapped)
        os_pages_unmap(chunk, whole);
    else
        free(chunk);
}

static Chunk *chunk_create(size_t size) {
    if (size > SIZE_MAX / 2) os_out_of_memory();
    size_t whole = sizeof(Chunk) + size;
    bool mapped = whole >= CHUNK_PAGES;
    if (mapped) whole = (whole + CHUNK_PAGES - 1) / CHUNK_PAGES * CHUNK_PAGES;
    Chunk *chunk = mapped ? os_pages_map(whole) : calloc(1, whole);
    if (!chunk) os_out_of_memory();
    chunk->mapped = mapped;
    size = whole - sizeof(Chunk);
    chunk->size = size;
    POISON(chunk_data(chunk), size);
    return chunk;
}

// Adds a chunk with room for `size` bytes; it becomes the newest.
static void chunk_add(Arena *arena, size_t size) {
    Chunk *chunk = arena->spare;
    if (chunk && chunk->size >= size) {
        arena->spare = NULL;
    } else {
        chunk = chunk_create(size > arena->next_size ? size : arena->next_size);
        if (arena->next_size < CHUNK_LARGEST) arena->next_size *= 2;
    }
    size_t used = chunk_used(arena);
    chunk->older = arena->newest;
    chunk->before = arena->newest ? arena->newest->before + used : 0;
    if (arena->newest) arena->newest->used = used;
    arena->newest = chunk;
    arena->cursor = chunk_data(chunk);
    arena->remaining = chunk->size;
}

static void release(Owned *owned) { arena_destroy((Arena *)owned); }

Arena *arena_create(void) {
    Arena *arena = calloc(1, sizeof *arena);
    if (!arena) os_out_of_memory();
    arena->next_size = CHUNK_FIRST;
    recover_own(&arena->owned, OWNED_MADE, release);
    return arena;
}

void arena_keep(Arena *arena) {
    if (arena) recover_keep(&arena->owned);
}

void arena_destroy(Arena *arena) {
    if (!arena) return;
    recover_keep(&arena->owned);
    for (Chunk *chunk = arena->newest, *older; chunk; chunk = older) {
        older = chunk->older;
        chunk_free(chunk);
    }
    chunk_free(arena->spare);
    free(arena);
}

// The bytes that a block takes. A block of 0 bytes takes some too, so that no two blocks have the
// same address.
static size_t block_size(size_t size) {
    if (size > SIZE_MAX / 2) os_out_of_memory();
    return ((size + (size == 0) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)) + RED_ZONE;
}

void *arena_alloc(Arena *arena, size_t size) {
    size_t need = block_size(size);
    if (need > arena->remaining) chunk_add(arena, need);
    char *block = arena->cursor;
    arena->cursor += need;
    arena->remaining -= need;
    UNPOISON(block, size);
    return block;
}

void *arena_array(Arena *arena, size_t size, size_t count) {
    if (size && count > SIZE_MAX / size) os_out_of_memory();
    return arena_alloc(arena, size * count);
}

bool arena_extend(Arena *arena, const void *block, size_t old_size, size_t new_size) {
    if (!block || !arena->newest) return false;
    size_t from = block_size(old_size);
    size_t to = block_size(new_size);
    const char *start = block;
    if (to < from || start != arena->cursor - from || to - from > arena->remaining) return false;
    arena->cursor += to - from;
    arena->remaining -= to - from;
    UNPOISON(block, new_size);
    return true;
}

void *arena_copy(Arena *arena, const void *from, size_t size) {
    void *block = arena_alloc(arena, size);
    if (size) memcpy(block, from, size);
    return block;
}

char *arena_text(Arena *arena, const char *from, size_t size) {
    if (size == SIZE_MAX) os_out_of_memory();
    char *block = arena_alloc(arena, size + 1);
    if (size) memcpy(block, from, size);
    return block;
}

char *arena_printf(Arena *arena, const char *format, ...) {
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    CHECK(size >= 0, "a format that vsnprintf refuses: %s", format);
    char *block = arena_alloc(arena, (size_t)size + 1);
    vsnprintf(block, (size_t)size + 1, format, again);
    va_end(again);
    va_end(args);
    return block;
}

ArenaMark arena_mark(const Arena *arena) {
    return (ArenaMark){.chunk = arena->newest, .used = chunk_used(arena)};
}

// Releases all of the newest chunk but its first `keep` bytes.
static void chunk_clear(Arena *arena, size_t keep) {
    Chunk *chunk = arena->newest;
    char *data = chunk_data(chunk);
    size_t used = chunk_used(arena);
    UNPOISON(data + keep, used - keep);
    memset(data + keep, 0, used - keep);
    POISON(data + keep, used - keep);
    arena->cursor = data + keep;
    arena->remaining = chunk->size - keep;
}

// Drops the newest chunk, or keeps it as the spare when that serves later chunks better.
static void chunk_drop(Arena *arena) {
    Chunk *chunk = arena->newest;
    bool keep = chunk->size <= CHUNK_LARGEST && (!arena->spare || arena->spare->size < chunk->size);
    if (keep) {
        chunk_clear(arena, 0);
        chunk_free(arena->spare);
        arena->spare = chunk;
    }
    arena->newest = chunk->older;
    if (!keep) chunk_free(chunk);
    if (!arena->newest) {
        arena->cursor = NULL;
        arena->remaining = 0;
        return;
    }
    arena->cursor = chunk_data(arena->newest) + arena->newest->used;
    arena->remaining = arena->newest->size - arena->newest->used;
}

void arena_reset(Arena *arena, ArenaMark mark) {
    while (arena->newest && arena->newest != mark.chunk) chunk_drop(arena);
    CHECK(arena->newest == mark.chunk, "a mark of another arena, or older than a reset");
    if (!arena->newest) return;
    CHECK(mark.used <= chunk_used(arena), "a mark younger than the arena");
    chunk_clear(arena, mark.used);
}

size_t arena_used(const Arena *arena) {
    return arena->newest ? arena->newest->before + chunk_used(arena) : 0;
}
