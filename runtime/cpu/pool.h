// Internals of the device `cpu`: threads, streams as queues of commands, running grids.
//
//     launch ─▶ stream: [grid][record][move] …     each stream is a queue; its head runs
//                  │
//                  ├─ the calling thread, at once, on an idle stream: one program, or a grid that
//                  │  is shorter than waking others; if it takes longer, it becomes a command
//                  ├─ workers, which look through all streams that have commands
//                  └─ waiting threads: synchronize, copy, destroy help with what they wait for
//
// One lock guards all of it. It is held for a few instructions only, never while kernels, copies or
// callbacks run. Threads take programs of a running grid in chunks, without the lock.
//
// Invariants: only the head of a stream is started; the last thread that leaves a grid finishes it;
// completed <= submitted. `work` changes when there may be new work for workers, `finished` when a
// command has finished. A thread that finds nothing to do reads the word before it looks for work,
// and sleeps only while the word is unchanged. After a fork the child has no workers and a new
// `epoch`: streams and records of an earlier epoch are refused or start again (stream.c).
// Ownership: the pool owns workers and scratch; a stream its commands.
//
//     pool_lock(p);   while (stream_step(p, s, scratch)) {}   pool_unlock(p);
#ifndef TILEC_RUNTIME_CPU_POOL_H
#define TILEC_RUNTIME_CPU_POOL_H

#include <stdatomic.h>

#include "base/os/os_mutex.h"
#include "base/os/os_thread.h"
#include "runtime/context.h"
#include "runtime/cpu/device.h"

// Threads spin for POOL_SPIN_NS before they sleep. A grid that will probably take no longer than
// POOL_INLINE_NS is not worth waking another processor.
enum { POOL_THREADS_MAX = 1024, POOL_SPIN_NS = 50000, POOL_INLINE_NS = 2000 };

enum { COMMANDS_PREPARED = 64 };

// Memory of one thread for one entry. The thread that has it grows it when a kernel needs more.
typedef struct Scratch {
    struct Scratch *next;  // in the pool's list of scratch for threads other than workers
    void *memory;
    _Atomic size_t size;
    size_t refused;  // a size that could not be allocated since it was borrowed; 0: none
    bool worker;     // belongs to a worker
} Scratch;

typedef struct Worker {
    struct Pool *pool;
    OsThread *thread;
    Scratch scratch;
    Scratch *larger;  // prepared for the worker to use instead; guarded by the lock
} Worker;

typedef struct Pool {
    tilec_context *context;
    OsMutex *print_lock;
    uint32_t thread_count;  // the caller's thread included
    uint64_t spin_ns;
    _Atomic uint32_t epoch;
    _Atomic uint32_t fork_generation;  // the process in which the pool is intact

    // Words that threads wait on, each in a cache line of its own.
    _Alignas(64) _Atomic uint32_t work;
    _Atomic uint32_t sleepers;
    _Alignas(64) _Atomic uint32_t finished;
    _Atomic uint32_t waiters;

    // Guarded by the lock and in its cache line: a thread that gets the lock gets the data, too.
    _Alignas(64) _Atomic uint32_t lock;
    bool stop;
    bool started;           // the workers were started, as many as the system gave
    uint32_t worker_count;  // running workers
    Worker *workers;        // thread_count - 1
    struct Stream *busy;    // streams that have commands, the one served least recently first
    uint64_t tickets;       // number of commands up to now
    Scratch *scratch;       // free ones
    struct Command *free_commands;
    size_t command_capacity;  // bytes that follow each of the free commands
} Pool;

// The result of event_record, filled when the stream reaches it. Event and commands share it.
typedef struct Record {
    _Atomic uint32_t references;
    _Atomic bool done;
    uint32_t epoch;
    struct Stream *stream;  // while not done
    uint64_t time;          // ns; written before done
} Record;

// A launch that is running, on one thread or several.
typedef struct Grid {
    Pool *pool;
    tilec_device *device;
    RtLaunch launch;
    CpuEntry *entry;
    int64_t total;
    uint32_t threads_expected;  // estimate of the threads that will share it
    uint64_t cost;              // ps of a program, as in RtModule; guarded by the pool's lock
    bool brief;                 // only one thread runs it, for at most POOL_INLINE_NS
    _Alignas(64) _Atomic int64_t next;    // the first program that is not taken yet
    _Alignas(64) _Atomic int64_t failed;  // the lowest program whose assert failed; INT64_MAX: none
    // The rest of that failure, guarded by the pool's lock.
    int64_t failed_lane;
    uint32_t failed_site;
    tilec_status scratch;       // why a thread had no scratch memory
    struct GridThread *active;  // threads that may have to be stopped
} Grid;

typedef enum CommandKind {
    COMMAND_GRID,
    COMMAND_HOST,
    COMMAND_MOVE,
    COMMAND_RECORD,
    COMMAND_WAIT
} CommandKind;

typedef struct Command {
    CommandKind kind;
    struct Command *next;
    uint64_t ticket;
    bool exhausted;    // all of it is taken
    size_t capacity;   // bytes that follow the command
    uint32_t threads;  // threads that work on it now
    RtModule *module;  // for grids and host functions
    Record *record;    // for record and wait
    RtMove move;
    Grid grid;  // for host functions only the launch; block and ranges follow the command
} Command;

