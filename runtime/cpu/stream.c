// Streams: queues of commands, and how threads share their work. The lock is held in all functions,
// except around long work.
#include <stdlib.h>
#include <string.h>

#include "runtime/cpu/pool.h"
#include "runtime/memory/move.h"
#include "target/cpu.h"

// ---- Commands: those of the usual size are kept for the next ----

enum { FREE_EXTRA = 512 };

static Command *command_new(const Pool *pool, size_t extra) {
    size_t align = _Alignof(Command), room = extra < FREE_EXTRA ? FREE_EXTRA : extra;
    if (room < pool->command_capacity) room = pool->command_capacity;
    room = (room + align - 1) / align * align;
    Command *c = aligned_alloc(align, sizeof(Command) + room);
    if (c) c->capacity = room;
    return c;
}

Command *command_create(Pool *pool, CommandKind kind, size_t extra) {
    Command **link = &pool->free_commands;
    while (*link && (*link)->capacity < extra) link = &(*link)->next;
    Command *c = *link;
    if (c)
        *link = c->next;
    else
        c = command_new(pool, extra);
    if (c) *c = (Command){.kind = kind, .capacity = c->capacity};
    return c;
}

static void recycle_command(Pool *pool, Command *c) {
    c->next = pool->free_commands;
    pool->free_commands = c;
}

static void command_release(Pool *pool, Command *c) {
    record_release(c->record);
    bool large = c->capacity > FREE_EXTRA && c->capacity > pool->command_capacity;
    if (large)
        free(c);
    else
        recycle_command(pool, c);
}

bool command_prepare(Pool *pool, size_t extra) {
    size_t align = _Alignof(Command), room = (extra + align - 1) / align * align;
    if (room > pool->command_capacity) pool->command_capacity = room;
    int missing = COMMANDS_PREPARED;
    for (const Command *c = pool->free_commands; c && missing; c = c->next)
        missing -= c->capacity >= extra;
    for (; missing; missing--) {
        Command *c = command_new(pool, extra);
        if (!c) return false;
        recycle_command(pool, c);
    }
    return true;
}

// Loads all of the command at once for a thread that has not read it yet.
static void prefetch_command(const Command *c) {
    for (size_t at = CPU_LINE_BYTES; at < sizeof *c; at += CPU_LINE_BYTES)
        __builtin_prefetch((const char *)c + at);
}

// ---- The list of busy streams: served in rotation ----

static void list_last(Pool *pool, Stream *s) {
    Stream **link = &pool->busy;
    while (*link) link = &(*link)->next;
    *link = s;
    s->link = link;
    s->next = NULL;
}

static void unlist(Stream *s) {
    if (!s->link) return;
    *s->link = s->next;
    if (s->next) s->next->link = s->link;
    s->link = NULL;
}

// The number of workers that have something to do in this command.
static uint32_t wanted(const Pool *pool, const Command *c) {
    if (c->kind != COMMAND_GRID) return 1;
    return c->grid.total < pool->worker_count ? (uint32_t)c->grid.total : pool->worker_count;
}

static void accept_command(Pool *pool, Command *command) {
    pool_start(pool);
    command->ticket = ++pool->tickets;
    command->grid.threads_expected = pool->worker_count + 1;
    if (command->module) {
        RtModule *m = command->module;
        if (m->epoch != atomic_load(&pool->epoch)) m->pending = 0;
        m->epoch = atomic_load(&pool->epoch);
        m->pending++;
    }
}

void stream_push(Pool *pool, Stream *stream, Command *command) {
    accept_command(pool, command);
    stream->submitted++;
    if (stream->tail) {
        stream->tail->next = command;
        stream->tail = command;
        return;  // the thread that does what precedes it goes on with it
    }
    stream->head = stream->tail = command;
    list_last(pool, stream);
    if (!stream->taken) pool_signal_work(pool, wanted(pool, command));
}

