// Grids: threads take chunks of programs until all are taken.
//
// Chunks are guided: each is a share of the remaining programs, so that there are few chunks and
// the last ones are small. A chunk that crosses rows of the first dimension ends at the end of a
// row, so that a thread has neighbouring programs. After a failed assert, programs after the lowest
// failing one are not started any more. Those before it still run, since one of them may fail, too,
// and the lowest is reported.
#include <math.h>

#include "runtime/cpu/pool.h"

enum {
    SHARES = 2,         // chunks for each thread, if all had the size of the first one
    CHUNK_PS = 500000,  // time of the shortest chunk that is worth taking
    GROWTH = 4,         // growth of the pieces of a grid that is expected to be short
    PS = 1000           // ps in one ns
};

// One thread that works on a grid; `services` is passed to its entry.
typedef struct GridThread {
    CpuServices services;
    int32_t cancel;  // set atomically: the rest of this thread's chunk follows a program that
                     // failed
    _Atomic int64_t first;   // first program of the current chunk, or of an earlier one
    uint64_t now, deadline;  // ns
    uint64_t busy;           // ns spent in programs
    int64_t done;            // programs
    Grid *grid;
    struct GridThread *next, **link;  // in the grid's list; guarded by the pool's lock
} GridThread;

// The ABI's word is not a C11 atomic.
static void stop(GridThread *t) { __atomic_store_n(&t->cancel, 1, __ATOMIC_RELAXED); }

static void assert_failed(const CpuServices *services, int64_t program, int64_t lane,
                          uint32_t site) {
    GridThread *thread = services->user;
    Grid *g = thread->grid;
    pool_lock(g->pool);
    int64_t least = atomic_load(&g->failed);
    if (program < least || (program == least && lane < g->failed_lane)) {
        atomic_store(&g->failed, program);
        g->failed_lane = lane;
        g->failed_site = site;
    }
    for (GridThread *t = g->active; t; t = t->next)
        if (atomic_load(&t->first) > program) stop(t);
    pool_unlock(g->pool);
    stop(thread);
}

static void print(const CpuServices *services, int64_t program, uint32_t site,
                  const void *const *values) {
    const GridThread *thread = services->user;
    (void)program;
    report_print(thread->grid, site, values);
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
    grid->threads_expected = 1;
    grid->cost = 0;
    grid->brief = false;
    atomic_init(&grid->next, 0);
    atomic_init(&grid->failed, INT64_MAX);
    grid->failed_lane = 0;
    grid->failed_site = 0;
    grid->scratch = TILEC_OK;
    grid->active = NULL;
}

// The least number of programs worth taking at once, from the cost known so far.
static int64_t least_chunk(const Grid *g) {
    uint64_t cost = atomic_load_explicit(&g->launch.module->cost, memory_order_relaxed);
    return cost ? (int64_t)(CHUNK_PS / cost) : 1;
}

// The end of the chunk that begins with program `first`.
static int64_t chunk_end(const Grid *g, int64_t first) {
    int64_t left = g->total - first;
    if (g->threads_expected <= 1 && !g->brief) return g->total;
    int64_t whole = variant_of(g)->chunk ? variant_of(g)->chunk : 1;
    int64_t size = left / (SHARES * (int64_t)g->threads_expected), least = least_chunk(g);
    if (g->brief)
        size = first ? (GROWTH - 1) * first : 1;
    else if (size < least)
        size = least;
    size = size / whole * whole;
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
    tilec_status status = scratch ? scratch_reserve(g->pool, scratch, size) : TILEC_OUT_OF_MEMORY;
    if (!status) {
        *memory = scratch->memory;
        return true;
    }
    pool_lock(g->pool);
    if (scratch) scratch->refused = size;
    // A helper without scratch memory leaves the grid to threads that have it.
    bool others = g->pool->worker_count && !(scratch && scratch->worker);
    if (!others) {
        g->scratch = status;
        atomic_store(&g->next, g->total);
    }
    pool_unlock(g->pool);
    return false;
}

// The list is for stopping other threads, so it is needed only if programs can fail.
static bool is_listed(const Grid *g) {
    return g->threads_expected > 1 && variant_of(g)->site_count;
}

