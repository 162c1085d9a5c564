// Grids: programs taken in chunks by however many threads come, until none is left.
//
// Chunks are guided: a share of what is left, so that there are few of them and the last are small.
// One that crosses rows of the first dimension ends with a row, so that a thread has neighbours. A
// failed assert ends the taking of programs after the least that failed; those before it still run,
// for one of them may fail, too, and the least is the one reported.
#include <math.h>

#include "runtime/cpu/pool.h"

enum { SHARES = 2 };  // chunks for each thread if all were as large as the first

// One thread at work on a grid; what its entry is given.
typedef struct Taker {
    CpuServices services;
    int32_t cancel;  // set atomically: the rest of this thread's chunk comes after a program that
                     // failed
    _Atomic int64_t first;  // of the chunk it is at, or of one before
    Grid *grid;
    struct Taker *next, **link;  // in the grid's list; guarded by the pool's lock
} Taker;

// Of the ABI, whose word is no C11 atomic.
static void stop(Taker *t) { __atomic_store_n(&t->cancel, 1, __ATOMIC_RELAXED); }

static void assert_failed(const CpuServices *services, int64_t program, int64_t lane,
                          uint32_t site) {
    Taker *taker = services->user;
    Grid *g = taker->grid;
    pool_lock(g->pool);
    int64_t least = atomic_load(&g->failed);
    if (program < least || (program == least && lane < g->failed_lane)) {
        atomic_store(&g->failed, program);
        g->failed_lane = lane;
        g->failed_site = site;
    }
    for (Taker *t = g->active; t; t = t->next)
        if (atomic_load(&t->first) > program) stop(t);
    pool_unlock(g->pool);
    stop(taker);
}

static void print(const CpuServices *services, int64_t program, uint32_t site,
                  const void *const *values) {
    const Taker *taker = services->user;
    (void)program;
    report_print(taker->grid, site, values);
}

static const MetaVariant *variant_of(const Grid *g) {
    return &g->launch.meta->variants[g->launch.variant];
}

void grid_begin(Grid *grid, Pool *pool, tilec_device *device, const RtLaunch *launch,
                int64_t total) {
    grid->pool = pool;
    grid->device = device;
    grid->launch = *launch;
    grid->entry = launch->module->entry;
    grid->total = total;
    grid->takers = 1;
    atomic_init(&grid->next, 0);
    atomic_init(&grid->failed, INT64_MAX);
    grid->failed_lane = 0;
    grid->failed_site = 0;
    grid->no_memory = false;
    grid->active = NULL;
}

// Where the chunk that begins with program `first` ends.
static int64_t chunk_end(const Grid *g, int64_t first) {
    int64_t left = g->total - first;
    if (g->takers <= 1) return g->total;
    int64_t whole = variant_of(g)->chunk ? variant_of(g)->chunk : 1;
    int64_t size = left / (SHARES * (int64_t)g->takers) / whole * whole;
    if (size < whole) size = whole;
    if (size >= left) return g->total;
    int64_t row = (first + size) / g->launch.grid[0] * g->launch.grid[0];
    return row - first >= size / 2 + 1 ? row : first + size;
}

static bool take(Grid *g, int64_t *first, int64_t *last) {
    *first = atomic_load_explicit(&g->next, memory_order_relaxed);
    do {
        int64_t failed = atomic_load_explicit(&g->failed, memory_order_relaxed);
        if (*first >= g->total || *first > failed) return false;
        *last = chunk_end(g, *first);
    } while (!atomic_compare_exchange_weak_explicit(&g->next, first, *last, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static bool get_scratch(Grid *g, Scratch *scratch, void **memory) {
    size_t size = variant_of(g)->scratch_bytes;
    *memory = NULL;
    if (!size) return true;
    if (scratch && scratch_reserve(g->pool, scratch, size)) {
        *memory = scratch->memory;
        return true;
    }
    pool_lock(g->pool);
    g->no_memory = true;
    pool_unlock(g->pool);
    atomic_store(&g->next, g->total);
    return false;
}

// Only where something can fail have others to know whom to stop.
static bool is_listed(const Grid *g) { return g->takers > 1 && variant_of(g)->site_count; }

static void join_list(Taker *t) {
    Grid *g = t->grid;
    if (!is_listed(g)) return;
    pool_lock(g->pool);
    t->next = g->active;
    t->link = &g->active;
    if (t->next) t->next->link = &t->next;
    g->active = t;
    pool_unlock(g->pool);
}

static void leave_list(Taker *t) {
    if (!is_listed(t->grid)) return;
    pool_lock(t->grid->pool);
    *t->link = t->next;
    if (t->next) t->next->link = t->link;
    pool_unlock(t->grid->pool);
}

void grid_run(Grid *grid, Scratch *scratch) {
    void *memory;
    if (!get_scratch(grid, scratch, &memory)) return;
    Taker taker = {
        .services = {.grid = {grid->launch.grid[0], grid->launch.grid[1], grid->launch.grid[2]},
                     .assert_failed = assert_failed,
                     .print = print,
                     .fmod = fmod,
                     .fmodf = fmodf},
        .grid = grid};
    taker.services.user = &taker;
    taker.services.cancel = &taker.cancel;
    join_list(&taker);
    uint64_t mode = cpu_float_mode_usual();
    for (int64_t first, last; take(grid, &first, &last);) {
        atomic_store_explicit(&taker.first, first, memory_order_relaxed);
        grid->entry(grid->launch.block, first, last, memory, &taker.services);
    }
    cpu_float_mode_restore(mode);
    leave_list(&taker);
}

tilec_status grid_outcome(const Grid *grid, RtReport *report) {
    if (grid->no_memory) {
        *report = report_words("%.*s: no %u bytes of scratch memory for a thread",
                               STR_ARG(grid->launch.meta->name), variant_of(grid)->scratch_bytes);
        return TILEC_OUT_OF_MEMORY;
    }
    if (atomic_load(&grid->failed) == INT64_MAX) return TILEC_OK;
    *report = report_assert(grid);
    return TILEC_KERNEL_FAILED;
}