void record_release(Record *record) {
    if (record && atomic_fetch_sub(&record->references, 1) == 1) free(record);
}

void stream_fail(Stream *stream, tilec_status status, RtReport report) {
    if (stream->status == TILEC_OK) {
        stream->status = status;
        stream->failure = report;
    } else {
        rt_report_free(&report);
    }
}

// Completes the head command. The stream may be destroyed afterwards.
static void finish_head(Pool *pool, Stream *s) {
    Command *c = s->head;
    s->head = c->next;
    if (!s->head) s->tail = NULL;
    unlist(s);
    if (s->head) list_last(pool, s);
    atomic_fetch_add(&s->completed, 1);
    if (c->module) c->module->pending--;
    if (s->head) pool_signal_work(pool, wanted(pool, s->head));
    command_release(pool, c);
    // Releases the lock before it wakes the waiting threads, which take the lock next.
    pool_unlock(pool);
    pool_signal_finished(pool);
    pool_lock(pool);
}

static bool step_grid(Pool *pool, Stream *s, Command *c, Scratch *scratch) {
    c->threads++;
    pool_unlock(pool);
    uint64_t cost = grid_run(&c->grid, scratch);
    pool_lock(pool);
    if (cost > c->grid.cost) c->grid.cost = cost;
    c->exhausted = c->exhausted || grid_is_taken(&c->grid);
    if (--c->threads || !c->exhausted) return true;
    grid_note_cost(&c->grid, c->grid.cost);
    // No other thread uses the command now.
    if (!grid_is_clean(&c->grid)) {
        pool_unlock(pool);
        RtReport report = {0};
        tilec_status status = grid_outcome(&c->grid, &report);
        pool_lock(pool);
        if (status) stream_fail(s, status, report);
    }
    finish_head(pool, s);
    return true;
}

static bool step_alone(Pool *pool, Stream *s, Command *c) {
    c->exhausted = true;
    pool_unlock(pool);
    RtReport report = {0};
    tilec_status status = TILEC_OK;
    if (c->kind == COMMAND_MOVE)
        rt_move_run(&c->move);
    else
        status =
            c->module->host.run(c->module->host.user, c->grid.device, &c->grid.launch, &report);
    pool_lock(pool);
    if (status) stream_fail(s, status, report);
    finish_head(pool, s);
    return true;
}

void record_reach(Record *record) {
    record->time = os_time_ns();
    atomic_store(&record->done, true);
}

// The thread could not allocate the memory that this grid needs: the workers run it.
static bool lacks_memory(const Pool *pool, const Grid *grid, const Scratch *scratch) {
    if (!pool->worker_count || (scratch && scratch->worker)) return false;
    size_t size = grid->launch.meta->variants[grid->launch.variant].scratch_bytes;
    return size && (!scratch || (scratch->refused && scratch->refused <= size));
}

bool stream_step(Pool *pool, Stream *stream, Scratch *scratch) {
    Command *c = stream->head;
    if (!c) return false;
    prefetch_command(c);
    if (stream->taken || c->exhausted) return false;
    bool launch = c->kind == COMMAND_GRID || c->kind == COMMAND_HOST;
    // After a failure kernels do not run until the stream is synchronised.
    if (launch && !c->threads && stream->status) {
        finish_head(pool, stream);
        return true;
    }
    bool ready = c->kind != COMMAND_WAIT || atomic_load(&c->record->done);
    if (!ready) return false;
    if (c->kind == COMMAND_GRID && lacks_memory(pool, &c->grid, scratch)) return false;
    switch (c->kind) {
    case COMMAND_GRID: return step_grid(pool, stream, c, scratch);
    case COMMAND_HOST:
    case COMMAND_MOVE: return step_alone(pool, stream, c);
    case COMMAND_RECORD: record_reach(c->record); break;
    case COMMAND_WAIT: break;
    }
    finish_head(pool, stream);
    return true;
}