typedef struct Stream {
    Command *head, *tail;
    struct Stream *next, **link;  // in the pool's list of busy streams; link NULL: not in it
    bool taken;                   // the caller runs something on it right now, outside the queue
    uint32_t epoch;
    uint64_t submitted;
    _Atomic uint64_t completed;
    tilec_status status;  // the first failure since the last synchronize
    RtReport failure;
} Stream;

struct RtModule {
    RtImageKind kind;
    struct OsLibrary *library;
    CpuEntry *entry;
    RtHostImage host;
    // Guarded by the pool's lock.
    uint32_t pending;  // launches that are queued or running, in the process given by `epoch`
    uint32_t epoch;
    // ps that a program of the last launch took, on the slowest thread; 0: none ran yet. An
    // estimate for the next launch.
    _Atomic uint64_t cost;
};

// ---- pool.c ----

void pool_lock(Pool *pool);
void pool_unlock(Pool *pool);
tilec_status pool_create(tilec_context *context, uint32_t threads, Pool **pool);
void pool_destroy(Pool *pool);
// The first call in every function of the device: handles forks.
void pool_enter(Pool *pool);
// Starts the workers if they are not started yet. The lock must be held.
void pool_start(Pool *pool);
// Says that there may be new work for `workers` workers, or for waiting threads; with or without
// the lock.
void pool_signal_work(Pool *pool, uint32_t workers);
void pool_signal_finished(Pool *pool);
// Waits until the word is no longer `seen`: spins, then sleeps; sleepers are counted in *parked.
void pool_wait(Pool *pool, const _Atomic uint32_t *word, uint32_t seen, _Atomic uint32_t *parked);

// ---- stream.c: the lock is held in all of them ----

// With room for `extra` bytes after it; NULL: out of memory. Its stream releases it.
Command *command_create(Pool *pool, CommandKind kind, size_t extra);
// Prepares memory for the next COMMANDS_PREPARED commands of this size; false: out of memory.
bool command_prepare(Pool *pool, size_t extra);
void stream_push(Pool *pool, Stream *stream, Command *command);
// Does a part of the stream's head command; false when it has no work for this thread.
bool stream_step(Pool *pool, Stream *stream, Scratch *scratch);
// Helps, or waits, until the stream has completed `target` commands.
void stream_finish(Pool *pool, Stream *stream, uint64_t target);
// The same for all work that is on the device now, for a record, or for the launches of a module.
void pool_finish(Pool *pool);
void record_finish(Pool *pool, const Record *record);
void module_finish(Pool *pool, const RtModule *module);
// Takes an idle stream, to run a command outside the queue; false when it is not idle.
bool stream_take(Stream *stream);
void stream_give(Pool *pool, Stream *stream);
// Makes the work that runs outside the queue a command, ahead of all others and already counted.
void stream_hand_over(Pool *pool, Stream *stream, Command *command);
// Resets a stream that was made before a fork; its work is lost in the child.
void stream_reset(Pool *pool, Stream *stream);
// Stores the first failure; takes over the report.
void stream_fail(Stream *stream, tilec_status status, RtReport report);
// Does a part of any stream's work; false when there is none.
bool pool_step(Pool *pool, Scratch *scratch);
void record_reach(Record *record);
void record_release(Record *record);

// ---- grid.c ----

void grid_begin(Grid *grid, Pool *pool, tilec_device *device, const RtLaunch *launch,
                int64_t total);
// Runs programs until all are taken, or a brief run has taken too long; without the lock. A thread
// without scratch memory leaves them to the workers, if there are any. Returns the ps that a
// program took, 0: unknown.
uint64_t grid_run(Grid *grid, Scratch *scratch);
// Stores `cost` ps as the estimate for the module's next launch, if this one succeeded.
void grid_note_cost(const Grid *grid, uint64_t cost);
// Is nothing left to take?
bool grid_is_taken(const Grid *grid);
// Will a launch of `total` programs probably end within POOL_INLINE_NS?
bool grid_is_short(const RtModule *module, int64_t total);
// The report of a finished grid; TILEC_OK: it has none.
bool grid_is_clean(const Grid *grid);  // it has nothing to report
tilec_status grid_outcome(const Grid *grid, RtReport *report);

// ---- report.c ----

RtReport report_assert(const Grid *grid);
RtReport report_words(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_print(const Grid *grid, uint32_t site, const void *const *values);

// ---- memory.c ----

tilec_status memory_alloc(tilec_device *device, size_t size, void **address);
void memory_free(tilec_device *device, void *address, size_t size);
// At least `size` bytes. TILEC_OUT_OF_MEMORY, or TILEC_INVALID_ARGUMENT for an allocator that does
// not align; neither is stored as the thread's error.
tilec_status scratch_reserve(Pool *pool, Scratch *scratch, size_t size);
void scratch_release(Pool *pool, Scratch *scratch);
// The largest free one, for a thread that is not a worker. The lock must be held. NULL: out of
// memory.
Scratch *scratch_borrow(Pool *pool);
void scratch_return(Pool *pool, Scratch *scratch);
// The reason to add to a message about missing scratch memory.
const char *scratch_failure_text(tilec_status status);
// Prepares `size` bytes for each worker and one thread that launches.
tilec_status scratch_prepare(Pool *pool, size_t size);
// Takes the larger scratch prepared for this worker, if there is one. The lock must be held.
void scratch_take_larger(Worker *worker);

// ---- module.c ----

tilec_status module_load(tilec_device *device, const RtImage *image, RtModule **module);
void module_unload(tilec_device *device, RtModule *module);
void module_wait(tilec_device *device, RtModule *module);

#endif
