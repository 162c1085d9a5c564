// The table of the device `cpu`.
#include "runtime/cpu/device.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cpu/pool.h"
#include "runtime/memory/move.h"

static tilec_status fail_memory(const tilec_device *device) {
    return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
}

// ---- Open, close ----

// `what` says where the number comes from.
static tilec_status check_count(tilec_context *c, const char *what, uint64_t n, uint32_t *count) {
    if (n < 1 || n > POOL_THREADS_MAX)
        return rt_fail(c, TILEC_INVALID_ARGUMENT, "%s: expected 1 to %d threads, found %llu", what,
                       POOL_THREADS_MAX, (unsigned long long)n);
    *count = (uint32_t)n;
    return TILEC_OK;
}

static tilec_status read_count(tilec_context *c, const char *what, Str text, uint32_t *count) {
    uint64_t n;
    bool too_large = false;
    if (str_to_u64(text, &n, &too_large) && !too_large) return check_count(c, what, n, count);
    return rt_fail(c, TILEC_INVALID_ARGUMENT, "%s: expected 1 to %d threads, found '%.*s'", what,
                   POOL_THREADS_MAX, STR_ARG(text));
}

static tilec_status device_open(tilec_context *context, Str instance, void **state) {
    unsigned processors = os_cpu_count();
    uint32_t threads = processors < POOL_THREADS_MAX ? processors : POOL_THREADS_MAX;
    const char *wish = os_env("TILEC_CPU_THREADS");
    tilec_status s = TILEC_OK;
    if (instance.size)
        s = read_count(context, "device cpu", instance, &threads);
    else if (context->options.cpu_threads)
        s = check_count(context, "cpu_threads", context->options.cpu_threads, &threads);
    else if (wish && *wish)
        s = read_count(context, "TILEC_CPU_THREADS", str(wish), &threads);
    Pool *pool = NULL;
    if (!s) s = pool_create(context, threads, &pool);
    if (!s) *state = pool;
    return s;
}

static void device_close(void *state) { pool_destroy(state); }

static tilec_status info(tilec_device *device, RtDeviceInfo *info) {
    const Pool *pool = device->state;
    os_cpu_name(info->name, sizeof info->name);
    cpu_target_name(cpu_native(), info->target);
    info->memory = os_memory_size();
    info->multiprocessors = pool->thread_count;
    info->warp = 1;
    info->clock_khz = os_cpu_khz();
    return TILEC_OK;
}

// ---- Streams ----

static tilec_status stream_create(tilec_device *device, void **stream) {
    Pool *pool = device->state;
    pool_enter(pool);
    Stream *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(device);
    s->epoch = atomic_load(&pool->epoch);
    *stream = s;
    return TILEC_OK;
}

// Enters the device with a stream, which is reset first if it was made before a fork.
static Pool *enter(tilec_device *device, Stream *stream) {
    Pool *pool = device->state;
    pool_enter(pool);
    pool_lock(pool);
    if (stream) stream_reset(pool, stream);
    return pool;
}

static void stream_destroy(tilec_device *device, void *stream) {
    Stream *s = stream;
    Pool *pool = enter(device, s);
    stream_finish(pool, s, s->submitted);
    pool_unlock(pool);
    rt_report_free(&s->failure);
    free(s);
}

static tilec_status stream_synchronize(tilec_device *device, void *stream) {
    Stream *s = stream;
    Pool *pool = enter(device, s);
    stream_finish(pool, s, s->submitted);
    tilec_status status = s->status;
    RtReport failure = s->failure;
    s->status = TILEC_OK;
    s->failure = (RtReport){0};
    pool_unlock(pool);
    return status ? rt_fail_report(device->context, status, failure) : TILEC_OK;
}

// ---- Commands ----

// Adds a command to the queue; without workers the calling thread runs it. The lock must be held.
static void push(Pool *pool, Stream *stream, Command *command) {
    stream_push(pool, stream, command);
    if (!pool->worker_count) stream_finish(pool, stream, stream->submitted);
}

// With more than this, the caller does not do it itself, though the stream is idle: it takes longer
// than waking a worker.
enum { MOVE_INLINE = 32 << 10 };

static tilec_status run_move(tilec_device *device, Stream *s, const RtMove *move, bool wait) {
    Pool *pool = enter(device, s);
    bool now = (wait || move->size <= MOVE_INLINE) && stream_take(s);
    if (now) {
        pool_unlock(pool);
        rt_move_run(move);
        pool_lock(pool);
        stream_give(pool, s);
        pool_unlock(pool);
        return TILEC_OK;
    }
    Command *c = command_create(pool, COMMAND_MOVE, 0);
    if (c) {
        c->move = *move;
        push(pool, s, c);
        if (wait) stream_finish(pool, s, s->submitted);
    }
    pool_unlock(pool);
    return c ? TILEC_OK : fail_memory(device);
}

static tilec_status copy(tilec_device *device, void *stream, void *to, const void *from,
                         size_t size) {
    if (!size) return TILEC_OK;
    RtMove m = {.kind = RT_MOVE_WITHIN, .to = to, .from = from, .size = size};
    return run_move(device, stream, &m, true);
}

