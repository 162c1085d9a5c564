#include "tests/memory/failing.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/os/os.h"

static atomic_size_t counted, failing_at, failed;
static atomic_uint manner;

void failing_begin(size_t nth, unsigned how) {
    atomic_store(&failed, 0);
    atomic_store(&manner, how);
    atomic_store(&failing_at, nth);
    atomic_store(&counted, 0);
}

bool failing_end(void) {
    atomic_store(&failing_at, 0);
    return atomic_load(&failed) > 0;
}

bool failing_happened(void) { return atomic_load(&failed) > 0; }

size_t failing_counted(void) { return atomic_load(&counted); }

static bool fails(void) {
    size_t at = atomic_load(&failing_at), now = atomic_fetch_add(&counted, 1) + 1;
    bool fail = at && (now == at || (now > at && atomic_load(&manner) & FAILING_ON));
    if (fail) atomic_fetch_add(&failed, 1);
    return fail;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_os_pages_map(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_os_pages_map(size_t size);

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) { return fails() ? NULL : __real_realloc(old, size); }

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_os_pages_map(size_t size) { return fails() ? NULL : __real_os_pages_map(size); }

void *__real_arena_alloc(Arena *arena, size_t size);
void *__real_arena_array(Arena *arena, size_t size, size_t count);
void *__wrap_arena_alloc(Arena *arena, size_t size);
void *__wrap_arena_array(Arena *arena, size_t size, size_t count);

static void count_block(void) {
    if (atomic_load(&manner) & FAILING_BLOCKS && fails()) os_out_of_memory();
}

void *__wrap_arena_alloc(Arena *arena, size_t size) {
    count_block();
    return __real_arena_alloc(arena, size);
}

void *__wrap_arena_array(Arena *arena, size_t size, size_t count) {
    count_block();
    return __real_arena_array(arena, size, count);
}
