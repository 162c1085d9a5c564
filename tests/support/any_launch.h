// Any launch: made-up arguments for any kernel, and what a run leaves in memory.
//
// Every view and pointer gets a buffer of its own, extents of one name are equal, scalars and
// elements come from the seed. The grid is 2 programs by `grid` section or without it. Invariants:
// the same seed gives the same launch, whatever passes did to the kernel. Ownership: the arena
// given.
//
//     AnyLaunch *l = any_launch(arena, f, seed, ANY_EXACT);
//     if (l && any_launch_allowed(l, f)) outcome = any_launch_run(l, f, 10000, diags);
#ifndef TILEC_TESTS_SUPPORT_ANY_LAUNCH_H
#define TILEC_TESTS_SUPPORT_ANY_LAUNCH_H

#include "ir/interp/interp.h"
#include "passes/pass.h"

typedef enum AnyValues {
    ANY_BITS,     // any bits, edges as often as not
    ANY_EXACT,    // whole numbers from -4 to 4: sums of few of them are exact in every float format
    ANY_SPECIAL,  // floats of special.h, in memory NaNs of all payloads; integers at their edges
} AnyValues;

typedef struct AnyBuffer {
    Symbol name;
    Dtype elem;
    uint64_t elements;
    size_t size;          // bytes; 0 for scalars
    unsigned char *data;  // NULL for scalars
} AnyBuffer;

typedef struct AnyLaunch {
    Arena *arena;
    uint32_t count;
    IrArg *args;
    AnyBuffer *buffers;  // one for each argument
    IrLaunch launch;
    StrBuf printed;
} AnyLaunch;

// The value that extents of this name get.
int64_t any_launch_extent(Symbol name, uint64_t seed);
// NULL when the kernel's views are too large to make up, or facts of parameters are not met.
AnyLaunch *any_launch(Arena *arena, const IrFunc *f, uint64_t seed, AnyValues values);
// Do all `requires` of the kernel hold?
bool any_launch_allowed(const AnyLaunch *l, const IrFunc *f);
// Math functions as the pass expands them: a kernel as written and one that went through passes
// have the same bits only then.
void any_launch_expand(IrModule *m, Diags *diags);
// The printed lines are kept, whichever device runs `launch`.
void any_launch_prints(AnyLaunch *l);
// Runs under sanitize; what is printed is kept.
IrOutcome any_launch_run(AnyLaunch *l, const IrFunc *f, uint64_t step_limit, Diags *diags);
// An empty text when both left the same in memory (all NaNs equal unless `raw`) and printed the
// same; else the first difference.
Str any_launch_difference(Arena *arena, const AnyLaunch *a, const AnyLaunch *b, bool raw);

#endif
