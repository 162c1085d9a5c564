// The inside of the device `cpu`: threads, streams as queues of commands, grids being run.
//
//     launch ─▶ stream: [grid][record][copy] …     each stream a queue; its head is what runs
//                  │
//                  ├─ the calling thread, at once, on an idle stream: one program, or a grid that
//                  │  takes less than waking others would; what turns out longer becomes a command
//                  ├─ workers, which look through all streams that have commands
//                  └─ whoever waits: synchronize, copy, destroy help with what they wait for
//
// One lock guards all of it; it is held for a few instructions only, never while kernels, copies or
// callbacks run. Threads take programs of a running grid in chunks, without the lock.
//
// Invariants: only a stream's head is begun; a grid is finished by the last thread that leaves it;
// completed <= submitted. `work` changes when there may be something new for workers, `finished`
// when a command has been finished: whoever finds nothing to do reads the word before it looks, and
// sleeps only while the word is the same. After a fork the child has no workers and a new life
// (`epoch`): streams and records of an earlier one are refused or begin anew (stream.c).
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

// Threads spin so long before they sleep; a grid that is likely to take no longer than POOL_HERE_NS
// is not worth another processor's attention.
enum { POOL_THREADS_MAX = 1024, POOL_SPIN_NS = 50000, POOL_HERE_NS = 2000 };

enum { COMMANDS_PREPARED = 64 };

// Memory of one thread for one entry; grown when a kernel needs more, by the thread that has it.
typedef struct Scratch {
    struct Scratch *next;  // in the pool's list, of those that threads other than workers use
    void *memory;
    _Atomic size_t size;
    size_t refused;  // so much was not to be had since it was borrowed; 0: nothing was refused
    bool worker;     // a worker's own
} Scratch;

typedef struct Worker {
    struct Pool *pool;
    OsThread *thread;
    Scratch scratch;
    Scratch *larger;  // what was prepared for it to take instead; guarded by the lock
} Worker;

typedef struct Pool {
    tilec_context *context;
    OsMutex *print_lock;
    uint32_t thread_count;  // the caller's one among them
    uint64_t spin_ns;
    _Atomic uint32_t epoch;
    _Atomic uint32_t life;  // of the process that it is whole in

    // Words that threads wait on, each on a line of its own.
    _Alignas(64) _Atomic uint32_t work;
    _Atomic uint32_t sleepers;
    _Alignas(64) _Atomic uint32_t finished;
    _Atomic uint32_t waiters;

    // Guarded by the lock, whose line they share: who gets the one gets the other.
    _Alignas(64) _Atomic uint32_t lock;
    bool stop;
    bool started;           // the workers, as many as the system gave
    uint32_t worker_count;  // running
    Worker *workers;        // thread_count - 1
    struct Stream *busy;    // streams that have commands, the one served least recently first
    uint64_t tickets;       // commands so far
    Scratch *scratch;       // free ones
    struct Command *spare;  // free ones
    size_t room;            // of those that are kept, behind them
} Pool;

// What event_record leaves: filled when the stream gets there. Shared by event and commands.
typedef struct Record {
    _Atomic uint32_t references;
    _Atomic bool done;
    uint32_t epoch;
    struct Stream *stream;  // while not done
    uint64_t time;          // ns; written before done
} Record;

// A launch being run, by one thread or several.
typedef struct Grid {
    Pool *pool;
    tilec_device *device;
    RtLaunch launch;
    CpuEntry *entry;
    int64_t total;
    uint32_t takers;  // threads that will share it, about
    uint64_t cost;    // ps of a program so far, as RtModule's; guarded by the pool's lock
    bool brief;       // one thread alone runs it, no longer than POOL_HERE_NS
    _Alignas(64) _Atomic int64_t next;    // the first program nobody has taken
    _Alignas(64) _Atomic int64_t failed;  // the least program whose assert failed; INT64_MAX: none
    // The rest of that failure, guarded by the pool's lock.
    int64_t failed_lane;
    uint32_t failed_site;
    tilec_status scratch;  // why a thread had none
    struct Taker *active;  // threads that others may have to stop
} Grid;

typedef enum CommandKind {
    COMMAND_GRID,
    COMMAND_HOST,
    COMMAND_COPY,
    COMMAND_RECORD,
    COMMAND_WAIT
} CommandKind;

typedef struct Command {
    CommandKind kind;
    struct Command *next;
    uint64_t ticket;
    bool exhausted;    // nothing of it is left to take
    size_t room;       // bytes that follow it
    uint32_t threads;  // at work on it now
    RtModule *module;  // grids and host functions
    Record *record;    // record and wait
    void *to;          // copy
    const void *from;
    size_t size;
    Grid grid;  // of host functions: the launch only; block and ranges follow the command
} Command;

