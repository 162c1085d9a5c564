// Recovery: running out of memory, or of time, ends a call, not the process.
//
// A region begins with RECOVER_FAILED and ends with recover_end; regions nest. When memory runs out
// in a region (os_out_of_memory), everything the thread has made since its beginning is released,
// newest first: arenas, mutexes and blocks of recover_new, and also resources that belong to a
// stack frame: held mutexes and open files. Then RECOVER_FAILED returns a second time, with true,
// and the region has ended.
// Invariants: a region ends in the function that began it. An object that gets an owner outside the
// region is taken off the list before the region ends (recover_keep, or recover_keep_all). A shared
// structure is changed only after all memory for the change is allocated. Outside of regions
// os_out_of_memory ends the process.
// Ownership: after a successful end every object belongs to its owner, as without a region.
//
//     Recovery r;
//     if (RECOVER_FAILED(&r)) return TILEC_OUT_OF_MEMORY;
//     Arena *arena = arena_create();      // gone, if what follows runs out of memory
//     fill(arena);
//     recover_end(&r);
#ifndef TILEC_BASE_RECOVER_H
#define TILEC_BASE_RECOVER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum OwnedKind {
    OWNED_MADE,   // can be handed to another owner
    OWNED_FRAME,  // belongs to a frame of the region: is never kept
} OwnedKind;

// An entry of a thread's list; it is the first member of the object it stands for.
typedef struct Owned {
    void (*release)(struct Owned *owned);
    struct Owned *older, *newer;
    OwnedKind kind;
    bool listed;
} Owned;
void recover_own(Owned *owned, OwnedKind kind, void (*release)(Owned *owned));
void recover_keep(Owned *owned);  // takes it off the list, if it is on it
void recover_keep_all(void);      // keeps everything made in the innermost region

// Zeroed memory; it is freed when the region fails, or by recover_free, which takes NULL.
void *recover_new(size_t size);
void recover_free(void *block);
void recover_keep_block(void *block);

// An open file of a frame (base/os/os.h), closed when the region fails.
typedef struct OwnedFile {
    Owned owned;
    int number;
} OwnedFile;

struct OsWork;
typedef struct Recovery {
    jmp_buf place;
    struct Recovery *outer;
    Owned *before;  // the newest thing when the region began
    struct OsWork *work;
} Recovery;
// Locals that change in the region and are read after its failure must be volatile.
#define RECOVER_FAILED(recovery) (recover_begin(recovery), setjmp((recovery)->place) != 0)
void recover_begin(Recovery *recovery);
void recover_end(Recovery *recovery);
bool recover_possible(void);  // is the thread in a region?

// Time runs out as memory does: in a region that has a deadline, recover_step makes the region fail
// when it is over. It costs a few instructions. It is called where long work passes often, and
// where nothing is half changed but what the region throws away. In regions within it does nothing.
//
//     Recovery r;
//     if (RECOVER_FAILED(&r)) {
//         if (!recover_timed_out()) os_out_of_memory();  // in the region around this one
//         return false;
//     }
//     recover_deadline(&r, end);
//     work();  // calls recover_step
//     recover_deadline(&r, 0);
//     recover_end(&r);
void recover_deadline(const Recovery *recovery, uint64_t end);  // os_time_ns; 0: none any more
#ifndef __cplusplus
extern _Thread_local uint32_t recover_steps;  // until the next look at the clock; 0: no deadline
void recover_check_clock(void);
static inline void recover_step(void) {
    if (recover_steps && --recover_steps == 0) recover_check_clock();
}
#endif
bool recover_timed_out(
    void);  // did the last region with a deadline fail for it? It has none any more.
// From here on the thread is in no region: running out of memory ends the process.
void recover_leave_all(void);

#endif
