#include "base/recover.h"

#include <stdlib.h>

#include "base/os/os.h"

// The objects that a thread has made in its regions, newest first.
typedef struct Thread {
    Recovery *recovery;
    Owned *newest;
    const Recovery *limited;  // the region that has a deadline
    uint64_t end;             // of it, by os_time_ns
    bool timed_out;           // the region has failed for it
} Thread;
static _Thread_local Thread current_thread;
_Thread_local uint32_t recover_steps;

void recover_own(Owned *owned, OwnedKind kind, void (*release)(Owned *owned)) {
    Thread *t = &current_thread;
    *owned = (Owned){.release = release, .kind = kind};
    if (!t->recovery) return;
    owned->listed = true;
    owned->older = t->newest;
    if (t->newest) t->newest->newer = owned;
    t->newest = owned;
}

// Only the thread that has it on its list may call this; objects for other threads are kept first.
void recover_keep(Owned *owned) {
    if (!owned->listed) return;
    Thread *t = &current_thread;
    if (owned->older) owned->older->newer = owned->newer;
    if (owned->newer)
        owned->newer->older = owned->older;
    else
        t->newest = owned->older;
    for (Recovery *r = t->recovery; r; r = r->outer)
        if (r->before == owned) r->before = owned->older;
    owned->listed = false;
}

void recover_keep_all(void) {
    const Recovery *r = current_thread.recovery;
    for (Owned *o = current_thread.newest, *older; r && o != r->before; o = older) {
        older = o->older;
        if (o->kind == OWNED_MADE) recover_keep(o);
    }
}

void recover_begin(Recovery *recovery) {
    Thread *t = &current_thread;
    recovery->outer = t->recovery;
    recovery->before = t->newest;
    recovery->work = os_work_current();
    t->recovery = recovery;
}

// Objects made in an inner region belong to the outer region from here on.
void recover_end(Recovery *recovery) {
    Thread *t = &current_thread;
    CHECK(t->recovery == recovery, "a region ends that is not the innermost");
    t->recovery = recovery->outer;
    while (!t->recovery && t->newest) recover_keep(t->newest);
}

void recover_leave_all(void) { current_thread = (Thread){0}; }

bool recover_possible(void) { return current_thread.recovery != NULL; }

static _Noreturn void fail(Thread *t, Recovery *r) {
    while (t->newest != r->before) {
        Owned *o = t->newest;
        recover_keep(o);
        o->release(o);
    }
    t->recovery = r->outer;
    os_work_restore(r->work);
    longjmp(r->place, 1);
}

void os_out_of_memory(void) {
    Thread *t = &current_thread;
    if (!t->recovery) os_die_out_of_memory();
    fail(t, t->recovery);
}

// ---- Deadlines ----

enum { STEPS = 4096 };  // from one look at the clock to the next: less than a millisecond

void recover_deadline(const Recovery *recovery, uint64_t end) {
    Thread *t = &current_thread;
    t->limited = recovery;
    t->end = end;
    recover_steps = end ? STEPS : 0;
    t->timed_out = false;
}

void recover_check_clock(void) {
    Thread *t = &current_thread;
    recover_steps = STEPS;
    if (t->recovery != t->limited || os_time_ns() < t->end) return;
    recover_steps = 0;
    t->timed_out = true;
    fail(t, t->recovery);
}

bool recover_timed_out(void) {
    Thread *t = &current_thread;
    bool timed_out = t->timed_out;
    recover_steps = 0;
    t->timed_out = false;
    return timed_out;
}

// ---- Blocks ----

typedef struct RecoverBlock {
    Owned owned;
    max_align_t bytes[];
} RecoverBlock;

static void release_block(Owned *owned) { free(owned); }

void *recover_new(size_t size) {
    RecoverBlock *b = size < SIZE_MAX / 2 ? calloc(1, sizeof *b + size) : NULL;
    if (!b) os_out_of_memory();
    recover_own(&b->owned, OWNED_MADE, release_block);
    return b->bytes;
}

static RecoverBlock *block_of(void *bytes) {
    return (RecoverBlock *)(void *)((char *)bytes - offsetof(RecoverBlock, bytes));
}

void recover_keep_block(void *block) {
    if (block) recover_keep(&block_of(block)->owned);
}

void recover_free(void *block) {
    if (!block) return;
    RecoverBlock *b = block_of(block);
    recover_keep(&b->owned);
    free(b);
}