typedef struct Stream {
    Command *head, *tail;
    struct Stream *next, **link;  // in the pool's list of busy ones, link NULL: not there
    bool taken;                   // its caller runs something on it right now, outside the queue
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
    uint32_t
        pending;  // launches that are queued or run, in the life of the process that is `epoch`
    uint32_t epoch;
    // ps that a program of the last launch took, on the thread that was slowest; 0: none ran yet.
    // A guess for the next one.
    _Atomic uint64_t cost;
};

// ---- pool.c ----

void pool_lock(Pool *pool);
void pool_unlock(Pool *pool);
tilec_status pool_create(tilec_context *context, uint32_t threads, Pool **pool);
void pool_destroy(Pool *pool);
// First thing in every function of the device: sees to forks.
void pool_enter(Pool *pool);
// Starts the workers if that has not been done; the lock is held.
void pool_start(Pool *pool);
// There may be something new for so many workers, or for whoever waits; with or without the lock.
void pool_signal_work(Pool *pool, uint32_t workers);
void pool_signal_finished(Pool *pool);
// Waits until the word is no longer `seen`: spins a while, then parks, counted in *parked.
void pool_wait(Pool *pool, const _Atomic uint32_t *word, uint32_t seen, _Atomic uint32_t *parked);

// ---- stream.c: the lock is held in all of them ----

// With room for `extra` bytes after it; NULL: no memory. Its stream lets go of it.
Command *command_create(Pool *pool, CommandKind kind, size_t extra);
// So that the next COMMANDS_PREPARED of this size need no memory; false: there is none.
bool command_prepare(Pool *pool, size_t extra);
void stream_push(Pool *pool, Stream *stream, Command *command);
// Does a part of what the stream's head asks for; false when there is nothing in it for this
// thread.
bool stream_step(Pool *pool, Stream *stream, Scratch *scratch);
// Helps, or waits, until the stream has completed that many commands.
void stream_finish(Pool *pool, Stream *stream, uint64_t target);
// The same for everything that is on the device now, a record, the launches of a module.
void pool_finish(Pool *pool);
void record_finish(Pool *pool, const Record *record);
void module_finish(Pool *pool, const RtModule *module);
// Takes an idle stream for a command that runs outside of the queue; false when it is not idle.
bool stream_take(Stream *stream);
void stream_give(Pool *pool, Stream *stream);
// What runs there becomes a command: before all others, and counted already.
void stream_hand_over(Pool *pool, Stream *stream, Command *command);
// A stream of the parent of a fork begins anew; what was on it is lost.
void stream_revive(Pool *pool, Stream *stream);
// Keeps the first failure; takes the report.
void stream_fail(Stream *stream, tilec_status status, RtReport report);
// Does something for any stream; false when there is nothing to do.
bool pool_step(Pool *pool, Scratch *scratch);
void record_reach(Record *record);
void record_release(Record *record);

// ---- grid.c ----

void grid_begin(Grid *grid, Pool *pool, tilec_device *device, const RtLaunch *launch,
                int64_t total);
// Runs programs until all are taken, or a brief run has lasted long enough; without the lock.
// A thread that has no scratch memory leaves them to the workers, where there are any.
// Returns the ps that a program took, 0: not known.
uint64_t grid_run(Grid *grid, Scratch *scratch);
// The next launch of the module may expect so many ps of a program, if this one went well.
void grid_note_cost(const Grid *grid, uint64_t cost);
// Whether nothing is left to take.
bool grid_is_taken(const Grid *grid);
// Whether a launch of so many programs is likely to end within POOL_HERE_NS.
bool grid_is_short(const RtModule *module, int64_t total);
// What the finished grid has to report; TILEC_OK: nothing.
bool grid_is_clean(const Grid *grid);  // it has nothing to report
tilec_status grid_outcome(const Grid *grid, RtReport *report);

// ---- report.c ----

RtReport report_assert(const Grid *grid);
RtReport report_words(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_print(const Grid *grid, uint32_t site, const void *const *values);

// ---- memory.c ----

tilec_status memory_alloc(tilec_device *device, size_t size, void **address);
void memory_free(tilec_device *device, void *address, size_t size);
// At least `size` bytes, or TILEC_OUT_OF_MEMORY, or TILEC_INVALID_ARGUMENT from an allocator that
// does not align them; the thread is told nothing.
tilec_status scratch_reserve(Pool *pool, Scratch *scratch, size_t size);
void scratch_release(Pool *pool, Scratch *scratch);
// The largest for a thread that is no worker; the lock is held. NULL: no memory.
Scratch *scratch_borrow(Pool *pool);
void scratch_return(Pool *pool, Scratch *scratch);
// What a message about missing scratch memory says besides.
const char *scratch_why_not(tilec_status status);
// So much for each worker and one thread that launches.
tilec_status scratch_prepare(Pool *pool, size_t size);
// Takes what was prepared for this worker, if anything; the lock is held.
void scratch_take_larger(Worker *worker);

// ---- module.c ----

tilec_status module_load(tilec_device *device, const RtImage *image, RtModule **module);
void module_unload(tilec_device *device, RtModule *module);
void module_wait(tilec_device *device, RtModule *module);

#endif
