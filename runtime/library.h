// Built libraries on devices: an archive, its functions as kernels, their code loaded when needed.
//
// A function is a tilec_kernel whose alternatives (sets of consts) come from the archive's group
// for the target that fits the device best. Which alternative a launch takes: what the table of
// `tilec tune` says for these extents, else the first one that the arguments fit. Invariants: a
// library stays in its device's list until the device is closed (calls look for theirs without a
// lock); one that was unloaded has no data and may be taken for the same or another archive;
// functions are made once, under the library's mutex. Ownership: the device owns the libraries;
// each owns its functions and what they loaded.
//
//     const tilec_library *l = library_find(stream->device, &kernels_archive);
#ifndef TILEC_RUNTIME_LIBRARY_H
#define TILEC_RUNTIME_LIBRARY_H

#include <stdatomic.h>
#include <tilec/library.h>

#include "base/os/os.h"
#include "base/os/os_mutex.h"
#include "runtime/archive.h"
#include "runtime/kernel.h"
#include "runtime/tune.h"

typedef struct LibraryAlternative {
    RtLoaded loaded;
    RtModuleSlot *modules;
    const ArchiveCode *codes;
} LibraryAlternative;

typedef struct LibraryFunction {
    tilec_kernel kernel;  // first: a kernel of this kind is one of these
    tilec_library *library;
    Arena *arena;      // of all that it is
    Arena *scratch;    // of one choice among alternatives
    uint32_t target;   // of the archive's
    TuneRow tune_key;  // without a shape
    uint32_t count;
    LibraryAlternative *alternatives;
} LibraryFunction;

typedef _Atomic(LibraryFunction *) LibrarySlot;

struct tilec_library {
    struct tilec_library *next;
    tilec_device *device;
    _Atomic(const struct tilec_archive *) data;  // NULL: unloaded
    OsMutex *lock;
    bool making;  // whoever holds the lock changes more than scratch memory
    uint32_t users;
    // The rest is of one archive.
    Archive archive;
    Arena *arena;  // with the names below, slots and targets
    const char *name;
    ArchiveTarget *targets;
    ArchivePlace place;
    LibrarySlot *functions;
    Arena *tune_arena;  // of the host's table; NULL: the archive's
    const TuneTable *tuned;
};

// A program may have a copy of a shared library's struct: the bytes are what an archive is.
static inline bool library_has(const tilec_library *l, const struct tilec_archive *data) {
    const struct tilec_archive *own = atomic_load_explicit(&l->data, memory_order_acquire);
    return own == data || (own && data && data->bytes && own->bytes == data->bytes);
}

// NULL: it is not loaded there.
static inline tilec_library *library_find(tilec_device *device, const struct tilec_archive *data) {
    tilec_library *l = atomic_load_explicit(&device->libraries, memory_order_acquire);
    while (l && !library_has(l, data)) l = l->next;
    return l;
}

// The library's mutex, to choose with (scratch memory alone changes) or to make something. In the
// child of a fork that cut the making of another thread in two it is refused.
tilec_status library_lock(tilec_library *library, bool making);

// As the device closes: all that were loaded there.
void library_close_all(tilec_device *device);

// The function of that number, made when it is not there yet.
tilec_status library_function(tilec_library *library, uint32_t number, LibraryFunction **function);
// The rest of its making, in a region of recovery: the group for the device, its alternatives.
tilec_status library_function_make(tilec_library *library, uint32_t number,
                                   LibraryFunction **function);
void library_function_destroy(LibraryFunction *function);
// Not unloaded, and not on its way there.
bool library_is_loaded(const tilec_library *library);

tilec_status library_unreadable(tilec_context *context, const char *wrong);
// "add, matmul_f16", but for those of libraries with very many.
void library_add_functions(const Archive *archive, StrBuf *out);

// The command that builds it: "tilec build … --target sm_80".
void library_add_command(const Archive *archive, StrBuf *out);
// What a library has code for, and how to build it for more: "; it has code for sm_80; …".
void library_add_targets(const Archive *archive, const char *missing, StrBuf *out);
// archive_fit, where this machine runs the code.
uint32_t library_fit(const ArchiveTarget *target, const ArchivePlace *place);
// The target that code for the place is made for: "sm_90".
const char *library_place_target(const ArchivePlace *place, char *buffer);

#endif
