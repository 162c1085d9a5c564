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
    int32_t cancel;
    Grid *grid;
} Taker;

// `cancel` is this thread's own: the rest of its chunk comes after the program that failed.
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
    pool_unlock(g->pool);
    taker->cancel = 1;
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
    uint64_t mode = cpu_float_mode_usual();
    for (int64_t first, last; take(grid, &first, &last);)
        grid->entry(grid->launch.block, first, last, memory, &taker.services);
    cpu_float_mode_restore(mode);
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
