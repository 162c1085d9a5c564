// Recovery: out of memory ends a call, not the process.
//
// A region begins with RECOVER_FAILED and ends with recover_end; regions nest. When memory runs out
// in one (os_out_of_memory), what the thread has made since is released, newest first: arenas and
// mutexes that were made, blocks of recover_new, and what lives no longer than the frame that has
// it: mutexes that are held, open files. Then RECOVER_FAILED returns a second time, with true, and
// the region has ended. Invariants: a region ends in the function that began it; what the region
// hands to an owner beyond it, before its end, is taken off the list (recover_keep, or
// recover_keep_all); a shared structure is changed only when all memory for the change is there.
// Outside of regions os_out_of_memory ends the process. Ownership: after a good end everything made
// belongs to whoever has it, as without a region.
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

typedef enum OwnedKind {
    OWNED_MADE,   // may be handed on
    OWNED_FRAME,  // of a frame of the region: is never kept
} OwnedKind;

// Something on the list of a thread; the first member of what it stands for.
typedef struct Owned {
    void (*release)(struct Owned *owned);
    struct Owned *older, *newer;
    OwnedKind kind;
    bool listed;
} Owned;
void recover_own(Owned *owned, OwnedKind kind, void (*release)(Owned *owned));
void recover_keep(Owned *owned);  // off the list, if it is on it
void recover_keep_all(void);      // all that was made in the innermost region

// Zeroed memory; gone with the region's failure, or by recover_free, which takes NULL.
void *recover_new(size_t size);
void recover_free(void *block);
void recover_keep_block(void *block);

// An open file of the frame (base/os/os.h), closed when the region fails.
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
// Locals that the region changes and that are read after its failure are volatile.
#define RECOVER_FAILED(recovery) (recover_begin(recovery), setjmp((recovery)->place) != 0)
void recover_begin(Recovery *recovery);
void recover_end(Recovery *recovery);
bool recover_possible(void);  // is the thread in a region?
// From here on the thread is in none: its process ends.
void recover_forget(void);

#endif