static void join_list(GridThread *t) {
    Grid *g = t->grid;
    if (!is_listed(g)) return;
    pool_lock(g->pool);
    t->next = g->active;
    t->link = &g->active;
    if (t->next) t->next->link = &t->next;
    g->active = t;
    pool_unlock(g->pool);
}

static void leave_list(GridThread *t) {
    if (!is_listed(t->grid)) return;
    pool_lock(t->grid->pool);
    *t->link = t->next;
    if (t->next) t->next->link = t->link;
    pool_unlock(t->grid->pool);
}

// 0: not known.
static uint64_t cost_of(const GridThread *t) {
    if (!t->done) return 0;
    return (t->busy < UINT64_MAX / PS ? t->busy * PS : UINT64_MAX) / (uint64_t)t->done + 1;
}

// False when a brief run has taken too long. The clock is read only if the time is needed; in a
// brief run, once for each chunk, since taking a chunk costs nothing there.
static bool run_chunk(GridThread *t, void *memory, int64_t first, int64_t last) {
    Grid *g = t->grid;
    atomic_store_explicit(&t->first, first, memory_order_relaxed);
    if (g->threads_expected > 1) t->now = os_time_ns();
    g->entry(g->launch.block, first, last, memory, &t->services);
    if (g->threads_expected <= 1 && !g->brief) return true;
    uint64_t begin = t->now;
    t->now = os_time_ns();
    t->busy += t->now - begin;
    t->done += last - first;
    return !g->brief || t->now < t->deadline;
}

uint64_t grid_run(Grid *grid, Scratch *scratch) {
    void *memory;
    if (!get_scratch(grid, scratch, &memory)) return 0;
    GridThread thread = {
        .services = {.grid = {grid->launch.grid[0], grid->launch.grid[1], grid->launch.grid[2]},
                     .assert_failed = assert_failed,
                     .print = print,
                     .fmod = fmod,
                     .fmodf = fmodf},
        .grid = grid};
    thread.services.user = &thread;
    thread.services.cancel = &thread.cancel;
    join_list(&thread);
    if (grid->brief) thread.now = os_time_ns();
    thread.deadline = thread.now + POOL_INLINE_NS;
    uint64_t mode = cpu_float_mode_usual();
    for (int64_t first, last; take(grid, &first, &last);)
        if (!run_chunk(&thread, memory, first, last)) break;
    cpu_float_mode_restore(mode);
    leave_list(&thread);
    return cost_of(&thread);
}

bool grid_is_short(const RtModule *module, int64_t total) {
    uint64_t cost = atomic_load_explicit(&module->cost, memory_order_relaxed);
    return cost && cost <= (uint64_t)POOL_INLINE_NS * PS / (uint64_t)total;
}

void grid_note_cost(const Grid *grid, uint64_t cost) {
    if (!grid_is_clean(grid)) return;  // many programs ran in part, or not at all
    _Atomic uint64_t *known = &grid->launch.module->cost;
    uint64_t before = atomic_load_explicit(known, memory_order_relaxed);
    // All threads read it, so it is written only when it changes much.
    bool news = cost < before - before / 4 || cost > before + before / 4;
    if (cost && news) atomic_store_explicit(known, cost, memory_order_relaxed);
}

bool grid_is_taken(const Grid *grid) {
    int64_t failed = atomic_load(&grid->failed), next = atomic_load(&grid->next);
    return next >= grid->total || next > failed;
}

bool grid_is_clean(const Grid *grid) {
    return !grid->scratch && atomic_load(&grid->failed) == INT64_MAX;
}

tilec_status grid_outcome(const Grid *grid, RtReport *report) {
    if (grid->scratch) {
        *report = report_words("%.*s: no %u bytes of scratch memory for a thread%s",
                               STR_ARG(grid->launch.meta->name), variant_of(grid)->scratch_bytes,
                               scratch_failure_text(grid->scratch));
        return grid->scratch;
    }
    if (atomic_load(&grid->failed) == INT64_MAX) return TILEC_OK;
    *report = report_assert(grid);
    return TILEC_KERNEL_FAILED;
}
