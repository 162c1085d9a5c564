// Memory: buffers, zeroed, of which the big ones lie in big pages; scratch of the threads.
#include <stdlib.h>
#include <string.h>

#include "runtime/cpu/pool.h"

enum { BUFFER_ALIGN = 64, BIG_BYTES = 1 << 20, BIG_ROUND = 2 << 20 };

// ---- The two functions through which all memory of buffers and scratch goes ----

// NULL when there is none.
static void *get_memory(Pool *pool, size_t size) {
    (void)pool;
    size_t rounded = (size + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
    return rounded < size ? NULL : aligned_alloc(BUFFER_ALIGN, rounded ? rounded : BUFFER_ALIGN);
}

static void put_memory(Pool *pool, void *memory, size_t size) {
    (void)pool, (void)size;
    free(memory);
}

// ---- Big ones: pages of their own ----

static void *map_block(Pool *pool, size_t size) {
    if (size > SIZE_MAX - BIG_ROUND) return NULL;
    Block *block = calloc(1, sizeof *block);
    if (!block) return NULL;
    block->size = (size + BIG_ROUND - 1) / BIG_ROUND * BIG_ROUND;
    block->address = os_pages_map(block->size);
    if (!block->address) {
        free(block);
        return NULL;
    }
    pool_lock(pool);
    block->next = pool->blocks;
    pool->blocks = block;
    pool_unlock(pool);
    return block->address;
}

// The block at this address, taken out of the list; NULL when it is no big one.
static Block *take_block(Pool *pool, const void *address) {
    pool_lock(pool);
    Block **link = &pool->blocks;
    while (*link && (*link)->address != address) link = &(*link)->next;
    Block *block = *link;
    if (block) *link = block->next;
    pool_unlock(pool);
    return block;
}

tilec_status memory_alloc(tilec_device *device, size_t size, void **address) {
    Pool *pool = device->state;
    pool_enter(pool);
    bool big = size >= BIG_BYTES;
    void *memory = big ? map_block(pool, size) : get_memory(pool, size);
    if (!memory) return TILEC_OUT_OF_MEMORY;
    if (!big) memset(memory, 0, size);
    *address = memory;
    return TILEC_OK;
}

void memory_free(tilec_device *device, void *address) {
    Pool *pool = device->state;
    pool_enter(pool);
    // What was launched before may still use it.
    pool_lock(pool);
    pool_finish(pool);
    pool_unlock(pool);
    Block *block = take_block(pool, address);
    if (!block) {
        put_memory(pool, address, 0);
        return;
    }
    os_pages_unmap(block->address, block->size);
    free(block);
}

// ---- Scratch ----

bool scratch_reserve(Pool *pool, Scratch *scratch, size_t size) {
    if (scratch->size >= size) return true;
    scratch_release(pool, scratch);
    bool big = size >= BIG_BYTES;
    if (big) size = (size + BIG_ROUND - 1) / BIG_ROUND * BIG_ROUND;
    scratch->memory = big ? os_pages_map(size) : get_memory(pool, size);
    if (!scratch->memory) return false;
    scratch->size = size;
    return true;
}

void scratch_release(Pool *pool, Scratch *scratch) {
    if (!scratch->memory) return;
    if (scratch->size >= BIG_BYTES)
        os_pages_unmap(scratch->memory, scratch->size);
    else
        put_memory(pool, scratch->memory, scratch->size);
    scratch->memory = NULL;
    scratch->size = 0;
}

Scratch *scratch_borrow(Pool *pool) {
    Scratch *s = pool->scratch;
    if (!s) return calloc(1, sizeof *s);
    pool->scratch = s->next;
    return s;
}

void scratch_return(Pool *pool, Scratch *scratch) {
    if (!scratch) return;
    scratch->next = pool->scratch;
    pool->scratch = scratch;
}