static tilec_status move(tilec_device *device, void *stream, const RtMove *m) {
    return run_move(device, stream, m, false);
}

// ---- Events ----

typedef struct Event {
    Record *last;  // NULL: never recorded
} Event;

static tilec_status event_create(tilec_device *device, void **event) {
    *event = calloc(1, sizeof(Event));
    return *event ? TILEC_OK : fail_memory(device);
}

static void event_destroy(tilec_device *device, void *event) {
    (void)device;
    Event *e = event;
    record_release(e->last);
    free(e);
}

static tilec_status event_record(tilec_device *device, void *event, void *stream) {
    Event *e = event;
    Stream *s = stream;
    Record *r = calloc(1, sizeof *r);
    if (!r) return fail_memory(device);
    Pool *pool = enter(device, s);
    bool now = stream_take(s);
    Command *c = now ? NULL : command_create(pool, COMMAND_RECORD, 0);
    if (!now && !c) {
        pool_unlock(pool);
        free(r);
        return fail_memory(device);
    }
    atomic_init(&r->references, now ? 1 : 2);
    r->epoch = s->epoch;
    r->stream = s;
    record_release(e->last);
    e->last = r;
    if (now) {
        record_reach(r);
        stream_give(pool, s);
    } else {
        c->record = r;
        push(pool, s, c);
    }
    pool_unlock(pool);
    return TILEC_OK;
}

// The event's last record, with a reference for the caller; NULL when it was lost in a fork. The
// lock must be held.
static Record *hold_record(const Pool *pool, const Event *e) {
    Record *r = e->last;
    if (!atomic_load(&r->done) && r->epoch != atomic_load(&pool->epoch)) return NULL;
    atomic_fetch_add(&r->references, 1);
    return r;
}

static tilec_status lost_record(const tilec_device *device) {
    return rt_fail(device->context, TILEC_UNAVAILABLE,
                   "the process forked before the event was reached: it is reached in the parent "
                   "only");
}

static tilec_status finished_time(tilec_device *device, const Event *e, uint64_t *time) {
    Pool *pool = enter(device, NULL);
    Record *r = hold_record(pool, e);
    if (r) record_finish(pool, r);
    pool_unlock(pool);
    if (!r) return lost_record(device);
    *time = r->time;
    record_release(r);
    return TILEC_OK;
}

static tilec_status event_synchronize(tilec_device *device, void *event) {
    uint64_t time;
    return finished_time(device, event, &time);
}

static tilec_status event_query(tilec_device *device, void *event, bool *done) {
    Pool *pool = enter(device, NULL);
    Record *r = hold_record(pool, event);
    pool_unlock(pool);
    if (!r) return lost_record(device);
    *done = atomic_load(&r->done);
    record_release(r);
    return TILEC_OK;
}

static tilec_status reached_time(tilec_device *device, void *event, uint64_t *time) {
    bool done = false;
    tilec_status s = event_query(device, event, &done);
    if (s) return s;
    if (done) return finished_time(device, event, time);
    return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                   "an event has not been reached yet; synchronise it first");
}

static tilec_status event_elapsed(tilec_device *device, void *begin, void *end, uint64_t *ns) {
    uint64_t from = 0, to = 0;
    tilec_status s = reached_time(device, begin, &from);
    if (!s) s = reached_time(device, end, &to);
    if (!s) *ns = to > from ? to - from : 0;
    return s;
}

static tilec_status stream_wait(tilec_device *device, void *stream, void *event) {
    Stream *s = stream;
    Pool *pool = enter(device, s);
    Record *r = hold_record(pool, event);
    bool reached = r && atomic_load(&r->done);
    Command *c = r && !reached ? command_create(pool, COMMAND_WAIT, 0) : NULL;
    if (c) {
        c->record = r;
        push(pool, s, c);
    }
    pool_unlock(pool);
    if (c) return TILEC_OK;
    record_release(r);
    return !r ? lost_record(device) : reached ? TILEC_OK : fail_memory(device);
}

// ---- Launch ----

static bool count_programs(const RtLaunch *l, int64_t *total) {
    return !__builtin_mul_overflow(l->grid[0], l->grid[1], total) &&
           !__builtin_mul_overflow(*total, l->grid[2], total);
}

// The room after the command of a launch.
static size_t block_bytes(const RtLaunch *l) { return ((size_t)l->meta->size + 15) / 16 * 16; }

static size_t ranges_bytes(const RtLaunch *l) {
    bool host = l->module->kind == RT_IMAGE_HOST;
    return host && l->ranges ? l->meta->arg_count * sizeof(RtRange) : 0;
}