bool pool_step(Pool *pool, Scratch *scratch) {
    for (Stream *s = pool->busy; s; s = s->next)
        if (stream_step(pool, s, scratch)) return true;
    return false;
}

// ---- Waiting: waiting threads help ----

typedef bool Done(const Pool *pool, const void *what, uint64_t number);

// Helps with `stream`, and with others while that one waits for an event; with all when it is NULL.
static void help_until(Pool *pool, Stream *stream, Done *done, const void *what, uint64_t number) {
    if (done(pool, what, number)) return;
    Scratch *scratch = scratch_borrow(pool);
    for (;;) {
        uint32_t seen = atomic_load(&pool->finished);
        if (done(pool, what, number)) break;
        if (stream && stream_step(pool, stream, scratch)) continue;
        bool others = !stream || (stream->head && stream->head->kind == COMMAND_WAIT);
        if (others && pool_step(pool, scratch)) continue;
        pool_unlock(pool);
        pool_wait(pool, &pool->finished, seen, &pool->waiters);
        pool_lock(pool);
    }
    scratch_return(pool, scratch);
}

static bool stream_reached(const Pool *pool, const void *what, uint64_t number) {
    (void)pool;
    return atomic_load(&((const Stream *)what)->completed) >= number;
}

void stream_finish(Pool *pool, Stream *stream, uint64_t target) {
    help_until(pool, stream, stream_reached, stream, target);
}

static bool older_done(const Pool *pool, const void *what, uint64_t number) {
    (void)what;
    for (const Stream *s = pool->busy; s; s = s->next)
        if (s->head->ticket <= number) return false;
    return true;
}

void pool_finish(Pool *pool) { help_until(pool, NULL, older_done, NULL, pool->tickets); }

static bool record_done(const Pool *pool, const void *what, uint64_t number) {
    (void)pool, (void)number;
    return atomic_load(&((const Record *)what)->done);
}

void record_finish(Pool *pool, const Record *record) {
    // While the record is not done, its stream exists.
    if (!atomic_load(&record->done)) help_until(pool, record->stream, record_done, record, 0);
}

static bool module_idle(const Pool *pool, const void *what, uint64_t number) {
    (void)number;
    const RtModule *m = what;
    return m->pending == 0 || m->epoch != atomic_load(&pool->epoch);
}

void module_finish(Pool *pool, const RtModule *module) {
    help_until(pool, NULL, module_idle, module, 0);
}

// ---- Work outside the queue ----

bool stream_take(Stream *stream) {
    if (stream->head || stream->taken) return false;
    stream->taken = true;
    stream->submitted++;
    return true;
}

void stream_give(Pool *pool, Stream *stream) {
    stream->taken = false;
    atomic_fetch_add(&stream->completed, 1);
    if (stream->head) pool_signal_work(pool, wanted(pool, stream->head));
    pool_signal_finished(pool);
}

void stream_hand_over(Pool *pool, Stream *stream, Command *command) {
    accept_command(pool, command);
    // Tickets ascend along a queue, so waiting for later commands includes this one.
    if (stream->head) command->ticket = stream->head->ticket;
    stream->taken = false;
    command->next = stream->head;
    stream->head = command;
    if (!stream->tail) stream->tail = command;
    if (!stream->link) list_last(pool, stream);
    pool_signal_work(pool, wanted(pool, command));
}

void stream_reset(Pool *pool, Stream *stream) {
    uint32_t epoch = atomic_load(&pool->epoch);
    if (stream->epoch == epoch) return;
    stream->epoch = epoch;
    bool lost = stream->submitted != atomic_load(&stream->completed);
    stream->head = stream->tail = NULL;
    stream->link = NULL;
    stream->taken = false;
    atomic_store(&stream->completed, stream->submitted);
    if (lost) stream_fail(stream, TILEC_UNAVAILABLE, rt_report_forked());
}
