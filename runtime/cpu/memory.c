// Memory: zeroed buffers, the big ones in big pages; scratch memory of the threads.
#include <stdlib.h>
#include <string.h>

#include "runtime/cpu/pool.h"

enum { BUFFER_ALIGN = 64, BIG_BYTES = 1 << 20, BIG_ROUND = 2 << 20 };

// ---- The two functions through which all memory of buffers and scratch goes ----

// With an allocator of the user's, all memory comes from it.
static bool in_pages(const tilec_context *c, size_t size) {
    return size >= BIG_BYTES && size <= SIZE_MAX - BIG_ROUND && !c->options.allocator.allocate;
}

static size_t whole_pages(size_t size) { return (size + BIG_ROUND - 1) / BIG_ROUND * BIG_ROUND; }

// Reports out of memory. *zeroed: the memory is zeroed already.
static tilec_status get_memory(tilec_context *c, size_t size, void **memory, bool *zeroed) {
    *zeroed = in_pages(c, size);
    if (!*zeroed) return rt_allocate(c, size, BUFFER_ALIGN, memory);
    *memory = os_pages_map(whole_pages(size));
    if (*memory) return TILEC_OK;
    return rt_fail(c, TILEC_OUT_OF_MEMORY, "out of memory: the system has no %zu bytes", size);
}

static void put_memory(tilec_context *c, void *memory, size_t size) {
    if (in_pages(c, size))
        os_pages_unmap(memory, whole_pages(size));
    else
        rt_release(c, memory, size);
}

// ---- Buffers ----

tilec_status memory_alloc(tilec_device *device, size_t size, void **address) {
    pool_enter(device->state);
    bool zeroed;
    tilec_status s = get_memory(device->context, size, address, &zeroed);
    if (!s && !zeroed) memset(*address, 0, size);
    return s;
}

void memory_free(tilec_device *device, void *address, size_t size) {
    Pool *pool = device->state;
    pool_enter(pool);
    // Earlier launches may still use it.
    pool_lock(pool);
    pool_finish(pool);
    pool_unlock(pool);
    put_memory(device->context, address, size);
}

// ---- Scratch ----

tilec_status scratch_reserve(Pool *pool, Scratch *scratch, size_t size) {
    if (scratch->size >= size) return TILEC_OK;
    scratch_release(pool, scratch);
    bool zeroed;
    tilec_status s = get_memory(pool->context, size, &scratch->memory, &zeroed);
    if (s)
        rt_begin(pool->context);  // the stream reports it, not this thread's last call
    else
        scratch->size = size;
    return s;
}

const char *scratch_failure_text(tilec_status status) {
    return status == TILEC_INVALID_ARGUMENT ? "; the context's allocator gave some that is not "
                                              "aligned"
                                            : "";
}

void scratch_release(Pool *pool, Scratch *scratch) {
    if (scratch->size) put_memory(pool->context, scratch->memory, scratch->size);
    scratch->memory = NULL;
    scratch->size = 0;
}

Scratch *scratch_borrow(Pool *pool) {
    Scratch **largest = &pool->scratch;
    if (!*largest) return calloc(1, sizeof(Scratch));
    for (Scratch **at = &(*largest)->next; *at; at = &(*at)->next)
        if ((*at)->size > (*largest)->size) largest = at;
    Scratch *s = *largest;
    *largest = s->next;
    s->refused = 0;
    return s;
}

void scratch_return(Pool *pool, Scratch *scratch) {
    if (!scratch) return;
    scratch->next = pool->scratch;
    pool->scratch = scratch;
}

void scratch_take_larger(Worker *worker) {
    Scratch *mine = &worker->scratch, *larger = worker->larger;
    if (!larger) return;
    void *memory = larger->memory;
    size_t size = larger->size;
    larger->memory = mine->memory, larger->size = mine->size;
    mine->memory = memory, mine->size = size;
    worker->larger = NULL;
    scratch_return(worker->pool, larger);  // the next borrower can use the smaller one
}

static bool worker_has(Pool *pool, const Worker *w, size_t size) {
    pool_lock(pool);
    bool has = w->scratch.size >= size || (w->larger && w->larger->size >= size);
    pool_unlock(pool);
    return has;
}

// Only the worker itself may change the memory it works in, so the larger block is stored in
// w->larger.
static tilec_status prepare_worker(Pool *pool, Worker *w, size_t size) {
    if (worker_has(pool, w, size)) return TILEC_OK;
    Scratch *s = calloc(1, sizeof *s);
    tilec_status status = s ? scratch_reserve(pool, s, size) : TILEC_OUT_OF_MEMORY;
    if (status) {
        free(s);
        return status;
    }
    pool_lock(pool);
    if (!w->larger || w->larger->size < size) {
        Scratch *before = w->larger;
        w->larger = s;
        s = before;
    }
    scratch_return(pool, s);
    pool_unlock(pool);
    return TILEC_OK;
}

tilec_status scratch_prepare(Pool *pool, size_t size) {
    pool_lock(pool);
    Scratch *own = scratch_borrow(pool);
    uint32_t workers = pool->worker_count;
    pool_unlock(pool);
    tilec_status s = own ? scratch_reserve(pool, own, size) : TILEC_OUT_OF_MEMORY;
    for (uint32_t i = 0; !s && i < workers; i++) s = prepare_worker(pool, &pool->workers[i], size);
    pool_lock(pool);
    scratch_return(pool, own);
    pool_unlock(pool);
    return s;
}