// A launch that outlives the call; the argument block and ranges follow it. The lock must be held.
static Command *make_launch(tilec_device *device, const RtLaunch *l, int64_t total) {
    bool host = l->module->kind == RT_IMAGE_HOST;
    size_t block = block_bytes(l), ranges = ranges_bytes(l);
    CommandKind kind = host ? COMMAND_HOST : COMMAND_GRID;
    Command *c = command_create(device->state, kind, block + ranges);
    if (!c) return NULL;
    c->module = l->module;
    grid_begin(&c->grid, device->state, device, l, total);
    char *at = (char *)(c + 1);
    if (l->meta->size) memcpy(at, l->block, l->meta->size);
    c->grid.launch.block = at;
    c->grid.launch.ranges = NULL;
    if (!ranges) return c;
    memcpy(at + block, l->ranges, ranges);
    c->grid.launch.ranges = (const RtRange *)(const void *)(at + block);
    return c;
}

// Puts the rest of the grid into the queue, so that other threads help; false: out of memory.
static bool hand_over(tilec_device *device, Stream *s, const Grid *grid) {
    Pool *pool = device->state;
    pool_lock(pool);
    Command *c = make_launch(device, &grid->launch, grid->total);
    if (c) {
        atomic_init(&c->grid.next, atomic_load(&grid->next));
        stream_hand_over(pool, s, c);
    }
    pool_unlock(pool);
    return c != NULL;
}

static tilec_status run_grid(Grid *grid, Scratch *scratch, bool *handed, Stream *s,
                             RtReport *report) {
    grid_note_cost(grid, grid_run(grid, scratch));
    if (!grid_is_taken(grid)) {
        *handed = hand_over(grid->device, s, grid);
        if (*handed) return TILEC_OK;
        grid->brief = false;
        grid_run(grid, scratch);
        if (!grid_is_taken(grid)) grid->scratch = TILEC_OUT_OF_MEMORY;
    }
    return grid_outcome(grid, report);
}

// Runs the launch on this thread, with the stream taken. With `briefly` it stops when it takes
// longer than expected.
static void run_inline(tilec_device *device, Stream *s, const RtLaunch *l, int64_t total,
                       Scratch *scratch, bool briefly) {
    Pool *pool = device->state;
    RtReport report = {0};
    tilec_status status;
    bool handed = false;
    if (l->module->kind == RT_IMAGE_HOST) {
        status = l->module->host.run(l->module->host.user, device, l, &report);
    } else {
        Grid grid;
        grid_begin(&grid, pool, device, l, total);
        grid.brief = briefly;
        status = run_grid(&grid, scratch, &handed, s, &report);
    }
    pool_lock(pool);
    if (status) stream_fail(s, status, report);
    scratch_return(pool, scratch);
    if (!handed) stream_give(pool, s);
    pool_unlock(pool);
}

static tilec_status launch(tilec_device *device, void *stream, const RtLaunch *l) {
    int64_t total;
    if (!count_programs(l, &total))
        return rt_fail(device->context, TILEC_LAUNCH_REFUSED,
                       "%.*s: the grid has more than 2^63 programs", STR_ARG(l->meta->name));
    if (total <= 0) return TILEC_OK;
    Stream *s = stream;
    Pool *pool = enter(device, s);
    // With a single chunk there is nothing to share. After a failure nothing runs until the failure
    // is reported.
    bool small = total <= 1 || total <= l->meta->variants[l->variant].chunk;
    if (!small) pool_start(pool);
    bool failed = s->status != TILEC_OK, alone = small || !pool->worker_count;
    bool brief = !alone && grid_is_short(l->module, total);
    bool here = !failed && (alone || brief) && stream_take(s);
    Scratch *scratch = here ? scratch_borrow(pool) : NULL;
    bool queued = !failed && !here;
    Command *c = queued ? make_launch(device, l, total) : NULL;
    if (c) push(pool, s, c);
    pool_unlock(pool);
    if (here) run_inline(device, s, l, total, scratch, brief);
    return queued && !c ? fail_memory(device) : TILEC_OK;
}

static tilec_status units(tilec_device *device, const RtLaunch *l, uint64_t *units) {
    (void)l;
    *units = ((const Pool *)device->state)->thread_count;
    return TILEC_OK;
}

// Prepares threads, scratch memory for each of them, and commands for the queue.
static tilec_status prepare(tilec_device *device, void *stream, const RtLaunch *l) {
    Pool *pool = enter(device, stream);
    pool_start(pool);
    bool good = command_prepare(pool, block_bytes(l) + ranges_bytes(l));
    pool_unlock(pool);
    if (!good) return fail_memory(device);
    size_t size = l->meta->variants[l->variant].scratch_bytes;
    tilec_status s = scratch_prepare(pool, size);
    if (!s) return TILEC_OK;
    return rt_fail(device->context, s, "%.*s: no %zu bytes of scratch memory for each thread%s",
                   STR_ARG(l->meta->name), size, scratch_failure_text(s));
}

const RtDeviceApi cpu_device_api = {
    .kind = "cpu",
    .memory = RT_HOST_MEMORY,
    .open = device_open,
    .info = info,
    .close = device_close,
    .alloc = memory_alloc,
    .free = memory_free,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .stream_wait = stream_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_synchronize = event_synchronize,
    .event_query = event_query,
    .event_elapsed = event_elapsed,
    .copy = copy,
    .move = move,
    .module_load = module_load,
    .module_unload = module_unload,
    .module_finish = module_wait,
    .units = units,
    .prepare = prepare,
    .launch = launch,
};
