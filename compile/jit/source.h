// Sources of kernels: one unit (text, imports, trees) and what the kernels made from it share.
//
// Invariants: the unit, and what a kernel of it knows (its specialisations, the scratch), change
// only under the source's lock, so one thread at a time compiles kernels of a source. A unit
// without errors stays without errors: what is made of it has diagnostics of its own.
// Ownership: counted. The program's handle is one user, until tilec_source_close or the context's
// end, and each kernel is one. The last user frees the source.
//
//     tilec_source *source = source_new(context, unit_load_file(path));    // one user
//     tilec_status s = source_lock(source);
//     if (!s) s = compile_some_of(source), os_mutex_unlock(source->lock);
//     source_leave(source);
#ifndef TILEC_COMPILE_JIT_SOURCE_H
#define TILEC_COMPILE_JIT_SOURCE_H

#include <stdatomic.h>

#include "base/os/os_mutex.h"
#include "compile/pipeline/compile.h"
#include "runtime/context.h"

struct tilec_source {
    RtOwned owned;  // in the context's list, while the program has a handle
    tilec_context *context;
    Unit *unit;
    OsMutex *lock;
    bool compiling;  // the holder of the lock changes more than the scratch
    Arena *scratch;  // for one look-up
    atomic_uint users;
};

// Takes over the unit, and has one user. Must be called in a region of recovery.
tilec_source *source_new(tilec_context *context, Unit *unit);
void source_join(tilec_source *source);
void source_leave(tilec_source *source);
// Takes the lock. In the child of a fork that interrupted a compilation it is refused.
tilec_status source_lock(tilec_source *source);
// The unit for one compilation: with an arena and diagnostics of its own. The lock must be held.
Unit source_unit(const tilec_source *source, Arena *arena, Diags *diags);
// The name of a text: the caller's, or a word for it.
static inline Str source_name(const char *name) {
    return name && name[0] ? str(name) : STR("source");
}
// The status for the errors of a unit that was loaded; they are reported.
tilec_status source_fail(tilec_context *context, const Diags *diags);
// Closes the context's sources.
void sources_close(tilec_context *context);

#endif
